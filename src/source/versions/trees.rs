//! Files in the trees of git repositories, also where the objects are in another one.

use std::cell::RefCell;
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use rustix::process::geteuid;

use crate::format::agent::bytes::ExactState;
use crate::source::os::fence::Fence;
use crate::source::os::open::plain::small;
use crate::source::repos::head::{Commit, entry};
use crate::source::repos::locate::{POINTER, core_setting, git_dir, pointer};
use crate::source::repos::objects::{Kind, Name, parse_name, read};
use crate::source::work::committed::head_at;

/// How many folders of objects one repository may use: its own and its alternates.
const MOST_FOLDERS: usize = 8;
/// The most objects that are remembered.
const MOST_KNOWN: usize = 10_000;

/// The largest file of attributes that is read, in bytes.
const MOST_ATTRIBUTES: usize = 64 << 10;
/// The attributes by which git's content differs from the file's (gitattributes(5)).
const CHANGES: [&str; 5] = ["eol=crlf", "filter", "ident", "working-tree-encoding", "[attr]"];

/// An object, if it could be read.
type MaybeObject = Option<Arc<Vec<u8>>>;

/// Reads trees, and remembers them.
pub(super) struct Trees<'a> {
    fence: &'a Fence,
    known: RefCell<HashMap<(PathBuf, Name), MaybeObject>>,
    repositories: RefCell<HashMap<PathBuf, Option<Arc<Repository>>>>,
}

/// A working tree and the repository that it belongs to.
struct Repository {
    /// The top of the working tree.
    top: PathBuf,
    /// Its own folder of git's.
    own: PathBuf,
    /// The folder that it shares with others.
    common: PathBuf,
    /// The lines about how git keeps files.
    attributes: String,
    /// Whether git changes line ends.
    is_converted: bool,
}

impl Repository {
    /// Reads what is needed of a repository.
    fn new(top: &Path, own: PathBuf, common: PathBuf) -> Self {
        let files = [top.join(".gitattributes"), common.join("info/attributes")];
        let read = |file: &PathBuf| small(file, MOST_ATTRIBUTES).unwrap_or_default();
        let attributes = files.iter().map(|file| String::from_utf8_lossy(&read(file)).into_owned());
        let is_on = |value: String| value.eq_ignore_ascii_case("true");
        let is_crlf = |value: String| value.eq_ignore_ascii_case("crlf");
        Self {
            top: top.to_path_buf(),
            is_converted: core_setting(&common, "autocrlf").is_some_and(is_on)
                || core_setting(&common, "eol").is_some_and(is_crlf),
            attributes: attributes.collect::<Vec<_>>().join("\n"),
            own,
            common,
        }
    }

    /// Returns whether git may have other bytes for a file than the working tree, as far as its own settings show.
    fn may_differ(&self, path: &Path) -> bool {
        let end = path.extension().map(|end| end.to_string_lossy().into_owned()).unwrap_or_default();
        let names = |line: &&str| {
            let pattern = line.split_whitespace().next().unwrap_or_default();
            pattern.strip_prefix("*.").is_none_or(|wanted| wanted.eq_ignore_ascii_case(&end))
        };
        let changes = |line: &str| CHANGES.iter().any(|change| line.contains(change));
        let lines = self.attributes.lines().filter(|line| !line.trim_start().starts_with('#'));
        self.is_converted || lines.filter(names).any(changes)
    }
}

impl<'a> Trees<'a> {
    /// Begins with nothing read.
    pub(super) fn new(fence: &'a Fence) -> Self {
        Self { fence, known: RefCell::default(), repositories: RefCell::default() }
    }

    /// Returns what the commit that was checked out at a moment has of a file.
    pub(super) fn in_git(&self, path: &Path, at: Option<Timestamp>) -> Option<ExactState> {
        let repository = self.repository(path.parent()?).filter(|repository| !repository.may_differ(path))?;
        let commit = match at {
            Some(at) => head_at(&repository.own, at, geteuid().as_raw())?,
            None => Commit::checked_out(&repository.own, &repository.common)?,
        };
        let objects = repository.common.join("objects");
        let commit = self.object(&objects, Kind::Commit, &commit)?;
        let tree = parse_name(commit.strip_prefix(b"tree ")?.get(..40)?)?;
        self.file(&objects, tree, path.strip_prefix(&repository.top).ok()?)
    }

