//! What became of the bytes that an edit left: where they are now, and what git has of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::core::model::text::hex;
use crate::core::model::{CommitState, Edit, EditFate, EditState, FileMeta};
use crate::source::os::open::folder::look_at;
use crate::source::os::open::meta::is_sure;
use crate::source::repos::head::{Commit, CommitContent};
use crate::source::repos::index::IndexContent;
use crate::source::repos::objects::{Kind, Name, Short, name_of, read, short};
use crate::source::work::committed::extent::{Before, Extent, extent, shares};
use crate::source::work::committed::head::{Head, own_dir};
use crate::source::work::committed::left::{LeftContent, MOST_TEXT, SeenText, TreeMark, text_of};
use crate::source::work::committed::reflog::Log;
use crate::source::work::committed::{CommitCache, Content, EditFacts, EditKey, FileInTree, Heads, file_at};

/// How long before an edit its file was seen for that to be the text that it changed.
const JUST_BEFORE: SignedDuration = SignedDuration::from_secs(30);
/// The most edits whose content is remembered.
const MOST_LEFT: usize = 4_096;
/// The most texts of commits, and of stash entries, that are compared with one edit, the newest.
const MOST_COMPARED: usize = 32;
/// The most bytes of such texts that are remembered.
const MOST_TEXTS: usize = 16 << 20;

/// How the commits that were checked out since an edit have its file.
struct Past {
    /// What the commit had that was checked out before it.
    before: CommitContent,
    /// What those after it had.
    since: Vec<CommitContent>,
}

impl Past {
    /// Returns whether no commit since has the file in another form than the one before the edit.
    fn is_unchanged(&self) -> bool {
        self.since.iter().all(|has| *has == self.before)
    }

    /// Returns whether some commit since has no such file, though the one before the edit had it.
    fn was_absent(&self) -> bool {
        self.before != CommitContent::Nothing && self.since.contains(&CommitContent::Nothing)
    }

    /// Returns the different texts that commits since have, the newest first.
    fn texts(&self) -> Vec<Name> {
        let mut texts = Vec::new();
        for has in self.since.iter().rev().filter(|has| **has != self.before) {
            if let CommitContent::File(name) = has
                && !texts.contains(name)
            {
                texts.push(*name);
            }
        }
        texts
    }

    fn has(&self, name: Short) -> bool {
        self.since.iter().chain([&self.before]).any(|has| is_named(*has, name))
    }
}

/// The texts of a file in a repository.
struct Texts<'a> {
    objects: &'a Path,
    /// What it had before the edit.
    before: CommitContent,
}

impl Texts<'_> {
    fn blob(&self, name: &Name) -> Option<Vec<u8>> {
        read(self.objects, Kind::Blob, name)
    }

    /// Returns where all that an edit added is: in the file, in a commit since or in a stash entry; it is gone only if
    /// no text has any of it.
    fn state(
        &self,
        (path, meta): (&Path, Option<&FileMeta>),
        (edited, exact): (&[u8], Option<&[u8]>),
        (past, stashes): (&Past, &[(Name, Name)]),
    ) -> Option<(EditState, Option<Name>)> {
        let earlier = self.before()?;
        let before = exact.map_or(Before::Earlier(&earlier), Before::Exact);
        let mut is_nowhere = true;
        let mut has_all = |later: &[u8]| {
            let extent = extent(before, edited, later);
            is_nowhere &= extent == Extent::Nothing;
            extent == Extent::Whole
        };
        if let Some(meta) = meta
            && has_all(&text_of(path, meta)?)
        {
            return Some((EditState::Superseded, None));
        }
        let texts = past.texts();
        for name in texts.iter().take(MOST_COMPARED) {
            if has_all(&self.blob(name)?) {
                return Some((EditState::Committed, None));
            }
        }
        for (stash, name) in stashes.iter().take(MOST_COMPARED) {
            if has_all(&self.blob(name)?) {
                return Some((EditState::Stashed, Some(*stash)));
            }
        }
        let is_all = texts.len().max(stashes.len()) <= MOST_COMPARED;
        (is_nowhere && is_all).then_some((EditState::Gone, None))
    }

    /// Returns the text before the edit.
    fn before(&self) -> Option<Vec<u8>> {
        match self.before {
            CommitContent::File(name) => self.blob(&name),
            CommitContent::Nothing => Some(Vec::new()),
            CommitContent::Unread => None,
        }
    }
}

