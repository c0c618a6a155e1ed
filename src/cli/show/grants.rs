//! What the system and its programs grant claimtop, and what it costs where they do not.

use std::io::{IsTerminal as _, stdout};
use std::path::Path;

use serde::Serialize;

use crate::cli::hook::check;
use crate::cli::settings::Settings;
use crate::cli::settings::environment::Environment;
use crate::core::model::snapshot::host::INITIAL_PID_NAMESPACE;
use crate::core::model::text::shown;
use crate::core::model::{Medium, Snapshot, SourceState, Untrusted};
use crate::source::os::open::medium::medium_at;
use crate::source::os::open::plain::small;

/// One thing that the system grants, or does not.
#[derive(Serialize)]
pub(crate) struct Grant {
    pub(crate) what: &'static str,
    pub(crate) granted: bool,
    pub(crate) detail: String,
    /// What claimtop cannot do without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<&'static str>,
}

impl Grant {
    fn new(what: &'static str, granted: bool, detail: impl Into<String>, cost: &'static str) -> Self {
        Self { what, granted, detail: detail.into(), cost: (!granted).then_some(cost) }
    }
}

/// Returns all of them, the most important first.
pub(crate) fn grants(settings: &Settings, snapshot: &Snapshot) -> Vec<Grant> {
    let mut all = vec![processes(snapshot), namespace(snapshot), pidfds(snapshot), watches()];
    all.extend(file_systems(settings));
    all.extend(failed(snapshot));
    all.push(database(settings, snapshot));
    all.push(terminal(&settings.environment));
    all.push(programs(&settings.environment));
    all.extend(hooks(settings));
    all
}

fn processes(snapshot: &Snapshot) -> Grant {
    let partial = snapshot.processes.partial.as_deref();
    let detail = match partial {
        None => format!("all {} processes are listed", snapshot.processes.listed.len()),
        Some(why) => shown(why),
    };
    Grant::new("processes", partial.is_none(), detail, "an absent process is never proof of death")
}

fn namespace(snapshot: &Snapshot) -> Grant {
    let granted = snapshot.host.pid_namespace == Some(INITIAL_PID_NAMESPACE);
    let detail = match granted {
        true => "the machine's first PID namespace, from which every process is seen",
        false => "not the machine's first PID namespace",
    };
    Grant::new("namespace", granted, detail, "only processes that claimtop saw alive can be proven dead")
}

fn pidfds(snapshot: &Snapshot) -> Grant {
    let read = snapshot.processes.by_pid.values().filter(|process| process.details.is_some());
    let granted = read.clone().any(|process| process.pidfd_inode.is_some());
    let has_some = read.clone().any(|process| process.has_exited.is_some());
    let (detail, cost) = match (granted, has_some) {
        (true, _) => ("with inodes of their own, so that no reused PID can be mistaken", ""),
        (false, true) => {
            ("without inodes of their own", "processes are told apart by PID and start tick alone")
        }
        (false, false) => {
            ("none", "a death is seen at the next scan, and zombies are recognised by their state")
        }
    };
    Grant::new("pidfds", granted, detail, cost)
}

fn watches() -> Grant {
    let limit = |name: &str| {
        let bytes = small(&Path::new("/proc/sys/fs/inotify").join(name), 1_024).ok()?;
        String::from_utf8(bytes).ok()?.trim().parse::<u64>().ok()
    };
    let limits = limit("max_user_instances").zip(limit("max_user_watches"));
    let detail = match limits {
        Some((instances, watches)) => {
            format!("inotify: {instances} instances and {watches} watches for each user")
        }
        None => "inotify's limits could not be read".to_owned(),
    };
    Grant::new("watches", limits.is_some(), detail, "if watching fails, files are polled")
}

/// Returns how far files in the home, the folder for temporary files and the state folder can be relied on.
fn file_systems(settings: &Settings) -> impl Iterator<Item = Grant> {
    let places = &settings.places;
    let folders = [("home", &places.home), ("tmp", &places.tmp), ("state", &settings.state)];
    folders.into_iter().map(|(what, folder)| {
        let path = Untrusted::from_path(folder).shown();
        let (granted, detail) = match medium_at(nearest(folder)) {
            Medium::Local | Medium::Mapped => (true, format!("{path} is on a file system of this machine")),
            Medium::Shared => (false, format!("{path} is shared with other machines")),
            Medium::Unknown => (false, format!("{path} is on an unknown file system")),
        };
        let cost = "changes there may only be found by polling, and its owners and times prove no death";
        Grant::new(what, granted, detail, cost)
    })
}

