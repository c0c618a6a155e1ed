//! Claude Code's own registry, one file for each running session, its scheduler's and its daemon's
//! lock, task lists, teams, and editors.
//!
//! A record whose `procStart` equals its process's start is certain. File age has no meaning: the file is not
//! rewritten during a long turn. It does not exist before the trust question is answered, nor for old versions; a
//! SIGKILL leaves it behind.

mod daemon;
pub(crate) mod stated;
mod talk;
mod task;
mod team;
#[cfg(test)]
mod tests;
pub(crate) mod work;

pub(crate) use self::daemon::conversation_of;
use crate::core::model::report::context::is_valid_id;
use crate::core::model::text::secret::hidden;
use crate::core::model::{
    Binding, BrokenFile, ClaudeCode, ClaudeStatus, Code, FileImage, Format, NamedTexts, Problem, Record,
    RecordDetail, RecordKind, ResourceKind, Role, StatedPid, Untrusted,
};
use crate::format::agent::claude_code::stated::{claim, holder};
use crate::format::reading::json;
use crate::format::reading::json::{Object, parsed};
use crate::format::reading::place::{Base, place};
use crate::format::reading::{FileContents, Reading};
use crate::format::reading::{draft, time};
use crate::format::spec::Spec;
use crate::format::transcripts::{Layout, SubAgents, Transcripts};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// `sessions/<pid>.json`.
    Session,
    /// `.claude/scheduled_tasks.lock` of a working tree.
    ScheduledTasks,
    /// `tasks/<list>/<n>.json`.
    Task,
    /// `tasks/<list>/.lock`.
    TaskLock,
    /// `teams/<name>/config.json`.
    Team,
    /// `daemon.lock`.
    Daemon,
    /// `daemon/roster.json`.
    Roster,
    /// `ide/<port>.lock`.
    Editor,
}

/// How claimtop reads it.
pub(crate) const SPEC: Spec = Spec::of_files(&[
    place!(ClaudeCode, ClaudeConfig, "sessions", in_sessions => read),
    place!(ClaudeCode, Worktree, ".claude", in_tree => read),
    place!(ClaudeCode, ClaudeConfig, "tasks/*", in_tasks => read),
    place!(ClaudeCode, ClaudeConfig, "teams/*", in_teams => read),
    place!(ClaudeCode, ClaudeConfig, "", in_config => read),
    place!(ClaudeCode, ClaudeConfig, "daemon", in_daemon => read),
    place!(ClaudeCode, ClaudeConfig, "ide", in_ide => read),
])
.with_transcripts(Transcripts {
    sub_agents: Some(SubAgents {
        folder: |transcript| Some(transcript.with_extension("").join("subagents")),
        note: work::sub_agent,
    }),
    ..Transcripts::new(
        (work::ADAPTER, talk::read),
        Base::ClaudeConfig,
        "projects",
        Layout::Folders { inner: "" },
    )
});

fn in_sessions(name: &str) -> Option<Kind> {
    pid_of(name).map(|_| Kind::Session)
}

fn in_tree(name: &str) -> Option<Kind> {
    (name == "scheduled_tasks.lock").then_some(Kind::ScheduledTasks)
}

fn in_teams(name: &str) -> Option<Kind> {
    (name == "config.json").then_some(Kind::Team)
}

fn in_config(name: &str) -> Option<Kind> {
    (name == "daemon.lock").then_some(Kind::Daemon)
}

fn in_daemon(name: &str) -> Option<Kind> {
    (name == "roster.json").then_some(Kind::Roster)
}

fn in_ide(name: &str) -> Option<Kind> {
    is_port(name).then_some(Kind::Editor)
}

fn read(kind: Kind, file: &FileImage, reading: &Reading<'_>) -> FileContents {
    parsed(match kind {
        Kind::Session => session(file, reading),
        Kind::ScheduledTasks => scheduled_tasks(file, reading),
        Kind::Team => team::read(file, reading),
        Kind::Daemon => daemon::lock(file, reading),
        Kind::Roster => daemon::roster(file, reading),
        Kind::Editor => daemon::editor(file, reading),
        Kind::Task => return task::read(file, reading),
        Kind::TaskLock => return task::lock(file, reading),
    })
}

fn in_tasks(name: &str) -> Option<Kind> {
    match name {
        ".lock" => Some(Kind::TaskLock),
        _ => pid_of(name).map(|_| Kind::Task),
    }
}

fn is_port(name: &str) -> bool {
    name.strip_suffix(".lock").is_some_and(|port| port.parse::<u16>().is_ok())
}

/// Returns the PID that a session file's name states.
fn pid_of(name: &str) -> Option<&str> {
    let pid = name.strip_suffix(".json")?;
    (!pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit())).then_some(pid)
}

