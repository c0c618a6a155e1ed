//! Other machines: which are watched, and the program that reaches each.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context, anyhow};

use super::failure::{Exit, Failure, Outcome};
use super::settings::Settings;
use crate::act::{known_machines, store_id};
use crate::core::fleet::line::{Identity, hashed};
use crate::core::fleet::transport::Machine;
use crate::observe::fleet::child::APART;
use crate::observe::fleet::{Fleet, Pin};
use crate::source::os::{clock, host};

/// Returns every machine of the configuration, and every one that was asked for.
pub(crate) fn watched(settings: &Settings) -> Vec<Machine> {
    let mut machines = settings.effective.config.machines.clone();
    let asked = settings.asked_machines.iter();
    let is_new =
        |asked: &&Machine| settings.effective.config.machines.iter().all(|known| known.name != asked.name);
    machines.extend(asked.filter(is_new).cloned());
    machines
}

/// Starts to watch machines, if there are any.
///
/// # Errors
/// The system has no more threads for us.
pub(crate) fn fleet(settings: &Settings, machines: Vec<Machine>) -> Result<Option<Fleet>, Failure> {
    if machines.is_empty() {
        return Ok(None);
    }
    let state = settings.state.clone();
    let pin: Pin = Arc::new(move |name, identity| known_machines::recognise(&state, name, identity));
    let fleet = Fleet::start(machines, pin).context("failed to start the thread of the machines");
    let own = Identity {
        machine: host::host(clock::now()).machine_id.as_deref().map(hashed),
        store: store_id::known(&settings.state),
    };
    fleet.map(|fleet| Some(fleet.beside(own))).map_err(|error| Failure::new(Exit::Failed, error))
}

/// Runs the program that these arguments ask for in a session of its own, where no terminal is.
pub(crate) fn run_apart(arguments: &[OsString]) -> Option<Outcome> {
    let [_, apart, program, arguments @ ..] = arguments else { return None };
    (apart == APART).then(|| {
        // Whoever leads a group already has no terminal to leave, or keeps it.
        let _ = rustix::process::setsid();
        let error = replaced_by(program, arguments);
        Err(Failure::new(
            Exit::Failed,
            anyhow!(error).context(format!("failed to run {}", program.display())),
        ))
    })
}

#[expect(clippy::disallowed_methods, reason = "another machine is reached by a program of the user's")]
fn replaced_by(program: &OsString, arguments: &[OsString]) -> io::Error {
    Command::new(program).args(arguments).exec()
}