fn by_text(before: Option<&[u8]>, edited: &[u8], now: &[u8]) -> EditState {
    match extent(before.map_or(Before::Earlier(&[]), Before::Exact), edited, now) {
        Extent::Whole => EditState::Superseded,
        Extent::Nothing => EditState::Gone,
        Extent::Unclear => EditState::Unknown,
    }
}

fn is_named(content: CommitContent, wanted: Short) -> bool {
    matches!(content, CommitContent::File(name) if short(&name) == wanted)
}

impl<'a> Heads<'a> {
    /// Determines what became of an edit; nothing is said where that cannot be determined.
    pub(super) fn fate(&mut self, edit: &Edit, known: EditFacts) -> EditFate {
        let path = Path::new(edit.path.raw());
        let key = edit.at.map(|at| (path.to_path_buf(), at));
        let mark = key.as_ref().and_then(|_| self.mark_of(path)).map(|mark| TreeMark { known, ..mark });
        let meta = file_at(path);
        if let Some((key, mark)) = key.as_ref().zip(mark.as_ref())
            && let Some((then, by, fate)) = self.kept.fates.get(key)
            && (then, by) == (&meta, mark)
        {
            return fate.clone();
        }
        let fate = self.find_fate(edit, known).unwrap_or_default();
        let is_sure_of = |meta: &FileMeta| is_sure(self.now, meta.touched_at());
        let is_done = fate.state != EditState::Unknown;
        if let Some((key, mark)) = key.zip(mark)
            && is_done
            && meta.as_ref().is_none_or(is_sure_of)
            && mark.files.iter().flatten().all(is_sure_of)
        {
            self.kept.fates.insert(key, (meta, mark, fate.clone()));
        }
        fate
    }

    /// Returns what fates in the working tree that a file lies in are determined by.
    fn mark_of(&mut self, path: &Path) -> Option<TreeMark> {
        let (folder, tree) = self.tree_of(path)?;
        if let Some(mark) = self.marks.get(folder) {
            return mark.clone();
        }
        let mark = tree.map(|tree| {
            let (own, common) = (own_dir(tree), &tree.0.common_dir);
            let own_files = ["logs/HEAD", "index"].map(|name| own.join(name));
            let shared = ["logs/refs/stash", "config", "info/attributes"].map(|name| common.join(name));
            let files = own_files.into_iter().chain(shared).chain([folder.join(".gitattributes")]);
            let head = Commit::checked_out(&own, common);
            TreeMark { head, files: files.map(|file| file_at(&file)).collect(), known: EditFacts::default() }
        });
        self.marks.insert(folder, mark.clone());
        mark
    }

