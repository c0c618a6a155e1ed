//! Continue: it keeps no claims; the work of a session is one document, `~/.continue/sessions/<session>.json`, which is
//! rewritten whole and has no times.
//!
//! A call that a person is asked about is `generated`, one that runs `calling`; it stays so when a person interrupts it.
//!
//! Seen with 1.5.47.

mod work;

use crate::format::reading::json;
use crate::format::spec::Spec;
use crate::format::transcripts::sessions::{Document, SessionFiles, StatedSession};

/// How claimtop reads it.
pub(crate) const SPEC: Spec = Spec::of_files(&[])
    .with_sessions(SessionFiles {
        agent: "continue",
        folder: |_| ".continue/sessions".to_owned(),
        is_one: |name| name.ends_with(".json") && name != "sessions.json",
        state: stated,
        transcript: |file, _| Some(file.to_path_buf()),
    })
    .with_document(Document { work: work::read, talk: work::read_talk, status: None });

/// Reads the beginning of a document, whose end may be cut off: the history stands last.
fn stated(bytes: &[u8]) -> Option<StatedSession> {
    let text = String::from_utf8_lossy(bytes);
    let (head, _) = text.split_once("\"history\":")?;
    let head = format!("{}}}", head.trim_end().trim_end_matches(','));
    let head = json::parse(head.as_bytes()).ok()?;
    let (id, cwd) = (head.text("sessionId")?, head.text("workspaceDirectory")?);
    Some(StatedSession { id, cwd, began_at: None, is_fork: false, pid: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::testing::fixture;

    #[test]
    fn a_document_begins_with_session_and_folder() {
        let text =
            r#"{"sessionId":"6d38","title":"a \"history\" of","workspaceDirectory":"/src","history":[{"mess"#;
        let found = stated(text.as_bytes()).unwrap();
        assert_eq!((found.id.raw(), found.cwd.raw()), ("6d38", "/src"));
        assert_eq!(stated(&text.as_bytes()[..50]), None);
    }

    #[test]
    fn a_real_document_begins_with_session_and_folder() {
        let path = "agents-2026-11/continue/6d385489-4105-499a-90f8-fed5293d10de.json";
        let Some(text) = fixture(path) else { return };
        let found = stated(&text).unwrap();
        assert_eq!(found.id.raw(), "6d385489-4105-499a-90f8-fed5293d10de");
        assert_eq!(found.cwd.raw(), "/home/dev/src/cn");
    }
}