    /// Returns a file of a tree; something else than a plain file is not known.
    pub(super) fn file(&self, objects: &Path, tree: Name, inside: &Path) -> Option<ExactState> {
        let (mut name, mut is_folder) = (tree, true);
        for part in inside.components() {
            let Component::Normal(part) = part else { return None };
            if !is_folder {
                return Some(ExactState::Absent);
            }
            match entry(&self.object(objects, Kind::Tree, &name)?, part.as_bytes()) {
                Some((b"40000", next)) => name = next,
                Some((mode, next)) if mode.starts_with(b"100") => (name, is_folder) = (next, false),
                Some(_) => return None,
                None => return Some(ExactState::Absent),
            }
        }
        let blob = if is_folder { None } else { self.object(objects, Kind::Blob, &name) };
        blob.map(ExactState::Bytes)
    }

    fn object(&self, objects: &Path, kind: Kind, name: &Name) -> MaybeObject {
        let key = (objects.to_path_buf(), *name);
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone();
        }
        let mut all = vec![objects.to_path_buf()];
        let mut at = 0;
        let mut found = None;
        while let (None, Some(folder)) = (&found, all.get(at).cloned()) {
            found = read(&folder, kind, name).map(Arc::new);
            all.extend(alternates(&folder, self.fence));
            all.truncate(MOST_FOLDERS);
            at += 1;
        }
        let mut known = self.known.borrow_mut();
        if kind != Kind::Blob && known.len() < MOST_KNOWN {
            known.insert(key, found.clone());
        }
        found
    }

    fn repository(&self, folder: &Path) -> Option<Arc<Repository>> {
        if let Some(known) = self.repositories.borrow().get(folder) {
            return known.clone();
        }
        let is_top = |at: &&Path| self.fence.reaches(at) && at.join(".git").symlink_metadata().is_ok();
        let found = folder.ancestors().find(is_top).and_then(|top| {
            let own = git_dir(top)?;
            let common =
                pointer(&own.join("commondir")).map_or(own.clone(), |to| self.fence.resolve(&own.join(to)));
            let is_inside = self.fence.allows(&own) && self.fence.allows(&common);
            is_inside.then(|| Arc::new(Repository::new(top, own, common)))
        });
        self.repositories.borrow_mut().insert(folder.to_path_buf(), found.clone());
        found
    }
}

/// Returns the folders that lend a folder its objects (gitrepository-layout(5)).
fn alternates(objects: &Path, fence: &Fence) -> Vec<PathBuf> {
    let list = small(&objects.join("info/alternates"), POINTER).unwrap_or_default();
    let lines = list.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    let paths = lines.map(|line| objects.join(std::ffi::OsStr::from_bytes(line)));
    paths.filter(|path| fence.reaches(path)).take(MOST_FOLDERS).collect()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_git_converts_is_not_taken_from_git() {
        let world = tempfile::tempdir().unwrap();
        let (top, common) = (world.path(), world.path().join(".git"));
        std::fs::create_dir_all(&common).unwrap();
        let may_differ = |config: &str, attributes: &str, name: &str| {
            std::fs::write(common.join("config"), config).unwrap();
            std::fs::write(top.join(".gitattributes"), attributes).unwrap();
            Repository::new(top, common.clone(), common.clone()).may_differ(&top.join(name))
        };
        assert!(!may_differ("[core]\n\tautocrlf = false\n", "* text=auto\n", "a.rs"));
        assert!(may_differ("[core]\n\tautocrlf = true\n", "", "a.rs"));
        assert!(may_differ("", "*.bat eol=crlf\n", "a.bat") && !may_differ("", "*.bat eol=crlf\n", "a.rs"));
        assert!(may_differ("", "assets/** filter=lfs\n", "a.rs"));
        assert!(!may_differ("", "# filter\n", "a.rs"));
    }
}
