//! The fence: what may be read when a person has named the only folders.

use std::path::{Path, PathBuf};

/// Which folders may be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fence {
    /// Any.
    Open,
    /// These, resolved, and what lies below them.
    Around(Vec<PathBuf>),
}

impl Fence {
    /// Puts a fence around these folders; links in their names are resolved now.
    pub fn around<'a>(folders: impl IntoIterator<Item = &'a Path>) -> Self {
        let resolved = folders.into_iter().map(resolve);
        Self::Around(resolved.collect())
    }

    /// Returns whether a path, wherever its links lead, may be read.
    pub fn reaches(&self, path: &Path) -> bool {
        *self == Self::Open || self.allows(&resolve(path))
    }

    /// Returns whether a resolved path may be read.
    pub fn allows(&self, resolved: &Path) -> bool {
        match self {
            Self::Open => true,
            Self::Around(folders) => folders.iter().any(|folder| resolved.starts_with(folder)),
        }
    }
}

/// Resolves every link in a path. What does not exist (any more) keeps its last parts as they
/// are named, below the nearest folder that exists; `..` there is taken by its letters.
pub fn resolve(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
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
mod tests {
    use super::*;

    #[test]
    fn a_link_out_of_the_fence_stays_outside() {
        let world = tempfile::tempdir().unwrap();
        let (inside, outside) = (world.path().join("in"), world.path().join("out"));
        std::fs::create_dir_all(inside.join("a")).unwrap();
        std::fs::create_dir_all(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
        let fence = Fence::around([inside.as_path()]);
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
}
