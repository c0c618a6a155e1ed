//! A window's session: its agent role, since when, and how Maia will treat it.

use jiff::tz::TimeZone;

use super::moment::{self, Moment};
use crate::core::model::report::context::{CONTEXT_ID_RULE, is_context_id};
use crate::core::model::{
    Binding, BrokenFile, Code, Deletion, Expiry, FileImage, FilePath, Format, Holder, NamedTexts, Problem,
    Record, RecordKind, ResourceKind, Role, Spares, StatedClaim, StatedPid, Untrusted,
};
use crate::format::maia::names;
use crate::format::maia::names::Form;
use crate::format::reading::Reading;
use crate::format::reading::json;
use crate::format::reading::json::Object;
use crate::format::reading::value::Value;
use crate::format::reading::{draft, time};

/// The mode that Maia gives its session files.
const MODE: u16 = 0o600;
/// Maia's interval between heartbeats if the file states none.
const INTERVAL_SECONDS: i64 = 300;
/// How long Maia keeps a file without a heartbeat, by its last write.
const KEPT_SECONDS: i64 = 4 * 3_600;
/// How long the code of G2 and G3 keeps a file, by its last write.
const KEPT_IN_TMP_SECONDS: i64 = 24 * 3_600;
/// How many characters of free text are taken over.
const EXCERPT: usize = 80;

/// Reads a session file of any generation.
///
/// # Errors
/// The broken file: not readable, torn or corrupt.
pub(super) fn read(form: Form, file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let object = json::object(Format::Maia, file, reading)?;
    let started = moment::read(&object, "session_start", &TimeZone::UTC, reading.now);
    let heartbeat = moment::read(&object, "last_heartbeat", &TimeZone::UTC, reading.now);
    let context = names::context(form, file.name());

    let mut record = draft::record(Format::Maia, RecordKind::Session, file, reading);
    record.generation = names::generation(form);
    record.variant = variant(form, &object);
    record.context_id = context.map(Untrusted::from);
    record.session_id = context.filter(|context| names::is_uuid(context)).map(Untrusted::from);
    record.holder = context.and_then(|context| holder(form, context));
    record.title = object.text("current_agent").unwrap_or_else(|| "(no agent)".into());
    record.started_at = started.at;
    record.heartbeat_at = heartbeat.at;
    record.claims = claim(&object, &started).into_iter().collect();
    record.cwd = working_directory(&object);
    record.files = object.strings("files_touched").map(Untrusted::from).collect();
    record.has_unsaved_work = has_unsaved_work(&object);
    record.facts = facts(&object);
    (record.expiry, record.deletion) = limits(form, &record, &object, &heartbeat);
    record.problems = legacy(form, &record).into_iter().collect();
    record.problems.extend(started.problem.into_iter().chain(heartbeat.problem));
    record.problems.extend(nameless(form, context, &object));
    record.problems.extend(context.and_then(shared_by_name));
    record.problems.extend(ownership(file, reading, &object));
    Ok(record)
}

