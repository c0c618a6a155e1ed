//! What lost edits of a file began from: the base of a merge.

use std::cmp::Reverse;
use std::path::Path;

use jiff::Timestamp;

use crate::core::model::{EditState, Untrusted, Work};
use crate::format::agent::bytes::{Bytes, ExactState};
use crate::source::database::sqlite::copies::Copies;
use crate::source::os::fence::Fence;
use crate::source::own::kept::KeptFiles;
use crate::source::own::ledger::Tree;
use crate::source::repos::objects::Name;
use crate::source::versions::found::{FoundVersion, fates, from_transcript};
use crate::source::versions::trees::Trees;

/// A version whose base is wanted.
pub(crate) struct BaseQuestion<'a> {
    /// The file.
    pub(crate) path: &'a Path,
    /// The session that wrote it.
    pub(crate) session: &'a Untrusted,
    /// Git's name for the content.
    pub(crate) blob: Name,
    /// What is known of the session, for its transcript.
    pub(crate) work: Option<&'a Work>,
}

/// Finds what the first of a session's lost edits of a file began from: by the transcript, else the session's last version
/// before it that is not lost, else what git had checked out then. `None` if it began with no file, or that is not known.
pub(crate) fn base_of(
    wanted: &BaseQuestion<'_>,
    kept: &Path,
    (now, home): (Timestamp, &Path),
    (fence, copies): (&Fence, &Copies),
) -> Option<Bytes> {
    let mut all = own_versions(wanted, kept, (fence, copies))?;
    all.sort_by_key(|one| Reverse(one.at));
    let from = all.iter().position(|one| one.blob == wanted.blob)?;
    let all = all.split_off(from);
    let states = fates(&all, (now, home));
    let is_lost = |(one, fate): &(&FoundVersion, _)| {
        one.blob == wanted.blob || matches!(fate, EditState::Gone | EditState::Stashed)
    };
    let all: Vec<(&FoundVersion, EditState)> = all.iter().zip(states.iter().map(|fate| fate.state)).collect();
    let (first, _) = all.iter().take_while(|one| is_lost(one)).last()?;
    let is_same = |one: &&(&FoundVersion, EditState)| one.0.blob == first.blob;
    if let Some(bytes) = all.iter().filter(is_same).find_map(|(one, _)| one.began_from.clone()) {
        return Some(bytes);
    }
    let before = all.iter().find(|one| !is_lost(one)).filter(|(_, state)| *state != EditState::Unknown);
    if let Some(bytes) = before.and_then(|(one, _)| one.bytes()) {
        return Some(bytes);
    }
    // The tree itself is to be written into, wherever else nothing is read.
    match Trees::new(&Fence::default()).in_git(wanted.path, Some(first.at))? {
        ExactState::Bytes(bytes) => Some(bytes),
        ExactState::Absent => None,
    }
}

/// Returns all versions of a file that a session wrote.
fn own_versions(
    wanted: &BaseQuestion<'_>,
    kept: &Path,
    (fence, copies): (&Fence, &Copies),
) -> Option<Vec<FoundVersion>> {
    let tree = wanted.path.parent().and_then(Tree::find)?;
    let files = KeptFiles::of_tree(kept, tree.text()?);
    let kept = files.of_file(wanted.path.to_str()?).into_iter();
    let kept = kept.filter_map(|version| FoundVersion::of_kept(version, &files));
    let mut all: Vec<FoundVersion> = kept.filter(|one| one.session == *wanted.session).collect();
    if let Some(work) = wanted.work {
        // What a transcript does not tell is looked for elsewhere.
        all.extend(from_transcript(work, &[wanted.path.to_path_buf()], (fence, copies)).unwrap_or_default());
    }
    Some(all)
}
