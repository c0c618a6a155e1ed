//! Rows of `claude_sessions`.

use jiff::{SignedDuration, Timestamp};

use super::item::{claim, surfaces};
use super::release::is_ours;
use super::tables::{SESSIONS, Tables, mirrored};
use crate::core::model::{
    Binding, Code, Expiry, Holder, HolderNames, Leo, LeoRow, NamedTexts, Problem, Record, RecordDetail,
    RecordKind, Role, Sign, SignOfLife, StatedClaim, StatedPid, Untrusted, WorkItem,
};
use crate::format::leo::database::held::Holdings;
use crate::format::leo::database::source::Source;
use crate::format::leo::terminal::Terminal;
use crate::format::leo::{facts, id, machine};
use crate::format::reading::Reading;
use crate::format::reading::cells::Cells;
use crate::format::reading::json;
use crate::format::reading::json::Object;
use crate::format::reading::time;

/// After how many seconds without a heartbeat LEO lets others take a claim over.
const STALE_AFTER: i64 = 900;

/// For how long each sign of life counts by LEO's own rules: a heartbeat 300 s, a tick 90 s.
const LIVELY: [(&str, SignOfLife, i64); 2] =
    [("heartbeat_at", SignOfLife::Heartbeat, 300), ("process_alive_at", SignOfLife::Tick, 90)];

/// How long a silence may be announced: 30 min.
const SILENCE_AT_MOST: SignedDuration = SignedDuration::from_mins(30);

/// How far ahead of the server's own clock a heartbeat may lie: 60 s.
const AHEAD_AT_MOST: SignedDuration = SignedDuration::from_secs(60);

/// Reads one row; `None` if it holds nothing, is of another machine and has been silent.
pub(super) fn record(
    row: &Cells,
    tables: &Tables,
    held: &Holdings<'_>,
    source: &Source,
    reading: &Reading<'_>,
) -> Option<Record> {
    let session = row.text("session_id").filter(|id| !id.is_empty())?;
    let mut record = source.draft(RecordKind::Session, SESSIONS, session, reading);
    record.variant = "session row";
    record.has_ended = row.text("status") == Some("released") || is_ours(row);
    record.claims = claims(row, session, tables, held, source);
    record.terminal_id = row.text("terminal_id").map(|id| Box::new(id.into()));
    record.holder = Some(holder(row, reading));
    date(&mut record, row, source, reading);
    let holds_any = !record.claims.is_empty() || held.keepers.contains(session);
    if !holds_any && !is_shown(&record, row, reading) {
        return None;
    }
    if let Some(key) = mirrored(row) {
        record.title = key.into();
    }
    match id::judged(session) {
        Ok(session) => record.session_id = Some(session),
        Err(problem) => record.problems.push(problem),
    }
    record.cwd = row.text("worktree_path").filter(|_| is_here(&record, reading)).map(Into::into);
    record.problems.extend(weakness(&record));
    record.problems.extend(headless(&record, row, source, reading.now));
    record.problems.extend(ghost(&record, row, source, reading.now));
    let metadata = row.text("metadata").and_then(|text| json::parse(text.as_bytes()).ok());
    record.facts = facts(row, session, metadata.as_ref(), tables);
    record.detail = RecordDetail::Leo(Leo::Row(Box::new(detail(row, metadata.as_ref()))));
    Some(record)
}

/// Returns whether a row that holds nothing is shown nevertheless: this machine's, one with heartbeats, and one that
/// claimtop itself has released.
fn is_shown(record: &Record, row: &Cells, reading: &Reading<'_>) -> bool {
    let is_open = !record.has_ended && (is_here(record, reading) || is_lively(record, reading));
    is_open || is_ours(row)
}

fn is_here(record: &Record, reading: &Reading<'_>) -> bool {
    let host = record.holder.as_ref().and_then(|holder| holder.host());
    host.is_some_and(|host| host.raw().eq_ignore_ascii_case(&reading.host.name))
}

fn is_lively(record: &Record, reading: &Reading<'_>) -> bool {
    record.expiry.as_ref().is_some_and(|expiry| expiry.at > reading.now)
}