    fn find_fate(&mut self, edit: &Edit, known: EditFacts) -> Option<EditFate> {
        let path = Path::new(edit.path.raw());
        let Some((folder, tree, head)) = self.head(path) else {
            return self.missing_above(path).filter(|_| edit.at.is_none_or(|at| at <= self.now));
        };
        let at = edit.at.map(|at| known.open_at.map_or(at, |open_at| at.max(open_at)));
        let (head, inside) = (head?, path.strip_prefix(folder).ok()?);
        if at.is_some_and(|at| at > self.now) || !self.is_inner_or_gone(path.parent()?, (folder, tree)) {
            return None;
        }
        let meta = file_at(path);
        // Something else is there, such as a folder or a link.
        if meta.is_none() && path.symlink_metadata().is_ok() {
            return None;
        }
        let left = self.left_by((path, at), meta.as_ref(), known);
        let holds_it = match (&meta, &left) {
            (Some(meta), Some(left)) => self.names(path, meta).map(|names| short(&names.own) == left.name),
            (None, Some(_)) => Some(false),
            (_, None) => None,
        };
        let Head::Moved(log) = head else {
            let committed = if meta.is_some() { CommitState::No } else { CommitState::Unknown };
            let state = match (holds_it, &meta) {
                (Some(true), _) => EditState::Present,
                (_, None) => EditState::Gone,
                (Some(false), Some(meta)) => {
                    let left = left.as_ref().and_then(|left| Some((left, left.text.as_ref()?)));
                    left.zip(text_of(path, meta)).map_or(EditState::Unknown, |((left, edited), now)| {
                        by_text(left.before.as_deref(), edited, &now)
                    })
                }
                (None, Some(_)) => EditState::Unknown,
            };
            let committed = if state == EditState::Gone { CommitState::No } else { committed };
            return Some(EditFate { committed, state, ..EditFate::default() }.since(path, meta.as_ref()));
        };
        let place = FileInTree { folder, inside, tree: tree? };
        let content = meta.as_ref().map(|meta| self.compare(path, meta, &place));
        let is_clean = content == Some(Content::Same) && self.is_staged_alike(&place);
        let is_open = match (&meta, content) {
            (Some(meta), Some(content)) if content != Content::Same => {
                self.is_uncommitted((path, meta), (at, known), (content, &place, &log))
            }
            _ => None,
        };
        let (state, stash) = self.state(
            (path, meta.as_ref(), content),
            (at, known, left.as_ref(), holds_it),
            is_clean,
            (&place, &log),
        );
        let committed = match state {
            EditState::Committed => CommitState::Yes,
            EditState::Gone | EditState::Stashed => CommitState::No,
            EditState::Present | EditState::Superseded | EditState::Unknown => match is_open {
                Some(true) => CommitState::No,
                Some(false) | None => CommitState::Unknown,
            },
        };
        let stash = stash.map(|stash| hex(&stash).into());
        let fate = EditFate { committed, state, is_clean, stash, ..EditFate::default() };
        Some(fate.since(path, meta.as_ref()))
    }

