//! Copilot CLI: the locks of its sessions, and their work. It writes its PID into a file of the session's folder.

pub(crate) mod name;
mod talk;
mod work;

use std::path::Path;

use crate::core::model::record::Record;
use crate::core::model::record::format::Format;
use crate::core::model::record::holder::{Binding, Holder, Role, StatedPid};
use crate::core::model::snapshot::BrokenFile;
use crate::core::model::snapshot::file::FileImage;
use crate::core::model::text::Untrusted;
use crate::format::reading::draft;
use crate::format::reading::excerpt::excerpt;
use crate::format::reading::json;
use crate::format::reading::json::parsed;
use crate::format::reading::place::{Base, place};
use crate::format::reading::{FileContents, Reading};
use crate::format::spec::Spec;
use crate::format::transcripts::{Layout, NameFile, Transcripts};

/// How claimtop reads it.
pub(crate) const SPEC: Spec =
    Spec::of_files(&[place!(Copilot, Home, ".copilot/session-state/*", pid_of => read)]).with_transcripts(
        Transcripts {
            name_file: Some(NameFile { file: name::FILE, given: name::given }),
            ..Transcripts::new(
                (work::ADAPTER, talk::read),
                Base::Home,
                ".copilot/session-state",
                Layout::Sessions { name: "events.jsonl" },
            )
        },
    );

/// Reads `~/.copilot/session-state/<session>/inuse.<pid>.lock`.
fn read(pid: &str, file: &FileImage, reading: &Reading<'_>) -> FileContents {
    parsed(session(pid, file, reading))
}

fn pid_of(name: &str) -> Option<&str> {
    let pid = name.strip_prefix("inuse.")?.strip_suffix(".lock")?;
    (!pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit())).then_some(pid)
}

/// Reads the lock of a session, whose folder bears its ID.
fn session(named: &str, file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let bytes = json::bytes(Format::Copilot, file, reading)?;
    let text = String::from_utf8_lossy(bytes);
    let stated = text.trim();
    let pid = if stated.is_empty() { named } else { stated };
    let pid = match pid.parse::<i128>() {
        Ok(pid) => StatedPid::from_number(pid),
        Err(_) => StatedPid::Bad(excerpt(pid, 40)),
    };
    let folder = file.path.parent().and_then(Path::file_name);
    let id = folder.map(|name| Untrusted::from_path(Path::new(name))).unwrap_or_default();
    let mut record = draft::session_lock(Format::Copilot, id, "lock file", file, reading);
    record.variant = "session lock";
    record.holder = Some(Holder::new(pid, Role::Agent, Binding::Marker));
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::testing;

    const ID: &str = "ba37414f-9a0b-4d3a-9a56-3b562c3abc39";

    #[track_caller]
    fn check(text: &str, pid: &str) {
        let mut file = testing::image("x", text.as_bytes(), 60);
        file.path = format!("/h/.copilot/session-state/{ID}/inuse.16677.lock").into();
        let expected = format!("Lock Current 'session lock' context - session {ID} holder {pid}/Agent []");
        assert_eq!(testing::summary(&testing::read(|reading| read("16677", &file, reading))), expected);
    }

    #[test]
    fn a_session_names_its_agent_inside_or_in_its_name() {
        check("16677", "16677");
        check("", "16677");
        check("sixteen", "bad");
    }

    #[test]
    fn only_locks_bear_these_names() {
        for (name, expected) in [("inuse.7.lock", true), ("inuse.7.hold", false), ("inuse..lock", false)] {
            assert_eq!(pid_of(name).is_some(), expected, "{name}");
        }
    }

    proptest::proptest! {
        #[test]
        fn reading_is_total(bytes: Vec<u8>) {
            let file = testing::image("inuse.7.lock", &bytes, 60);
            testing::read(|reading| read("7", &file, reading));
        }
    }
}
