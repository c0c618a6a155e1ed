//! Rows of `session_record`.

use jiff::{SignedDuration, Timestamp};

use super::pairs::{Pairs, is_run};
use super::tables::{SESSION, Tables, is_active};
use crate::core::model::{
    Binding, Code, Expiry, Holder, HolderNames, ObraRow, Problem, Record, RecordDetail, RecordKind, Resource,
    ResourceKind, Role, StatedClaim, Surface, SurfaceState, Untrusted,
};
use crate::format::Source;
use crate::format::obra::row::draft;
use crate::format::reading::Reading;
use crate::format::reading::cells::Cells;
use crate::format::reading::draft::known;

/// How long one iteration can take: the agent's 7,200 s, and 16.25 s of retries.
const ITERATION_FOR: SignedDuration = SignedDuration::from_secs(7_217);

/// How far ahead of the clock a start may lie: 60 s.
const AHEAD: SignedDuration = SignedDuration::from_secs(60);

/// How long a task may have ended before its session does: 60 s.
const CLOSING_FOR: SignedDuration = SignedDuration::from_secs(60);

pub(super) fn record(
    row: &Cells,
    tables: &Tables,
    pairs: &Pairs,
    source: &Source,
    reading: &Reading<'_>,
) -> Record {
    let id = row.number("id").unwrap_or_default();
    let is_companion = pairs.contains_key(&id);
    let kind = if is_companion { RecordKind::Companion } else { RecordKind::Session };
    let mut record = draft(kind, SESSION, row, source, reading);
    let run = pairs.iter().find(|(_, iteration)| **iteration == id).map(|(run, _)| *run);
    let run_row = run.and_then(|run| tables.sessions.iter().find(|other| other.number("id") == Some(run)));
    record.variant = variant(row);
    record.session_id = row.text("session_id").filter(|id| !id.is_empty()).map(Untrusted::from);
    record.context_id = run_row.unwrap_or(row).text("session_id").map(Untrusted::from);
    record.started_at = row.time("started_at");
    record.heartbeat_at = row.newest(&["updated_at", "last_usage_at", "last_interaction_at"]);
    let written_at = row.newest(&["updated_at", "started_at", "ended_at", "created_at"]);
    record.written_at = written_at.unwrap_or(reading.now);
    record.has_ended = !is_active(row);
    record.holder = tables.is_remote.then(remote);
    let project = tables.project(row.number("project_id"));
    let folder = project.and_then(|project| project.text("working_directory"));
    record.cwd = folder.map(Into::into);
    record.title = title(row, tables);
    if is_active(row) {
        record.expiry = expiry(row);
        record.claims = claims(row, run.is_some(), tables);
    }
    record.facts = known([
        ("status", row.text("status").map(Untrusted::from)),
        ("task", row.text("task_id").map(Untrusted::from)),
        ("epic", row.text("milestone_id").map(Untrusted::from)),
        ("project", project.and_then(|project| project.text("project_name")).map(Untrusted::from)),
        ("tokens", row.text("total_tokens").map(Untrusted::from)),
        ("turns", row.text("total_turns").map(Untrusted::from)),
    ]);
    record.detail = RecordDetail::Obra(ObraRow {
        status: row.text("status").map(Untrusted::from),
        task: row.text("task_id").or_else(|| row.text("milestone_id")).map(Untrusted::from),
    });
    record.problems = problems(row, tables, reading.now);
    record
}

fn variant(row: &Cells) -> &'static str {
    if row.number("task_id").is_some() {
        "iteration"
    } else if is_run(row) {
        "run"
    } else {
        "epic"
    }
}

/// Returns the holder of a remote session: Obra's ssh agent starts its processes on another host.
fn remote() -> Holder {
    let host = Some(Untrusted::fixed("(reached by ssh)"));
    let names = HolderNames { host, ..Default::default() }.kept();
    Holder { pid: None, role: Role::Agent, binding: Binding::File, start_ticks: None, names }
}

fn title(row: &Cells, tables: &Tables) -> Untrusted {
    let task = row.number("task_id").or_else(|| row.number("milestone_id"));
    match task {
        Some(id) => match tables.task(id).and_then(|task| task.text("title")) {
            Some(title) => format!("task {id}: {title}").into(),
            None => format!("task {id}").into(),
        },
        None => {
            let project = tables.project(row.number("project_id"));
            format!("a run in {}", project.and_then(|p| p.text("project_name")).unwrap_or("no project"))
                .into()
        }
    }
}

fn expiry(row: &Cells) -> Option<Expiry> {
    row.number("task_id")?;
    let at = row.time("started_at")?.checked_add(ITERATION_FOR).ok()?;
    Some(Expiry { at, rule: "an iteration longer than its agent's 7,200 s and all retries" })
}

/// Returns the claims of a row: a task or an epic, and for a run's own row, the project.
fn claims(row: &Cells, has_run: bool, tables: &Tables) -> Vec<StatedClaim> {
    let project = tables.project(row.number("project_id"));
    let folder = project.and_then(|project| project.text("working_directory"));
    let since = row.time("started_at");
    let claim = |kind, id: String, surfaces: Vec<Surface>| {
        let resource = Resource { kind, id: id.into() };
        StatedClaim { resource, since, surfaces: surfaces.into() }
    };
    let task = row.number("task_id").or_else(|| row.number("milestone_id"));
    let own = task.map(|id| {
        claim(ResourceKind::Task, format!("{}#{id}", folder.unwrap_or_default()), surfaces(id, tables))
    });
    let of_project = folder.filter(|_| !has_run).map(|folder| {
        let surface = Surface { name: "session_record.status", state: SurfaceState::Agrees };
        claim(ResourceKind::Project, folder.to_owned(), vec![surface])
    });
    own.into_iter().chain(of_project).collect()
}

