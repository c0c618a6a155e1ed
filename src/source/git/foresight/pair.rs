//! Merges the states of two sides, in a store that has what they changed and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::changes::{Change, Changes, Entry};
use super::kinds::conflicts;
use super::merge_output::MergeOutput;
use super::overlap::overlaps;
use super::scratch::{Access, Desk, Scratch};
use super::state::{State, with_attribute};
use crate::core::model::{Conflict, ConflictKind, Outcome, Untrusted};
use crate::source::os::open::plain::small;

/// The most paths in conflict whose lines are compared.
const MOST_COMPARED: usize = 64;

/// The largest ignored file whose content is compared, in bytes.
const MOST_SMALL: usize = 1 << 20;

/// What is merged.
pub(super) struct Merge<'a> {
    pub(super) scratch: &'a Scratch,
    /// The left side, in whose working tree git looks for attributes.
    pub(super) left: &'a State,
    /// The right side; `None` for a branch.
    pub(super) right: Option<&'a State>,
    /// What each side changes.
    pub(super) changes: [&'a Changes; 2],
    /// A commit of each side's state, both on the same commit.
    pub(super) commits: [&'a str; 2],
}

/// The result of a merge.
pub(super) type MergeResult = Result<(Outcome, Vec<Conflict>), String>;

impl Merge<'_> {
    /// Merges; its error says why the result is unknown.
    pub(super) fn run(&self) -> MergeResult {
        let [left, right] = self.changes;
        let output = match left.is_apart_from(right) {
            true => MergeOutput::default(),
            false => self.tried(&self.left.desk, self.commits)?,
        };
        let mut found = conflicts(&output, self.changes);
        self.rename_back(&mut found);
        found.extend(self.ignored()?);
        if !found.is_empty() && !self.are_all_submodules(&found) {
            // Without its lines a conflict is one all the same.
            let _ = self.compare(&output, &mut found);
            return Ok((Outcome::Conflicts, found));
        }
        self.certain()?;
        match found.is_empty() {
            true => Ok((Outcome::Clean, Vec::new())),
            false => Ok((Outcome::Conflicts, found)),
        }
    }

    /// Removes what git adds to a name where a folder is in the way: the commit of a side.
    fn rename_back(&self, found: &mut [Conflict]) {
        for conflict in found {
            let name = conflict.path.raw();
            let plain = self.commits.iter().find_map(|commit| name.strip_suffix(commit)?.strip_suffix('~'));
            if let Some(plain) = plain {
                conflict.path = plain.into();
            }
        }
    }

    /// Returns the files that one side has and ignores, and that the other one adds with another content: a merge replaces
    /// them (gitignore(5)).
    fn ignored(&self) -> Result<Vec<Conflict>, String> {
        let [left, right] = self.changes;
        let sides = [(Some(self.left), left, right), (self.right, right, left)];
        let mut replaced: Vec<(&Change, &str, PathBuf)> = Vec::new();
        for (state, own, other) in sides {
            let Some(state) = state else { continue };
            let own: BTreeSet<&[u8]> = own.new_files().map(|change| change.path.as_slice()).collect();
            for change in other.new_files().filter(|change| !own.contains(change.path.as_slice())) {
                let path = state.desk.tree.join(OsStr::from_bytes(&change.path));
                // What is not ignored is part of the state.
                let is_file = path.symlink_metadata().is_ok_and(|meta| !meta.is_dir());
                if let (true, Some(after)) = (is_file, &change.after) {
                    replaced.push((change, &after.object, path));
                }
            }
        }
        replaced.truncate(MOST_COMPARED);
        let texts = self.texts(&replaced.iter().map(|(_, object, _)| *object).collect())?;
        let differs = |(_, object, path): &(&Change, &str, PathBuf)| {
            let own = small(path, MOST_SMALL).ok();
            own.is_none() || own.as_ref() != texts.get(*object)
        };
        let conflict = |(change, ..): (&Change, &str, PathBuf)| Conflict {
            path: Untrusted::from_bytes(&change.path),
            kind: ConflictKind::Ignored,
            lines: Vec::new(),
        };
        Ok(replaced.into_iter().filter(differs).map(conflict).collect())
    }

    fn tried(&self, desk: &Desk, [ours, theirs]: [&str; 2]) -> Result<MergeOutput, String> {
        let arguments = ["merge-tree", "--write-tree", "-z", "--messages", ours, theirs];
        let answer = self.scratch.run(desk, Access::Own, None, &arguments)?;
        match answer.code {
            0 | 1 => {
                let output = MergeOutput::parse(&answer.out).ok_or("git merge-tree answered oddly")?;
                // Git moves a file aside where the other side has a folder, says so, and counts that as merged.
                let is_empty = output.stages.is_empty() && output.sorts.is_empty();
                if answer.code == 1 && is_empty {
                    return Err("git merge-tree answered oddly".to_owned());
                }
                Ok(output)
            }
            129 => Err("this git cannot merge trees; 2.38 or newer can".to_owned()),
            code => Err(format!("git merge-tree failed with exit code {code}")),
        }
    }

    /// Fails where a merge in the repository could end differently.
    fn certain(&self) -> Result<(), String> {
        let states = || [Some(self.left), self.right].into_iter().flatten();
        if let Some(path) = states().find_map(|state| state.filtered.as_deref()) {
            return Err(format!("{} goes through a filter, which was not run", Untrusted::from_bytes(path)));
        }
        if let Some(path) = self.moved_submodule() {
            return Err(format!("both move the submodule {}", Untrusted::from_bytes(path)));
        }
        if let Some(path) = self.driven()? {
            return Err(format!("{} has a merge driver, which was not run", Untrusted::from_bytes(&path)));
        }
        let has_attributes = self.changes.iter().any(|changes| changes.has_attributes());
        let depends = || Err("it depends on whose .gitattributes count".to_owned());
        if has_attributes && self.left.settings.has_renormalize {
            return depends();
        }
        if let (true, Some(right)) = (has_attributes, self.right) {
            let [ours, theirs] = self.commits;
            let back = self.tried(&right.desk, [theirs, ours])?;
            if !back.stages.is_empty() || !back.sorts.is_empty() {
                return depends();
            }
        } else if has_attributes {
            return depends();
        }
        Ok(())
    }

    /// Returns a submodule that both sides move, each to another commit.
    fn moved_submodule(&self) -> Option<&[u8]> {
        let [left, right] = self.changes;
        let is_submodule = |entry: &Option<Entry>| entry.as_ref().is_some_and(Entry::is_submodule);
        let mut moved =
            left.files().filter(|change| is_submodule(&change.after) || is_submodule(&change.before));
        let differs =
            |change: &Change| right.change_at(&change.path).is_some_and(|other| other.after != change.after);
        moved.find(|change| differs(change)).map(|change| change.path.as_slice())
    }

    fn are_all_submodules(&self, found: &[Conflict]) -> bool {
        let moved = self.moved_submodule().map(Untrusted::from_bytes);
        moved.is_some_and(|moved| found.iter().all(|conflict| conflict.path == moved))
    }

    /// Returns a file that both sides change and that a driver of the repository would merge.
    fn driven(&self) -> Result<Option<Vec<u8>>, String> {
        let [left, right] = self.changes.map(Changes::paths);
        let settings = &self.left.settings;
        if settings.drivers.is_empty() {
            return Ok(None);
        }
        // A renamed file is merged under either name.
        let may_rename = self.changes.iter().any(|changes| changes.may_rename());
        let both: BTreeSet<&[u8]> = match may_rename {
            true => left.union(&right).copied().collect(),
            false => left.intersection(&right).copied().collect(),
        };
        if settings.usual_driver.as_ref().is_some_and(|driver| settings.drivers.contains(driver)) {
            return Ok(both.first().map(|path| path.to_vec()));
        }
        for state in [Some(self.left), self.right].into_iter().flatten() {
            let paths = both.iter().copied();
            let driven = with_attribute(self.scratch, &state.desk, paths, ("merge", &settings.drivers))?;
            if let Some(path) = driven.into_iter().next() {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// Adds the lines of each side to what is in conflict, as far as they can be read.
    fn compare(&self, output: &MergeOutput, found: &mut [Conflict]) -> Result<(), String> {
        let has_lines = |conflict: &&mut Conflict| {
            matches!(conflict.kind, ConflictKind::Lines | ConflictKind::SameNewPath)
        };
        let compared: Vec<_> = found
            .iter_mut()
            .filter(has_lines)
            .take(MOST_COMPARED)
            .filter_map(|conflict| {
                let stages =
                    output.stages.iter().find(|(path, _)| Untrusted::from_bytes(path) == conflict.path);
                let (_, [base, Some(left), Some(right)]) = stages? else { return None };
                Some((conflict, base.as_deref(), left.as_str(), right.as_str()))
            })
            .collect();
        let objects = compared.iter().flat_map(|(_, base, left, right)| [*base, Some(*left), Some(*right)]);
        let texts = self.texts(&objects.flatten().collect())?;
        for (conflict, base, left, right) in compared {
            let base = base.map_or(Some(&[][..]), |base| texts.get(base).map(Vec::as_slice));
            if let (Some(base), Some(left), Some(right)) = (base, texts.get(left), texts.get(right)) {
                conflict.lines = overlaps(base, [left, right]).unwrap_or_default();
            }
        }
        Ok(())
    }

    /// Reads objects (git-cat-file(1), `--batch`).
    fn texts(&self, objects: &BTreeSet<&str>) -> Result<BTreeMap<String, Vec<u8>>, String> {
        let mut texts = BTreeMap::new();
        if objects.is_empty() {
            return Ok(texts);
        }
        let list: String = objects.iter().flat_map(|object| [object, "\n"]).collect();
        let arguments = ["cat-file", "--batch"];
        let out =
            self.scratch.output(&self.left.desk, Access::Repository, Some(list.as_bytes()), &arguments)?;
        let mut rest = out.as_slice();
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (head, after) = rest.split_at(end);
            let head = String::from_utf8_lossy(head);
            rest = after.get(1..).unwrap_or_default();
            // A missing one has two words, and no content.
            let [object, _, size] = head.split(' ').collect::<Vec<_>>()[..] else { continue };
            let size: usize = size.parse().map_err(|_| "git cat-file answered oddly")?;
            texts.insert(object.to_owned(), rest.get(..size).unwrap_or_default().to_vec());
            rest = rest.get(size + 1..).unwrap_or_default();
        }
        Ok(texts)
    }
}
