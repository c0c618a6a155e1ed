//! Claude Code's task lists: `tasks/<list>/<n>.json`. The list is a session's ID, a team's name or the value of
//! `CLAUDE_CODE_TASK_LIST_ID`; a task names neither process nor time, and its owner is a free name.

use crate::core::model::report::context::is_valid_id;
use crate::core::model::text::is_uuid;
use crate::core::model::{
    ClaudeCode, FileImage, Format, Holder, RecordDetail, RecordKind, ResourceKind, Role, StatedClaim,
    Untrusted,
};
use crate::format::reading::draft;
use crate::format::reading::json;
use crate::format::reading::json::Object;
use crate::format::reading::{FileContents, Reading};

/// Reads a task: one that is done, or not taken, holds nothing.
pub(super) fn read(file: &FileImage, reading: &Reading<'_>) -> FileContents {
    let object = match json::object(Format::ClaudeCode, file, reading) {
        Ok(object) => object,
        Err(broken) => return FileContents::Broken(broken),
    };
    if !is_taken(&object) {
        return FileContents::Ignored;
    }
    let number = file.name().trim_end_matches(".json");
    let mut record = draft::record(Format::ClaudeCode, RecordKind::Metadata, file, reading);
    record.variant = "task";
    record.detail = RecordDetail::ClaudeCode(ClaudeCode::Task { owner: object.text("owner") });
    record.title = title(&object, number);
    (record.context_id, record.session_id) = list(file);
    record.facts = draft::known([
        ("status", object.text("status")),
        ("owner", object.text("owner")),
        ("blocked by", joined(&object, "blockedBy")),
    ]);
    let id = record.context_id.iter().map(|list| Untrusted::from(format!("{}#{number}", list.raw())));
    record.claims = id.map(|id| StatedClaim::new(ResourceKind::Task, id, "task file", None)).collect();
    record.problems = json::ownership_problems(file, reading, None);
    json::parsed(Ok(record))
}

/// Reads the lock of a list, whose file always exists: nothing while no process holds it.
pub(super) fn lock(file: &FileImage, reading: &Reading<'_>) -> FileContents {
    let Some(pid) = file.locked_by else { return FileContents::Ignored };
    let mut record = draft::record(Format::ClaudeCode, RecordKind::Lock, file, reading);
    record.variant = "task list lock, held";
    (record.context_id, record.session_id) = list(file);
    let id = record.context_id.clone().unwrap_or_default();
    record.title = id.clone();
    // The kernel names the present holder; the file's age does not matter.
    record.written_at = reading.now;
    record.holder = Some(Holder::of_lock(pid, Role::Hook));
    let id = format!("task list {}", id.raw());
    record.claims = vec![StatedClaim::new(ResourceKind::Lock, id, "flock", None)];
    json::parsed(Ok(record))
}

fn is_taken(object: &Object<'_>) -> bool {
    match object.str("status") {
        Some("in_progress") => true,
        Some("pending") => object.text("owner").is_some(),
        Some(_) | None => false,
    }
}

fn title(object: &Object<'_>, number: &str) -> Untrusted {
    let subject = object.str("subject").map(|subject| crate::format::reading::excerpt::excerpt(subject, 60));
    format!("task {number}: {}", subject.unwrap_or_else(|| "(no subject)".into()).raw()).into()
}

/// Returns the list that a file is in, and the session if the list's name is its ID.
fn list(file: &FileImage) -> (Option<Untrusted>, Option<Untrusted>) {
    let list = file.path.parent().and_then(|folder| folder.file_name());
    let list = list.map(|name| Untrusted::from_path(std::path::Path::new(name)));
    let session = list.clone().filter(|id| is_uuid(id.raw()) && is_valid_id(id.raw()));
    (list, session)
}

fn joined(object: &Object<'_>, name: &str) -> Option<Untrusted> {
    let all: Vec<&str> = object.strings(name).take(20).collect();
    (!all.is_empty()).then(|| all.join(", ").into())
}