    /// Returns where the bytes of an edit are, and the stash entry if one has them.
    fn state(
        &mut self,
        (path, meta, content): (&Path, Option<&FileMeta>, Option<Content>),
        (at, known, left, holds_it): (Option<Timestamp>, EditFacts, Option<&LeftContent>, Option<bool>),
        is_clean: bool,
        (place, log): (&FileInTree<'a, '_>, &Log),
    ) -> (EditState, Option<Name>) {
        let plain = |state| (state, None);
        if holds_it == Some(true) {
            return plain(match content {
                Some(Content::Same) if is_clean => EditState::Committed,
                Some(Content::Filtered) => EditState::Unknown,
                _ => EditState::Present,
            });
        }
        // Git's names are those of another form of the file.
        if content == Some(Content::Filtered) {
            return plain(EditState::Unknown);
        }
        self.find_commit(place);
        let past = at.and_then(|at| self.past((at, known.upon), place, log));
        if let Some(left) = left {
            let now = self.now;
            let held = self.held(place);
            if is_named(held, left.name) || past.as_ref().is_some_and(|past| past.has(left.name)) {
                return plain(EditState::Committed);
            }
            if matches!(self.index(place).held(place.inside, now), IndexContent::File(name) if short(&name) == left.name)
            {
                return plain(EditState::Present);
            }
        }
        let Some((at, past)) = at.zip(past) else { return plain(EditState::Unknown) };
        let Some(stashes) = self.stashed_since(at, past.before, place) else {
            return plain(EditState::Unknown);
        };
        let has_left = |name: &Name| left.is_some_and(|left| short(name) == left.name);
        if let Some((stash, _)) = stashes.iter().find(|(_, name)| has_left(name)) {
            return (EditState::Stashed, Some(*stash));
        }
        // Nothing that is to be committed next differs, as far as is known.
        let is_as_before = match content {
            None => past.is_unchanged() && !self.is_staged_anew(place),
            Some(_) => is_clean && past.is_unchanged(),
        };
        // Another session may have replaced it before it was stashed.
        let is_last = self.edits.get(path).is_none_or(|all| all.iter().all(|other| *other <= at));
        let texts = Texts { objects: &place.tree.0.common_dir.join("objects"), before: past.before };
        let exact = left.and_then(|left| left.before.as_deref());
        let found = match (left.and_then(|left| left.text.as_deref()), stashes.first()) {
            (Some(edited), _) => match texts.state((path, meta), (edited, exact), (&past, &stashes)) {
                Some((EditState::Superseded, _)) if is_clean => plain(EditState::Committed),
                Some((EditState::Gone, _)) if meta.is_none() && !is_as_before => plain(EditState::Unknown),
                state => state.unwrap_or_default(),
            },
            (None, Some((stash, _))) if is_as_before && left.is_none() && is_last => {
                (EditState::Stashed, Some(*stash))
            }
            (None, Some(_)) => plain(EditState::Unknown),
            (None, None) if is_as_before => plain(EditState::Gone),
            (None, None) => plain(EditState::Unknown),
        };
        let (edited, earlier) = (left.and_then(|left| left.text.as_deref()), texts.before());
        let may_have = |text: &[u8]| match (edited, &earlier) {
            _ if left.is_some_and(|left| short(&name_of(Kind::Blob, text)) == left.name) => true,
            (Some(edited), Some(earlier)) => {
                let before = exact.map_or(Before::Earlier(earlier), Before::Exact);
                shares(edited, text, 4) || extent(before, edited, text) == Extent::Whole
            }
            // Of the file nothing is known but what it was before.
            (None, Some(earlier)) => shares(earlier, text, 8),
            (_, None) => true,
        };
        if !matches!(found, (EditState::Gone, _)) {
            return found;
        }
        // The file may have been renamed, whether or not git has brought it back since.
        let key = (path.to_path_buf(), at);
        let is_moved = past.was_absent()
            || self.kept.moved.contains(&key)
            || self.is_elsewhere((path, at), place, may_have).unwrap_or(meta.is_none());
        if is_moved {
            self.kept.moved.insert(key);
            return plain(EditState::Unknown);
        }
        found
    }

    /// Returns whether the index may have something else at a place than the commit that is checked out.
    fn is_staged_anew(&mut self, place: &FileInTree<'a, '_>) -> bool {
        let now = self.now;
        match self.index(place).held(place.inside, now) {
            IndexContent::Nothing => false,
            IndexContent::File(_) => !self.is_staged_alike(place),
            IndexContent::Unread | IndexContent::Conflict => true,
        }
    }

    /// Returns what the commits since an edit have of its file.
    fn past(
        &mut self,
        (at, upon): (Timestamp, Option<Name>),
        place: &FileInTree<'a, '_>,
        log: &Log,
    ) -> Option<Past> {
        let (begin, moves) = log.since((at, upon), self.doubt)?;
        let before = self.held_by(begin, place)?;
        let mut since = Vec::new();
        for one in moves {
            since.push(self.held_by(one.new, place)?);
        }
        Some(Past { before, since })
    }

