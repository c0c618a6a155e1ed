//! Codex: rollouts by day, and a lock for each thread that is being written.

use std::path::{Path, PathBuf};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use crate::core::model::report::context::is_valid_id;
use crate::core::model::{Beginning, FileMeta, SessionFile, Tie, Untrusted};
use crate::source::os::processes;
use crate::source::sessions::look::{Look, SessionTarget};

/// How many days of rollouts are looked through, the newest first.
const DAYS: usize = 8;
/// How many rollouts of a day are looked into, the newest first.
const NEWEST: usize = 32;
/// The length of a thread's ID, a UUID.
const ID: usize = 36;

/// Finds rollouts and locks that may belong to these windows.
pub(crate) fn read(look: &mut Look<'_>, home: &Path, wanted: &[&SessionTarget], now: Timestamp) {
    let Some(oldest) = wanted.iter().filter_map(|one| one.started_at).min() else { return };
    let home = home.join(".codex");
    locks(look, &home.join("thread-writer-locks"));
    for one in wanted {
        for path in processes::open_files(one.id.pid).into_iter().filter(|path| thread_of(path).is_some()) {
            opened(look, one, path);
        }
    }
    for day in days(oldest, now) {
        let at = home.join(format!("sessions/{:04}/{:02}/{:02}", day.year(), day.month(), day.day()));
        for (path, meta) in look.files(&at, |name| name.starts_with("rollout-")).into_iter().take(NEWEST) {
            in_folder(look, path, meta);
        }
    }
}

/// Returns the days from the newest to the oldest, in any zone.
fn days(oldest: Timestamp, now: Timestamp) -> Vec<Date> {
    let date = |at: Timestamp| at.to_zoned(TimeZone::UTC).date();
    let day = Span::new().days(1);
    let (first, last) = (date(oldest).saturating_sub(day), date(now).saturating_add(day));
    let back = std::iter::successors(Some(last), |date| date.checked_sub(day).ok());
    back.take_while(|date| *date >= first).take(DAYS).collect()
}

/// Adds held locks: each proves that its thread is being written, and by which process.
fn locks(look: &mut Look<'_>, at: &Path) {
    for (path, meta) in look.files(at, |name| name.strip_suffix(".lock").is_some_and(is_id)) {
        let Some(holder) = look.lock_holder(&meta) else { continue };
        let Some(session) = path.file_stem().and_then(|name| name.to_str()).map(Untrusted::from) else {
            continue;
        };
        add(look, session, Tie::Locked(holder), path, meta.modified_at);
    }
}

fn opened(look: &mut Look<'_>, one: &SessionTarget, path: PathBuf) {
    let Some(session) = thread_of(&path) else { return };
    // It is open, so it is being written.
    let written_at = one.started_at.unwrap_or(Timestamp::UNIX_EPOCH);
    add(look, session, Tie::Opened(one.id.pid), path, written_at);
}

fn in_folder(look: &mut Look<'_>, path: PathBuf, meta: FileMeta) {
    let head = look.heads.fields(&path, meta.ino);
    let cwd = head.cwd.filter(|_| !head.is_sub_agents);
    if let Some((session, cwd)) = thread_of(&path).zip(cwd) {
        let beginning = Beginning { at: made_at(session.raw()), is_fork: head.is_fork, cleared: None };
        let file =
            SessionFile::new("codex", session, Tie::Folder(cwd.into()), (path.into(), meta.modified_at));
        look.found.push(SessionFile { beginning, ..file });
    }
}

fn add(look: &mut Look<'_>, session: Untrusted, tie: Tie, path: PathBuf, written_at: Timestamp) {
    look.found.push(SessionFile::new("codex", session, tie, (path.into(), written_at)));
}

/// Returns when a thread was made, which its ID contains (RFC 9562, version 7: milliseconds since the epoch).
pub(crate) fn made_at(thread: &str) -> Option<Timestamp> {
    let digits: String = thread.chars().filter(|c| *c != '-').take(12).collect();
    let version = thread.split('-').nth(2)?;
    let milliseconds = i64::from_str_radix(&digits, 16).ok().filter(|_| version.starts_with('7'))?;
    Timestamp::from_millisecond(milliseconds).ok()
}

/// Returns the thread in the name of a rollout, `rollout-<time>-<thread>.jsonl`.
pub(crate) fn thread_of(path: &Path) -> Option<Untrusted> {
    let name = path.file_name()?.to_str()?.strip_prefix("rollout-")?.strip_suffix(".jsonl")?;
    let id = name.get(name.len().checked_sub(ID)?..)?;
    is_id(id).then(|| id.into())
}

fn is_id(text: &str) -> bool {
    text.len() == ID && is_valid_id(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rollout_is_named_after_its_thread() {
        let id = "01a1fae8-b49c-7fa1-96a4-858f57a486cb";
        let path = format!("/x/rollout-2026-11-20T21-41-57-{id}.jsonl");
        assert_eq!(thread_of(Path::new(&path)), Some(id.into()));
        for name in ["rollout-x.jsonl", "notes.jsonl", "rollout-é-01a1fae8-b49c-7fa1-96a4-858f57a486.jsonl"]
        {
            assert_eq!(thread_of(Path::new(name)), None, "{name}");
        }
    }

    #[test]
    fn the_days_since_the_window_started_are_looked_through() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let found = days(at("2026-11-20T23:30:00Z"), at("2026-11-21T08:00:00Z"));
        assert_eq!(found.first().map(ToString::to_string).as_deref(), Some("2026-11-22"));
        assert_eq!(found.last().map(ToString::to_string).as_deref(), Some("2026-11-19"));
        assert_eq!(days(at("2020-01-01T00:00:00Z"), at("2026-11-21T08:00:00Z")).len(), DAYS);
    }
}
