//! Whose the entries of git's stash are, and which of them a shell line takes.

use jiff::{SignedDuration, Timestamp};

use crate::core::guard::git::stash::StashEffect;
use crate::core::model::Untrusted;
use crate::core::model::snapshot::ledger::LedgerHolder;
use crate::core::model::snapshot::ledger::stash::{StashAfter, StashBefore, StashLine, StashMade};

/// For how long a line counts whose end nobody has written down: 10 min, the longest that an agent lets one run.
const LONGEST: SignedDuration = SignedDuration::from_mins(10);

/// An entry of the stash, as git's log has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StashEntry {
    /// The name of its commit.
    pub(crate) commit: Untrusted,
    /// When it was made, in whole seconds.
    pub(crate) at: Timestamp,
    /// The branch that it was made on; `None` if its message does not say, or it was on none.
    pub(crate) branch: Option<Untrusted>,
}

/// What one ledger has of the stash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StashNotes {
    pub(crate) holder: LedgerHolder,
    pub(crate) lines: Vec<StashLine>,
}

/// An entry with one of those who may have made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EntryOwner<'a> {
    pub(crate) holder: &'a LedgerHolder,
    /// The working tree that it was made in.
    pub(crate) tree: &'a Untrusted,
    pub(crate) at: Timestamp,
    /// How many files it has, if that is known.
    pub(crate) files: Option<usize>,
}

/// Returns an entry's branch by the message that git gives it: `WIP on BRANCH: ...`, or `On BRANCH: ...` with a message
/// of one's own (git-stash(1)).
pub(crate) fn branch_in(message: &str) -> Option<&str> {
    let of = message.strip_prefix("WIP on ").or_else(|| message.strip_prefix("On "))?;
    // No branch has a colon in its name (git-check-ref-format(1)).
    of.split_once(": ").map(|(branch, _)| branch).filter(|branch| *branch != "(no branch)")
}

/// Returns whether a message's branch is this one: git before 2.36 wrote only the last part of the name.
fn is_branch(of: Option<&Untrusted>, branch: Option<&Untrusted>) -> bool {
    let last = branch.and_then(|branch| branch.raw().rsplit('/').next());
    of == branch || of.is_some() && of.map(Untrusted::raw) == last
}

impl StashBefore {
    /// Returns whether a line that began so, on this branch at its end, may have made an entry.
    fn may_make(&self, entry: &StashEntry, branch: Option<&Untrusted>) -> bool {
        let is_new = entry.at.as_second() >= self.at.as_second() && !self.entries.contains(&entry.commit);
        // A line can go to another branch before or after it.
        let on = entry.branch.as_ref();
        let is_there = is_branch(on, self.branch.as_ref()) || is_branch(on, branch);
        self.makes && is_new && is_there
    }
}

impl StashNotes {
    /// Returns the lines that began and whose end is not written down.
    fn open(&self) -> impl Iterator<Item = &StashBefore> {
        let ended = |before: &StashBefore, line: &StashLine| match line {
            StashLine::After(after) => after.call == before.call && after.at >= before.at,
            // One call is asked about again if it was held up.
            StashLine::Before(later) => later.at > before.at && later.call == before.call,
        };
        self.lines.iter().filter_map(move |line| match line {
            StashLine::Before(before) if !self.lines.iter().any(|line| ended(before, line)) => Some(before),
            StashLine::Before(_) | StashLine::After(_) => None,
        })
    }

    fn afters(&self) -> impl Iterator<Item = &StashAfter> {
        self.lines.iter().filter_map(|line| match line {
            StashLine::After(after) => Some(after),
            StashLine::Before(_) => None,
        })
    }

