//! One session's state: phase, owner, working tree, files and checkpoints.

use super::names;
use crate::core::model::report::context::is_valid_id;
use crate::core::model::{
    Binding, BrokenFile, Code, Deletion, Entire, Expiry, FileImage, Format, Generation, Holder, HolderNames,
    NamedTexts, Problem, Record, RecordDetail, RecordKind, ResourceKind, Role, Spares, StatedClaim,
    Untrusted, stated_start,
};
use crate::format::reading::Reading;
use crate::format::reading::json;
use crate::format::reading::json::Object;
use crate::format::reading::value::Value;
use crate::format::reading::{draft, time};

/// After this long without a sign of life entire calls an active session stuck: 1 h.
const STUCK_AFTER_SECONDS: i64 = 3_600;
/// After this long entire deletes a state when it lists them: 7 days.
const KEPT_SECONDS: i64 = 7 * 86_400;
/// Keys that only older code wrote.
const DEPRECATED: [&str; 4] = [
    "condensed_transcript_lines", "transcript_lines_at_start", "concurrent_warning_shown",
    "should_reset_shadow_branch",
];

/// The phase of a session.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Active,
    Idle,
    Ended,
}

/// Reads a state file.
///
/// # Errors
/// The broken file: not readable, torn or corrupt.
pub(super) fn read(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let object = json::object(Format::Entire, file, reading)?;
    let id = file.name().trim_end_matches(".json");
    let phase = phase(&object);
    let mut record = draft::record(Format::Entire, RecordKind::Session, file, reading);
    record.generation = generation(&object, id);
    record.variant = variant(&object, record.generation);
    record.context_id = Some(id.into());
    record.session_id = Some(names::agent_id(id)).filter(|id| is_valid_id(id)).map(Untrusted::from);
    record.title = title(&object);
    record.holder = holder(&object);
    record.started_at = object.str("started_at").and_then(time::rfc3339);
    record.heartbeat_at = object.str("last_interaction_time").and_then(time::rfc3339).or(record.started_at);
    record.cwd = object.str("worktree_path").filter(|path| !path.is_empty()).map(Into::into);
    record.files = object.strings("files_touched").map(Untrusted::from).collect();
    let is_out_of_use = is_out_of_use(&object);
    record.has_ended = phase == Phase::Ended || is_out_of_use;
    record.has_unsaved_work = is_uncondensed(&object) && !is_out_of_use;
    (record.expiry, record.deletion) = limits(&object, phase, &record);
    record.claims = claims(&object, &record);
    record.facts = facts(&object);
    record.detail = RecordDetail::Entire(Box::new(Entire {
        agent: object.text("agent_type"),
        shadow_branch: shadow_branch(&object),
        checkpoints: checkpoints(&object),
        last_checkpoint: object.text("last_checkpoint_id"),
        worktree_id: object.text("worktree_id"),
        repository: None,
        open_tasks: open_tasks(&object),
        is_condensing: object.object("condensation_attempt").is_some(),
    }));
    record.problems = problems(file, &object, id, reading);
    Ok(record)
}

/// Reads the phase as entire does: `active_committed` is active, anything unknown idle, and an
/// end time alone ends a session.
fn phase(object: &Object<'_>) -> Phase {
    match object.str("phase") {
        _ if object.str("ended_at").and_then(time::rfc3339).is_some() => Phase::Ended,
        Some("ended") => Phase::Ended,
        Some("active" | "active_committed") => Phase::Active,
        Some(_) | None => Phase::Idle,
    }
}

/// Returns whether a state is only a memory: it was imported, or another repository adopted it.
fn is_out_of_use(object: &Object<'_>) -> bool {
    object.str("kind") == Some("imported")
        || object.text("adopted_into_worktree_path").is_some()
        || object.text("adopted_into_worktree_id").is_some()
}

fn generation(object: &Object<'_>, id: &str) -> Generation {
    let is_old = names::has_date(id)
        || object.str("phase") == Some("active_committed")
        || DEPRECATED.iter().any(|key| object.has(key));
    if is_old { Generation::Legacy } else { Generation::Current }
}