/// Returns the folder, or the nearest one above it that is there.
fn nearest(folder: &Path) -> &Path {
    folder.ancestors().find(|path| path.exists()).unwrap_or(folder)
}

/// Returns what could not be read as it should have been.
fn failed(snapshot: &Snapshot) -> impl Iterator<Item = Grant> {
    let troubled = snapshot.sources.iter().filter(|source| match source.state {
        SourceState::Ok | SourceState::Absent => source.id == "work",
        SourceState::Partial | SourceState::Failed => true,
    });
    troubled.map(|source| {
        let what = if source.id == "work" { "work" } else { "source" };
        let detail = match what {
            "work" => source.detail.shown(),
            _ => format!("{}: {}", shown(&source.id), source.detail.shown()),
        };
        Grant::new(what, false, detail, "its data is missing, and nothing is called dead because of that")
    })
}

fn database(settings: &Settings, snapshot: &Snapshot) -> Grant {
    let is_named = settings.effective.config.postgres.is_some();
    let server = snapshot.sources.iter().find(|source| source.id.starts_with("leo:"));
    let (granted, detail) = match server.map(|source| (source.state, source.detail.shown())) {
        Some((SourceState::Ok, detail)) => (true, format!("PostgreSQL is read; {detail}")),
        Some((SourceState::Partial | SourceState::Failed | SourceState::Absent, detail)) => {
            (false, format!("PostgreSQL: {detail}"))
        }
        None if !cfg!(feature = "postgres") => {
            (!is_named, "this claimtop was built without PostgreSQL".to_owned())
        }
        None => (!is_named, "no PostgreSQL is named (--postgres)".to_owned()),
    };
    Grant::new("database", granted, detail, "claims that LEO keeps there are unknown")
}

fn terminal(environment: &Environment) -> Grant {
    let is_one = stdout().is_terminal();
    let detail = match (is_one, environment.is_dumb, environment.has_truecolor) {
        (false, ..) => "output is not a terminal".to_owned(),
        (true, true, _) => "a terminal that can only print lines".to_owned(),
        (true, false, true) => "a terminal with 24-bit colours".to_owned(),
        (true, false, false) => "a terminal that reports no 24-bit colours".to_owned(),
    };
    Grant::new("terminal", is_one && !environment.is_dumb, detail, "the full screen cannot be shown there")
}

/// Returns which of the programs are there that some keys and commands call.
fn programs(environment: &Environment) -> Grant {
    let is_there = |name: &&&str| environment.programs.iter().any(|folder| folder.join(name).is_file());
    let wanted = ["tmux", "git", "ssh"];
    let (found, missing): (Vec<&str>, Vec<&str>) = wanted.iter().partition(is_there);
    let detail = match missing.is_empty() {
        true => format!("{} are found", found.join(", ")),
        false => format!("not found: {}", missing.join(", ")),
    };
    let cost = "J needs tmux, `leftovers --trees` git, `--on HOST` ssh";
    Grant::new("programs", missing.is_empty(), detail, cost)
}

/// Returns for each agent with settings whether claimtop's hooks are in them.
fn hooks(settings: &Settings) -> Vec<Grant> {
    let all = check::all(settings).into_iter().filter_map(|hooks| {
        let found = hooks.found.ok()?;
        let (granted, detail) = match (found.has_any(), found.trouble) {
            (true, None) => (true, format!("{} runs them, from this claimtop", hooks.agent)),
            (true, Some(why)) => (false, format!("{}: {why}", hooks.agent)),
            (false, _) => (false, format!("{} has none", hooks.agent)),
        };
        let cost =
            "its sessions are known only from its files, and it gets no collision warnings (`claimtop setup`)";
        Some(Grant::new("hooks", granted, detail, cost))
    });
    all.collect()
}
