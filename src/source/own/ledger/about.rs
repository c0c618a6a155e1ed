//! Which edits a question is about.

use std::path::Path;

use crate::core::guard::git::reach::{Takes, TrackedFiles};
use crate::core::model::Edit;
use crate::source::repos::ignored::IgnoreRules;
use crate::source::work::committed::marker::Marker;
use crate::source::work::committed::standing::{Compare, Differs, Standing};

/// The files that are asked about.
pub(crate) enum About<'a> {
    /// These files, by their whole paths.
    Files(&'a [String]),
    /// The files that the predicate accepts, of the kinds that a call of git takes.
    Matching(&'a dyn Fn(&str) -> bool, Takes),
    /// The same, with a predicate for files that are named individually.
    Naming(&'a dyn Fn(&str) -> bool, &'a dyn Fn(&str) -> bool, Takes),
}

impl About<'_> {
    /// Returns whether an edit is of the files that are asked about: ignored files only if they are to be removed.
    pub(super) fn takes(
        &self,
        edit: &Edit,
        (marker, ignored): (&mut Marker, &mut Option<IgnoreRules>),
    ) -> bool {
        let path = Path::new(edit.path.raw());
        let mut is_ignored = || ignored.as_mut().is_some_and(|ignored| ignored.has(path));
        let takes = match self {
            Self::Files(_) => Takes::WORK,
            Self::Matching(_, takes) | Self::Naming(_, _, takes) => *takes,
        };
        // Determining git's state of it costs more.
        if !edit.is_open() || takes == Takes::ALL || takes == Takes::WORK && !is_ignored() {
            return true;
        }
        let compare = match takes.tracked {
            TrackedFiles::None | TrackedFiles::Changed => Compare::Presence,
            TrackedFiles::Staged => Compare::Index,
            TrackedFiles::InCommit | TrackedFiles::Unstaged => Compare::File,
        };
        match (marker.standing(path, compare), takes.tracked) {
            (Standing::Unread, _) | (Standing::Known(_), TrackedFiles::None) => false,
            (Standing::New { is_beside_known }, _) => {
                let takes_it = if is_ignored() { takes.ignored } else { takes.untracked };
                takes_it && (is_beside_known || takes.in_new_folders)
                    || takes.named && self.is_named(edit.path.raw())
            }
            (Standing::Known(_), TrackedFiles::Changed) => true,
            (Standing::Known(differs), TrackedFiles::InCommit) => differs.is_in_commit == Some(true),
            (Standing::Known(differs), TrackedFiles::Staged) => differs.is_staged == Some(true),
            (Standing::Known(differs), TrackedFiles::Unstaged) => differs.is_unstaged == Some(true),
        }
    }

    /// Returns whether an edit can be of the files that are asked about, as far as the index alone shows that: mostly nothing
    /// is staged, and then nothing needs to be known of any edit.
    pub(super) fn may_take(&self, edit: &Edit, marker: &mut Marker) -> bool {
        let (Self::Matching(_, takes) | Self::Naming(_, _, takes)) = self else { return true };
        if takes.tracked != TrackedFiles::Staged || takes.untracked || takes.named {
            return true;
        }
        let standing = marker.standing(Path::new(edit.path.raw()), Compare::Index);
        !matches!(standing, Standing::Known(Differs { is_staged: Some(false), .. }))
    }

    pub(super) fn has(&self, path: &str) -> bool {
        match self {
            Self::Files(files) => files.iter().any(|file| file == path),
            Self::Matching(is_asked, _) | Self::Naming(is_asked, _, _) => is_asked(path),
        }
    }

    fn is_named(&self, path: &str) -> bool {
        matches!(self, Self::Naming(_, is_named, _) if is_named(path))
    }
}