    /// Returns how the session's lines have made an entry, if they have.
    fn made(&self, commit: &Untrusted) -> Option<EntryOwner<'_>> {
        self.afters().find_map(|after| {
            let made = after.made.iter().find(|made| made.commit == *commit)?;
            Some(EntryOwner { holder: &self.holder, tree: &after.tree, at: made.at, files: made.files })
        })
    }

    /// Returns the same for an entry that one of its lines may have made whose end is not written down.
    fn may_have_made(&self, entry: &StashEntry) -> Option<EntryOwner<'_>> {
        let is_in_time = |before: &&StashBefore| entry.at.duration_since(before.at) <= LONGEST;
        let before = self.open().filter(is_in_time).find(|before| before.may_make(entry, None))?;
        Some(EntryOwner { holder: &self.holder, tree: &before.tree, at: entry.at, files: None })
    }

    /// Returns the newest line with this call that began and has not ended.
    pub(crate) fn begun(&self, call: Option<&Untrusted>) -> Option<&StashBefore> {
        self.open().filter(|before| before.call.as_ref() == call).last()
    }

    /// Returns whether a line of its that may make an entry has not ended before a moment, as far as is written down.
    pub(crate) fn was_making(&self, since: Timestamp) -> bool {
        let is_recent = |before: &StashBefore| since.duration_since(before.at) <= LONGEST;
        self.open().any(|before| before.makes && is_recent(before))
            || self.afters().any(|after| after.at >= since && after.made.is_empty() && after.took.is_empty())
    }

    /// Returns whether a line of its has taken an entry since a moment.
    pub(crate) fn took(&self, commit: &Untrusted, since: Timestamp) -> bool {
        self.afters().any(|after| after.at >= since && after.took.contains(commit))
    }

    /// Returns the commits of the entries that its lines have made and not taken.
    fn left(&self) -> impl Iterator<Item = &StashMade> {
        let is_taken = |made: &StashMade| self.afters().any(|after| after.took.contains(&made.commit));
        self.afters().flat_map(|after| &after.made).filter(move |made| !is_taken(made))
    }
}

/// Returns who may have made an entry: nobody if that is not known.
pub(crate) fn owners<'a>(entry: &StashEntry, notes: &'a [StashNotes]) -> Vec<EntryOwner<'a>> {
    let known: Vec<EntryOwner<'_>> = notes.iter().filter_map(|notes| notes.made(&entry.commit)).collect();
    if !known.is_empty() {
        return known;
    }
    notes.iter().filter_map(|notes| notes.may_have_made(entry)).collect()
}

/// Returns those of the newest entries that a line has made, which began so and ends now on this branch; not those that
/// others have made before.
pub(crate) fn made_by<'a>(
    before: &StashBefore,
    branch: Option<&Untrusted>,
    entries: &'a [StashEntry],
    notes: &[StashNotes],
) -> Vec<&'a StashEntry> {
    let is_others = |entry: &StashEntry| {
        let known = notes.iter().filter_map(|notes| notes.made(&entry.commit));
        known.into_iter().any(|owned| owned.at.as_second() < before.at.as_second())
    };
    entries.iter().filter(|entry| before.may_make(entry, branch) && !is_others(entry)).collect()
}

/// Returns the entries that were made by these and are in the stash no more, though no line of theirs has taken them.
pub(crate) fn dangling(entries: &[StashEntry], notes: &[StashNotes]) -> Vec<StashEntry> {
    let is_there = |made: &StashMade| entries.iter().any(|entry| entry.commit == made.commit);
    let left = notes.iter().flat_map(StashNotes::left).filter(|made| !is_there(made));
    left.map(|made| StashEntry { commit: made.commit.clone(), at: made.at, branch: None }).collect()
}

/// The stack as a line changes it; an entry that the line makes itself is `None`.
#[derive(Debug)]
pub(crate) struct Stack<'a>(Vec<Option<&'a StashEntry>>);

impl<'a> Stack<'a> {
    /// Begins with the entries that are there, the newest first.
    pub(crate) fn new(entries: &'a [StashEntry]) -> Self {
        Self(entries.iter().map(Some).collect())
    }

