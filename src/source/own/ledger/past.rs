//! What git's own logs say that a working tree had, or stashed, since a moment.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use bstr::ByteSlice;
use jiff::Timestamp;

use super::lines::end_of;
use super::tree::Tree;
use crate::format::git::log::LogLine;
use crate::source::repos::head::{Commit, CommitContent, parents};
use crate::source::repos::objects::{Kind, Name, parse_name, read};

/// How much of a log's end is read, in bytes; its lines are about 150 long.
const END: usize = 32 << 10;
/// The most commits, and stashes, that are looked at.
const MOST: usize = 128;

/// The commits of a working tree, by the ends of git's logs.
pub(crate) struct Past {
    common: PathBuf,
    head: Option<Name>,
    /// The moves of the head, and the stashes, the oldest first.
    moves: Vec<Move>,
    /// Whether these are all moves that there ever were.
    is_whole: bool,
    stashes: Vec<Move>,
    commits: HashMap<Name, Commit>,
    /// The parents of stashes.
    parents: HashMap<Name, Vec<Name>>,
    now: Timestamp,
}

/// A line of a log: the seconds of its time, and from which commit to which.
struct Move {
    second: i64,
    old: Name,
    new: Name,
}

impl Tree {
    /// Reads the ends of a working tree's logs.
    pub(crate) fn past(&self, now: Timestamp) -> Option<Past> {
        let common = self.common_dir()?.to_path_buf();
        let read = |log: &Path| moves(&end_of(log, END).unwrap_or_default());
        let moves = read(&self.git_dir()?.join("logs/HEAD"));
        let is_whole = moves.first().is_some_and(|first| first.old == Name::default());
        let stashes = read(&common.join("logs/refs/stash"));
        let head = self.checked_out().map(|commit| commit.name());
        Some(Past {
            common,
            head,
            moves,
            is_whole,
            stashes,
            commits: HashMap::new(),
            parents: HashMap::new(),
            now,
        })
    }
}

fn moves(log: &str) -> Vec<Move> {
    let one = |line: &[u8]| {
        let LogLine { old, new, second, .. } = LogLine::parse(line)?;
        Some(Move { second, old: parse_name(old)?, new: parse_name(new)? })
    };
    log.as_bytes().lines().filter_map(one).collect()
}

impl Past {
    /// Returns the name of what the commit that is checked out has at a path; `None` if that is no file or unread.
    pub(crate) fn checked_out(&mut self, inside: &Path) -> Option<Name> {
        let head = self.head?;
        self.held(head, inside)
    }

    /// Returns the contents that a path may have had in the commit that was checked out at a moment: git's times are in
    /// seconds.
    pub(crate) fn contents_before(&mut self, inside: &Path, at: Timestamp) -> Vec<Vec<u8>> {
        let second = at.as_second();
        let last = self.moves.iter().rfind(|one| one.second < second).map(|one| one.new);
        let last = last.or_else(|| self.moves.first().map(|one| one.old)).or(self.head);
        let same = self.moves.iter().filter(|one| one.second == second).map(|one| one.new);
        let commits: Vec<Name> = last.into_iter().chain(same).take(MOST).collect();
        self.contents(&commits, inside).into_iter().map(|(_, content)| content).collect()
    }

    /// Returns whether a commit that was checked out since a moment, or is now, has such a content at a path, or may
    /// have it.
    pub(crate) fn may_have(
        &mut self,
        (inside, since): (&Path, Timestamp),
        is_it: impl Fn(&Name, &[u8]) -> bool,
    ) -> bool {
        let Some(commits) = self.since(since) else { return true };
        self.contents(&commits, inside).iter().any(|(name, content)| is_it(name, content))
    }

    /// Returns whether no commit that was checked out since a moment has another content at a path than this.
    pub(crate) fn has_only(&mut self, (inside, since): (&Path, Timestamp), name: Option<Name>) -> bool {
        let Some(commits) = self.since(since) else { return false };
        commits.into_iter().all(|commit| self.held(commit, inside) == name)
    }

    /// Returns the commits that were checked out since a moment, that of now among them; `None` if git's log does not
    /// go back so far, or there are too many.
    fn since(&self, since: Timestamp) -> Option<Vec<Name>> {
        let second = since.as_second();
        let is_known = self.is_whole || self.moves.first().is_some_and(|first| first.second < second);
        let since = self.moves.iter().rev().take_while(|one| one.second >= second);
        let commits: Vec<Name> = self.head.into_iter().chain(since.map(|one| one.new)).collect();
        (is_known || self.head.is_none()).then_some(commits).filter(|commits| commits.len() <= MOST)
    }

    /// Returns the newest stash since a moment that has exactly this content at a path.
    pub(crate) fn stash_of(&mut self, (inside, since): (&Path, Timestamp), wanted: &Name) -> Option<Name> {
        let stashes = self.stashes_since(since);
        stashes.into_iter().find(|stash| {
            let commits = self.commits_of(stash);
            commits.into_iter().any(|commit| self.held(commit, inside) == Some(*wanted))
        })
    }

    fn stashes_since(&self, since: Timestamp) -> Vec<Name> {
        let since = self.stashes.iter().rev().take_while(|one| one.second >= since.as_second());
        since.map(|one| one.new).take(MOST).collect()
    }

    /// Returns the commits of a stash: its own, that of the index, and that of files unknown to git.
    fn commits_of(&mut self, stash: &Name) -> Vec<Name> {
        let read = || parents(&self.common, stash).unwrap_or_default();
        let above = self.parents.entry(*stash).or_insert_with(read);
        [*stash].into_iter().chain(above.iter().skip(1).copied()).collect()
    }

    /// Returns the newest stash since a moment that has such a content at a path.
    pub(crate) fn stash(
        &mut self,
        (inside, since): (&Path, Timestamp),
        is_it: impl Fn(&Name, &[u8]) -> bool,
    ) -> Option<Name> {
        let stashes = self.stashes_since(since);
        stashes.into_iter().find(|stash| {
            let commits = self.commits_of(stash);
            self.contents(&commits, inside).iter().any(|(name, content)| is_it(name, content))
        })
    }

    fn held(&mut self, commit: Name, inside: &Path) -> Option<Name> {
        let new = || Commit::new(commit, &self.common);
        match self.commits.entry(commit).or_insert_with(new).held(inside, self.now) {
            CommitContent::File(name) => Some(name),
            CommitContent::Nothing | CommitContent::Unread => None,
        }
    }

    /// Returns the contents of a path in commits, each once.
    fn contents(&mut self, commits: &[Name], inside: &Path) -> Vec<(Name, Vec<u8>)> {
        let mut names: Vec<Name> = commits.iter().filter_map(|commit| self.held(*commit, inside)).collect();
        names.sort_unstable();
        names.dedup();
        let objects = self.common.join("objects");
        names.into_iter().filter_map(|name| Some((name, read(&objects, Kind::Blob, &name)?))).collect()
    }
}
