//! beads (`bd`): issues in progress with an assignee, and the lock of its daemon.
//!
//! `.beads/issues.jsonl` has one issue in a line. If there is a database beside it, an SQLite file or Dolt's folder,
//! that is the truth and the lines are only exported from it. A claim is a status and a free name: it names neither
//! process nor session.

mod rows;

use jiff::Timestamp;

pub(crate) use self::rows::without_copies;
pub use self::rows::{TABLE, rows};
use crate::core::model::{
    Binding, BrokenFile, Code, Content, FileImage, Format, Holder, Problem, Record, RecordKind, Refusal,
    Role, StatedClaim, StatedPid, Untrusted,
};
use crate::format::beads::rows::{claim, is_taken};
use crate::format::reading::json;
use crate::format::reading::json::Object;
use crate::format::reading::place::place;
use crate::format::reading::{FileContents, Reading};
use crate::format::reading::{draft, time};
use crate::format::spec::Spec;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// `issues.jsonl`: every issue.
    Issues,
    /// `daemon.lock`: locked while the daemon of older versions runs.
    Daemon,
    /// `daemon.pid`: its number.
    DaemonPid,
}

/// How claimtop reads it.
pub(crate) const SPEC: Spec = Spec::of_files(&[place!(Beads, Worktree, ".beads", in_beads => read)]);

fn in_beads(name: &str) -> Option<Kind> {
    match name {
        "issues.jsonl" => Some(Kind::Issues),
        "daemon.lock" => Some(Kind::Daemon),
        "daemon.pid" => Some(Kind::DaemonPid),
        _ => None,
    }
}

/// The folders of Dolt's databases in `.beads`, which claimtop does not read.
pub(crate) const DOLT: [&str; 2] = ["dolt", "embeddeddolt"];

/// How many issues of one file are reported as claims.
const MOST: usize = 1_000;

fn read(kind: Kind, file: &FileImage, reading: &Reading<'_>) -> FileContents {
    match kind {
        Kind::Issues => json::parsed(issues(file, reading)),
        Kind::Daemon => daemon(file, reading),
        Kind::DaemonPid => json::parsed(daemon_pid(file, reading)),
    }
}

/// Reads all issues; a line that cannot be read is skipped.
fn issues(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let mut record = draft::record(Format::Beads, RecordKind::Metadata, file, reading);
    record.variant = "issues";
    record.cwd = file.path.parent().and_then(|folder| folder.parent()).map(Into::into);
    record.title = format!("issues of {}", folder_name(&record)).into();
    record.problems = json::ownership_problems(file, reading, None);
    if let Content::Refused(Refusal::TooBig(size)) = file.content {
        record.facts = [("not read", format!("{size} bytes; ask bd itself").into())].into();
        return Ok(record);
    }
    let bytes = json::bytes(Format::Beads, file, reading)?;
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let (mut held, mut bad) = (Vec::new(), 0_usize);
    for line in lines {
        match json::parse(line) {
            Ok(issue) => held.extend(IssueInProgress::of(&issue)),
            Err(_) => bad += 1,
        }
    }
    if bad > 0 && json::is_settled(file, reading.now) {
        record.problems.push(Problem::new(Code::CorruptRecord, format!("{bad} lines are not JSON")));
    }
    record.facts = draft::known([("in progress", listed(&held))]);
    record.claims = held.into_iter().take(MOST).map(IssueInProgress::claim).collect();
    Ok(record)
}

fn folder_name(record: &Record) -> String {
    let name = record.cwd.as_deref().and_then(|cwd| cwd.file_name());
    name.map_or_else(String::new, |name| Untrusted::from_path(std::path::Path::new(name)).raw().to_owned())
}

/// An issue that is taken.
struct IssueInProgress {
    id: Untrusted,
    assignee: Untrusted,
    since: Option<Timestamp>,
}

impl IssueInProgress {
    /// Returns an issue that has an assignee and is in progress, or on a hook in gastown's terms.
    fn of(issue: &Object<'_>) -> Option<Self> {
        Some(Self {
            id: issue.text("id").filter(|_| issue.str("status").is_some_and(is_taken))?,
            assignee: issue.text("assignee")?,
            since: issue.str("updated_at").and_then(time::rfc3339),
        })
    }

    fn claim(self) -> StatedClaim {
        claim(self.id, self.since, "issues.jsonl")
    }
}

fn listed(held: &[IssueInProgress]) -> Option<Untrusted> {
    let names: Vec<String> =
        held.iter().take(20).map(|held| format!("{} by {}", held.id.raw(), held.assignee.raw())).collect();
    (!names.is_empty()).then(|| names.join(", ").into())
}

