//! The commits that a working tree had checked out since a file was edited.

use std::path::Path;

use jiff::Timestamp;
use rustix::io::Errno;

use crate::core::model::FileMeta;
use crate::source::repos::head::{Commit, CommitContent, parents};
use crate::source::repos::objects::{Name, short, there_since};
use crate::source::work::committed::reflog::{By, Log};
use crate::source::work::committed::{EditFacts, FileInTree, Heads};

impl<'a> Heads<'a> {
    /// Returns whether no commit has the edit: every commit that was checked out since has the same of the file as the
    /// present one, or some had the file's present content and were reset. An edit may be known to be later than the
    /// checkout of some commit. `None` if that cannot be determined.
    pub(super) fn was_left(
        &mut self,
        (path, meta): (&Path, &FileMeta),
        (at, upon): (Timestamp, Option<Name>),
        place: &FileInTree<'a, '_>,
        log: &Log,
    ) -> Option<bool> {
        let (begin, moves) = log.since((at, upon), self.doubt)?;
        let own = CommitContent::File(self.names(path, meta)?.own);
        let before = self.held_by(begin, place)?;
        let (mut had, mut is_without) = (before, true);
        for one in moves {
            let has = self.held_by(one.new, place)?;
            match one.by {
                _ if has == had => {}
                By::Commit => is_without = false,
                By::Reset => is_without = had == own,
                By::Other => return None,
            }
            had = has;
        }
        let is_back = had == before && self.held(place) == before;
        if !is_without || !is_back {
            return Some(false);
        }
        // A stash would have taken it away, and bringing it back would touch the file.
        let is_kept = meta.touched_at() <= at || self.is_in_no_stash((before, own), at, place)?;
        Some(is_kept && (upon == Some(begin) || self.is_older(begin, at, place)))
    }

    /// Returns whether an edit left the file as in the commit that was checked out then.
    pub(super) fn was_nothing(
        &mut self,
        (at, known, is_later): (Timestamp, EditFacts, bool),
        place: &FileInTree<'a, '_>,
        log: &Log,
    ) -> bool {
        let Some(held) = known.held else { return false };
        let begin = || Some(log.since((at, known.upon), self.doubt)?.0);
        let had = match is_later {
            true => Some(self.held(place)),
            false => begin().and_then(|begin| self.held_by(begin, place)),
        };
        matches!(had, Some(CommitContent::File(name)) if short(&name) == held)
    }

    /// Returns whether a commit existed before a moment, whatever its date.
    fn is_older(&mut self, commit: Name, at: Timestamp, place: &FileInTree<'_, '_>) -> bool {
        let since = || there_since(&place.tree.0.common_dir.join("objects"), &commit);
        let is_none = commit == Name::default();
        is_none || self.there.entry(commit).or_insert_with(since).is_some_and(|since| since <= at)
    }

    /// Returns whether every stash since an edit has the file's earlier or its present content.
    fn is_in_no_stash(
        &mut self,
        (before, own): (CommitContent, CommitContent),
        at: Timestamp,
        place: &FileInTree<'a, '_>,
    ) -> Option<bool> {
        for stash in self.stashes_since(at, place)? {
            let has = self.held_by_stash(stash, place)?;
            if has != own && has != before {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Returns the stash entries since an edit that have something else at its place than there was before, each with
    /// that; `None` if that cannot be determined.
    pub(super) fn stashed_since(
        &mut self,
        at: Timestamp,
        before: CommitContent,
        place: &FileInTree<'a, '_>,
    ) -> Option<Vec<(Name, Name)>> {
        let mut found = Vec::new();
        for stash in self.stashes_since(at, place)? {
            match self.held_by_stash(stash, place)? {
                CommitContent::File(name) if CommitContent::File(name) != before => found.push((stash, name)),
                CommitContent::File(_) | CommitContent::Nothing | CommitContent::Unread => {}
            }
        }
        Some(found)
    }

    /// Returns the stash entries that were made since an edit.
    fn stashes_since(&mut self, at: Timestamp, place: &FileInTree<'a, '_>) -> Option<Vec<Name>> {
        let (common, uid) = (&place.tree.0.common_dir, self.uid);
        let read = || Log::read(&common.join("logs/refs/stash"), uid);
        match self.stashes.entry(place.folder).or_insert_with(read) {
            Ok(stashes) => stashes.as_ref()?.news(at, self.doubt),
            Err(Errno::NOENT) => Some(Vec::new()),
            Err(_) => None,
        }
    }

    /// Returns the content that a stash entry has at a place.
    fn held_by_stash(&mut self, stash: Name, place: &FileInTree<'_, '_>) -> Option<CommitContent> {
        match self.held_by(stash, place)? {
            // Files unknown to git are stashed elsewhere, if at all.
            CommitContent::Nothing => self.held_beside(stash, place),
            has @ (CommitContent::File(_) | CommitContent::Unread) => Some(has),
        }
    }

    /// Returns the content that a stash has at a place for files unknown to git: in its third parent, if it has one.
    fn held_beside(&mut self, stash: Name, place: &FileInTree<'_, '_>) -> Option<CommitContent> {
        let parents = parents(&place.tree.0.common_dir, &stash)?;
        let [_, _, beside @ ..] = parents.as_slice() else { return None };
        match beside.first() {
            Some(beside) => self.held_by(*beside, place),
            None => Some(CommitContent::Nothing),
        }
    }

    /// Returns what some commit has at a place.
    pub(super) fn held_by(&mut self, commit: Name, place: &FileInTree<'_, '_>) -> Option<CommitContent> {
        if commit == Name::default() {
            return Some(CommitContent::Nothing);
        }
        let new = || Commit::new(commit, &place.tree.0.common_dir);
        let held = self.kept.past.entry(commit).or_insert_with(new).held(place.inside, self.now);
        Some(held).filter(|held| *held != CommitContent::Unread)
    }
}
