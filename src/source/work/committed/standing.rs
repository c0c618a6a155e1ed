//! A file's state in git's index and in the checked out commit.

use std::path::Path;

use crate::source::repos::head::CommitContent;
use crate::source::repos::index::IndexContent;
use crate::source::work::committed::{FileInTree, Heads, file_at};

/// What is compared to determine a file's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    /// Nothing: only whether the index has the file.
    Presence,
    /// The index with the commit.
    Index,
    /// The file too, which has to be read.
    File,
}

/// A file's state in git's index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// That cannot be determined.
    Unread,
    /// The index does not have it.
    New {
        /// Whether it has other files of its folder.
        is_beside_known: bool,
    },
    Known(Differs),
}

/// How a file in the index, the index and the checked out commit differ; `None` if that cannot be determined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Differs {
    /// Whether the commit has it.
    pub(crate) is_in_commit: Option<bool>,
    /// Whether the index has another content than the commit.
    pub(crate) is_staged: Option<bool>,
    /// Whether the file has another content than the index.
    pub(crate) is_unstaged: Option<bool>,
}

impl Heads<'_> {
    /// Determines a file's state in git; `None` if that cannot be determined.
    pub(super) fn standing(&mut self, path: &Path, compare: Compare) -> Option<Standing> {
        let (folder, tree) = self.tree_of(path)?;
        let place = FileInTree { folder, inside: path.strip_prefix(folder).ok()?, tree: tree? };
        let now = self.now;
        let staged = match self.index(&place).held(place.inside, now) {
            IndexContent::Unread => return None,
            IndexContent::Nothing => {
                let beside = self.index(&place).has_below(place.inside.parent()?, now)?;
                return Some(Standing::New { is_beside_known: beside });
            }
            IndexContent::Conflict => None,
            IndexContent::File(name) => Some(name),
        };
        if compare == Compare::Presence {
            return Some(Standing::Known(Differs::default()));
        }
        let meta = file_at(path).filter(|_| compare == Compare::File);
        let own = meta.and_then(|meta| self.names(path, &meta)).map(|names| names.own);
        self.find_commit(&place);
        let held = self.held(&place);
        let is_staged = match (staged, held) {
            (None, _) => Some(true),
            (Some(_), CommitContent::Unread) => None,
            (Some(staged), held) => Some(held != CommitContent::File(staged)),
        };
        Some(Standing::Known(Differs {
            is_in_commit: (held != CommitContent::Unread).then_some(held != CommitContent::Nothing),
            is_staged,
            is_unstaged: staged.map_or(Some(true), |staged| Some(own? != staged)),
        }))
    }
}
