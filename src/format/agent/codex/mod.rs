//! Codex: the locks of its threads, its daemon, and the work of its sessions.
//!
//! It locks the file of a thread in the kernel for as long as it writes the thread; the holder can be its daemon, so
//! the lock shows that the thread lives, but not in which window.

mod talk;
mod target;
mod work;

pub(crate) use self::target::{files_of, of_patch};
use crate::core::model::record::Record;
use crate::core::model::record::format::Format;
use crate::core::model::record::holder::{Binding, Holder, HolderNames, Role, is_start};
use crate::core::model::record::kind::RecordKind;
use crate::core::model::report::context::is_valid_id;
use crate::core::model::snapshot::BrokenFile;
use crate::core::model::snapshot::file::FileImage;
use crate::core::model::text::is_uuid;
use crate::format::reading::draft;
use crate::format::reading::json;
use crate::format::reading::json::parsed;
use crate::format::reading::place::{Base, place};
use crate::format::reading::{FileContents, Reading};
use crate::format::spec::Spec;
use crate::format::transcripts::{Layout, Transcripts};

/// Which file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    /// `~/.codex/thread-writer-locks/<thread>.lock`.
    Thread,
    /// `~/.codex/app-server-daemon/daemon.pid`, and its updater's beside it.
    Daemon,
}

/// How claimtop reads it.
pub(crate) const SPEC: Spec = Spec::of_files(&[
    place!(Codex, Home, ".codex/thread-writer-locks", in_threads => read),
    place!(Codex, Home, ".codex/app-server-daemon", in_daemon => read),
])
.with_transcripts(Transcripts::new(
    (work::ADAPTER, talk::read),
    Base::Home,
    ".codex/sessions",
    Layout::Days,
));

fn in_threads(name: &str) -> Option<Kind> {
    thread_of(name).map(|_| Kind::Thread)
}

fn in_daemon(name: &str) -> Option<Kind> {
    matches!(name, "daemon.pid" | "daemon-updater.pid").then_some(Kind::Daemon)
}

/// Reads one file.
fn read(kind: Kind, file: &FileImage, reading: &Reading<'_>) -> FileContents {
    match kind {
        Kind::Thread => thread(file, reading),
        Kind::Daemon => parsed(daemon(file, reading)),
    }
}

fn thread_of(name: &str) -> Option<&str> {
    name.strip_suffix(".lock").filter(|id| is_uuid(id) && is_valid_id(id))
}

/// Reads the lock of a thread: a file that no process holds means nothing.
fn thread(file: &FileImage, reading: &Reading<'_>) -> FileContents {
    let (Some(pid), Some(id)) = (file.locked_by, thread_of(file.name())) else {
        return FileContents::Ignored;
    };
    let mut record = draft::session_lock(Format::Codex, id.into(), "flock", file, reading);
    record.variant = "thread lock, held";
    // The kernel names the present holder; the file's age does not matter.
    record.written_at = reading.now;
    record.holder = Some(Holder::of_lock(pid, Role::Daemon));
    parsed(Ok(record))
}

/// Reads the PID file of the daemon: PID, start and boot are its own.
fn daemon(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let object = json::object(Format::Codex, file, reading)?;
    let mut record = draft::record(Format::Codex, RecordKind::Metadata, file, reading);
    record.variant = "daemon PID file";
    record.title = if file.name() == "daemon.pid" { "Codex's daemon" } else { "Codex's updater" }.into();
    record.holder = object.pid("pid", false).map(|pid| {
        let identity = object.object("processIdentity");
        let mut holder = Holder::new(pid, Role::Daemon, Binding::Owner);
        let start = identity.and_then(|identity| identity.int("startTicks"));
        holder.start_ticks = start.and_then(|ticks| u64::try_from(ticks).ok()).filter(is_start);
        let boot_id = identity.and_then(|identity| identity.text("bootId"));
        holder.names = HolderNames { boot_id, ..Default::default() }.kept();
        holder
    });
    record.problems = json::ownership_problems(file, reading, None);
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::testing;

    const ID: &str = "ba37414f-9a0b-4d3a-9a56-3b562c3abc39";

    #[track_caller]
    fn check(locked_by: Option<u32>, expected: &str) {
        let mut file = testing::image("x", b"", 60);
        file.path = format!("/h/.codex/thread-writer-locks/{ID}.lock").into();
        file.locked_by = locked_by;
        assert_eq!(testing::summary(&testing::read(|reading| read(Kind::Thread, &file, reading))), expected);
    }

    #[test]
    fn a_thread_is_held_only_while_the_kernel_says_so() {
        check(None, "ignored");
        let held = format!("Lock Current 'thread lock, held' context - session {ID} holder 7/Daemon []");
        check(Some(7), &held);
    }

    #[test]
    fn the_daemon_is_told_by_pid_start_and_boot() {
        let text = r#"{"pid":17100,"processIdentity":{"bootId":"0b5fb5f8","startTicks":728784}}"#;
        let file = testing::image("daemon.pid", text.as_bytes(), 60);
        let record = testing::record(testing::read(|reading| read(Kind::Daemon, &file, reading)));
        let holder = record.holder.unwrap();
        assert_eq!((holder.role, holder.start_ticks), (Role::Daemon, Some(728_784)));
        assert_eq!(holder.boot_id(), Some(&"0b5fb5f8".into()));
    }

    #[test]
    fn only_locks_bear_these_names() {
        for name in [".coordination.lock", "index.lock"] {
            assert_eq!(thread_of(name), None, "{name}");
        }
    }

    proptest::proptest! {
        #[test]
        fn reading_is_total(bytes: Vec<u8>) {
            let file = testing::image("inuse.7.lock", &bytes, 60);
            for kind in [Kind::Thread, Kind::Daemon] {
                testing::read(|reading| read(kind, &file, reading));
            }
        }
    }
}
