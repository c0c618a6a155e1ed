//! Findings about agents that run under a session which Obra's database does not have, or has ended.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::core::judge::rules::facts::{Facts, window_name};
use crate::core::judge::rules::found::Findings;
use crate::core::judge::session::arguments::named;
use crate::core::judge::window::agent::Role;
use crate::core::judge::world::World;
use crate::core::model::snapshot::process::{ancestry, has_exited};
use crate::core::model::text::is_uuid;
use crate::core::model::{
    Code, Database, DatabaseFile, Evidence, Finding, Format, Key, KeyKind, NamedSession, Process, Remedy,
    Untrusted,
};

/// Finds agents that run under a stray ID.
pub(crate) fn findings<'a>(facts: &'a Facts<'a>, found: &mut Findings<'_>) {
    found.extend(strays(facts).into_values().map(|stray| finding(&stray, facts)));
}

/// How long an agent has run, and its session's row has stood as ended, before that is reported: 60 s. Obra writes the row
/// before it starts the agent and ends it after, and rows were read before processes.
const SETTLED_AFTER: SignedDuration = SignedDuration::from_secs(60);

/// An agent that Obra started with a session whose row is missing from its database, or has ended.
pub(crate) struct Stray<'a> {
    pub(crate) process: &'a Process,
    pub(crate) agent: &'a str,
    pub(crate) session: Untrusted,
    /// The orchestrator above it, if that still lives.
    pub(crate) started_by: Option<&'a Process>,
    pub(crate) database: &'a Database,
    /// Its row, if there is one.
    pub(crate) row: Option<&'a NamedSession>,
}

/// Finds them by the process tree and by arguments: the topmost process of each session.
pub(crate) fn strays<'a>(facts: &Facts<'a>) -> BTreeMap<Untrusted, Stray<'a>> {
    let databases: Vec<(&Database, &DatabaseFile)> = facts
        .world
        .snapshot
        .databases
        .iter()
        .filter(|database| database.format == Format::Obra)
        .filter_map(|database| Some((database, database.file.as_ref()?)))
        .collect();
    let mut strays = BTreeMap::new();
    if databases.is_empty() {
        return strays;
    }
    for process in facts.world.snapshot.processes.by_pid.values().filter(|process| !has_exited(process)) {
        if let Some(stray) = stray(process, &databases, facts.world) {
            strays.entry(stray.session.clone()).or_insert(stray);
        }
    }
    strays
}

/// Databases of Obra that are files.
type Databases<'a> = [(&'a Database, &'a DatabaseFile)];

fn stray<'a>(process: &'a Process, databases: &Databases<'a>, world: &World<'a>) -> Option<Stray<'a>> {
    let (signature, role) = world.signatures.classify(process)?;
    let (argv, now) = (&process.details.as_ref()?.argv, world.snapshot.taken_at);
    let session = named(&signature.name, argv).filter(|session| is_uuid(session.raw()))?;
    let age = now.duration_since(world.started_at(process)?);
    if role != Role::Agent || age < SETTLED_AFTER || !world.may_run(process.id.pid, &session) {
        return None;
    }
    let started_by = orchestrator_of(process, databases, world);
    let rows =
        databases.iter().flat_map(|(database, file)| file.named.rows.iter().map(|row| (*database, row)));
    let rows: Vec<(&Database, &NamedSession)> = rows.filter(|(_, row)| row.id == session).collect();
    let (database, row) = if rows.is_empty() {
        (without_row(started_by?, databases)?, None)
    } else {
        // One that was resumed elsewhere may be a person's, who looks at what it did.
        let is_new = argv.iter().any(|argument| argument.raw().starts_with("--session-id"));
        let (database, row) = ended(&rows, now).filter(|_| started_by.is_some() || is_new)?;
        (database, Some(row))
    };
    Some(Stray { process, agent: &signature.name, session, started_by, database, row })
}

