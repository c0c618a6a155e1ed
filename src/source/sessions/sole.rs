//! Locks that show everything their holder runs: the process holds one session's lock and is tied to no other session.

use std::path::Path;

use crate::core::model::{Others, SessionFile, Tie, Untrusted};
use crate::source::os::open::folder::look_at;
use crate::source::os::open::medium::medium_at;
use crate::source::os::opener;
use crate::source::sessions::look::Look;

/// Reads an agent's files in one home, and marks these locks if all of it could be read.
pub(crate) fn noted(look: &mut Look<'_>, read: impl FnOnce(&mut Look<'_>)) {
    let before = look.found.len();
    look.is_cut.set(false);
    read(look);
    if let Some(found) = look.found.get_mut(before..).filter(|_| !look.is_cut.get()) {
        note(found, holds);
    }
}

fn note(found: &mut [SessionFile], holds: impl Fn(u32, &Path) -> bool) {
    let tied = |file: &SessionFile| Some((file.tie.pid()?, file.session.clone()));
    let ties: Vec<(u32, Untrusted)> = found.iter().filter_map(tied).collect();
    for file in found {
        let Tie::Locked(holder) = file.tie else { continue };
        let is_other = |(pid, session): &(u32, Untrusted)| *pid == holder && *session != file.session;
        if !ties.iter().any(is_other) && holds(holder, &file.path) {
            file.others = Others::None;
            file.medium = medium_at(&file.path);
        }
    }
}

/// Returns whether a process itself holds the lock on a file: the process that took it may have left it to a child
/// (flock(2)).
fn holds(pid: u32, path: &Path) -> bool {
    let meta = look_at(path).zip(path.file_name());
    meta.is_some_and(|(meta, name)| opener::is_locker(pid, name, &meta))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn file(session: &str, tie: Tie) -> SessionFile {
        let at = (Path::new("/tmp").to_path_buf().into(), Timestamp::UNIX_EPOCH);
        SessionFile::new("codex", session.into(), tie, at)
    }

    #[track_caller]
    fn check(found: &[(&str, Tie)], expected: &[&str]) {
        let mut found: Vec<SessionFile> = found.iter().map(|(id, tie)| file(id, tie.clone())).collect();
        note(&mut found, |pid, _| pid != 9);
        let sole = found.iter().filter(|file| file.others == Others::None);
        assert_eq!(sole.map(|file| file.session.raw()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn whoever_is_tied_to_one_session_alone_runs_no_other() {
        check(&[("a", Tie::Locked(7)), ("b", Tie::Locked(8)), ("c", Tie::Named(5))], &["a", "b"]);
        check(&[("a", Tie::Locked(7)), ("a", Tie::Opened(7)), ("b", Tie::Folder("/x".into()))], &["a"]);
        check(&[("a", Tie::Locked(7)), ("b", Tie::Locked(7))], &[]);
        check(&[("a", Tie::Locked(7)), ("b", Tie::Named(7))], &[]);
        check(&[("a", Tie::Locked(7)), ("b", Tie::Opened(7))], &[]);
        check(&[("a", Tie::Locked(9))], &[]);
    }
}
