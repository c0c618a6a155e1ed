//! The errors that a machine's program prints, and why it has ended.

use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::ChildStderr;
use tokio::time::timeout;

use crate::core::fleet::transport::Machine;
use crate::core::model::text::shown;

/// How much of its error output is kept, in bytes.
const ERRORS_KEPT: usize = 4 << 10;

/// How long it may take to end when it has closed its output.
pub(super) const ENDING: Duration = Duration::from_secs(1);

/// The error output of a machine's program.
pub(super) struct ErrorOutput {
    errors: Option<ChildStderr>,
    pub(super) text: Vec<u8>,
}

impl ErrorOutput {
    pub(super) fn from_stderr(errors: ChildStderr) -> Self {
        Self { errors: Some(errors), text: Vec::new() }
    }

    /// Waits for more of it, and returns how many bytes came; waits for ever after the end.
    pub(super) async fn more(&mut self) -> usize {
        let Some(errors) = &mut self.errors else { return std::future::pending().await };
        let mut bytes = [0; 1_024];
        match errors.read(&mut bytes).await {
            Ok(0) | Err(_) => {
                self.errors = None;
                0
            }
            Ok(read) => {
                self.text.extend(bytes.iter().take(read));
                let much = self.text.len().saturating_sub(ERRORS_KEPT);
                self.text.drain(..much);
                read
            }
        }
    }

    /// Reads the rest.
    pub(super) async fn read_remaining(&mut self) {
        let all = async {
            while self.errors.is_some() {
                self.more().await;
            }
        };
        let _ = timeout(ENDING, all).await;
    }
}

/// Returns why a program has ended, and what to do about it.
pub(super) fn closed(errors: &[u8], code: Option<i32>, machine: &Machine) -> String {
    let text = String::from_utf8_lossy(errors);
    let last = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    let transport = &machine.transport;
    let advice = match code {
        Some(127) => "no claimtop is found there: install it, or set its `path` in [[machine]]".to_owned(),
        Some(2) if text.contains("unrecognized subcommand") => {
            return "its claimtop is too old to be watched: update it".to_owned();
        }
        Some(2) if text.contains("unexpected argument '--operate'") => {
            return "its claimtop is too old to take orders: update it, or set allow = \"observe\""
                .to_owned();
        }
        _ if text.contains("Permission denied") => {
            format!("it asks for a password or a key: make `{transport}` work without a prompt")
        }
        _ if text.contains("Host key verification failed") => {
            format!("its host key is unknown or has changed: run `{transport}` once yourself")
        }
        Some(code) => format!("its program has ended with code {code}"),
        None => "its program has ended".to_owned(),
    };
    if last.is_empty() { advice } else { format!("{advice} ({})", shown(last)) }
}
