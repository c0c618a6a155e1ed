//! Findings about Claude Code's registry itself: removed entries of living windows.
//!
//! A development container that shares `~/.claude` removes at its start every entry whose process it
//! cannot see, and no window writes its entry again (claude-code#85283).

use jiff::SignedDuration;

use crate::core::judge::left_over::taken_over::is_dead;
use crate::core::judge::rules::facts::{Facts, count, is_entry, listed, window_evidence, window_name};
use crate::core::judge::rules::found::Findings;
use crate::core::judge::rules::holders::why_dead;
use crate::core::model::{
    BackgroundSession, ClaudeCode, Code, Evidence, Finding, Format, JudgedRecord, Process, Reason, Record,
    RecordDetail, Remedy, SourceState, Untrusted, VerdictState, WindowView,
};

/// A window removes its own entry when it ends, shortly before its process does: 5 s.
const ENDS_WITHIN: SignedDuration = SignedDuration::from_secs(5);

/// Finds the living windows whose entry has gone.
pub(crate) fn findings<'a>(facts: &'a Facts<'a>, found: &mut Findings<'_>) {
    let swept: Vec<(&WindowView, Evidence)> =
        facts.windows.iter().filter_map(|window| Some((window, gone_entry(window, facts)?))).collect();
    if swept.is_empty() || !is_read(facts) {
        return;
    }
    let names: Vec<String> = swept.iter().map(|(window, _)| window_name(window)).collect();
    let left = entries(facts).next().map_or("no entry is left", |_| "other entries stay");
    let message = format!(
        "{}: alive, but gone from Claude Code's registry ({left}): another program removed the entry, \
         perhaps a container that shares the folder",
        listed(&names)
    );
    let keys = swept.iter().map(|(window, _)| window.key.clone());
    let evidence: Vec<Evidence> =
        swept.iter().flat_map(|(window, gone)| [window_evidence(window), gone.clone()]).collect();
    found.push(Finding::new(Code::SweptRegistry, keys, message, evidence, Remedy::None));
}

/// Finds a daemon that has left its lock, and background sessions that the daemon lists and that are gone.
pub(crate) fn of_record(judged: &JudgedRecord, facts: &Facts<'_>, found: &mut Findings<'_>) {
    if let RecordDetail::ClaudeCode(detail) = &judged.record.detail {
        match detail {
            ClaudeCode::Daemon => found.extend(left_lock(judged)),
            ClaudeCode::Roster { sessions, .. } => found.extend(ghosts(judged, sessions, facts)),
            ClaudeCode::Session(_)
            | ClaudeCode::Task { .. }
            | ClaudeCode::Team { .. }
            | ClaudeCode::Editor => {}
        }
    }
}

/// Reports the lock of a daemon that is gone: if another process has its number, each new daemon takes that one for
/// the holder, and ends at once (claude-code#72898).
fn left_lock(judged: &JudgedRecord) -> Option<Finding> {
    let verdict = &judged.verdict;
    if verdict.state != VerdictState::Dead {
        return None;
    }
    let is_another = matches!(verdict.reason, Reason::OtherProcess | Reason::BornLater | Reason::NotAnAgent);
    let so = match is_another {
        true => "a new daemon mistakes it for this one and ends at once, so release the lock",
        false => "the next daemon takes over the lock; if none starts, release it",
    };
    let says = format!("{}: {so}", why_dead(judged));
    Some(Finding::of_record(Code::StaleLock, judged, says, judged.all_evidence(), Remedy::Release))
}

/// Reports the background sessions of a list whose processes are gone (claude-code#78454).
fn ghosts(judged: &JudgedRecord, sessions: &[BackgroundSession], facts: &Facts<'_>) -> Option<Finding> {
    let gone: Vec<String> = (sessions.iter().filter(|session| is_dead(facts.world, session)))
        .map(|session| [&session.job, &session.id].into_iter().flatten().next())
        .map(|id| id.map_or_else(|| "one without an ID".to_owned(), Untrusted::shown))
        .collect();
    if gone.is_empty() {
        return None;
    }
    let says = format!(
        "{} still listed, but gone: {}; claude stop ID ends one; remove any that stay by hand \
         from the file while no claude daemon runs",
        count(gone.len(), "session"),
        listed(&gone)
    );
    Some(Finding::of_record(Code::StaleRecord, judged, says, [judged.evidence()], Remedy::None))
}

/// Returns whether the registry was read whole, so that an entry not read is not there.
fn is_read(facts: &Facts<'_>) -> bool {
    let sources = &facts.world.snapshot.sources;
    !sources.iter().any(|source| source.id == Format::ClaudeCode.name() && source.state != SourceState::Ok)
}

/// Returns the proof that a window had an entry, if it has none.
pub(crate) fn gone_entry(window: &WindowView, facts: &Facts<'_>) -> Option<Evidence> {
    let world = facts.world;
    let process = world.snapshot.processes.get(window.pid).filter(|_| window.agent.raw() == "claude-code")?;
    if facts.index.registered.contains(&window.pid) {
        return None;
    }
    by_earlier_look(process, facts).or_else(|| by_its_hook(process, facts))
}

/// Looks for the entry in earlier looks of claimtop's own.
fn by_earlier_look(process: &Process, facts: &Facts<'_>) -> Option<Evidence> {
    let snapshot = facts.world.snapshot;
    let seen = snapshot.seen_agents.iter().find(|seen| seen.id == process.id)?;
    let at = seen.registered_at?;
    let value = format!("it still had its entry at {at}");
    let is_over = snapshot.taken_at.duration_since(at) >= ENDS_WITHIN;
    is_over.then(|| Evidence::new("registry entry", value, "earlier look").dated(at))
}

/// Judges by the window's own hook, which runs only once it has an entry, if its version keeps any: so
/// another window of the same program must have one, in a folder that both use.
fn by_its_hook(process: &Process, facts: &Facts<'_>) -> Option<Evidence> {
    let world = facts.world;
    let note = world.bindings.newest_of(process.id.pid)?;
    let is_over = world.snapshot.taken_at.duration_since(note.written_at) >= ENDS_WITHIN;
    let has_sibling = || {
        entries(facts).any(|entry| {
            let other = entry.pid().filter(|pid| world.sessions.contains_key(pid));
            let other = other.and_then(|pid| world.snapshot.processes.get(pid));
            other.is_some_and(|other| is_same_program(process, other))
                && !world.is_of_other_home(entry, process)
        })
    };
    (is_over && has_sibling()).then(|| note.evidence())
}

fn is_same_program(one: &Process, other: &Process) -> bool {
    let exe = |process: &Process| process.details.as_ref().and_then(|details| details.exe.clone());
    exe(one).is_some() && exe(one) == exe(other)
}

/// Returns all entries, of any window.
pub(crate) fn entries<'a>(facts: &Facts<'a>) -> impl Iterator<Item = &'a Record> {
    let records = facts.world.snapshot.records.iter().map(|record| &**record);
    records.filter(|record| is_entry(record))
}