/// Returns the claims that the session's own row names, and those of items that name the session.
fn claims(
    row: &Cells,
    session: &str,
    tables: &Tables,
    held: &Holdings<'_>,
    source: &Source,
) -> Vec<StatedClaim> {
    let mirrored = mirrored(row);
    let own = mirrored.and_then(|key| held.by_key.get(key)).copied();
    let owned = held.owned.get(session).into_iter().flatten().copied();
    let others = owned.filter(|item| own.is_none_or(|own| own.key != item.key));
    let state = |item: &WorkItem| {
        let since = source.time(row, "claimed_at").filter(|_| mirrored == Some(item.key.raw()));
        StatedClaim { since, ..claim(item, surfaces(item, row, tables)) }
    };
    own.into_iter().chain(others).map(state).collect()
}

/// Returns the process that the row names: preferably the one at the end of the terminal ID, else the one that some
/// writer last took for it. Neither is certain to be the agent.
fn holder(row: &Cells, reading: &Reading<'_>) -> Holder {
    let number =
        |text: &str| text.parse().map_or_else(|_| StatedPid::Bad(text.into()), StatedPid::from_number);
    let suffix = row.text("terminal_id").and_then(|terminal| Terminal::read(terminal).pid());
    let (pid, binding) = match suffix {
        Some(pid) => (Some(number(pid)), Binding::TerminalSuffix),
        None => (row.text("pid").map(number), Binding::Row),
    };
    let machine = row.text("machine_id").filter(|id| !id.is_empty());
    let host = host(row.text("hostname"), machine, reading);
    let names = HolderNames { host, machine_id: machine.map(Untrusted::from), ..Default::default() }.kept();
    Holder { pid, role: Role::Unknown, binding, start_ticks: None, names }
}

/// Returns the host that a row names, which is this one if the machine ID is: Windows and a Linux in it have one name,
/// and neither sees the other's processes.
fn host(name: Option<&str>, machine: Option<&str>, reading: &Reading<'_>) -> Option<Untrusted> {
    match machine {
        Some(id) if machine::is_ours(id, reading) => Some(reading.host.name.as_str().into()),
        _ => machine::host(name, machine, reading),
    }
}

/// Takes over the times, each by this machine's clock.
fn date(record: &mut Record, row: &Cells, source: &Source, reading: &Reading<'_>) {
    record.started_at = source.time(row, "created_at");
    let written = source.newest(row, &["updated_at", "heartbeat_at", "claimed_at", "created_at"]);
    record.written_at = written.unwrap_or(reading.now);
    // The heartbeat that our own release wrote is not a sign of life.
    if is_ours(row) {
        return;
    }
    record.heartbeat_at = source.newest(row, &["heartbeat_at"]);
    if let Some(at) = record.heartbeat_at.filter(|at| at.duration_since(reading.now) > AHEAD_AT_MOST) {
        let message = format!(
            "heartbeat_at is {} s ahead of the server's clock",
            at.duration_since(reading.now).as_secs()
        );
        record.problems.push(Problem::new(Code::BadTimestamp, message));
        record.heartbeat_at = None;
    }
    record.expiry = record
        .heartbeat_at
        .map(|at| Expiry { at: time::add_seconds(at, STALE_AFTER), rule: "heartbeat older than 900 s" });
    if !record.has_ended {
        record.signs = signs(record, row, source, reading.now);
    }
}

/// Returns the signs that LEO itself takes for life.
fn signs(record: &Record, row: &Cells, source: &Source, now: Timestamp) -> Vec<Sign> {
    let lively = LIVELY.iter().filter_map(|(column, what, seconds)| {
        let at = match *column {
            "heartbeat_at" => record.heartbeat_at,
            column => source.time(row, column),
        };
        Some(Sign { what: *what, until: time::add_seconds(at?, *seconds) })
    });
    let silence = source.time(row, "expected_silence_until");
    let silence = silence
        .filter(|until| until.duration_since(now) <= SILENCE_AT_MOST)
        .map(|until| Sign { what: SignOfLife::Silence, until });
    let tool =
        source.time(row, "current_tool_expected_end_at").map(|until| Sign { what: SignOfLife::Tool, until });
    lively.chain(silence).chain(tool).collect()
}

fn weakness(record: &Record) -> Option<Problem> {
    let terminal = record.terminal_id.as_ref().filter(|_| !record.has_ended)?;
    Some(Problem::new(Code::WeakTerminalId, Terminal::weak(terminal.raw())?))
}

/// After how long a session that cannot be found is reported: 15 min, LEO's own limit.
const HEADLESS_AFTER: SignedDuration = SignedDuration::from_mins(15);

