//! Around a shell line: whose entries of git's stash it takes, which is one stack for all working trees of a repository.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::outcome::{GuardOutcome, GuardResponse};
use crate::config::guard::HoldUps;
use crate::core::guard::decide::Other;
use crate::core::guard::git::stash::{StashCall, StashEffect};
use crate::core::guard::stash::{EntryOwner, Stack, StashEntry, StashNotes, dangling, made_by, owners};
use crate::core::model::Untrusted;
use crate::core::model::snapshot::ledger::stash::{StashAfter, StashBefore, StashLine, StashMade};
use crate::core::model::snapshot::ledger::{Harm, LedgerLine};
use crate::format::hook::guard::Asker;
use crate::guard::query::Query;
use crate::present;
use crate::present::guard::stash::{OwnEntry, TakenEntry};
use crate::source::own::ledger::{About, Tree, newest, other_of, stash_notes};
use crate::source::repos::head::parents;
use crate::source::repos::objects::{parse_name, short};
use crate::source::repos::stashed::stashed_files;
use crate::source::work::committed::name_held;

/// The most entries that one line is said to have made, and the most that are looked for in its working tree.
const MOST: usize = 8;

/// The stash of a repository, and what a line does to it.
pub(super) struct Stash<'a> {
    /// The working tree that the line works in.
    tree: Tree,
    /// The folder that all working trees of the repository share.
    shared: String,
    calls: Vec<&'a StashCall>,
    /// The entries, the newest first.
    entries: Vec<StashEntry>,
    notes: Vec<StashNotes>,
}

impl Stash<'_> {
    /// Returns each entry that the line takes, by whose call.
    fn taken(&self) -> Vec<(&'static str, StashEntry)> {
        let mut stack = Stack::new(&self.entries);
        let mut found = Vec::new();
        for call in &self.calls {
            found.extend(stack.apply(call.effect).into_iter().map(|entry| (call.verb, entry.clone())));
            if call.effect == StashEffect::Prunes {
                let left = dangling(&self.entries, &self.notes).into_iter().filter(|entry| self.has(entry));
                found.extend(left.map(|entry| (call.verb, entry)));
            }
        }
        found
    }

    /// Returns whether git still has the objects of an entry.
    fn has(&self, entry: &StashEntry) -> bool {
        let name = parse_name(entry.commit.raw().as_bytes());
        name.and_then(|name| parents(Path::new(&self.shared), &name)).is_some()
    }

    fn is_there(&self, commit: &Untrusted) -> bool {
        self.entries.iter().any(|entry| entry.commit == *commit)
    }

    /// Returns whether the working tree has exactly what an entry has of each file.
    fn is_applied(&self, commit: &Untrusted) -> bool {
        let name = parse_name(commit.raw().as_bytes());
        let files = name.and_then(|name| stashed_files(Path::new(&self.shared), &name)).unwrap_or_default();
        let is_here = |(path, held): &(PathBuf, Option<_>)| {
            let path = self.tree.top.join(path);
            match held {
                Some(held) => name_held(&path) == Some(short(held)),
                None => path.symlink_metadata().is_err(),
            }
        };
        !files.is_empty() && files.iter().all(is_here)
    }

    fn does(&self, is_it: impl Fn(StashEffect) -> bool) -> bool {
        self.calls.iter().any(|call| is_it(call.effect))
    }
}

