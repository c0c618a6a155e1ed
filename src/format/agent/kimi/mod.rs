//! Kimi Code: it keeps no claims; `~/.kimi-code/sessions/<project>/<session>` has `state.json`, which names the folder,
//! and `agents/main/wire.jsonl`, the work.
//!
//! A session is made with its first prompt. A call is written once it may run; while a person is asked, the file says so.
//!
//! Seen with 2.1.0.

mod work;

use std::path::Path;

use crate::format::reading::json;
use crate::format::reading::place::Base;
use crate::format::reading::time;
use crate::format::spec::Spec;
use crate::format::transcripts::sessions::{SessionFiles, StatedSession};
use crate::format::transcripts::{Layout, Transcripts};

/// Where its sessions are, below the home.
const SESSIONS: &str = ".kimi-code/sessions";
/// Where the work of a session is, below its folder.
const WIRE: &str = "agents/main/wire.jsonl";

/// How claimtop reads it.
pub(crate) const SPEC: Spec = Spec::of_files(&[])
    .with_transcripts(Transcripts::new(
        (work::ADAPTER, work::read_talk),
        Base::Home,
        SESSIONS,
        Layout::Nested { inner: WIRE },
    ))
    .with_sessions(SessionFiles {
        agent: "kimi",
        folder: |_| format!("{SESSIONS}/*/*"),
        is_one: |name| name == "state.json",
        state: stated,
        transcript: |file, _| file.parent().map(|folder: &Path| folder.join(WIRE)),
    });

/// Reads the state of a session.
fn stated(bytes: &[u8]) -> Option<StatedSession> {
    let state = json::parse(bytes).ok().filter(|state| !state.is_true("archived"))?;
    let began_at = state.int("createdAt").and_then(time::epoch_ms);
    Some(StatedSession {
        id: state.text("id")?,
        cwd: state.text("cwd")?,
        began_at,
        is_fork: false,
        pid: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::testing::fixture;

    #[test]
    fn a_state_names_session_and_folder() {
        let state =
            r#"{"id":"session_1","version":2,"cwd":"/src","createdAt":1795855409551,"archived":false}"#;
        let found = stated(state.as_bytes()).unwrap();
        assert_eq!((found.id.raw(), found.cwd.raw()), ("session_1", "/src"));
        assert_eq!(found.began_at, time::epoch_ms(1_795_855_409_551));
        assert_eq!(stated(state.replace("false", "true").as_bytes()), None);
        assert_eq!(stated(&state.as_bytes()[..40]), None);
    }

    #[test]
    fn a_real_state_names_session_and_folder() {
        let Some(state) = fixture("agents-2026-11/kimi/state.json") else { return };
        let found = stated(&state).unwrap();
        assert_eq!(found.id.raw(), "session_65503f96-4184-43ff-9bef-9fb7a85d12e5");
        assert_eq!(found.cwd.raw(), "/home/dev/src/kimi");
    }
}