/// Returns the row of a session that has ended in every database that has one.
fn ended<'a>(
    rows: &[(&'a Database, &'a NamedSession)],
    now: Timestamp,
) -> Option<(&'a Database, &'a NamedSession)> {
    let is_over = |row: &NamedSession| {
        !row.is_open && row.ended_at.is_none_or(|at| now.duration_since(at) >= SETTLED_AFTER)
    };
    rows.iter().all(|(_, row)| is_over(row)).then(|| rows.first().copied())?
}

/// Returns the database of an orchestrator if all that it has open were read to the end: only then is a row known to
/// be missing.
fn without_row<'a>(orchestrator: &Process, databases: &Databases<'a>) -> Option<&'a Database> {
    let own = databases.iter().filter(|(database, _)| has_open(database, orchestrator.id.pid));
    // The writes of an open transaction are visible to no other process.
    let is_read = |(database, file): &(&Database, &DatabaseFile)| {
        database.is_complete && file.named.is_whole && file.journal_since.is_none()
    };
    own.clone().all(is_read).then(|| own.map(|(database, _)| *database).next())?
}

fn has_open(database: &Database, pid: u32) -> bool {
    database.opened_by.as_ref().is_some_and(|openers| openers.contains(&pid))
}

/// Returns the process of Obra that started an agent: the nearest above it that has a database open, where no other
/// agent lies between.
fn orchestrator_of<'a>(
    process: &Process,
    databases: &Databases<'_>,
    world: &World<'a>,
) -> Option<&'a Process> {
    let runs_it = |pid: u32| {
        databases.iter().any(|(database, file)| file.runners.contains(&pid) && has_open(database, pid))
    };
    let is_agent =
        |above: &Process| world.signatures.classify(above).is_some_and(|(_, role)| role == Role::Agent);
    let above = ancestry(&world.snapshot.processes, process.id.pid).into_iter().skip(1);
    let mut near = above.take_while(|above| !is_agent(above));
    near.find(|above| runs_it(above.id.pid))
}

fn finding(stray: &Stray<'_>, facts: &Facts<'_>) -> Finding {
    let Stray { process, agent, session, started_by, database, row } = stray;
    let window = facts.window(process.id.pid);
    let who = window.map_or_else(|| format!("{agent} (PID {})", process.id.pid), window_name);
    let by = started_by.map_or_else(String::new, |by| format!(", which Obra (PID {}) started,", by.id.pid));
    let (code, what) = match row {
        Some(row) => (
            Code::DeadIdentityServed,
            format!(
                "whose row in {} is {}: its usage and answers are filed under a finished session; let it end before its task is \
                 started again",
                database.name, row.status
            ),
        ),
        None => (
            Code::UnknownSession,
            format!(
                "which has no row in {}: Obra will not find it (\"Session not found\"), and its usage is not counted",
                database.name
            ),
        ),
    };
    let message = format!("{who}{by} runs session {session}, {what}");
    let source = Key::derive(KeyKind::Source, &[&format!("obra:{}", database.name.raw())]);
    let subject = window.map_or(source, |window| window.key.clone());
    Finding::new(code, [subject], message, stray.evidence(), Remedy::None)
}

impl Stray<'_> {
    /// Returns the evidence: the arguments, the process above, and the row or its absence.
    pub(crate) fn evidence(&self) -> Vec<Evidence> {
        let pid = self.process.id.pid;
        let arguments = Evidence::new(
            "arguments",
            format!("PID {pid} was started with session {}", self.session),
            format!("/proc/{pid}/cmdline"),
        );
        let above = self.started_by.map(|by| {
            let value = format!("PID {} of Obra, which has the database open", by.id.pid);
            Evidence::new("started by", value, format!("/proc/{pid}/stat and /proc/{}/fd", by.id.pid))
        });
        let row = match self.row {
            Some(row) => Evidence::new(
                "session_record",
                format!("{}, {}", row.id, row.status),
                self.database.name.clone(),
            )
            .dated(row.ended_at),
            None => Evidence::new(
                "session_record",
                format!("no row with {}", self.session),
                self.database.name.clone(),
            ),
        };
        std::iter::once(arguments).chain(above).chain([row]).collect()
    }
}
