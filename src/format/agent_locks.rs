//! The locks of agents that keep no claims beside them: Codex's threads and daemon, and Copilot's
//! sessions.
//!
//! Codex locks the file of a thread in the kernel for as long as it writes the thread; the holder
//! can be its daemon, so the lock says that the thread lives and not in which window. Copilot
//! writes its PID into a file of the session's folder.

use std::path::Path;

use crate::core::model::context::is_valid_id;
use crate::core::model::text::is_uuid;
use crate::core::model::{
    Binding, BrokenFile, FileImage, Format, Holder, HolderNames, Record, RecordKind, ResourceKind, Role,
    StatedClaim, StatedPid, Untrusted,
};
use crate::format::draft;
use crate::format::json::{self, parsed};
use crate::format::place::place;
use crate::format::reading::{Parsed, Reading};
use crate::format::spec::Spec;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// `~/.codex/thread-writer-locks/<thread>.lock`.
    CodexThread,
    /// `~/.codex/app-server-daemon/daemon.pid`, and its updater's beside it.
    CodexDaemon,
    /// `~/.copilot/session-state/<session>/inuse.<pid>.lock`.
    CopilotSession,
}

/// How claimtop reads Codex's.
pub(crate) const CODEX: Spec = Spec::of_files(&[
    place!(Codex, Home, ".codex/thread-writer-locks", in_threads => read),
    place!(Codex, Home, ".codex/app-server-daemon", in_daemon => read),
]);

/// How claimtop reads Copilot's.
pub(crate) const COPILOT: Spec =
    Spec::of_files(&[place!(Copilot, Home, ".copilot/session-state/*", in_session => read)]);

fn in_threads(name: &str) -> Option<Kind> {
    thread_of(name).map(|_| Kind::CodexThread)
}

fn in_daemon(name: &str) -> Option<Kind> {
    matches!(name, "daemon.pid" | "daemon-updater.pid").then_some(Kind::CodexDaemon)
}

fn in_session(name: &str) -> Option<Kind> {
    pid_of(name).map(|_| Kind::CopilotSession)
}

fn read(kind: Kind, file: &FileImage, reading: &Reading<'_>) -> Parsed {
    match kind {
        Kind::CodexThread => thread(file, reading),
        Kind::CodexDaemon => parsed(daemon(file, reading)),
        Kind::CopilotSession => parsed(session(file, reading)),
    }
}

fn thread_of(name: &str) -> Option<&str> {
    name.strip_suffix(".lock").filter(|id| is_uuid(id) && is_valid_id(id))
}

fn pid_of(name: &str) -> Option<&str> {
    let pid = name.strip_prefix("inuse.")?.strip_suffix(".lock")?;
    (!pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit())).then_some(pid)
}

/// Reads the lock of a thread: a file that nobody holds means nothing.
fn thread(file: &FileImage, reading: &Reading<'_>) -> Parsed {
    let (Some(pid), Some(id)) = (file.locked_by, thread_of(file.name())) else { return Parsed::Ignored };
    let mut record = lock(Format::Codex, id.into(), "flock", file, reading);
    record.variant = "thread lock, held";
    // The kernel names the holder at this moment; the file's age says nothing of it.
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
        holder.start_ticks = start.and_then(|ticks| u64::try_from(ticks).ok());
        let boot_id = identity.and_then(|identity| identity.text("bootId"));
        holder.names = HolderNames { boot_id, ..Default::default() }.kept();
        holder
    });
    record.problems = json::ownership_problems(file, reading, None);
    Ok(record)
}