/// Reads the daemon's lock: the kernel's lock counts, and a file without one blocks no process.
fn daemon(file: &FileImage, reading: &Reading<'_>) -> FileContents {
    let Some(pid) = file.locked_by else { return FileContents::Ignored };
    let mut record = of_daemon(RecordKind::Lock, Holder::of_lock(pid, Role::Daemon), file, reading);
    record.variant = "daemon lock, held";
    // The kernel names the present holder; the file's age does not matter.
    record.written_at = reading.now;
    json::parsed(Ok(record))
}

/// Reads the daemon's PID: its file remains when the daemon is killed.
fn daemon_pid(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let text = String::from_utf8_lossy(json::bytes(Format::Beads, file, reading)?);
    let Ok(pid) = text.trim().parse() else {
        return Err(draft::unusable(Format::Beads, file, reading, "it states no PID"));
    };
    let holder = Holder::new(StatedPid::from_number(pid), Role::Daemon, Binding::File);
    let mut record = of_daemon(RecordKind::Metadata, holder, file, reading);
    record.variant = "daemon PID file";
    record.problems = json::ownership_problems(file, reading, None);
    Ok(record)
}

fn of_daemon(kind: RecordKind, holder: Holder, file: &FileImage, reading: &Reading<'_>) -> Record {
    let mut record = draft::record(Format::Beads, kind, file, reading);
    record.cwd = file.path.parent().and_then(|folder| folder.parent()).map(Into::into);
    record.title = format!("bd daemon of {}", folder_name(&record)).into();
    record.holder = Some(holder);
    record
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::testing;

    fn issues(text: &str) -> Record {
        let mut file = testing::image("issues.jsonl", text.as_bytes(), 60);
        file.path = "/src/shop/.beads/issues.jsonl".into();
        testing::record(testing::read(|reading| read(Kind::Issues, &file, reading)))
    }

    #[test]
    fn only_what_somebody_works_on_is_held() {
        let record = issues(
            "{\"id\":\"bd-1\",\"status\":\"in_progress\",\"assignee\":\"alice\",\"updated_at\":\"2026-11-20T20:00:00Z\"}\n\
             {\"id\":\"bd-2\",\"status\":\"in_progress\"}\n\
             {\"id\":\"bd-3\",\"status\":\"open\",\"assignee\":\"bob\"}\n\n\
             {\"id\":\"bd-4\",\"status\":\"hooked\",\"assignee\":\"shop/polecats/Max\"}\n",
        );
        let held: Vec<&str> = record.claims.iter().map(|claim| claim.resource.id.raw()).collect();
        assert_eq!(held, ["bd-1", "bd-4"]);
        let fact = record.facts.first().map(|(name, value)| (*name, value.raw()));
        assert_eq!(fact, Some(("in progress", "bd-1 by alice, bd-4 by shop/polecats/Max")));
        assert_eq!((record.title.raw(), record.problems.len()), ("issues of shop", 0));
    }

    #[test]
    fn a_line_that_cannot_be_read_costs_only_itself() {
        let record = issues("<<<<<<< HEAD\n{\"id\":\"a\",\"status\":\"in_progress\",\"assignee\":\"b\"}\n");
        assert_eq!(record.claims.len(), 1);
        assert_eq!(record.problems.first().map(|problem| problem.code), Some(Code::CorruptRecord));
    }

    #[test]
    fn more_than_can_be_read_is_told_and_not_taken_for_nothing() {
        let mut file = testing::image("issues.jsonl", b"", 60);
        file.content = Content::Refused(Refusal::TooBig(9 << 20));
        let record = testing::record(testing::read(|reading| read(Kind::Issues, &file, reading)));
        assert_eq!(record.facts.first().map(|(name, _)| *name), Some("not read"));
    }

    #[test]
    fn a_daemon_holds_its_lock_only_while_the_kernel_says_so() {
        let mut file = testing::image("daemon.lock", br#"{"pid":7}"#, 60);
        assert_eq!(testing::read(|reading| read(Kind::Daemon, &file, reading)), FileContents::Ignored);
        file.locked_by = Some(7);
        let held = testing::summary(&testing::read(|reading| read(Kind::Daemon, &file, reading)));
        assert_eq!(held, "Lock Current 'daemon lock, held' context - session - holder 7/Daemon []");
    }

    #[test]
    fn the_daemons_pid_file_states_its_number() {
        let read = |text: &str| {
            let file = testing::image("daemon.pid", text.as_bytes(), 60);
            testing::summary(&testing::read(|reading| read(Kind::DaemonPid, &file, reading)))
        };
        let told = "Metadata Current 'daemon PID file' context - session - holder 77/Daemon []";
        assert_eq!(read("77\n"), told);
        assert_eq!(read("seven"), "broken: it states no PID");
    }

    proptest::proptest! {
        #[test]
        fn reading_is_total(bytes: Vec<u8>) {
            let file = testing::image("issues.jsonl", &bytes, 60);
            for kind in [Kind::Issues, Kind::Daemon, Kind::DaemonPid] {
                testing::read(|reading| read(kind, &file, reading));
            }
        }
    }
}
