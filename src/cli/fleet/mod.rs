//! Other machines: which are watched, and the program that reaches each.

pub(crate) mod lost;
pub(crate) mod machine_names;
pub(crate) mod machines;
pub(crate) mod ordered;
pub(crate) mod publishing;
pub(crate) mod schema;
pub(crate) mod stream;
pub(crate) mod target;
pub(crate) mod unit;
pub(crate) mod witness;

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context, anyhow};

use super::settings::Settings;
use crate::act::state::last_known::Keeper;
use crate::act::state::{known_machines, store_id};
use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::config::layers::Origin;
use crate::core::fleet::last_known::Sources;
use crate::core::fleet::order::Allow;
use crate::core::fleet::transport::Machine;
use crate::core::fleet::wire::line::{Identity, hashed};
use crate::core::model::{NotAsked, Secret};
use crate::observe::fleet::child::APART;
use crate::observe::fleet::{Fleet, Hosts, Keep, Others, Pin};
use crate::observe::hosts;
use crate::source::os::{clock, host};
use machine_names::{MachineSet, OneNamed, machine_of};

/// Which machines are watched, and what may be asked of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// Those of the configuration and those that `--on` names, as the configuration allows.
    All,
    /// The same, only to look.
    Hearing,
    /// Those that `--on` names, only to look.
    Named,
    /// One, to act on it.
    One(Machine),
    /// Those of the database, to act on one.
    Hosts,
}

/// The machines that are watched.
#[derive(Clone, Debug, Default)]
struct WatchedMachines {
    machines: Vec<Machine>,
    /// Which hosts of the database are; `None` if it is not read.
    hosts: Option<Vec<String>>,
}

/// Starts to reach the other machines that a look is about: those of the configuration, those that `--on` names instead,
/// or none with `--here`; and the one that the thing is on which is asked `about`.
///
/// # Errors
/// The system has no more threads for us, or a machine or the URL of the fleet's database cannot be used.
pub(crate) fn others(settings: &Settings, about: Option<&str>) -> Result<Others, Failure> {
    let WatchedMachines { mut machines, mut hosts } = looked_at(settings);
    let about = about.and_then(machine_of).filter(|_| !settings.is_here);
    match about.map(|name| settings.machine(name)).transpose()? {
        Some(OneNamed::Machine(machine)) if machines.iter().all(|known| known.name != machine.name) => {
            machines.push(machine);
        }
        Some(OneNamed::Host(host)) => match &mut hosts {
            None => hosts = Some(vec![host]),
            Some(only) if !only.is_empty() && !only.contains(&host) => only.push(host),
            Some(_) => {}
        },
        Some(OneNamed::Machine(_)) | None => {}
    }
    let watched = WatchedMachines { machines: machines.into_iter().map(only_watched).collect(), hosts };
    let not_asked = not_asked(settings, &watched);
    Ok(Others { fleet: start(settings, watched)?, not_asked })
}

/// Starts to watch machines, if there are any.
///
/// # Errors
/// The system has no more threads for us, or the URL of the fleet's database cannot be used.
pub(crate) fn fleet(settings: &Settings, which: Which) -> Result<Option<Fleet>, Failure> {
    let database = settings.effective.config.fleet.as_ref().map(|_| Vec::new());
    let watched = match which {
        Which::All => WatchedMachines { machines: all(settings), hosts: database },
        Which::Hearing => WatchedMachines {
            machines: all(settings).into_iter().map(only_watched).collect(),
            hosts: database,
        },
        Which::Named => {
            let MachineSet { machines, hosts, is_all } = settings.named.clone();
            let is_meant = !hosts.is_empty() || is_all || settings.effective.origins.fleet == Origin::Option;
            let machines = machines.into_iter().map(only_watched).collect();
            WatchedMachines { machines, hosts: database.filter(|_| is_meant) }
        }
        Which::One(machine) => WatchedMachines { machines: vec![machine], hosts: None },
        Which::Hosts => WatchedMachines { machines: Vec::new(), hosts: database },
    };
    start(settings, watched)
}

/// Returns every machine of the configuration, and every one that `--on` names.
fn all(settings: &Settings) -> Vec<Machine> {
    let mut machines = settings.effective.config.machines.clone();
    let is_new = |named: &&Machine| machines.iter().all(|known| known.name != named.name);
    let new: Vec<Machine> = settings.named.machines.iter().filter(is_new).cloned().collect();
    machines.extend(new);
    machines
}

