//! The fence: what may be read if a person has named the only folders.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// Which folders may be read, and the resolved links of one look.
#[derive(Debug, Default)]
pub(crate) struct Fence {
    /// These resolved folders and everything below them; `None` for any.
    around: Option<Vec<PathBuf>>,
    /// Where each path of this look leads; `None` for one that leads nowhere.
    known: RefCell<HashMap<PathBuf, Option<PathBuf>>>,
}

impl Fence {
    /// Puts a fence around these folders; links in their names are resolved now.
    pub(crate) fn new<'a>(folders: impl IntoIterator<Item = &'a Path>) -> Self {
        let resolved = folders.into_iter().map(resolve);
        Self { around: Some(resolved.collect()), ..Self::default() }
    }

    /// Forgets resolved links: each look resolves them anew.
    pub(crate) fn forget_links(&mut self) {
        self.known.take();
    }

    /// Returns whether a path, with its links resolved, may be read.
    pub(crate) fn reaches(&self, path: &Path) -> bool {
        self.around.is_none() || self.allows(&self.resolve(path))
    }

    /// Returns whether a resolved path may be read.
    pub(crate) fn allows(&self, resolved: &Path) -> bool {
        let is_inside = |folders: &Vec<PathBuf>| folders.iter().any(|folder| resolved.starts_with(folder));
        self.around.as_ref().is_none_or(is_inside)
    }

    /// Resolves every link in a path, as [`resolve`] does.
    pub(crate) fn resolve(&self, path: &Path) -> PathBuf {
        resolve_by(path, |above| self.existing(above))
    }

    /// Returns whether a path has no links, if its parts are not known already.
    fn is_own_place(&self, path: &Path) -> bool {
        let is_begun = path.parent().is_none_or(|above| self.known.borrow().contains_key(above));
        let is_plain = path.is_absolute() && !path.components().any(|part| part == Component::ParentDir);
        !is_begun && is_plain && is_free_of_links(path)
    }

    /// Returns where a path leads: where the folder above it does, unless it is a link itself.
    fn existing(&self, path: &Path) -> Option<PathBuf> {
        if let Some(known) = self.known.borrow().get(path) {
            return known.clone();
        }
        if self.is_own_place(path) {
            let place: PathBuf = path.components().collect();
            let parts = place.ancestors().map(Path::to_path_buf);
            self.known.borrow_mut().extend(parts.map(|part| (part.clone(), Some(part))));
            return Some(place);
        }
        let found = match (path.parent(), path.file_name()) {
            (Some(above), Some(name)) if path.is_absolute() => {
                self.existing(above).and_then(|above| at(above.join(name)))
            }
            _ => path.canonicalize().ok(),
        };
        self.known.borrow_mut().insert(path.to_path_buf(), found.clone());
        found
    }
}

/// Returns whether something exists at a path without links: one system call instead of one for each part. `false` can
/// also mean that the system cannot answer.
#[cfg(target_os = "linux")]
fn is_free_of_links(path: &Path) -> bool {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS).is_ok()
}

/// Returns `false`: no other system answers for a whole path.
#[cfg(not(target_os = "linux"))]
fn is_free_of_links(_path: &Path) -> bool {
    false
}

/// Returns where a path leads of which only the last part can be a link.
fn at(path: PathBuf) -> Option<PathBuf> {
    match path.symlink_metadata().ok()?.is_symlink() {
        true => path.canonicalize().ok(),
        false => Some(path),
    }
}

/// Resolves every link in a path. If the path does not exist (any more), its last parts keep their names, below the
/// nearest folder that exists; `..` there is taken literally.
pub(crate) fn resolve(path: &Path) -> PathBuf {
    resolve_by(path, |above| above.canonicalize().ok())
}

fn resolve_by(path: &Path, existing: impl Fn(&Path) -> Option<PathBuf>) -> PathBuf {
    let existing = path.ancestors().find_map(|above| Some((above, existing(above)?)));
    let Some((above, mut resolved)) = existing else { return path.to_path_buf() };
    for part in path.strip_prefix(above).unwrap_or(Path::new("")) {
        if part == ".." {
            resolved.pop();
        } else {
            resolved.push(part);
        }
    }
    resolved
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes and removes its own files")]
mod tests {
    use super::*;

    #[test]
    fn a_link_out_of_the_fence_stays_outside() {
        let world = tempfile::tempdir().unwrap();
        let (inside, outside) = (world.path().join("in"), world.path().join("out"));
        std::fs::create_dir_all(inside.join("a")).unwrap();
        std::fs::create_dir_all(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
        let fence = Fence::new([inside.as_path()]);
        for (path, expected) in [
            ("in/a", true),
            ("in/new/b", true),
            ("in/link", false),
            ("in/../out", false),
            ("in/x/../../out", false),
        ] {
            assert_eq!(fence.reaches(&world.path().join(path)), expected, "{path}");
        }
    }

    #[test]
    fn links_are_read_once_a_look_and_lead_where_they_always_do() {
        let world = tempfile::tempdir().unwrap();
        let at = |below: &str| world.path().join(below);
        std::fs::create_dir_all(at("in/a")).unwrap();
        std::fs::write(at("in/file"), "").unwrap();
        std::os::unix::fs::symlink(at("in"), at("link")).unwrap();
        std::os::unix::fs::symlink("nowhere", at("in/broken")).unwrap();
        let mut fence = Fence::default();
        for path in
            ["link/a", "link/./a/", "link/a/../b", "link/../in", "in/file/x", "link/broken/x", "in/.."]
        {
            assert_eq!(fence.resolve(&at(path)), resolve(&at(path)), "{path}");
        }
        for path in ["", ".", "..", "src/../src", "/", "/.."].map(Path::new) {
            assert_eq!(fence.resolve(path), resolve(path), "{}", path.display());
        }
        std::fs::remove_file(at("link")).unwrap();
        assert_eq!(fence.resolve(&at("link/a")), resolve(&at("in/a")), "as this look has seen it");
        fence.forget_links();
        assert_eq!(fence.resolve(&at("link/a")), resolve(&at("link/a")), "as the next one sees it");
    }
}