/// Compares the two places of a task's claim. Only the scheduler ever sets RUNNING, so a waiting task does not
/// contradict it.
fn surfaces(task: i64, tables: &Tables) -> Vec<Surface> {
    let mut surfaces = vec![Surface { name: "session_record.status", state: SurfaceState::Agrees }];
    let state = match tables.task(task).and_then(|task| task.text("status")) {
        Some("RUNNING") => Some(SurfaceState::Agrees),
        Some("COMPLETED" | "FAILED" | "CANCELLED") => Some(SurfaceState::Disagrees),
        Some(_) | None => None,
    };
    surfaces.extend(state.map(|state| Surface { name: "task.status", state }));
    surfaces
}

fn problems(row: &Cells, tables: &Tables, now: Timestamp) -> Vec<Problem> {
    let mut problems = Vec::new();
    if row.text("session_id").is_none_or(str::is_empty) {
        problems.push(Problem::new(Code::UnknownSession, "the row has no session ID"));
    }
    problems.extend(bad_start(row, now));
    if is_active(row) {
        problems.extend(
            [finished(row, tables, now), repeated(row, tables), unsaid(row, tables)].into_iter().flatten(),
        );
    } else if row.text("status") == Some("refreshed") {
        problems.extend(refreshed(row, tables));
    }
    problems
}

fn bad_start(row: &Cells, now: Timestamp) -> Option<Problem> {
    let text = row.text("started_at").unwrap_or("nothing");
    let why = match row.time("started_at") {
        None => format!("started_at is {text}, which is not a time"),
        Some(at) if at.duration_since(now) > AHEAD => {
            format!("started_at is {text} UTC, which is in the future")
        }
        Some(_) => return None,
    };
    Some(Problem::new(Code::BadTimestamp, why))
}

/// Returns the problem of a finished task whose session was never closed.
fn finished(row: &Cells, tables: &Tables, now: Timestamp) -> Option<Problem> {
    let id = row.number("task_id").or_else(|| row.number("milestone_id"))?;
    let task = tables.task(id)?;
    let status =
        task.text("status").filter(|status| matches!(*status, "COMPLETED" | "FAILED" | "CANCELLED"))?;
    let ended_at = task.newest(&["completed_at", "updated_at"])?;
    let message = format!("task {id} is {status}, but this session of it is still marked active");
    (now.duration_since(ended_at) > CLOSING_FOR).then(|| Problem::new(Code::FinishedItemClaimed, message))
}

/// Returns the problem of an iteration that was never closed: a newer one of the same task has followed it.
fn repeated(row: &Cells, tables: &Tables) -> Option<Problem> {
    let (id, task) = (row.number("id")?, row.number("task_id")?);
    let newer = tables.sessions.iter().filter(|other| is_active(other)).find(|other| {
        other.number("task_id") == Some(task) && other.number("id").is_some_and(|other| other > id)
    })?;
    let newer = newer.text("id").unwrap_or_default();
    let message =
        format!("row {newer} is a newer active iteration of task {task}: this one was never closed");
    Some(Problem::new(Code::StaleRecord, message))
}

/// Returns the problem of a session that the log calls abandoned: the code sets that outside of a transaction, and it
/// is lost if the process ends before another one commits.
fn unsaid(row: &Cells, tables: &Tables) -> Option<Problem> {
    let session = row.text("session_id")?;
    let message = "its log says that it was abandoned, which never reached the database";
    let is_only_one = |begin: &&String| {
        let mut named = tables.sessions.iter().filter_map(|row| row.text("session_id"));
        named.all(|other| other == session || !other.starts_with(begin.as_str()))
    };
    let abandoned =
        tables.abandoned.iter().filter(|begin| session.starts_with(begin.as_str())).find(is_only_one);
    abandoned.map(|_| Problem::new(Code::StaleRecord, message))
}

/// Returns the problem of a session that was handed over incompletely.
fn refreshed(row: &Cells, tables: &Tables) -> Option<Problem> {
    let id = row.number("id")?;
    let is_next = |other: &&Cells| {
        other.number("id").is_some_and(|other| other > id)
            && other.number("milestone_id") == row.number("milestone_id")
            && other.number("project_id") == row.number("project_id")
    };
    let has_next = row.number("has_next") == Some(1) || tables.sessions.iter().any(|o| is_next(&o));
    let lacks: Vec<&str> = [
        (has_next, "no newer session of its epic"),
        (row.text("ended_at").is_some(), "no end"),
        (row.text("summary").is_some() || row.number("has_summary") == Some(1), "no summary"),
    ]
    .into_iter()
    .filter_map(|(is_there, what)| (!is_there).then_some(what))
    .collect();
    let message = format!("its context was refreshed, but it has {}", lacks.join(", "));
    (!lacks.is_empty()).then(|| Problem::new(Code::OrphanCompanion, message))
}