impl Query<'_> {
    /// Reads the stash of each repository that these calls change.
    pub(super) fn stashes<'a>(&self, calls: &'a [StashCall]) -> Vec<Stash<'a>> {
        let mut found: Vec<Stash<'a>> = Vec::new();
        for call in calls {
            let tree = Tree::find(Path::new(&call.folder)).filter(Tree::is_repository);
            let Some(tree) = tree else { continue };
            let Some(shared) = tree.shared().map(str::to_owned) else { continue };
            match found.iter_mut().find(|stash| stash.shared == shared) {
                Some(stash) => stash.calls.push(call),
                None => {
                    let (entries, notes) = (tree.stash(), stash_notes(&self.scope.ledgers, &shared));
                    found.push(Stash { tree, shared, calls: vec![call], entries, notes });
                }
            }
        }
        found
    }

    /// Returns an entry's owners, if it is known to be another window's.
    fn foreign<'b>(&self, entry: &StashEntry, notes: &'b [StashNotes]) -> Option<EntryOwner<'b>> {
        let owners = owners(entry, notes);
        let is_own = owners.iter().any(|owned| self.is_own(owned.holder));
        owners.into_iter().next().filter(|_| !is_own)
    }

    fn other(&self, owned: &EntryOwner<'_>) -> Other {
        let mut other = other_of(owned.holder, &self.machine.here);
        self.name(&mut other);
        other
    }

    /// Returns the newest entry that is known to be the window's own.
    fn own_entry(&self, stash: &Stash<'_>) -> Option<OwnEntry> {
        let is_own =
            |entry: &StashEntry| owners(entry, &stash.notes).iter().any(|owned| self.is_own(owned.holder));
        let place = stash.entries.iter().position(is_own)?;
        Some(OwnEntry { place, commit: stash.entries.get(place)?.commit.clone() })
    }

    /// Holds up, once, what takes entries of other windows, living or dead.
    pub(super) fn before_stash(&self, asker: Asker, stashes: &[Stash<'_>]) -> anyhow::Result<GuardResponse> {
        let mut response = (GuardOutcome::NobodyElse, None);
        for stash in stashes {
            let level = self.levels(&stash.tree).git;
            if level == HoldUps::Off {
                continue;
            }
            let (mut taken, mut first, mut harm) = (Vec::new(), None, Harm::Kept);
            for (verb, entry) in stash.taken() {
                let Some(owned) = self.foreign(&entry, &stash.notes) else { continue };
                first = first.or(Some(verb));
                // What is popped is in the working tree.
                let is_applied = matches!(verb, "stash pop" | "stash branch");
                harm = harm.max(if is_applied { Harm::Stashed } else { Harm::Lost });
                let place = stash.entries.iter().position(|other| other.commit == entry.commit);
                let (tree, files) = (owned.tree.clone(), owned.files);
                let other = self.other(&owned);
                taken.push(TakenEntry { other, place, commit: entry.commit, tree, at: entry.at, files });
            }
            let Some(verb) = first else { continue };
            let why = present::guard::stash::hold_up(verb, &taken, self.own_entry(stash).as_ref(), self.now);
            let about: Vec<String> =
                taken.iter().map(|taken| format!("stash {}", taken.commit.raw())).collect();
            let in_the_way = taken.iter().map(|taken| &taken.other).zip(about.iter().map(String::as_str));
            let held_up = self.held_up(in_the_way, harm);
            let found = self.read(&stash.tree, &About::Files(&[]));
            let own = (&stash.tree, &found.own_lines);
            response = self.hold_up(asker, level, own, (held_up, None), &why)?;
            if response.1.is_some() {
                break;
            }
        }
        Ok(response)
    }

    /// Writes down that a line is about to change the stash.
    pub(super) fn begin_stash(&self, stashes: &[Stash<'_>]) -> anyhow::Result<()> {
        for stash in stashes {
            let before = StashBefore {
                at: self.machine.by_now(),
                call: self.question.call.clone(),
                tree: Untrusted::from_path(&stash.tree.top),
                branch: stash.tree.branch(),
                entries: newest(&stash.entries),
                makes: stash.does(|effect| effect == StashEffect::Makes),
            };
            self.note_down_of(&stash.shared, &[LedgerLine::Stash(StashLine::Before(before))])?;
        }
        Ok(())
    }

    /// Writes down which entries a line has made and taken; returns what its model is to read of others' entries.
    pub(super) fn after_stash(&self, calls: &[StashCall]) -> anyhow::Result<Option<String>> {
        let mut texts = Vec::new();
        for stash in self.stashes(calls) {
            let own = stash.notes.iter().filter(|notes| notes.holder.session == self.question.session);
            let begun = own.filter_map(|notes| notes.begun(self.question.call.as_ref()));
            let Some(before) = begun.max_by_key(|before| before.at) else { continue };
            let at = self.machine.by_now();
            let made = if before.makes { self.made(&stash, before) } else { Vec::new() };
            let took = self.took(&stash, before);
            let after = StashAfter {
                at,
                call: self.question.call.clone(),
                tree: before.tree.clone(),
                made,
                took: took.clone(),
            };
            self.note_down_of(&stash.shared, &[LedgerLine::Stash(StashLine::After(after))])?;
            if self.levels(&stash.tree).note {
                texts.extend(self.taken_note(&stash, before, &took));
            }
        }
        Ok((!texts.is_empty()).then(|| texts.join("\n")))
    }

    fn made(&self, stash: &Stash<'_>, before: &StashBefore) -> Vec<StashMade> {
        let branch = stash.tree.branch();
        let made = made_by(before, branch.as_ref(), &stash.entries, &stash.notes);
        let files = |entry: &StashEntry| {
            let name = parse_name(entry.commit.raw().as_bytes())?;
            Some(stashed_files(Path::new(&stash.shared), &name)?.len())
        };
        let one = |entry: &StashEntry| StashMade {
            commit: entry.commit.clone(),
            at: entry.at,
            files: files(entry),
        };
        made.into_iter().take(MOST).map(one).collect()
    }

    /// Returns the entries that were there, or were made since, are there no more, and that this line has taken: those
    /// that it was to take, and those whose content its working tree has now.
    fn took(&self, stash: &Stash<'_>, before: &StashBefore) -> Vec<Untrusted> {
        if !stash.does(|effect| !matches!(effect, StashEffect::Makes | StashEffect::Prunes)) {
            return Vec::new();
        }
        let known = dangling(&stash.entries, &stash.notes).into_iter();
        let since = known.filter(|entry| entry.at.as_second() >= before.at.as_second());
        let mut gone: Vec<Untrusted> = before.entries.clone();
        gone.extend(since.map(|entry| entry.commit));
        gone.retain(|commit| {
            !stash.is_there(commit) && !stash.notes.iter().any(|notes| notes.took(commit, before.at))
        });
        gone.dedup();
        let drops =
            |call: &&StashCall| !matches!(call.verb, "stash pop" | "stash branch" | "stash" | "--autostash");
        let meant = meant(stash, before);
        // Where nothing of it is applied, the places tell.
        let is_missed = meant.iter().any(|commit| stash.is_there(commit));
        let has_dropped = stash.calls.iter().any(drops);
        let is_by_line = |commit: &Untrusted| {
            stash.is_applied(commit) || has_dropped && (is_missed || meant.contains(commit))
        };
        gone.into_iter().take(4 * MOST).filter(is_by_line).collect()
    }

    /// Says which entries of others a line has taken, or may have.
    fn taken_note(&self, stash: &Stash<'_>, before: &StashBefore, took: &[Untrusted]) -> Option<String> {
        let entry = |commit: &Untrusted| StashEntry {
            commit: commit.clone(),
            at: Timestamp::UNIX_EPOCH,
            branch: None,
        };
        let taken = took.iter().filter_map(|commit| {
            let owned = self.foreign(&entry(commit), &stash.notes)?;
            let (tree, files, at) = (owned.tree.clone(), owned.files, owned.at);
            Some(TakenEntry {
                other: self.other(&owned),
                place: None,
                commit: commit.clone(),
                tree,
                at,
                files,
            })
        });
        let taken: Vec<TakenEntry> = taken.collect();
        let own = self.own_entry(stash);
        if !taken.is_empty() {
            return Some(present::guard::stash::taken(&taken, own.as_ref(), self.now));
        }
        // What it was to take is in the stash, or neither there nor in the working tree, as others take what they do not
        // mean as well: it may have taken what another window was just making.
        let is_missed = |commit: &Untrusted| stash.is_there(commit) || !stash.is_applied(commit);
        let missed = meant(stash, before).into_iter().find(is_missed).filter(|_| took.is_empty())?;
        let mut owners = owners(&entry(&missed), &stash.notes).into_iter();
        if !owners.any(|owned| self.is_own(owned.holder)) {
            return None;
        }
        let making = stash.notes.iter().filter(|notes| !self.is_own(&notes.holder));
        let making = making.into_iter().find(|notes| notes.was_making(before.at))?;
        let mut other = other_of(&making.holder, &self.machine.here);
        self.name(&mut other);
        Some(present::guard::stash::may_be_taken(&other, &missed))
    }
}

/// Returns the entries that a line was to take as the stash was when it began.
fn meant(stash: &Stash<'_>, before: &StashBefore) -> Vec<Untrusted> {
    let entry = |commit: &Untrusted| StashEntry { commit: commit.clone(), at: before.at, branch: None };
    let entries: Vec<StashEntry> = before.entries.iter().map(entry).collect();
    let mut stack = Stack::new(&entries);
    let taken = stash.calls.iter().flat_map(|call| stack.apply(call.effect));
    taken.map(|entry| entry.commit.clone()).collect()
}
