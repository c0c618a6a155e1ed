//! Windows that have died without being closed, and how each is brought back: by its agent's own command, in its folder,
//! and only where nothing alive runs its session, for all that can be known.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use crate::core::judge::session::lives::{possible_runner, says_nothing};
use crate::core::judge::window::agent::Signatures;
use crate::core::judge::world::World;
use crate::core::model::report::need::resume;
use crate::core::model::snapshot::note::BoundSession;
use crate::core::model::snapshot::process::has_exited;
use crate::core::model::{
    Format, JudgedRecord, Key, KeyKind, Process, RecordKind, RecordView, Report, Snapshot, Strength,
    Untrusted, VerdictState, WindowView,
};

/// A window that has died without being closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClosedWindow {
    /// The key of its newest record.
    pub key: Key,
    /// Its name.
    pub name: Untrusted,
    /// Its agent.
    pub agent: &'static str,
    /// Its session.
    pub session: Untrusted,
    /// The folder that it worked in.
    pub folder: Option<Untrusted>,
    /// What it was asked last, or its session's title.
    pub doing: Option<Untrusted>,
    /// The last sign of its life.
    pub last_seen_at: Timestamp,
    /// Its agent's own command that resumes the session.
    pub command: Option<String>,
    /// Why it is not brought back from here.
    pub refusal: Option<String>,
}

/// Returns the windows that have died without being closed, the last one first.
pub fn closed_windows(report: &Report, snapshot: &Snapshot, signatures: &Signatures) -> Vec<ClosedWindow> {
    let world = World::new(snapshot, signatures);
    let mut found: BTreeMap<&Untrusted, Vec<&JudgedRecord>> = BTreeMap::new();
    let is_of_session =
        |record: &&JudgedRecord| matches!(record.kind, RecordKind::Session | RecordKind::Lock);
    for record in report.records.iter().filter(is_of_session) {
        if let Some(session) = &record.session_id {
            found.entry(session).or_default().push(record);
        }
    }
    let closed =
        found.into_iter().filter_map(|(session, records)| closed(report, (&world, session), &records));
    let mut closed: Vec<ClosedWindow> = closed.collect();
    // Agents without such records are known by their hooks' notes.
    let runs = |session: &Untrusted| report.windows.iter().any(|window| may_run_it(window, session));
    let dead = snapshot.bound.notes.iter().filter(|note| is_dead(note, snapshot));
    for note in dead.filter(|note| !runs(&note.session_id)) {
        if closed.iter().all(|one| one.session != note.session_id) {
            closed.extend(of_note(report, &world, note));
        }
    }
    closed.sort_by_key(|one| Reverse(one.last_seen_at));
    closed
}

