//! What a window of the demo leaves running: it goes on when that has gone, and ends with the demo.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use super::lifeline::Lifeline;
use crate::cli::output::failure::Exit;
use crate::cli::settings::environment::PART_VARIABLE;

/// What a window starts on request, and leaves.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StartRequest {
    pub(super) part: Part,
    /// The variables that it is started with, besides the window's own PID.
    pub(super) env: BTreeMap<String, String>,
    pub(super) cwd: PathBuf,
    /// What it writes into.
    pub(super) output: Option<PathBuf>,
}

/// What a process plays.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(super) program: String,
    pub(super) argv: Vec<String>,
    /// A named pipe that the demo holds open for as long as it lasts, however it ends.
    pub(super) lifeline: PathBuf,
    pub(super) listens: bool,
    /// What it starts in turn.
    pub(super) below: Vec<Part>,
    /// Whether it has no parent: it starts itself once more, and ends.
    pub(super) detaches: bool,
}

/// Has a command do what a window starts on request: what it says of itself comes back by its standard
/// error.
pub(super) fn ordered(mut command: Command, order: &StartRequest) -> std::io::Result<Command> {
    play_with(&mut command, &order.part)?;
    let output = order.output.as_deref().map(output).transpose()?;
    command.envs(&order.env).env("CLAUDE_PID", std::process::id().to_string()).current_dir(&order.cwd);
    command.stdout(output.map_or_else(Stdio::null, Stdio::from)).stderr(Stdio::piped());
    if order.output.is_some() {
        // As an agent's shell: it leads a group, and has no writer.
        command.process_group(0).stdin(Stdio::null());
    }
    Ok(command)
}

fn output(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

fn play_with(command: &mut Command, part: &Part) -> std::io::Result<()> {
    if let [name, arguments @ ..] = part.argv.as_slice() {
        command.arg0(name).args(arguments);
    }
    command.env(PART_VARIABLE, serde_json::to_string(part)?);
    Ok(())
}

/// Says its PID, starts what runs below it, and waits until the demo is gone.
///
/// # Errors
/// It cannot start what it should, or has no lifeline.
pub(super) fn play(part: &Part) -> std::io::Result<Exit> {
    if part.detaches {
        same(&Part { detaches: false, ..part.clone() })?.spawn()?;
        return Ok(Exit::Fine);
    }
    let mut lifeline = Lifeline::open(&part.lifeline)?;
    let _listener = part.listens.then(|| TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).transpose()?;
    eprintln!("{}", std::process::id());
    let below: Vec<_> = part.below.iter().map(|part| same(part)?.spawn()).collect::<Result<_, _>>()?;
    lifeline.wait();
    for mut one in below {
        let _ = one.kill();
        let _ = one.wait();
    }
    Ok(Exit::Fine)
}

/// Makes the command of a process in the same environment.
#[expect(clippy::disallowed_methods, reason = "the demo starts processes, and each one is our own program")]
fn same(part: &Part) -> std::io::Result<Command> {
    let mut command = Command::new(&part.program);
    play_with(&mut command, part)?;
    Ok(command)
}
