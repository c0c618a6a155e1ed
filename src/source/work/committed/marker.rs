//! Queries about the edits of one look.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::core::model::{Edit, EditFate, EditState, Format, Repo, Snapshot, Untrusted, Work};
use crate::source::repos::objects::Short;
use crate::source::work::committed::standing::{Compare, Standing};
use crate::source::work::committed::{CommitCache, EditFacts, Heads};

/// Determines what became of edits.
pub(crate) fn mark(work: &mut [&mut Arc<Work>], snapshot: &Snapshot, kept: &mut CommitCache) {
    let host = &snapshot.host;
    let folders = (snapshot.repos.as_slice(), snapshot.plain_folders.as_slice());
    mark_work(work, Heads::new(folders, (snapshot.taken_at, host.clock_doubt), host.uid, kept));
}

/// Determines what became of edits by these heads, and ends their look.
pub(super) fn mark_work(work: &mut [&mut Arc<Work>], mut heads: Heads<'_>) {
    for edit in work.iter().flat_map(|work| &work.doing.edits) {
        let Some(at) = edit.at else { continue };
        heads.edits.entry(Path::new(edit.path.raw()).to_path_buf()).or_default().push(at);
    }
    for work in work.iter_mut() {
        let fate = |edit| heads.fate(edit, EditFacts::default());
        let fates: Vec<EditFate> = work.doing.edits.iter().map(fate).collect();
        if !fates.iter().eq(work.doing.edits.iter().map(|edit| &edit.fate)) {
            let edits = &mut Arc::make_mut(work).doing.edits;
            edits.iter_mut().zip(fates).for_each(|(edit, fate)| edit.fate = fate);
        }
    }
    heads.see_edited();
    heads.kept.rest();
    supersede(work);
}

/// Marks edits as superseded whose file was written last by an edit of another Claude Code session: its tools write
/// only files that its model has read as they are.
fn supersede(work: &mut [&mut Arc<Work>]) {
    let all = work.iter().filter(|work| work.format == Format::ClaudeCode).flat_map(|work| &work.doing.edits);
    let mut last: HashMap<Untrusted, Timestamp> = HashMap::new();
    for (edit, at) in all.filter_map(|edit| Some((edit, edit.at?))) {
        let known = last.entry(edit.path.clone()).or_insert(at);
        *known = (*known).max(at);
    }
    let is_superseded = |edit: &Edit| {
        let written = last.get(&edit.path).filter(|last| edit.at.is_some_and(|at| **last > at));
        let since = edit.fate.since.filter(|_| edit.fate.state == EditState::Gone && !edit.fate.is_clean);
        since.zip(written).is_some_and(|(since, written)| since <= *written)
    };
    for work in work.iter_mut().filter(|work| work.doing.edits.iter().any(is_superseded)) {
        let edits = Arc::make_mut(work).doing.edits.iter_mut();
        for edit in edits.filter(|edit| is_superseded(edit)) {
            (edit.fate.state, edit.fate.since) = (EditState::Superseded, None);
        }
    }
}

/// Determines at one moment which edits git has.
pub(crate) struct Marker {
    repos: Vec<Repo>,
    /// The folders outside of any working tree.
    plain: Vec<Untrusted>,
    now: Timestamp,
    uid: u32,
    doubt: SignedDuration,
    kept: CommitCache,
}

impl Marker {
    /// Prepares to examine these repositories and folders; the home has a person's settings for all repositories.
    pub(crate) fn new(
        (repos, plain): (Vec<Repo>, Vec<Untrusted>),
        (now, uid): (Timestamp, u32),
        home: &Path,
    ) -> Self {
        let kept = CommitCache { home: Some(home.to_path_buf()), ..CommitCache::default() };
        Self { repos, plain, now, uid, doubt: SignedDuration::ZERO, kept }
    }

    /// Takes over the cache of an earlier look, and how far the clock was seen to be set.
    pub(crate) fn remembering(self, kept: CommitCache, doubt: SignedDuration) -> Self {
        let kept = CommitCache { home: self.kept.home.clone(), ..kept };
        Self { kept, doubt, ..self }
    }

    /// Ends a look, and returns the cache.
    pub(crate) fn into_kept(mut self) -> CommitCache {
        self.kept.rest();
        self.kept
    }

    /// Determines a file's state in git's index.
    pub(crate) fn standing(&mut self, path: &Path, compare: Compare) -> Standing {
        self.heads().standing(path, compare).unwrap_or(Standing::Unread)
    }

    /// Determines what became of some edits, each with its recorded facts.
    pub(crate) fn mark<'a>(&mut self, edits: impl IntoIterator<Item = (&'a mut Edit, EditFacts)>) {
        let mut heads = self.heads();
        for (edit, known) in edits {
            edit.fate = heads.fate(edit, known);
        }
    }

    /// Adds what an edit left, as it is known from elsewhere.
    pub(crate) fn remember(&mut self, (path, at): (&Path, Timestamp), left: &[u8]) {
        self.kept.remember_bytes((path.to_path_buf(), at), left);
    }

    /// Returns the content of files that were as the last commit has them, each at a moment; files not written since
    /// are left out, unless the head may have been put back.
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