/// Reads the lock of a session, whose folder bears its ID.
fn session(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let bytes = json::bytes(Format::Copilot, file, reading)?;
    let text = String::from_utf8_lossy(bytes);
    let stated = text.trim();
    let pid = if stated.is_empty() { pid_of(file.name()).unwrap_or_default() } else { stated };
    let pid = match pid.parse::<i128>() {
        Ok(pid) => StatedPid::from_number(pid),
        Err(_) => StatedPid::Bad(crate::format::excerpt::excerpt(pid, 40)),
    };
    let folder = file.path.parent().and_then(Path::file_name);
    let id = folder.map(|name| Untrusted::from_path(Path::new(name))).unwrap_or_default();
    let mut record = lock(Format::Copilot, id, "lock file", file, reading);
    record.variant = "session lock";
    record.holder = Some(Holder::new(pid, Role::Agent, Binding::Marker));
    Ok(record)
}

fn lock(
    format: Format,
    id: Untrusted,
    surface: &'static str,
    file: &FileImage,
    reading: &Reading<'_>,
) -> Record {
    let mut record = draft::record(format, RecordKind::Lock, file, reading);
    record.title = id.clone();
    record.session_id = Some(id.clone()).filter(|id| is_valid_id(id.raw()));
    record.claims = vec![StatedClaim::new(ResourceKind::Session, id, surface, None)];
    record.problems = json::ownership_problems(file, reading, None);
    record
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::draft::sample;

    const ID: &str = "ba37414f-9a0b-4d3a-9a56-3b562c3abc39";

    #[track_caller]
    fn check(kind: Kind, path: &str, text: &str, locked_by: Option<u32>, expected: &str) {
        let mut file = sample::image("x", text.as_bytes(), 60);
        (file.path, file.locked_by) = (path.into(), locked_by);
        assert_eq!(sample::summary(&sample::read(|reading| read(kind, &file, reading))), expected);
    }

    #[test]
    fn a_thread_is_held_only_while_the_kernel_says_so() {
        let path = format!("/h/.codex/thread-writer-locks/{ID}.lock");
        check(Kind::CodexThread, &path, "", None, "ignored");
        let held = format!("Lock Current 'thread lock, held' context - session {ID} holder 7/Daemon []");
        check(Kind::CodexThread, &path, "", Some(7), &held);
    }

    #[test]
    fn a_session_names_its_agent_inside_or_in_its_name() {
        let path = format!("/h/.copilot/session-state/{ID}/inuse.16677.lock");
        let held = format!("Lock Current 'session lock' context - session {ID} holder 16677/Agent []");
        check(Kind::CopilotSession, &path, "16677", None, &held);
        check(Kind::CopilotSession, &path, "", None, &held);
        let bad = format!("Lock Current 'session lock' context - session {ID} holder bad/Agent []");
        check(Kind::CopilotSession, &path, "sixteen", None, &bad);
    }

    #[test]
    fn the_daemon_is_told_by_pid_start_and_boot() {
        let text = r#"{"pid":17100,"processIdentity":{"bootId":"0b5fb5f8","startTicks":728784}}"#;
        let file = sample::image("daemon.pid", text.as_bytes(), 60);
        let record = sample::record(sample::read(|reading| read(Kind::CodexDaemon, &file, reading)));
        let holder = record.holder.unwrap();
        assert_eq!((holder.role, holder.start_ticks), (Role::Daemon, Some(728_784)));
        assert_eq!(holder.boot_id(), Some(&"0b5fb5f8".into()));
    }

    #[test]
    fn only_locks_bear_these_names() {
        for (name, expected) in [("inuse.7.lock", true), ("inuse.7.hold", false), ("inuse..lock", false)] {
            assert_eq!(pid_of(name).is_some(), expected, "{name}");
        }
        for name in [".coordination.lock", "index.lock"] {
            assert_eq!(thread_of(name), None, "{name}");
        }
    }

    proptest::proptest! {
        #[test]
        fn reading_is_total(bytes: Vec<u8>) {
            let file = sample::image("inuse.7.lock", &bytes, 60);
            for kind in [Kind::CodexThread, Kind::CodexDaemon, Kind::CopilotSession] {
                sample::read(|reading| read(kind, &file, reading));
            }
        }
    }
}
