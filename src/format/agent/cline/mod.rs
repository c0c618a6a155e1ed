//! Cline: it keeps no claims; `~/.cline/data/sessions/<session>/<session>.json` names folder and process of a session,
//! and `<session>.messages.json` beside it is its work, one document that is rewritten whole.
//!
//! The process is the window's own, or the hub that runs the sessions of all windows. A call is written before it runs;
//! while a person is asked whether it may, the session's status is `pending`.
//!
//! Seen with 3.0.65.

mod work;

use std::path::{Path, PathBuf};

use crate::format::reading::json;
use crate::format::reading::time;
use crate::format::spec::Spec;
use crate::format::transcripts::sessions::{Document, SessionFiles, StatedSession, StatusDocument};

/// How claimtop reads it.
pub(crate) const SPEC: Spec = Spec::of_files(&[])
    .with_sessions(SessionFiles {
        agent: "cline",
        folder: |_| ".cline/data/sessions/*".to_owned(),
        is_one: |name| name.ends_with(".json") && !name.ends_with(".messages.json"),
        state: stated,
        transcript: |file: &Path, session| Some(file.with_file_name(format!("{session}.messages.json"))),
    })
    .with_document(Document {
        work: work::read,
        talk: work::read_talk,
        status: Some(StatusDocument { path: status_of, work: work::read_status }),
    });

/// Returns the file that states the session whose messages are given.
fn status_of(messages: &Path) -> Option<PathBuf> {
    let session = messages.file_name()?.to_str()?.strip_suffix(".messages.json")?;
    Some(messages.with_file_name(format!("{session}.json")))
}

/// Reads the file that states a session; a sub-agent's is not a window's.
fn stated(bytes: &[u8]) -> Option<StatedSession> {
    let state = json::parse(bytes).ok()?;
    let is_sub_agents = state.str("parent_session_id").is_some() || state.int("is_subagent") == Some(1);
    let pid = state.int("pid").and_then(|pid| u32::try_from(pid).ok());
    Some(StatedSession {
        id: state.text("session_id").filter(|_| !is_sub_agents)?,
        cwd: state.text("cwd")?,
        began_at: state.str("started_at").and_then(time::rfc3339),
        is_fork: false,
        pid,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::testing::fixture;

    #[test]
    fn a_state_names_session_folder_and_process() {
        let state = r#"{"session_id":"1_a","pid":42,"started_at":"2026-11-28T08:43:22.285Z","status":"idle","cwd":"/src"}"#;
        let found = stated(state.as_bytes()).unwrap();
        assert_eq!((found.id.raw(), found.cwd.raw(), found.pid), ("1_a", "/src", Some(42)));
        assert!(found.began_at.is_some());
        let sub_agents = state.replace("\"pid\"", "\"parent_session_id\":\"0_a\",\"pid\"");
        assert_eq!(stated(sub_agents.as_bytes()), None);
        assert_eq!(stated(&state.as_bytes()[..30]), None);
    }

    #[test]
    fn a_real_row_names_session_folder_and_process() {
        let Some(rows) = fixture("agents-2026-11/cline/sessions.db.json") else { return };
        let rows = json::parse(&rows).unwrap();
        let row = rows.get("sessions").and_then(json::Value::as_array).unwrap()[0].to_string();
        let found = stated(row.as_bytes()).unwrap();
        assert_eq!((found.id.raw(), found.cwd.raw()), ("1795855402253_anbtz", "/home/dev/src/cline"));
    }
}
