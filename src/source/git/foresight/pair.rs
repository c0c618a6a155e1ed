//! Merges the states of two sides, in a store that has what they changed and nothing else.

use std::collections::BTreeSet;

use super::changes::{Change, Changes, Entry};
use super::kinds::conflicts;
use super::merge_output::MergeOutput;
use super::overlap::overlaps;
use super::scratch::{Access, Desk, Scratch};
use super::state::{State, with_attribute};
use crate::core::model::{Conflict, ConflictKind, Outcome, Untrusted};

/// The largest file whose lines are compared, in bytes.
const MOST_TEXT: usize = 1 << 20;
/// The most paths in conflict whose lines are compared.
const MOST_COMPARED: usize = 64;

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
pub(super) type Merged = Result<(Outcome, Vec<Conflict>), String>;

impl Merge<'_> {
    /// Merges; its error says why the result is unknown.
    pub(super) fn run(&self) -> Merged {
        let output = self.tried(&self.left.desk, self.commits)?;
        let mut found = conflicts(&output, self.changes);
        self.rename_back(&mut found);
        if !found.is_empty() && !self.are_all_submodules(&found) {
            self.compare(&output, &mut found)?;
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
            |change: &Change| right.at(&change.path).is_some_and(|other| other.after != change.after);
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

    /// Adds the lines of each side to what is in conflict.
    fn compare(&self, output: &MergeOutput, found: &mut [Conflict]) -> Result<(), String> {
        for conflict in found.iter_mut().take(MOST_COMPARED) {
            if !matches!(conflict.kind, ConflictKind::Lines | ConflictKind::SameNewPath) {
                continue;
            }
            let stages = output.stages.iter().find(|(path, _)| Untrusted::from_bytes(path) == conflict.path);
            let Some((_, [base, Some(left), Some(right)])) = stages else { continue };
            let base = base.as_ref().map_or(Ok(Some(Vec::new())), |base| self.text(base))?;
            let (Some(base), Some(left), Some(right)) = (base, self.text(left)?, self.text(right)?) else {
                continue;
            };
            conflict.lines = overlaps(&base, [&left, &right]).unwrap_or_default();
        }
        Ok(())
    }

    /// Reads an object; `None` if it is too large to be compared.
    fn text(&self, object: &str) -> Result<Option<Vec<u8>>, String> {
        let text =
            self.scratch.output(&self.left.desk, Access::Repository, None, &["cat-file", "blob", object])?;
        Ok((text.len() <= MOST_TEXT).then_some(text))
    }
}
