//! `doctor --self`: what the system grants claimtop, what it costs where it does not, and whom
//! claimtop remembers to be dead.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;

use super::failure::{Exit, Outcome, of_action};
use super::output::{Paint, Shape, print};
use super::settings::Settings;
use crate::act::fs::system::System;
use crate::act::tombstones;
use crate::core::model::host::INITIAL_PID_NAMESPACE;
use crate::core::model::json;
use crate::core::model::report::SCHEMA;
use crate::core::model::text::shown;
use crate::core::model::{Snapshot, Tombstone};
use crate::observe::Observer;
use crate::present::tone::Tone;
use crate::source::os::open::plain::small;
use crate::source::os::processes::own::own_pid;

/// What is asked about claimtop itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    Tell,
    DropTombstones,
}

/// What `doctor --self --json` prints.
#[derive(Serialize)]
struct About<'a> {
    schema: &'static str,
    grants: Vec<Grant>,
    tombstones: &'a [Tombstone],
}

/// One thing that the system grants, or does not.
#[derive(Serialize)]
struct Grant {
    what: &'static str,
    granted: bool,
    detail: String,
}

/// Looks once and tells what claimtop can see; or forgets whom it remembers.
///
/// # Errors
/// The output or the tombstones cannot be written.
pub(crate) fn run(settings: &Settings, observer: &mut Observer, wish: Wish, shape: Shape) -> Outcome {
    let path = settings.places.tombstones();
    if wish == Wish::DropTombstones {
        let dropped = path.as_deref().map_or(Ok(()), |path| tombstones::drop_all(&System, path));
        dropped.map_err(of_action)?;
        print("All tombstones are dropped.\n")?;
        return Ok(Exit::Fine);
    }
    let snapshot = observer.look();
    let about = About { schema: SCHEMA, grants: grants(&snapshot), tombstones: &snapshot.tombstones };
    match shape {
        Shape::Text(paint) => print(&text(&about, path.as_deref(), paint))?,
        Shape::Json => print(&format!("{}\n", json::to_string_pretty(&about)?))?,
    }
    Ok(Exit::Fine)
}

fn grants(snapshot: &Snapshot) -> Vec<Grant> {
    let all = [processes(snapshot), namespace(snapshot), pidfds(snapshot), watches()];
    all.into_iter().chain(work(snapshot)).collect()
}

/// Returns what of the session files could not be understood, if anything.
fn work(snapshot: &Snapshot) -> Option<Grant> {
    let source = snapshot.sources.iter().find(|source| source.id == "work")?;
    Some(Grant { what: "work", granted: false, detail: source.detail.shown() })
}

fn processes(snapshot: &Snapshot) -> Grant {
    let partial = snapshot.processes.partial.as_deref();
    let detail = match partial {
        None => format!("all {} processes are listed", snapshot.processes.listed.len()),
        Some(why) => format!("{}; so an absent process is never proof of death", shown(why)),
    };
    Grant { what: "processes", granted: partial.is_none(), detail }
}

fn namespace(snapshot: &Snapshot) -> Grant {
    let granted = snapshot.host.pid_namespace == Some(INITIAL_PID_NAMESPACE);
    let detail = if granted {
        "the machine's first PID namespace, from which every process is seen"
    } else {
        "not the machine's first PID namespace; only processes that claimtop saw alive can be proven dead"
    };
    Grant { what: "namespace", granted, detail: detail.to_owned() }
}

fn pidfds(snapshot: &Snapshot) -> Grant {
    let read = snapshot.processes.by_pid.values().filter(|process| process.details.is_some());
    let granted = read.clone().any(|process| process.pidfd_inode.is_some());
    let has_some = read.clone().any(|process| process.has_exited.is_some());
    let detail = match (granted, has_some) {
        (true, _) => "with inodes of their own, so that no reused PID can be mistaken",
        (false, true) => "without inodes of their own; processes are told apart by PID and start tick",
        (false, false) => "none; a death is seen at the next scan, and zombies are recognised by their state",
    };
    Grant { what: "pidfds", granted, detail: detail.to_owned() }
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
        None => "no limits of inotify could be read; where it fails, files are polled".to_owned(),
    };
    Grant { what: "watches", granted: limits.is_some(), detail }
}

fn text(about: &About<'_>, path: Option<&Path>, paint: Paint) -> String {
    let mut out = format!("claimtop runs as PID {}.\n", own_pid());
    for Grant { what, granted, detail } in &about.grants {
        let (word, tone) = if *granted { ("yes", Tone::Good) } else { ("no", Tone::Warning) };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  {what:<10} {} {detail}", paint.paint(tone, &format!("{word:<3}")));
    }
    let place = path.map(|path| shown(&path.to_string_lossy())).unwrap_or_default();
    let _ = writeln!(out, "{} tombstones of this boot, in {place}", about.tombstones.len());
    about.tombstones.iter().for_each(|stone| out.push_str(&line(stone)));
    out
}

fn line(stone: &Tombstone) -> String {
    let session = stone.session_id.as_ref().map_or_else(String::new, |id| format!(", session {id}"));
    let at = stone.proven_at.strftime("%Y-%m-%d %H:%M:%SZ");
    let (pid, start) = (stone.id.pid, stone.id.start_ticks);
    format!("  PID {pid}, start tick {start}: {}, {at}{session}\n", stone.reason.name())
}