/// Returns the problem of an active session that holds work and cannot be matched to a window.
fn headless(record: &Record, row: &Cells, source: &Source, now: Timestamp) -> Option<Problem> {
    let is_nowhere = ["terminal_id", "tty", "worktree_path"].iter().all(|column| row.text(column).is_none());
    let claimed_at = source.time(row, "claimed_at").filter(|_| is_nowhere && !record.has_ended)?;
    let message = "it holds work but names no terminal or worktree, so its window is unknown: start its window with \
         CLAUDE_SESSION_ID set to its session's UUID, or release it";
    (now.duration_since(claimed_at) > HEADLESS_AFTER).then(|| Problem::new(Code::WeakTerminalId, message))
}

/// Returns the problem of a coordinator that never had a process or used a tool, although all the others obey it.
fn ghost(record: &Record, row: &Cells, source: &Source, now: Timestamp) -> Option<Problem> {
    let metadata = json::parse(row.text("metadata")?.as_bytes()).ok()?;
    let is_coordinator = metadata.get("is_coordinator").is_some_and(|value| value.to_string() == "true");
    let is_nobody = ["pid", "last_tool_at"].iter().all(|column| row.text(column).is_none());
    let made_at = source.time(row, "created_at").filter(|_| is_coordinator && is_nobody)?;
    let message = "it coordinates the others, but has no PID and never used a tool";
    let is_old = now.duration_since(made_at) > HEADLESS_AFTER && !record.has_ended;
    is_old.then(|| Problem::new(Code::UnknownSession, message))
}

/// The columns that are shown unchanged: the name for people, and the column.
const SHOWN: [(&str, &str); 13] = [
    ("status", "status"),
    ("released reason", "released_reason"),
    ("stale reason", "stale_reason"),
    ("track", "track"),
    ("codebase", "codebase"),
    ("branch", "current_branch"),
    ("worktree", "worktree_path"),
    ("tool", "current_tool"),
    ("last tool at", "last_tool_at"),
    ("uncommitted changes", "has_uncommitted_changes"),
    ("calls itself alive", "is_alive"),
    ("is virtual", "is_virtual"),
    ("parent session", "parent_session_id"),
];

const METADATA: [(&str, &str); 5] = [
    ("callsign", "callsign"),
    ("coordinator", "is_coordinator"),
    ("Claude Code's PID", "cc_pid"),
    ("tick's parent PID", "cc_parent_pid"),
    ("made by", "source"),
];

fn detail(row: &Cells, metadata: Option<&Object<'_>>) -> LeoRow {
    LeoRow {
        status: shown(row, "status"),
        released_reason: shown(row, "released_reason"),
        callsign: metadata.and_then(|object| facts::value(object, "callsign")),
        last_tool_at: row.text("last_tool_at").and_then(|at| at.parse().ok()),
    }
}

/// Returns the shown part of a column's value.
fn shown(row: &Cells, column: &str) -> Option<Untrusted> {
    let is_set = |text: &&str| !text.is_empty() && *text != "f" && *text != "false";
    Some(crate::format::reading::excerpt::excerpt(row.text(column).filter(is_set)?, 80))
}

fn facts(row: &Cells, session: &str, metadata: Option<&Object<'_>>, tables: &Tables) -> NamedTexts {
    let own = SHOWN.iter().filter_map(|(name, column)| Some((*name, shown(row, column)?)));
    let ours = is_ours(row).then(|| ("released by", "claimtop; the heartbeat is the release's own".into()));
    let meta = metadata.map(|object| facts::from_fields(object, &METADATA)).unwrap_or_default();
    let event = tables.events.iter().find(|event| event.text("session_id") == Some(session));
    let event = event.map(|event| ("last event", event_line(event)));
    let messages = tables.messages.iter().find(|row| row.text("target_session") == Some(session));
    let messages = messages.and_then(|row| Some(("unread messages", row.text("number")?.into())));
    own.chain(ours).chain(meta.iter().cloned()).chain(event).chain(messages).collect()
}

/// Returns the last event of a session as one line.
fn event_line(event: &Cells) -> Untrusted {
    let parts = ["created_at", "event_type", "reason"].iter().filter_map(|column| event.text(column));
    crate::format::reading::excerpt::excerpt(&parts.collect::<Vec<_>>().join(" "), 100)
}