fn variant(object: &Object<'_>, generation: Generation) -> &'static str {
    match generation {
        Generation::Legacy => "state of old code",
        Generation::Current if object.has("owner") => "state with owner",
        Generation::Current => "state",
    }
}

fn title(object: &Object<'_>) -> Untrusted {
    let prompt = object.text("last_prompt").or_else(|| object.text("first_prompt"));
    let prompt = prompt.map(|text| crate::format::reading::excerpt::excerpt(text.raw(), 60));
    prompt.or_else(|| object.text("agent_type")).unwrap_or_else(|| "(no prompt)".into())
}

/// Reads the owner: the nearest ancestor of the hook that is neither shell, git nor entire. That is the agent, or a
/// program by which the agent runs its hooks: a script of Python or node, `timeout`, `make`. `agent_pid`, proposed and
/// never merged upstream, is the hook's own parent: below `sh -c` a shell that is gone at once, as dash forks.
fn holder(object: &Object<'_>) -> Option<Holder> {
    let Some(owner) = object.object("owner") else {
        return Some(Holder::new(object.pid("agent_pid", false)?, Role::Unknown, Binding::File));
    };
    let mut holder = Holder::new(owner.pid("pid", false)?, Role::Unknown, Binding::Owner);
    holder.start_ticks = owner.str("start").and_then(stated_start);
    let (boot_id, host, name) = (owner.text("boot"), owner.text("host"), owner.text("name"));
    holder.names = HolderNames { boot_id, host, name, ..Default::default() }.kept();
    Some(holder)
}

/// Returns how many checkpoints it has made since the last one in a commit.
fn checkpoints(object: &Object<'_>) -> u64 {
    object.int("checkpoint_count").and_then(|count| count.try_into().ok()).unwrap_or(0)
}

/// Returns whether checkpoints wait to be condensed into a commit.
fn is_uncondensed(object: &Object<'_>) -> bool {
    checkpoints(object) > 0 && !object.is_true("fully_condensed")
}

fn limits(object: &Object<'_>, phase: Phase, record: &Record) -> (Option<Expiry>, Option<Deletion>) {
    let is_imported = object.str("kind") == Some("imported");
    let expiry = record.heartbeat_at.filter(|_| phase == Phase::Active).map(|last| Expiry {
        at: time::add_seconds(last, STUCK_AFTER_SECONDS),
        rule: "active for more than 1 h without a sign of life",
    });
    let deletion = record.heartbeat_at.filter(|_| !is_imported).map(|last| Deletion {
        at: time::add_seconds(last, KEPT_SECONDS),
        rule: "entire deletes states 7 days after the last interaction when it lists them",
        spares: Spares::Nobody,
    });
    (expiry, deletion)
}

/// Returns the claims: a session that has not ended holds its working tree, and its shadow branch once it has
/// checkpoints; the branch is shared by all sessions of one base and tree.
fn claims(object: &Object<'_>, record: &Record) -> Vec<StatedClaim> {
    if record.has_ended {
        return Vec::new();
    }
    let stated = |kind, id: Untrusted| StatedClaim::new(kind, id, "state file", record.started_at);
    let tree = record.cwd.as_deref().map(|path| stated(ResourceKind::Worktree, Untrusted::from_path(path)));
    let branch = is_uncondensed(object).then(|| shadow_branch(object)).flatten();
    let branch = branch.map(|branch| stated(ResourceKind::Branch, branch));
    tree.into_iter().chain(branch).collect()
}

/// Returns the branch on which its checkpoints wait.
fn shadow_branch(object: &Object<'_>) -> Option<Untrusted> {
    let tree = object.str("worktree_id").unwrap_or("");
    names::shadow_branch(object.str("base_commit")?, tree).map(Untrusted::from)
}

fn facts(object: &Object<'_>) -> NamedTexts {
    let number = |name: &str| object.int(name).map(|number| Untrusted::from(number.to_string()));
    draft::known([
        ("phase", object.text("phase")),
        ("agent", object.text("agent_type")),
        ("branch", object.text("branch")),
        ("checkpoints", number("checkpoint_count")),
        ("last checkpoint", object.text("last_checkpoint_id")),
        ("base commit", object.text("base_commit")),
        ("shadow branch", shadow_branch(object)),
        ("working tree", object.text("worktree_id")),
        ("kind", object.text("kind")),
        ("adopted into", object.text("adopted_into_worktree_path")),
        ("written by version", object.text("cli_version")),
        (
            "tasks in flight",
            Some(open_tasks(object)).filter(|open| *open > 0).map(|open| open.to_string().into()),
        ),
        ("condensation", object.object("condensation_attempt").map(|_| "an attempt is pending".into())),
    ])
}

/// Counts sub-agents' tasks without an end: Go writes its zero time for "not yet".
fn open_tasks(object: &Object<'_>) -> usize {
    let tasks = object.get("task_records").and_then(Value::as_array).unwrap_or_default();
    let is_open = |task: &&Value<'_>| {
        let completed_at = task.as_object().and_then(|task| task.str("completed_at"));
        completed_at.and_then(time::rfc3339).is_none()
    };
    tasks.iter().filter(is_open).count()
}

fn problems(file: &FileImage, object: &Object<'_>, id: &str, reading: &Reading<'_>) -> Vec<Problem> {
    let mut problems = json::ownership_problems(file, reading, Some(0o600));
    if generation(object, id) == Generation::Legacy {
        problems.push(Problem::new(
            Code::LegacyRecord,
            "written by older code; entire reads it and rewrites it by itself",
        ));
    }
    if object.str("session_id").is_some_and(|inside| inside != id) {
        let inside = object.text("session_id").unwrap_or_default();
        problems.push(Problem::new(
            Code::IdentitySplit,
            format!("is named for {} and states {inside}", Untrusted::from(id)),
        ));
    }
    if object.str("base_commit").unwrap_or("").is_empty() {
        let what = "partial: no base commit, the stub of a warning about a concurrent session";
        problems.push(Problem::new(Code::UnknownSession, what));
    }
    problems.extend(times(object, reading));
    let ended_at = object.str("ended_at").and_then(time::rfc3339).is_some();
    let says_ended = object.str("phase") == Some("ended");
    if ended_at != says_ended && (ended_at || object.has("ended_at")) {
        problems.push(Problem::new(Code::StaleRecord, "phase and ended_at disagree on whether it has ended"));
    }
    problems
}

fn times(object: &Object<'_>, reading: &Reading<'_>) -> Vec<Problem> {
    let stated = ["started_at", "last_interaction_time", "ended_at"].into_iter();
    let stated = stated.filter_map(|name| Some((name, object.str(name)?))).filter(|(_, text)| !is_zero(text));
    let bad = stated.filter_map(|(name, text)| {
        let shown = Untrusted::from(text);
        match time::rfc3339(text) {
            None => Some(format!("{name} is not a time: {shown}")),
            Some(at) if at > time::add_seconds(reading.now, 60) => {
                Some(format!("{name} is in the future: {shown}"))
            }
            Some(_) => None,
        }
    });
    bad.map(|what| Problem::new(Code::BadTimestamp, what)).collect()
}

fn is_zero(text: &str) -> bool {
    text.is_empty() || text.starts_with("0001-01-01T00:00:00")
}
