//! A session file: this machine's copy of the session's row, written once that row was.

use super::terminal::Terminal;
use super::{facts, id, machine, moment, names, work};
use crate::core::model::{
    Binding, BrokenFile, Code, Expiry, FileImage, Format, Generation, Holder, HolderNames, Leo, NamedTexts,
    Problem, Record, RecordDetail, RecordKind, Role, Untrusted,
};
use crate::format::reading::Reading;
use crate::format::reading::json;
use crate::format::reading::json::Object;
use crate::format::reading::{draft, time};

/// After how many seconds without a heartbeat LEO's own clean-up calls a session stale.
const STALE_AFTER: i64 = 900;

/// Reads a session file.
///
/// # Errors
/// The broken file: not readable, torn (its writer is not atomic) or corrupt.
pub(super) fn read(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let object = json::object(Format::Leo, file, reading)?;
    let mut record = draft::record(Format::Leo, RecordKind::Session, file, reading);
    identify(&mut record, &object, file);
    date(&mut record, &object, reading);
    generate(&mut record, &object);
    let key = key(&object);
    let since = moment::past(&object, "claimed_at", reading.now, &mut record.problems);
    record.claims = [work::claim(key.as_ref(), since)].into();
    record.title = key
        .or_else(|| record.session_id.clone())
        .unwrap_or_else(|| names::stem(file.name()).unwrap_or_default().into());
    record.holder = Some(holder(&record, &object, reading));
    record.facts = known(&record, &object);
    let words = terminal(&record).map(|terminal| terminal.label().into());
    record.detail = RecordDetail::Leo(Leo::File { terminal: words });
    record.problems.extend(json::ownership_problems(file, reading, None));
    Ok(record)
}

fn identify(record: &mut Record, object: &Object<'_>, file: &FileImage) {
    record.session_id = id::required(object, "session_id", &mut record.problems);
    let named = names::stem(file.name()).map(Untrusted::from);
    record.problems.extend(id::split(named, record.session_id.clone(), Untrusted::shown));
    record.context_id = object.text("terminal_id");
    record.terminal_id = record.context_id.clone().map(Box::new);
    let weak = record.terminal_id.as_ref().and_then(|terminal| Terminal::weak(terminal.raw()));
    record.problems.extend(weak.map(|message| Problem::new(Code::WeakTerminalId, message)));
}

fn date(record: &mut Record, object: &Object<'_>, reading: &Reading<'_>) {
    record.started_at = moment::past(object, "created_at", reading.now, &mut record.problems);
    record.heartbeat_at = moment::past(object, "heartbeat_at", reading.now, &mut record.problems);
    record.expiry = record
        .heartbeat_at
        .map(|at| Expiry { at: time::add_seconds(at, STALE_AFTER), rule: "heartbeat older than 900 s" });
}

/// Sets the generation by the name of the field for the work item.
fn generate(record: &mut Record, object: &Object<'_>) {
    record.variant = "session file";
    if object.has("sd_id") && !object.has("sd_key") {
        record.generation = Generation::Legacy;
        record.variant = "session file with sd_id";
        record.problems.push(Problem::new(
            Code::LegacyRecord,
            "names its work item in sd_id, which LEO has called sd_key since",
        ));
    }
}

fn key(object: &Object<'_>) -> Option<Untrusted> {
    facts::first_text(object, &["sd_key", "sd_id"])
}

fn terminal(record: &Record) -> Option<Terminal<'_>> {
    record.terminal_id.as_ref().map(|terminal| Terminal::read(terminal.raw()))
}

fn is_conversation(record: &Record) -> bool {
    let is_uuid = |id: Option<&Untrusted>| id.is_some_and(|id| id::is_uuid(id.raw()));
    is_uuid(record.session_id.as_ref()) || is_uuid(record.terminal_id.as_deref())
}

/// Returns the stated process: the writer's parent, which is a shell, or for a conversation the last caller. The PID
/// in the terminal ID is better and stays a fact.
fn holder(record: &Record, object: &Object<'_>, reading: &Reading<'_>) -> Holder {
    let role = if is_conversation(record) { Role::Hook } else { Role::Shell };
    let (name, machine_id) = (object.text("hostname"), object.text("machine_id"));
    let host =
        machine::host(name.as_ref().map(Untrusted::raw), machine_id.as_ref().map(Untrusted::raw), reading);
    let names = HolderNames { host, machine_id, ..Default::default() }.kept();
    Holder { pid: object.pid("pid", true), role, binding: Binding::File, start_ticks: None, names }
}

fn known(record: &Record, object: &Object<'_>) -> NamedTexts {
    let terminal = terminal(record);
    let own = draft::known([
        ("terminal pid", terminal.and_then(Terminal::pid).map(Untrusted::from)),
        ("terminal ID", terminal.map(|terminal| terminal.label().into())),
        (
            "pid is",
            is_conversation(record)
                .then(|| "a short-lived helper's: it proves nothing about a UUID session".into()),
        ),
    ]);
    let stated = facts::from_fields(object, &STATED);
    let meta =
        object.object("metadata").map(|metadata| facts::from_fields(metadata, &METADATA)).unwrap_or_default();
    own.iter().chain(stated.iter()).chain(meta.iter()).cloned().collect()
}

const STATED: [(&str, &str); 4] =
    [("codebase", "codebase"), ("track", "track"), ("tty", "tty"), ("branch", "current_branch")];

const METADATA: [(&str, &str); 3] = [
    ("branch at start", "branch"),
    ("goes on by itself", "auto_proceed"),
    ("chains orchestrators", "chain_orchestrators"),
];
