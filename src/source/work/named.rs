//! The name that a person has given a session, if its agent keeps it beside the transcript.

use std::path::{Path, PathBuf};

use crate::core::model::{FileMeta, Untrusted};
use crate::format::transcripts::{NameFile, Transcripts};
use crate::source::os::open::folder::look_at;
use crate::source::os::open::plain::small;

/// The largest such file that is read, in bytes; some 300 were seen.
const MOST: usize = 64 << 10;

/// The file that has the name of a session.
pub(crate) struct GivenName {
    pub(crate) path: PathBuf,
    file: NameFile,
    /// The file when it was last read.
    read: Option<FileMeta>,
    pub(crate) given: Option<Untrusted>,
}

impl GivenName {
    /// Returns where the name of a session is, whose transcript is given.
    pub(crate) fn for_session(transcripts: &Transcripts, transcript: &Path) -> Option<Self> {
        let file = transcripts.name_file?;
        Some(Self { path: transcript.with_file_name(file.file), file, read: None, given: None })
    }

    /// Reads it if it has changed. Returns whether the name changed. Another user's file gives none.
    pub(crate) fn look(&mut self, uid: u32) -> bool {
        let now = look_at(&self.path);
        if now == self.read {
            return false;
        }
        let is_own = now.as_ref().is_some_and(|meta| meta.ownership.uid == uid);
        let text = small(&self.path, MOST).ok().filter(|_| is_own);
        let given = text.and_then(|text| (self.file.given)(&text));
        self.read = now;
        let is_other = given != self.given;
        self.given = given;
        is_other
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests write their own files")]
mod tests {
    use super::*;
    use crate::core::model::Format;
    use crate::format::spec;

    fn of(format: Format) -> Transcripts {
        spec(format).unwrap().transcripts.unwrap()
    }

    #[test]
    fn a_name_is_read_whenever_its_file_changes() {
        let folder = tempfile::tempdir().unwrap();
        let uid = rustix::process::getuid().as_raw();
        let mut named =
            GivenName::for_session(&of(Format::Copilot), &folder.path().join("events.jsonl")).unwrap();
        assert!(!named.look(uid), "there is no file yet");
        let mut check = |text: &str, uid: u32, expected: Option<&str>| {
            std::fs::write(folder.path().join("workspace.yaml"), text).unwrap();
            named.look(uid);
            assert_eq!(named.given.as_ref().map(Untrusted::raw), expected, "{text}");
        };
        check("name: PLAY first\nuser_named: false\n", uid, None);
        check("name: till\nuser_named: true\n", uid, Some("till"));
        check("name: another\nuser_named: true\n", uid + 1, None);
        assert!(GivenName::for_session(&of(Format::Codex), Path::new("/h/rollout.jsonl")).is_none());
    }
}
