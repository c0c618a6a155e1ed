//! Which sessions have taken over the tasks of others: a window that is moved to the background dies, and the one that
//! continues its work has links to its tasks' output (as measured with Claude Code 2.1.330).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use rustix::fs::{FileType, readlinkat};

use crate::core::model::Untrusted;
use crate::source::interface::Scope;
use crate::source::os::open::error::OpenError;
use crate::source::os::open::folder::Folder;

/// How long the last reading counts: what is offered has been without its window for longer.
const LASTS: SignedDuration = SignedDuration::from_secs(30);
/// The most names that are read in one folder, and folders in all.
const MOST: usize = 4_096;

/// The last reading.
#[derive(Default)]
pub(super) struct AdoptionCache {
    read_at: Option<Timestamp>,
    /// The sessions that have taken over tasks, by the session whose tasks they were; `None` if not all could be read.
    known: Option<BTreeMap<Untrusted, BTreeSet<Untrusted>>>,
}

impl AdoptionCache {
    /// Reads the links again if the last reading is old.
    pub(super) fn refresh(&mut self, scope: &Scope, uid: u32, now: Timestamp) {
        if self.read_at.is_some_and(|at| now.duration_since(at).abs() < LASTS) {
            return;
        }
        let folder = scope.places.tmp.join(format!("claude-{uid}"));
        *self = Self { read_at: Some(now), known: read(&folder) };
    }

    /// Returns the sessions that have taken over the tasks of a session; of any, if the session is not known.
    pub(super) fn heirs_of(&self, session: Option<&Untrusted>) -> Option<Vec<Untrusted>> {
        let known = self.known.as_ref()?;
        let those = known.iter().filter(|(from, _)| session.is_none_or(|session| *from == session));
        Some(those.flat_map(|(_, by)| by).cloned().collect())
    }
}

/// Reads `<project>/<session>/tasks/<task>.output` below a folder; `None` if not all could be read.
fn read(folder: &Path) -> Option<BTreeMap<Untrusted, BTreeSet<Untrusted>>> {
    let mut found: BTreeMap<Untrusted, BTreeSet<Untrusted>> = BTreeMap::new();
    let Some(root) = there(Folder::open(folder))? else { return Some(found) };
    let mut left = MOST;
    for project in names(&root, FileType::Directory)? {
        let Some(project) = there(root.enter(&project))? else { continue };
        for session in names(&project, FileType::Directory)? {
            left = left.checked_sub(1)?;
            let Some(own) = there(project.enter(&session))? else { continue };
            let Some(tasks) = there(own.enter(OsStr::new("tasks")))? else { continue };
            for task in names(&tasks, FileType::Symlink)? {
                let Ok(target) = readlinkat(&tasks, task.as_os_str(), Vec::new()) else { continue };
                let from = session_of(Path::new(OsStr::from_bytes(target.as_bytes())));
                if let Some(from) = from.filter(|from| *from != session) {
                    let by = Untrusted::from_path(Path::new(&session));
                    found.entry(Untrusted::from_path(Path::new(from))).or_default().insert(by);
                }
            }
        }
    }
    Some(found)
}

/// Returns the opened folder, and nothing if it does not exist; `None` if it may not be read.
#[expect(clippy::option_option, reason = "the outer one ends the reading")]
fn there(opened: Result<Folder, OpenError>) -> Option<Option<Folder>> {
    match opened {
        Ok(folder) => Some(Some(folder)),
        Err(OpenError::Absent { .. } | OpenError::NoFolder { .. }) => Some(None),
        Err(_) => None,
    }
}

/// Returns the names of one sort in a folder; `None` if there are too many, or it may not be read.
fn names(folder: &Folder, sort: FileType) -> Option<Vec<OsString>> {
    let entries = folder.entries(|_| true).ok().filter(|all| all.len() <= MOST)?;
    let is_it = |found: FileType| found == sort || found == FileType::Unknown;
    Some(entries.into_iter().filter(|entry| is_it(entry.sort)).map(|entry| entry.name).collect())
}

/// Returns the session in `<session>/tasks/<task>.output`.
pub(super) fn session_of(path: &Path) -> Option<&OsStr> {
    let tasks = path.parent().filter(|_| path.extension().is_some_and(|end| end == "output"))?;
    tasks.file_name().filter(|name| *name == "tasks")?;
    tasks.parent()?.file_name()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const FROM: &str = "048d840c-ce95-46c1-9e3a-791d9f7aeaad";
    const BY: &str = "148d840c-ce95-46c1-9e3a-791d9f7aeaad";

    #[test]
    fn a_link_into_the_tasks_of_another_session_tells_who_has_taken_them_over() {
        let home = tempfile::tempdir().unwrap();
        let tasks = |session: &str| home.path().join("-home-dev-shop").join(session).join("tasks");
        for session in [FROM, BY] {
            std::fs::create_dir_all(tasks(session)).unwrap();
        }
        std::fs::File::create_new(tasks(FROM).join("a.output")).unwrap();
        symlink(tasks(FROM).join("a.output"), tasks(BY).join("a.output")).unwrap();
        // These do not count: its own, one that leads elsewhere, a project that is a link.
        symlink(tasks(BY).join("b.output"), tasks(BY).join("c.output")).unwrap();
        symlink("/etc/passwd", tasks(BY).join("d.output")).unwrap();
        symlink("/", home.path().join("everything")).unwrap();
        let adopted = AdoptionCache { read_at: None, known: read(home.path()) };
        assert_eq!(adopted.heirs_of(Some(&FROM.into())), Some(vec![BY.into()]));
        assert_eq!(adopted.heirs_of(Some(&BY.into())), Some(vec![]));
        assert_eq!(adopted.heirs_of(None), Some(vec![BY.into()]));
        assert_eq!(AdoptionCache::default().heirs_of(None), None);
        assert_eq!(read(&home.path().join("nothing")), Some(BTreeMap::new()));
    }
}
