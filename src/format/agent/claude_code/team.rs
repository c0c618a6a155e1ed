//! Claude Code's teams: `teams/<name>/config.json`, which names the owner of a team's tasks.

use crate::core::model::report::context::is_valid_id;
use crate::core::model::{
    BrokenFile, ClaudeCode, FileImage, Format, Record, RecordDetail, RecordKind, Untrusted,
};
use crate::format::reading::Reading;
use crate::format::reading::json;
use crate::format::reading::json::Object;
use crate::format::reading::value::Value;
use crate::format::reading::{draft, time};

/// How many members are named.
const MOST: usize = 20;

/// Reads a team. Its members live in its leader's process, unless they have panes of their own.
///
/// # Errors
/// The broken file: not readable, torn or corrupt.
pub(super) fn read(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let object = json::object(Format::ClaudeCode, file, reading)?;
    let mut record = draft::record(Format::ClaudeCode, RecordKind::Metadata, file, reading);
    let folder = file.path.parent().and_then(|folder| folder.file_name());
    record.variant = "team";
    record.context_id = folder.map(|name| Untrusted::from_path(std::path::Path::new(name)));
    record.session_id = object.text("leadSessionId").filter(|id| is_valid_id(id.raw()));
    record.title = record.context_id.clone().unwrap_or_default();
    record.started_at = object.int("createdAt").and_then(time::epoch_ms);
    let members: Vec<&Object<'_>> = members(&object).collect();
    let leader = members.iter().find(|member| member.str("tmuxPaneId") == Some("leader"));
    record.cwd = leader.and_then(|leader| leader.str("cwd")).map(Into::into);
    let in_panes = names(&members, has_own_pane);
    record.facts = draft::known([
        ("leader", leader.and_then(|leader| leader.text("name"))),
        ("members", names(&members, |_| true)),
        ("in panes", in_panes.clone()),
    ]);
    record.detail = RecordDetail::ClaudeCode(ClaudeCode::Team { in_panes });
    record.problems = json::ownership_problems(file, reading, None);
    Ok(record)
}

fn members<'a>(object: &'a Object<'a>) -> impl Iterator<Item = &'a Object<'a>> {
    let list = object.get("members").and_then(Value::as_array).unwrap_or_default();
    list.iter().filter_map(Value::as_object)
}

/// Returns whether a member may run in a process of its own: any member that is not known to run in the leader's.
fn has_own_pane(member: &Object<'_>) -> bool {
    !matches!(member.str("tmuxPaneId"), Some("leader" | "in-process"))
        && member.str("backendType") != Some("in-process")
}

fn names(members: &[&Object<'_>], is_meant: impl Fn(&Object<'_>) -> bool) -> Option<Untrusted> {
    let meant = members.iter().filter(|member| is_meant(member));
    let names: Vec<&str> = meant.map(|member| member.str("name").unwrap_or("?")).take(MOST).collect();
    (!names.is_empty()).then(|| names.join(", ").into())
}