    /// Returns what an edit left: as it is recorded, or as the file held it when it was first seen unchanged since.
    fn left_by(
        &mut self,
        (path, at): (&Path, Option<Timestamp>),
        meta: Option<&FileMeta>,
        known: EditFacts,
    ) -> Option<LeftContent> {
        let key = (path.to_path_buf(), at?);
        if let Some(left) =
            self.kept.left.get(&key).filter(|left| known.held.is_none_or(|held| held == left.name))
        {
            return Some(left.clone());
        }
        let recorded = || Some(LeftContent { name: known.held?, text: None, before: None });
        let is_untouched = |meta: &&FileMeta| {
            meta.touched_at().checked_add(self.doubt).is_ok_and(|touched| touched <= key.1)
        };
        let Some(meta) = meta.filter(is_untouched) else { return recorded() };
        let Some(names) = self.names(path, meta) else { return recorded() };
        let name = short(&names.own);
        if known.held.is_some_and(|held| held != name) {
            return recorded();
        }
        let text = text_of(path, meta).map(Arc::from);
        let left = LeftContent { name, text, before: self.seen_before(path, key.1) };
        self.kept.remember(key, left.clone());
        Some(left)
    }

    /// Returns the text that a file had right before an edit, if it was seen then and no other edit came between.
    fn seen_before(&self, path: &Path, at: Timestamp) -> Option<Arc<[u8]>> {
        let seen = self.kept.seen.get(path)?;
        let is_just = seen.at <= at && at.duration_since(seen.at) <= JUST_BEFORE;
        let is_between =
            |other: &Timestamp| *other != at && *other >= seen.meta.touched_at() && *other > seen.at;
        let others = self.edits.get(path)?;
        (is_just && self.doubt.is_zero() && !others.iter().any(is_between)).then(|| Arc::clone(&seen.text))
    }

    /// Remembers the edited files as they are now.
    pub(super) fn see_edited(&mut self) {
        let paths: Vec<PathBuf> = self.edits.keys().take(MOST_LEFT).cloned().collect();
        for path in paths {
            let Some(meta) = file_at(&path) else {
                self.kept.forget_seen(&path);
                continue;
            };
            match self.kept.seen.get_mut(&path) {
                Some(seen) if seen.meta == meta && is_sure(seen.at, meta.touched_at()) => seen.at = self.now,
                _ => {
                    self.kept.forget_seen(&path);
                    if let Some(text) = text_of(&path, &meta) {
                        self.kept.see(path, SeenText { at: self.now, meta, text: text.into() });
                    }
                }
            }
        }
    }
}

impl CommitCache {
    /// Remembers what an edit left: its name, and its text if that is small enough.
    pub(super) fn remember_bytes(&mut self, key: EditKey, bytes: &[u8]) {
        let name = short(&name_of(Kind::Blob, bytes));
        let text = (bytes.len() <= MOST_TEXT).then(|| Arc::from(bytes));
        self.remember(key, LeftContent { name, text, before: None });
    }

    fn remember(&mut self, key: EditKey, left: LeftContent) {
        let size = |left: &LeftContent| {
            [&left.text, &left.before].into_iter().flatten().map(|text| text.len()).sum::<usize>()
        };
        if self.left.len() >= MOST_LEFT || self.left_bytes + size(&left) > MOST_TEXTS {
            self.left.clear();
            self.left_bytes = 0;
        }
        self.left_bytes += size(&left);
        self.left.insert(key, left);
    }

    fn see(&mut self, path: PathBuf, seen: SeenText) {
        if self.seen_bytes + seen.text.len() > MOST_TEXTS {
            self.seen.clear();
            self.seen_bytes = 0;
        }
        self.seen_bytes += seen.text.len();
        self.seen.insert(path, seen);
    }

    fn forget_seen(&mut self, path: &Path) {
        if let Some(seen) = self.seen.remove(path) {
            self.seen_bytes = self.seen_bytes.saturating_sub(seen.text.len());
        }
    }
}

impl EditFate {
    /// Adds since when the bytes are away: when the file, or the nearest folder above it that is there, was last changed.
    pub(super) fn since(self, path: &Path, meta: Option<&FileMeta>) -> Self {
        let folder = || Some(path.ancestors().skip(1).find_map(look_at)?.modified_at);
        let since = self.state.is_away().then(|| meta.map(FileMeta::touched_at).or_else(folder)).flatten();
        Self { since, ..self }
    }
}