fn session(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let object = json::object(Format::ClaudeCode, file, reading)?;
    let mut record = draft::record(Format::ClaudeCode, RecordKind::Session, file, reading);
    record.variant = "registry";
    record.session_id = session_id(&object);
    record.context_id = pid_of(file.name()).map(Untrusted::from);
    record.cwd = object.str("cwd").map(Into::into);
    record.title = title(&object, &record);
    record.holder = holder(&object, role(&object), Binding::Registry, reading);
    record.started_at = object.int("startedAt").and_then(time::epoch_ms);
    record.claims = claim(ResourceKind::Session, record.session_id.clone(), "registry", &record);
    record.facts = facts(&object);
    let status = ClaudeStatus {
        status: object.text("status"),
        waiting_for: object.text("waitingFor"),
        // Since 2.1.330 this is the start of the state; before, the last change of the entry.
        updated_at: object.int("statusUpdatedAt").or(object.int("updatedAt")).and_then(time::epoch_ms),
        is_background: object.str("kind") == Some("bg"),
        follows_turns: object.str("version").is_some_and(ClaudeStatus::follows_turns),
        job: object.text("jobId"),
        parked_job: object.text("parkedJobId"),
        is_spare: object.is_true("spare"),
    };
    record.detail = RecordDetail::ClaudeCode(ClaudeCode::Session(status.into()));
    record.problems = problems(file, &object, &record, reading);
    if states_another_pid(file, &record) {
        // One of both PIDs is wrong, so neither can prove a death.
        record.holder = None;
    }
    Ok(record)
}

/// Returns whether an entry states another PID than its name.
fn states_another_pid(file: &FileImage, record: &Record) -> bool {
    let inside = record.holder.as_ref().and_then(|holder| holder.pid.as_ref()).and_then(StatedPid::valid);
    let named: Option<u32> = pid_of(file.name()).and_then(|pid| pid.parse().ok());
    inside.is_some_and(|inside| named.is_some_and(|named| named != inside))
}

/// Returns the name and status from a registry entry if it describes the process with this start time.
pub(crate) fn called(entry: &[u8], start_ticks: u64) -> Option<(Option<Untrusted>, Option<&'static str>)> {
    let object = json::parse(entry).ok()?;
    let is_its = object.str("procStart")?.parse() == Ok(start_ticks);
    let status = object.str("status");
    let doing = ["busy", "idle", "waiting"].into_iter().find(|known| Some(*known) == status);
    let name = || object.str("name").filter(|name| !name.is_empty()).map(|name| (*hidden(name)).into());
    is_its.then(|| (name(), doing))
}

/// Returns the session ID if it is valid, as it ends up in paths.
fn session_id(object: &Object<'_>) -> Option<Untrusted> {
    object.text("sessionId").filter(|id| is_valid_id(id.raw()))
}

fn title(object: &Object<'_>, record: &Record) -> Untrusted {
    let folder = record.cwd.as_deref().and_then(|cwd| cwd.file_name());
    let of_folder = folder.map(|name| Untrusted::from_path(std::path::Path::new(name)));
    object.text("name").or(of_folder).unwrap_or_else(|| "(unnamed)".into())
}

/// Background sessions are agents too; a daemon serves several.
fn role(object: &Object<'_>) -> Role {
    match object.str("kind") {
        Some("daemon" | "daemon-worker") => Role::Daemon,
        Some(_) | None => Role::Agent,
    }
}

fn facts(object: &Object<'_>) -> NamedTexts {
    let number = |name: &str| object.int(name).and_then(time::epoch_ms).map(|at| at.to_string().into());
    let start = match object.has("procStart") {
        true => None,
        false => Some("none recorded, as older versions do".into()),
    };
    draft::known([
        ("status", object.text("status")),
        ("waiting for", object.text("waitingFor")),
        ("kind", object.text("kind")),
        ("version", object.text("version")),
        ("entrypoint", object.text("entrypoint")),
        ("job", object.text("jobId")),
        ("name from", object.text("nameSource")),
        ("updated (no sign of life)", number("statusUpdatedAt").or_else(|| number("updatedAt"))),
        ("process start", start),
    ])
}

fn problems(file: &FileImage, object: &Object<'_>, record: &Record, reading: &Reading<'_>) -> Vec<Problem> {
    let mut problems = json::ownership_problems(file, reading, None);
    if record.session_id.is_none() {
        problems.push(Problem::new(Code::UnknownSession, "states no usable session ID"));
    }
    let inside = record.holder.as_ref().and_then(|holder| holder.pid.as_ref()).and_then(StatedPid::valid);
    let named: Option<u32> = pid_of(file.name()).and_then(|pid| pid.parse().ok());
    if let (Some(inside), Some(named)) = (inside, named)
        && inside != named
    {
        problems.push(Problem::new(
            Code::IdentitySplit,
            format!("is named for PID {named} and states PID {inside}"),
        ));
    }
    if object.has("startedAt") && record.started_at.is_none() && object.int("startedAt") != Some(0) {
        problems.push(Problem::new(Code::BadTimestamp, "states a start that is not a time"));
    }
    problems
}

/// The scheduler's lock remains after a SIGKILL; PID and start show whether its owner lives.
fn scheduled_tasks(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let object = json::object(Format::ClaudeCode, file, reading)?;
    let mut record = draft::record(Format::ClaudeCode, RecordKind::Lock, file, reading);
    let tree = file.path.parent().and_then(|folder| folder.parent());
    record.variant = "scheduled tasks lock";
    record.title = "scheduled tasks".into();
    record.session_id = session_id(&object);
    record.cwd = tree.map(Into::into);
    record.holder = holder(&object, Role::Agent, Binding::Owner, reading);
    record.started_at = object.int("acquiredAt").and_then(time::epoch_ms);
    let id =
        tree.map(|tree| Untrusted::from(format!("scheduled tasks of {}", Untrusted::from_path(tree).raw())));
    record.claims = claim(ResourceKind::Lock, id, "lock file", &record);
    record.problems = json::ownership_problems(file, reading, None);
    Ok(record)
}
