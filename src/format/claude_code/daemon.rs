//! Claude Code's daemon and the editors that it talks to: `daemon.lock` and `ide/<port>.lock`.
//!
//! Neither is a window. The daemon serves background sessions; an editor's file says where it
//! listens, and holds nothing. Both have fields that authenticate, which are never shown.

use crate::core::model::{
    Binding, BrokenFile, ClaudeCode, FileImage, Format, Holder, Record, RecordDetail, RecordKind,
    ResourceKind, Role, Untrusted,
};
use crate::format::claude_code::stated::{claim, holder};
use crate::format::json::{self, Object};
use crate::format::reading::Reading;
use crate::format::{draft, time};

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
    record.holder = holder(&object, Role::Daemon, Binding::Owner, file);
    record.started_at = object.int("startedAt").and_then(time::epoch_ms);
    record.claims = claim(ResourceKind::Lock, Some("Claude Code's daemon".into()), "lock file", &record);
    let by = object.object("spawnedBy");
    record.facts = draft::known([
        ("version", object.text("version")),
        ("origin", object.text("origin")),
        (
            "started by",
            by.and_then(|by| by.str("label")).map(|label| crate::format::excerpt::excerpt(label, 60)),
        ),
    ]);
    record.problems = json::ownership_problems(file, reading, None);
    Ok(record)
}

/// Reads where an editor listens; the PID is the editor's, and may be one of Windows.
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
        ("runs in", is_elsewhere.then(|| "Windows, whose PIDs are others".into())),
    ]);
    record.problems = json::ownership_problems(file, reading, None);
    Ok(record)
}

fn editor_name(object: &Object<'_>) -> Untrusted {
    object.str("ideName").map_or_else(|| "editor".into(), |name| crate::format::excerpt::excerpt(name, 40))
}
