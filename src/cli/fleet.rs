//! Other machines: which are watched, and the program that reaches each.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context, anyhow};

use super::failure::{Exit, Failure, Outcome};
use super::fleet_target;
use super::settings::Settings;
use crate::act::{known_machines, store_id};
use crate::config::layers::Origin;
use crate::core::fleet::line::{Identity, hashed};
use crate::core::fleet::order::Allow;
use crate::core::fleet::transport::Machine;
use crate::core::model::Secret;
use crate::observe::fleet::child::APART;
use crate::observe::fleet::{Fleet, Pin};
use crate::observe::hosts;
use crate::source::os::{clock, host};

/// Returns every machine of the configuration, and every one that was asked for.
fn watched(settings: &Settings) -> Vec<Machine> {
    let mut machines = settings.effective.config.machines.clone();
    let asked = settings.asked_machines.iter();
    let is_new =
        |asked: &&Machine| settings.effective.config.machines.iter().all(|known| known.name != asked.name);
    machines.extend(asked.filter(is_new).cloned());
    machines
}

/// Which machines are watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// Those that were asked for, only to look.
    Asked,
    /// Those of the configuration as well.
    All,
    /// All of them, only to look.
    Hearing,
    /// One, to act on it.
    One(Machine),
    /// Those of the database, to act on one.
    Hosts,
}

/// Starts to watch machines, if there are any.
///
/// # Errors
/// The system has no more threads for us, or the URL of the fleet's database cannot be used.
pub(crate) fn fleet(settings: &Settings, which: Which) -> Result<Option<Fleet>, Failure> {
    let (config, origins) = (&settings.effective.config, &settings.effective.origins);
    let is_meant = |_: &&Secret| match which {
        Which::All | Which::Hearing | Which::Hosts => true,
        Which::Asked => origins.fleet == Origin::Option,
        Which::One(_) => false,
    };
    let database = config.fleet.as_ref().filter(is_meant);
    let database = database.map(|Secret(url)| fleet_target::target(url, settings)).transpose()?;
    let machines = match which {
        Which::Asked => settings.asked_machines.iter().cloned().map(only_watched).collect(),
        Which::Hearing => watched(settings).into_iter().map(only_watched).collect(),
        Which::All => watched(settings),
        Which::One(machine) => vec![machine],
        Which::Hosts => Vec::new(),
    };
    if machines.is_empty() && database.is_none() {
        return Ok(None);
    }
    let state = settings.state.clone();
    let pin: Pin = Arc::new(move |name, identity| known_machines::recognise(&state, name, identity));
    let started = Fleet::start(machines, pin).and_then(|fleet| {
        let key = config.publishing.sign_with.clone();
        let taken = || watched(settings).into_iter().map(|machine| machine.name).collect();
        database.map(|target| hosts::watch(target, key, taken(), fleet.shared())).transpose()?;
        Ok(fleet)
    });
    let fleet = started.context("failed to start the thread of the machines");
    let own = Identity {
        machine: host::host(clock::now()).machine_id.as_deref().map(hashed),
        store: store_id::known(&settings.state),
    };
    fleet.map(|fleet| Some(fleet.beside(own))).map_err(|error| Failure::new(Exit::Failed, error))
}

fn only_watched(machine: Machine) -> Machine {
    Machine { allow: Allow::Observe, ..machine }
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