fn variant(form: Form, object: &Object<'_>) -> &'static str {
    match form {
        Form::Current if !object.has("version") && !object.has("created_by") => "written by /init",
        Form::Current if object.has("last_heartbeat") => "G5 {CTX} with heartbeat",
        Form::Current => "G4 {CTX}",
        Form::Context => "G3 {CTX} in tmp",
        Form::Parent => "G2 context_{PPID}",
        Form::Global if object.str("version") == Some("1.0") => "G0 global",
        Form::Global => "G1 global",
    }
}

/// Returns the holder of a numeric context. From G3 on the PID is the agent's on macOS and a
/// shell's on Linux, where Maia's test of the process name can never pass.
fn holder(form: Form, context: &str) -> Option<Holder> {
    let role = match form {
        Form::Current | Form::Context => Role::Unknown,
        Form::Parent => Role::Shell,
        Form::Global => return None,
    };
    names::is_number(context).then(|| Holder::new(pid(context), role, Binding::File))
}

fn pid(digits: &str) -> StatedPid {
    digits.parse().map_or_else(|_| StatedPid::Bad(digits.into()), StatedPid::from_number)
}

fn claim(object: &Object<'_>, started: &Moment) -> Option<StatedClaim> {
    Some(StatedClaim::new(ResourceKind::AgentRole, object.text("current_agent")?, "file", started.at))
}

fn working_directory(object: &Object<'_>) -> Option<FilePath> {
    let repository = object.object("repository")?;
    repository.str("working_directory").filter(|path| !path.is_empty()).map(FilePath::from)
}

/// Returns whether a clean-up would lose data that Maia saves to its memory on closing.
fn has_unsaved_work(object: &Object<'_>) -> bool {
    object.strings("files_touched").next().is_some()
        || object.text("learning_session_id").is_some()
        || object.text("prior_session_context").is_some()
}

/// Returns when Maia calls the record stale and when its clean-up, which runs on every start of
/// its script, unlinks it: the same moment. No clean-up ever matches the global file.
fn limits(
    form: Form,
    record: &Record,
    object: &Object<'_>,
    heartbeat: &Moment,
) -> (Option<Expiry>, Option<Deletion>) {
    let written = |seconds| time::add_seconds(record.written_at, seconds);
    let (at, rule, spares) = match (form, heartbeat.stated) {
        (Form::Global, _) => return (None, None),
        (Form::Context | Form::Parent, _) => {
            (written(KEPT_IN_TMP_SECONDS), "not written for 24 h", Spares::Nobody)
        }
        (Form::Current, _) if record.holder.is_none() => {
            (written(KEPT_SECONDS), "not a PID, and not written for 4 h", Spares::Nobody)
        }
        (Form::Current, Some(at)) => (
            time::add_seconds(at, interval(object).saturating_mul(3)),
            "heartbeat older than three intervals (900 s unless stated)",
            Spares::AgentNames,
        ),
        (Form::Current, None) => {
            (written(KEPT_SECONDS), "no heartbeat, and not written for 4 h", Spares::AgentNames)
        }
    };
    (Some(Expiry { at, rule }), Some(Deletion { at, rule, spares }))
}

fn interval(object: &Object<'_>) -> i64 {
    object.int("heartbeat_interval_seconds").filter(|seconds| *seconds > 0).unwrap_or(INTERVAL_SECONDS)
}

fn legacy(form: Form, record: &Record) -> Option<Problem> {
    let what = match form {
        Form::Current => return None,
        Form::Context => "file in the temporary folder; Maia moves it only when that window runs it again",
        Form::Parent => "file named by a parent's PID; Maia never moves it, only deletes it",
        Form::Global => "file, one for the whole machine; the next window without its own takes it over",
    };
    let generation = record.variant.split(' ').next().unwrap_or_default();
    // A window may have got another context since: the plan decides which name it gets.
    let current = "~/.maia/sessions/swarm_session_{CTX}.json";
    let message = format!("{generation} {what}; the current form is {current}");
    Some(Problem::new(Code::LegacyRecord, message))
}

/// Returns the problems with the names in and of a session.
fn nameless(form: Form, context: Option<&str>, object: &Object<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    match context {
        None if form == Form::Global => {}
        None => problems.push("its name holds no context ID".to_owned()),
        Some(context) if is_context_id(context) => {}
        Some(context) => problems.push(format!(
            "its name holds no usable context ID ({CONTEXT_ID_RULE}): {}",
            crate::format::reading::excerpt::excerpt(context, 40)
        )),
    }
    if object.text("current_agent").is_none() {
        problems.push("names no agent: current_agent is missing".to_owned());
    }
    problems.into_iter().map(|message| Problem::new(Code::UnknownSession, message)).collect()
}

/// Returns the problem of a context ID that is neither a PID nor a session's: it is a value of `CLAUDE_SESSION_ID`,
/// and every process that inherits that writes the same file.
fn shared_by_name(context: &str) -> Option<Problem> {
    let is_somebodys = names::is_number(context) || names::is_uuid(context);
    (is_context_id(context) && !is_somebodys).then(|| {
        let name = crate::format::reading::excerpt::excerpt(context, 40);
        let message = format!(
            "context ID {name} is neither a PID nor a session's ID: each window that inherits CLAUDE_SESSION_ID={name} \
             shares the record; start windows without that variable, or each with a UUID of its own"
        );
        Problem::new(Code::WeakTerminalId, message)
    })
}

fn ownership(file: &FileImage, reading: &Reading<'_>, object: &Object<'_>) -> Vec<Problem> {
    let mut problems = json::ownership_problems(file, reading, Some(MODE));
    if object.has("last_heartbeat") {
        for wide in problems.iter_mut().filter(|problem| problem.code == Code::WideMode) {
            let message = format!("{}; Maia's own heartbeat rewrite leaves it so", wide.message);
            *wide = Problem::new(wide.code, message);
        }
    }
    problems
}

fn facts(object: &Object<'_>) -> NamedTexts {
    let cut = |name| {
        object
            .str(name)
            .filter(|text| !text.is_empty())
            .map(|text| crate::format::reading::excerpt::excerpt(text, EXCERPT))
    };
    let number = |name| object.get(name).and_then(Value::as_number).map(|number| number.to_string().into());
    let branch = object.object("repository").and_then(|repository| repository.text("git_branch"));
    draft::known([
        ("domain", object.text("domain")),
        ("handoff chain", handoffs(object)),
        ("handoff reason", cut("handoff_reason")),
        ("query", cut("query")),
        ("confidence", number("last_classification_confidence")),
        ("complexity", number("last_classification_complexity")),
        ("branch", branch),
        ("learning session", object.text("learning_session_id")),
        ("prior session context", cut("prior_session_context")),
        ("TDD status", cut("tdd_status")),
        ("heartbeat interval (s)", number("heartbeat_interval_seconds")),
        ("version", object.text("version")),
        ("written by", object.text("created_by")),
    ])
}

fn handoffs(object: &Object<'_>) -> Option<Untrusted> {
    let mut names = object.strings("handoff_chain");
    let first = names.next()?.to_owned();
    Some(names.fold(first, |chain, name| chain + " > " + name).into())
}