/// Returns the machines that a command looks at beside this one.
fn looked_at(settings: &Settings) -> WatchedMachines {
    let MachineSet { machines, hosts, is_all } = settings.named.clone();
    let (config, origins) = (&settings.effective.config, &settings.effective.origins);
    let database = config.fleet.as_ref().map(|_| Vec::new());
    if settings.is_here {
        return WatchedMachines::default();
    }
    if machines.is_empty() && hosts.is_empty() {
        return WatchedMachines { machines: config.machines.clone(), hosts: database };
    }
    let hosts = match hosts.is_empty() || is_all {
        true => database.filter(|_| is_all || origins.fleet == Origin::Option),
        false => Some(hosts),
    };
    WatchedMachines { machines, hosts }
}

/// Returns the sources of the configuration that are not watched.
fn not_asked(settings: &Settings, watched: &WatchedMachines) -> Vec<NotAsked> {
    let config = &settings.effective.config;
    let is_left_out = |one: &&Machine| watched.machines.iter().all(|known| known.name != one.name);
    let machines = config.machines.iter().filter(is_left_out);
    let machines = machines.map(|machine| NotAsked::Machine(machine.name.clone()));
    let database = database_name(settings).and_then(|name| match &watched.hosts {
        None => Some(NotAsked::Fleet(name)),
        Some(only) => (!only.is_empty()).then_some(NotAsked::OtherHosts(name)),
    });
    machines.chain(database).collect()
}

/// Returns the URL of the fleet's database without a password.
fn database_name(settings: &Settings) -> Option<String> {
    let Secret(url) = settings.effective.config.fleet.as_ref()?;
    target::target(url, settings).ok().map(|target| target.name.shown())
}

/// Returns the machines that a look would ask, for what was last known of them.
pub(crate) fn asked_sources(settings: &Settings) -> Sources {
    let WatchedMachines { machines, hosts } = looked_at(settings);
    let database = hosts.and_then(|_| database_name(settings));
    Sources { machines: names(machines), database, is_whole: false }
}

fn names(machines: Vec<Machine>) -> Vec<String> {
    machines.into_iter().map(|machine| machine.name).collect()
}

fn start(settings: &Settings, watched: WatchedMachines) -> Result<Option<Fleet>, Failure> {
    let config = &settings.effective.config;
    let database = config.fleet.as_ref().zip(watched.hosts);
    let database = match database {
        Some((Secret(url), only)) => Some((target::target(url, settings)?, only)),
        None => None,
    };
    if watched.machines.is_empty() && database.is_none() {
        return Ok(None);
    }
    let is_whole = database.as_ref().is_some_and(|(_, only)| only.is_empty());
    let state = settings.state.clone();
    let pin: Pin = Arc::new(move |name, identity| known_machines::recognise(&state, name, identity));
    let started = Fleet::start(watched.machines, pin).and_then(|fleet| {
        let taken = names(all(settings));
        let hosts = |only| Hosts { only, taken, key: config.publishing.sign_with.clone() };
        database.map(|(target, only)| hosts::watch(target, hosts(only), fleet.shared())).transpose()?;
        Ok(fleet)
    });
    let fleet = started.context("failed to start the thread of the machines");
    let own = Identity {
        machine: host::host(clock::now()).machine_id.as_deref().map(hashed),
        store: store_id::known(&settings.state),
    };
    let keep = keep(settings, is_whole);
    fleet
        .map(|fleet| Some(fleet.beside(own).kept_by(keep)))
        .map_err(|error| Failure::new(Exit::Failed, error))
}

/// Returns what keeps what is known of other machines, where anything may be written. Only who reads the whole database
/// knows which hosts have left.
fn keep(settings: &Settings, is_whole: bool) -> Option<Keep> {
    if settings.effective.config.access.is_read_only() {
        return None;
    }
    let sources = Sources { machines: names(all(settings)), database: database_name(settings), is_whole };
    let keeper = Keeper::new(settings.state.clone(), sources);
    Some(Box::new(move |report| keeper.keep(report)))
}

fn only_watched(machine: Machine) -> Machine {
    Machine { allow: Allow::Observe, ..machine }
}

/// Runs the program that these arguments ask for in a session of its own, where no terminal is.
pub(crate) fn run_apart(arguments: &[OsString]) -> Option<Outcome> {
    let [_, apart, program, arguments @ ..] = arguments else { return None };
    (apart == APART).then(|| {
        // A group leader has no terminal to leave, or keeps it.
        let _ = rustix::process::setsid();
        // It ends with the process that started it, even if that is killed (prctl(2), kept by execve).
        #[cfg(target_os = "linux")]
        let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
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
