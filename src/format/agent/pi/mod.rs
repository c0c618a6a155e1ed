//! Pi: it keeps no claims; the work of its sessions is in `~/.pi/agent/sessions/--<folder>--/<time>_<session>.jsonl`.
//!
//! An answer is written whole, before its tools run. A dialog that asks a person is not written.
//!
//! Seen with 1.6.0.

mod work;

use crate::format::reading::json;
use crate::format::reading::place::Base;
use crate::format::reading::time;
use crate::format::spec::Spec;
use crate::format::transcripts::sessions::{SessionFiles, StatedSession};
use crate::format::transcripts::{Layout, Transcripts};

/// Where its sessions are, below the home.
const SESSIONS: &str = ".pi/agent/sessions";

/// How claimtop reads it.
pub(crate) const SPEC: Spec = Spec::of_files(&[])
    .with_transcripts(Transcripts::new(
        (work::ADAPTER, work::read_talk),
        Base::Home,
        SESSIONS,
        Layout::Stamped,
    ))
    .with_sessions(SessionFiles {
        agent: "pi",
        folder: |cwd| {
            format!("{SESSIONS}/--{}--", cwd.trim_start_matches('/').replace(['/', '\\', ':'], "-"))
        },
        is_one: |name| name.ends_with(".jsonl"),
        state: stated,
        transcript: |file, _| Some(file.to_path_buf()),
    });

/// Reads the first line of a transcript, which names the session and its folder.
fn stated(bytes: &[u8]) -> Option<StatedSession> {
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    let line = json::parse(line).ok()?;
    Some(StatedSession {
        id: line.text("id").filter(|_| line.str("type") == Some("session"))?,
        cwd: line.text("cwd")?,
        began_at: line.str("timestamp").and_then(time::rfc3339),
        is_fork: line.has("parentSession"),
        pid: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_names_session_and_folder() {
        let line = r#"{"type":"session","version":3,"id":"01a2-x","timestamp":"2026-11-28T08:40:51.085Z","cwd":"/src"}"#;
        let found = stated(format!("{line}\n{{\"type\":\"message\"").as_bytes()).unwrap();
        assert_eq!((found.id.raw(), found.cwd.raw(), found.is_fork), ("01a2-x", "/src", false));
        assert!(found.began_at.is_some());
        let fork = line.replace("\"cwd\"", "\"parentSession\":\"/x.jsonl\",\"cwd\"");
        assert!(stated(fork.as_bytes()).unwrap().is_fork);
        assert_eq!(stated(line.replace("session", "message").as_bytes()), None);
        assert_eq!(stated(&line.as_bytes()[..60]), None);
    }
}