fn closed(
    report: &Report,
    (world, session): (&World<'_>, &Untrusted),
    records: &[&JudgedRecord],
) -> Option<ClosedWindow> {
    let command = |record: &JudgedRecord| resume(record.format.name(), session, None);
    // Other systems may have records of the session too.
    let own = records.iter().filter(|record| has_died(record)).filter(|record| command(record).is_some());
    let newest = own.max_by_key(|record| record.written_at)?;
    let (agent, command) = (newest.format.name(), command(newest)?);
    let folder = newest.cwd.as_ref().map(|cwd| cwd.text().clone());
    Some(ClosedWindow {
        key: newest.key.clone(),
        name: newest.title.clone(),
        agent,
        session: session.clone(),
        refusal: refusal(report, world, (agent, session), folder.as_ref()),
        folder,
        doing: doing(world, session),
        last_seen_at: newest.heartbeat_at.unwrap_or(newest.written_at),
        command: Some(command),
    })
}

/// Returns whether the process of a note has ended: it is of an earlier boot, or not in a whole process table.
fn is_dead(note: &BoundSession, snapshot: &Snapshot) -> bool {
    let (host, table) = (&snapshot.host, &snapshot.processes);
    // Another machine of this name may share a folder that is not on this one's disk.
    let is_here = note.host.raw() == host.name && snapshot.bound.medium.is_this_machines();
    let Some(boot) = host.boot_id.as_deref().filter(|_| is_here) else { return false };
    if note.boot_id.raw() != boot {
        return true;
    }
    let is_other = |process: &Process| process.id.start_ticks != note.start_ticks || has_exited(process);
    let is_gone = table.partial.is_none() && !table.listed.contains(&note.pid);
    host.pid_namespace == Some(note.pid_namespace) && table.get(note.pid).map_or(is_gone, is_other)
}

fn of_note(report: &Report, world: &World<'_>, note: &BoundSession) -> Option<ClosedWindow> {
    let agent = Format::ALL.into_iter().map(|format| format.name()).find(|name| note.agent.raw() == *name)?;
    let session = &note.session_id;
    let command = resume(agent, session, None)?;
    let folder = note.cwd.clone();
    let name = folder.as_ref().and_then(|folder| folder.raw().rsplit('/').find(|part| !part.is_empty()));
    Some(ClosedWindow {
        key: Key::derive(KeyKind::Record, &[agent, session.raw()]),
        name: name.unwrap_or(agent).into(),
        agent,
        session: session.clone(),
        refusal: refusal(report, world, (agent, session), folder.as_ref()),
        folder,
        doing: doing(world, session),
        last_seen_at: note.written_at,
        command: Some(command),
    })
}

/// Says that the dead window of a record is not listed any more once the record is let go.
pub(crate) fn ends_listing(record: &RecordView) -> Option<String> {
    let is_of_session = matches!(record.kind, RecordKind::Session | RecordKind::Lock);
    let is_listed = is_of_session && has_died(record) && record.location.path().is_some();
    record.session_id.as_ref().filter(|_| is_listed).and_then(|session| {
        resume(record.format.name(), session, None)?;
        Some(format!("claimtop bring-back will not find {} by it any more", record.title))
    })
}

/// Returns whether the holder of a record is dead, and its session runs nowhere else.
fn has_died(record: &RecordView) -> bool {
    record.verdict.state == VerdictState::Dead && record.lives_in.is_none() && record.lives_on.is_none()
}

/// Says why a session is not brought back: something alive runs it, or may, by windows, records of every system, notes
/// of hooks and the process table; or its folder is not known.
fn refusal(
    report: &Report,
    world: &World<'_>,
    (agent, session): (&str, &Untrusted),
    folder: Option<&Untrusted>,
) -> Option<String> {
    if let Some(window) = report.windows.iter().find(|window| may_run_it(window, session)) {
        let is_guess = window.session.as_ref().is_some_and(|own| own.strength == Strength::Guess);
        let runs = if is_guess { "may run" } else { "runs" };
        return Some(format!("its session {runs} as PID {}", window.pid));
    }
    let mut records = report.records.iter().filter(|record| {
        let is_its = record.session_id.as_ref() == Some(session);
        is_its && matches!(record.kind, RecordKind::Session | RecordKind::Lock)
    });
    if let Some(record) = records.find(|record| !has_died(record) && !says_nothing(record)) {
        return Some(match record.verdict.state {
            VerdictState::Alive => "its session lives".to_owned(),
            VerdictState::Dead | VerdictState::Unknown => {
                format!("whether its session lives is not known: {}", record.verdict.reason.name())
            }
        });
    }
    let is_alive = |note: &Arc<BoundSession>| note.session_id == *session && !is_dead(note, world.snapshot);
    if world.snapshot.bound.notes.iter().any(is_alive) {
        return Some(
            "whether its session lives is not known: a hook's note names another process".to_owned(),
        );
    }
    let is_known = folder.is_some_and(|folder| folder.raw().starts_with('/'));
    may_run(report, world, agent).or_else(|| (!is_known).then(|| "its folder is not known".to_owned()))
}

/// Returns whether a window runs a session, however that is known: by its registry, or only by its argument or a guess.
pub(crate) fn may_run_it(window: &WindowView, session: &Untrusted) -> bool {
    window.session_id.as_ref() == Some(session)
        || window.session.as_ref().is_some_and(|own| own.id == *session)
}

/// Returns what a session was asked last, or its title.
fn doing(world: &World<'_>, session: &Untrusted) -> Option<Untrusted> {
    let work = world.snapshot.work.iter().find(|work| work.session == *session)?;
    let asked = work.doing.prompt.as_ref().map(|prompt| prompt.text.clone());
    asked.or_else(|| work.doing.title.clone())
}

/// Says which living process may run a session of an agent, for all that is known.
fn may_run(report: &Report, world: &World<'_>, agent: &str) -> Option<String> {
    let one = possible_runner(|name| name == agent, Strength::Strong, report, world)?;
    Some(format!("{} may run its session: which one it runs is not known", one.name()))
}

impl ClosedWindow {
    /// Returns whether any of these names is its own: its session or its start, its name, its key, its folder.
    pub fn is_called(&self, name: &str) -> bool {
        let is_session = name.len() >= 4 && self.session.raw().starts_with(name);
        let folder = self.folder.as_ref().map(|folder| Path::new(folder.raw()));
        is_session
            || self.name.raw() == name
            || self.key.as_str() == name
            || folder.is_some_and(|folder| folder == Path::new(name))
    }

    /// Returns its folder for people.
    pub fn folder_words(&self) -> String {
        self.folder.as_ref().map(Untrusted::shown).unwrap_or_default()
    }

    /// Returns the command for a person's own shell.
    pub fn line(&self) -> Option<String> {
        resume(self.agent, &self.session, self.folder.as_ref())
    }
}