    /// Applies a call, and returns the entries that it takes.
    pub(crate) fn apply(&mut self, effect: StashEffect) -> Vec<&'a StashEntry> {
        match effect {
            StashEffect::Makes => self.0.insert(0, None),
            StashEffect::Takes(place) if place < self.0.len() => {
                return self.0.remove(place).into_iter().collect();
            }
            StashEffect::TakesAll => return std::mem::take(&mut self.0).into_iter().flatten().collect(),
            StashEffect::Takes(_) | StashEffect::Prunes | StashEffect::TakesUnknown => {}
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn entry(commit: &str, second: i64, branch: &str) -> StashEntry {
        StashEntry { commit: commit.into(), at: at(second), branch: Some(branch.into()) }
    }

    fn before(second: i64, branch: &str, entries: &[&str]) -> StashBefore {
        let entries = entries.iter().map(|entry| Untrusted::from(*entry)).collect();
        let (call, tree) = (Some("c".into()), "/w".into());
        StashBefore { at: at(second), call, tree, branch: Some(branch.into()), entries, makes: true }
    }

    fn after(second: i64, made: &[(&str, i64)], took: &[&str]) -> StashLine {
        let made = made.iter().map(|(commit, second)| StashMade {
            commit: (*commit).into(),
            at: at(*second),
            files: None,
        });
        StashLine::After(StashAfter {
            at: at(second),
            call: Some("c".into()),
            tree: "/w".into(),
            made: made.collect(),
            took: took.iter().map(|commit| (*commit).into()).collect(),
        })
    }

    fn notes(session: &str, lines: Vec<StashLine>) -> StashNotes {
        let text = Untrusted::from;
        let nobody = (text("host"), None, None);
        let holder =
            LedgerHolder::new((text(session), text("codex")), (text("/w"), text("/w")), None, nobody);
        StashNotes { holder, lines }
    }

    fn sessions(entry: &StashEntry, notes: &[StashNotes]) -> String {
        let owners = owners(entry, notes);
        owners.iter().map(|owned| owned.holder.session.raw()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn an_entry_belongs_to_whose_line_made_it() {
        let a = notes("a", vec![StashLine::Before(before(10, "main", &[])), after(12, &[("x", 11)], &[])]);
        let b = notes("b", vec![StashLine::Before(before(20, "side", &["x"]))]);
        let both = [a, b];
        assert_eq!(sessions(&entry("x", 11, "main"), &both), "a");
        assert_eq!(sessions(&entry("y", 21, "side"), &both), "b", "the end of its line is not written down");
        assert_eq!(sessions(&entry("y", 21, "main"), &both), "", "another working tree's");
        assert_eq!(sessions(&entry("y", 19, "side"), &both), "", "made before");
        assert_eq!(sessions(&entry("y", 20 + 601, "side"), &both), "", "long after");
    }

    #[test]
    fn a_line_has_made_what_is_new_on_its_branch() {
        let is = before(10, "main", &["x"]);
        let entries =
            [entry("z", 12, "side"), entry("y", 10, "main"), entry("x", 10, "main"), entry("w", 9, "main")];
        let made = |notes: &[StashNotes]| {
            let made = made_by(&is, None, &entries, notes);
            made.iter().map(|entry| entry.commit.raw().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(made(&[]), ["y"]);
        assert_eq!(made(&[notes("b", vec![after(7, &[("y", 6)], &[])])]), [""; 0], "it was put back");
        assert_eq!(made(&[notes("b", vec![after(11, &[("y", 10)], &[])])]), ["y"], "both claim it");
        let on_side = made_by(&is, Some(&"side".into()), &entries, &[]);
        assert_eq!(on_side.len(), 2, "the line ends on another branch");
    }

    #[test]
    fn a_line_takes_what_it_finds_in_its_place() {
        let entries = [entry("x", 3, "main"), entry("y", 2, "main"), entry("z", 1, "main")];
        let taken = |effects: &[StashEffect]| {
            let mut stack = Stack::new(&entries);
            let taken = effects.iter().flat_map(|effect| stack.apply(*effect));
            taken.map(|entry| entry.commit.raw().to_owned()).collect::<String>()
        };
        let (makes, takes) = (StashEffect::Makes, StashEffect::Takes);
        assert_eq!(taken(&[takes(0)]), "x");
        assert_eq!(taken(&[takes(1), takes(1)]), "yz");
        assert_eq!(taken(&[takes(3)]), "");
        assert_eq!(taken(&[makes, takes(0)]), "", "its own");
        assert_eq!(taken(&[makes, takes(0), takes(0)]), "x");
        assert_eq!(taken(&[makes, takes(1)]), "x");
        assert_eq!(taken(&[makes, StashEffect::TakesAll, takes(0)]), "xyz");
        assert_eq!(taken(&[StashEffect::Prunes, StashEffect::TakesUnknown]), "");
    }

    #[test]
    fn what_its_owner_has_not_taken_can_dangle() {
        let known = [
            notes("a", vec![after(1, &[("x", 1), ("y", 1), ("z", 1)], &[]), after(2, &[], &["x"])]),
            notes("b", vec![after(3, &[], &["y"])]),
        ];
        let left = dangling(&[entry("z", 1, "main")], &known);
        assert_eq!(left.iter().map(|entry| entry.commit.raw()).collect::<Vec<_>>(), ["y"]);
    }

    #[test]
    fn a_message_tells_the_branch() {
        for (message, branch) in [
            ("WIP on main: 0123abc first", Some("main")),
            ("On fix/a: wip: more", Some("fix/a")),
            ("WIP on (no branch): 0123abc x", None),
            ("my own", None),
        ] {
            assert_eq!(branch_in(message), branch, "{message}");
        }
    }
}
