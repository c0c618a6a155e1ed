//! Calls a person who is away from the terminal, by a command of their own.

use std::ffi::OsString;
use std::time::Duration;

use jiff::Timestamp;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::config::notify::NotifyCommand;
use crate::core::model::text::shown;
use crate::observe::fleet::child;
use crate::present::text::zone::Zone;

/// How long the command may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs the command, one call at a time.
pub(super) struct Caller {
    settings: NotifyCommand,
    running: Option<JoinHandle<Result<(), String>>>,
}

impl Caller {
    pub(super) fn new(settings: NotifyCommand) -> Self {
        Self { settings, running: None }
    }

    /// Starts the command with a text as its last argument, unless there is none, it still runs, or the hours are
    /// quiet.
    pub(super) fn call(&mut self, text: &str, now: Timestamp, zone: &Zone) {
        let NotifyCommand { command, quiet } = &self.settings;
        let time = now.to_zoned(zone.0.clone()).time();
        if command.is_empty() || self.running.is_some() || quiet.is_some_and(|hours| hours.has(time)) {
            return;
        }
        let words: Vec<OsString> = command.iter().chain([&text.to_owned()]).map(OsString::from).collect();
        self.running = Some(tokio::spawn(async move { run(&words).await }));
    }

    /// Waits until a call has ended; returns what went wrong. Without a call it waits for ever.
    pub(super) async fn ended(&mut self) -> Option<String> {
        let Some(running) = &mut self.running else { return std::future::pending().await };
        let result = running.await;
        self.running = None;
        let why = result.unwrap_or_else(|error| Err(error.to_string())).err()?;
        let program = self.settings.command.first().map_or("", String::as_str);
        Some(format!("notify_command: {} {why}", shown(program)))
    }
}

/// Runs a command to its end, without a terminal.
async fn run(words: &[OsString]) -> Result<(), String> {
    let mut program = child::start(words).map_err(|error| format!("does not start: {error}"))?;
    drop(program.stdin.take());
    match timeout(PATIENCE, program.wait_with_output()).await {
        Err(_) => Err(format!("took longer than {} s and was ended", PATIENCE.as_secs())),
        Ok(Err(error)) => Err(error.to_string()),
        Ok(Ok(output)) if output.status.success() => Ok(()),
        Ok(Ok(output)) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.lines().next_back().map_or_else(String::new, |line| format!(": {}", shown(line)));
            Err(format!("failed ({}){said}", output.status))
        }
    }
}
