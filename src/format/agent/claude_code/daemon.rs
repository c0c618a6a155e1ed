//! Claude Code's daemon and the editors that it talks to: `daemon.lock`, `daemon/roster.json` and
//! `ide/<port>.lock`.
//!
//! These are not windows. The daemon serves background sessions, which its roster lists; an editor's file has its
//! port, and holds nothing. All have fields that authenticate, which are never shown.

use crate::core::model::report::context::is_valid_id;
use crate::core::model::{
    BackgroundSession, Binding, BrokenFile, ClaudeCode, FileImage, Format, Holder, ProcessId, Record,
    RecordDetail, RecordKind, ResourceKind, Role, Untrusted, stated_start,
};
use crate::format::agent::claude_code::stated::{claim, holder};
use crate::format::reading::Reading;
use crate::format::reading::json;
use crate::format::reading::json::Object;
use crate::format::reading::{draft, time};

/// How many folders of an editor are named.
const MOST: usize = 10;

/// Reads the daemon's lock: PID and start are the daemon's own.
///
/// # Errors
/// The broken file: not readable, torn or corrupt.
pub(super) fn lock(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let object = json::object(Format::ClaudeCode, file, reading)?;
    let mut record = draft::record(Format::ClaudeCode, RecordKind::Metadata, file, reading);
    record.variant = "daemon lock";
    record.detail = RecordDetail::ClaudeCode(ClaudeCode::Daemon);
    record.title = "Claude Code's daemon".into();
    record.holder = holder(&object, Role::Daemon, Binding::Owner, reading);
    record.started_at = object.int("startedAt").and_then(time::epoch_ms);
    record.claims = claim(ResourceKind::Lock, Some("Claude Code's daemon".into()), "lock file", &record);
    let by = object.object("spawnedBy");
    record.facts = draft::known([
        ("version", object.text("version")),
        ("origin", object.text("origin")),
        (
            "started by",
            by.and_then(|by| by.str("label"))
                .map(|label| crate::format::reading::excerpt::excerpt(label, 60)),
        ),
    ]);
    record.problems = json::ownership_problems(file, reading, None);
    Ok(record)
}

/// Reads the sessions that the daemon runs in the background: each is a new one, which continues the work of the
/// session whose transcript it was started from (as of 2.1.330).
///
/// # Errors
/// The broken file: not readable, torn or corrupt.
pub(super) fn roster(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let object = json::object(Format::ClaudeCode, file, reading)?;
    let mut record = draft::record(Format::ClaudeCode, RecordKind::Metadata, file, reading);
    let workers: Vec<Option<BackgroundSession>> = object
        .object("workers")
        .map(|workers| workers.iter().map(|(job, worker)| background(job, worker.as_object()?)).collect())
        .unwrap_or_default();
    let is_whole = object.object("workers").is_some() && workers.iter().all(Option::is_some);
    let daemon = object.pid("supervisorPid", false).and_then(|pid| pid.valid());
    let sessions: Vec<BackgroundSession> = workers.into_iter().flatten().collect();
    record.variant = "daemon roster";
    record.title = "Claude Code's background sessions".into();
    record.facts = draft::known([("sessions", Some(sessions.len().to_string().as_str().into()))]);
    record.detail = RecordDetail::ClaudeCode(ClaudeCode::Roster { daemon, sessions, is_whole });
    record.problems = json::ownership_problems(file, reading, None);
    Ok(record)
}

/// Returns the sessions whose conversation a session continues in the background, or that continue its own, by the
/// daemon's roster (as of 2.1.332).
pub(crate) fn conversation_of(roster: &[u8], session: &Untrusted) -> Vec<Untrusted> {
    let Ok(object) = json::parse(roster) else { return Vec::new() };
    let Some(workers) = object.object("workers") else { return Vec::new() };
    let known = workers.iter().filter_map(|(job, worker)| background(job, worker.as_object()?));
    let pairs = known.filter_map(|known| Some((known.id?, known.from?)));
    let same = |(id, from): (Untrusted, Untrusted)| match (id == *session, from == *session) {
        (true, false) => Some(from),
        (false, true) => Some(id),
        _ => None,
    };
    pairs.filter_map(same).collect()
}

/// Reads one background session; nothing if its process or its origin is missing.
fn background(job: &str, worker: &Object<'_>) -> Option<BackgroundSession> {
    let process = |pid: &str, start: &str| {
        let pid = worker.pid(pid, false)?.valid()?;
        Some(ProcessId { pid, start_ticks: stated_start(worker.str(start)?)? })
    };
    let id = |text: &str| Some(Untrusted::from(text)).filter(|id| is_valid_id(id.raw()));
    let dispatch = worker.object("dispatch")?;
    let launch = dispatch.object("launch")?;
    // A session that was begun in the background has no origin. Others have a transcript's path, or an ID.
    let from = match launch.str("mode")? {
        "prompt" => None,
        _ => Some(id(launch.str("sessionId")?.rsplit('/').next()?.trim_end_matches(".jsonl"))?),
    };
    Some(BackgroundSession {
        process: process("replPid", "replProcStart"),
        host: Some(process("pid", "procStart")?),
        job: id(job),
        id: Some(worker.str("sessionId").and_then(id)?),
        from,
        since: dispatch.int("createdAt").and_then(time::epoch_ms),
    })
}

/// Reads an editor's port; the PID is the editor's, and may be one of Windows.
///
/// # Errors
/// The broken file: not readable, torn or corrupt.
pub(super) fn editor(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let object = json::object(Format::ClaudeCode, file, reading)?;
    let mut record = draft::record(Format::ClaudeCode, RecordKind::Metadata, file, reading);
    let port = file.name().strip_suffix(".lock").unwrap_or_default().to_owned();
    let is_elsewhere = matches!(object.get("runningInWindows"), Some(json::Value::Bool(true)));
    record.variant = "editor";
    record.detail = RecordDetail::ClaudeCode(ClaudeCode::Editor);
    record.title = format!("{} on port {port}", editor_name(&object).raw()).into();
    let pid = object.pid("pid", false).filter(|_| !is_elsewhere);
    record.holder = pid.map(|pid| Holder::new(pid, Role::Daemon, Binding::File));
    let folders: Vec<&str> = object.strings("workspaceFolders").take(MOST).collect();
    record.facts = draft::known([
        ("folders", (!folders.is_empty()).then(|| folders.join(", ").into())),
        ("transport", object.text("transport")),
        ("runs in", is_elsewhere.then(|| "Windows, whose PIDs differ".into())),
    ]);
    record.problems = json::ownership_problems(file, reading, None);
    Ok(record)
}

fn editor_name(object: &Object<'_>) -> Untrusted {
    object
        .str("ideName")
        .map_or_else(|| "editor".into(), |name| crate::format::reading::excerpt::excerpt(name, 40))
}
