//! What others ask of the edits of one look.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::core::model::{CommitState, Edit, Repo, Snapshot, Untrusted, Work};
use crate::source::repos::objects::Short;
use crate::source::work::committed::standing::Standing;
use crate::source::work::committed::{CommitCache, EditFacts, Heads};

/// Marks which edits git has.
pub(crate) fn mark(work: &mut [&mut Arc<Work>], snapshot: &Snapshot, kept: &mut CommitCache) {
    let host = &snapshot.host;
    let folders = (snapshot.repos.as_slice(), snapshot.plain_folders.as_slice());
    let mut heads = Heads::new(folders, (snapshot.taken_at, host.clock_doubt), host.uid, kept);
    for work in work {
        let committed = |edit| heads.committed(edit, EditFacts::default());
        let marks: Vec<CommitState> = work.doing.edits.iter().map(committed).collect();
        if !marks.iter().eq(work.doing.edits.iter().map(|edit| &edit.committed)) {
            let edits = &mut Arc::make_mut(work).doing.edits;
            edits.iter_mut().zip(marks).for_each(|(edit, mark)| edit.committed = mark);
        }
    }
    kept.rest();
}

/// Tells at one moment which edits git has.
pub(crate) struct Marker {
    repos: Vec<Repo>,
    /// The folders that lie in none.
    plain: Vec<Untrusted>,
    now: Timestamp,
    uid: u32,
    doubt: SignedDuration,
    kept: CommitCache,
}

impl Marker {
    /// Prepares to ask these repositories and folders; the home is where a person sets what holds for all.
    pub(crate) fn new(
        (repos, plain): (Vec<Repo>, Vec<Untrusted>),
        (now, uid): (Timestamp, u32),
        home: &Path,
    ) -> Self {
        let kept = CommitCache { home: Some(home.to_path_buf()), ..CommitCache::default() };
        Self { repos, plain, now, uid, doubt: SignedDuration::ZERO, kept }
    }

    /// Takes over what was read in an earlier look, and by how much the clock was seen to be set.
    pub(crate) fn remembering(self, kept: CommitCache, doubt: SignedDuration) -> Self {
        let kept = CommitCache { home: self.kept.home.clone(), ..kept };
        Self { kept, doubt, ..self }
    }

    /// Ends a look, and returns what was read.
    pub(crate) fn into_kept(mut self) -> CommitCache {
        self.kept.rest();
        self.kept
    }

    /// Tells how git's index stands to a file; how its content and the commit's do only where that is asked for.
    pub(crate) fn standing(&mut self, path: &Path, with_contents: bool) -> Standing {
        self.heads().standing(path, with_contents).unwrap_or(Standing::Unread)
    }

    /// Marks some edits, each with what is written down of it.
    pub(crate) fn mark<'a>(&mut self, edits: impl IntoIterator<Item = (&'a mut Edit, EditFacts)>) {
        let mut heads = self.heads();
        for (edit, known) in edits {
            edit.committed = heads.committed(edit, known);
        }
    }

    /// Returns what files hold that were as the last commit has them at a moment each; those are left out that nobody has
    /// written since, unless the head may have been put back.
    pub(crate) fn held_since(&mut self, files: &[(&Untrusted, Timestamp)]) -> HashMap<Untrusted, Short> {
        let mut heads = self.heads();
        let held = |(path, at): &(&Untrusted, Timestamp)| {
            Some(((*path).clone(), heads.held_since(Path::new(path.raw()), *at)?))
        };
        files.iter().filter_map(held).collect()
    }

    fn heads(&mut self) -> Heads<'_> {
        let folders = (self.repos.as_slice(), self.plain.as_slice());
        Heads::new(folders, (self.now, self.doubt), self.uid, &mut self.kept)
    }
}
