//! How a merge or rebase that was foreseen has ended, by git's logs of the heads (git-reflog(1)).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use bstr::ByteSlice;

use crate::core::model::{ExpectedMerge, ForecastSide, Outcome};
use crate::format::git::log::LogLine;
use crate::source::own::ledger::end_of;
use crate::source::repos::locate::git_dir;

/// How much of a log's end is read, in bytes; its lines are about 150 long.
const END: usize = 32 << 10;

/// Returns how an expected merge has ended since it was foreseen; `None` if it has not, as far as the logs show.
pub(crate) fn merge_outcome(expected: &ExpectedMerge) -> Option<Outcome> {
    let common = PathBuf::from(expected.repository.raw());
    let own = expected.sides.iter().filter_map(|side| git_dir(Path::new(side.tree.as_ref()?.raw())));
    let folders: BTreeSet<PathBuf> = own.chain([common]).collect();
    let branches: Vec<&str> = expected.sides.iter().filter_map(branch).collect();
    let logs = folders.iter().filter_map(|folder| end_of(&folder.join("logs/HEAD"), END));
    logs.filter_map(|log| outcome(&log, &branches, expected.at.as_second())).next()
}

fn branch(side: &ForecastSide) -> Option<&str> {
    side.branch.as_ref().map(|branch| branch.raw())
}

/// Finds the first merge with, or rebase onto, one of these branches that ended after a second.
fn outcome(log: &str, branches: &[&str], since: i64) -> Option<Outcome> {
    let is_one = |name: &str| branches.contains(&name);
    // Whether the rebase under way is onto one of them, and whether it has stopped.
    let (mut is_onto, mut has_stopped) = (false, false);
    for line in log.as_bytes().lines() {
        let Some(line) = LogLine::parse(line) else { continue };
        let is_new = line.second > since;
        let message = line.message.to_str_lossy();
        let (what, rest) = message.split_once(": ").unwrap_or((&message, ""));
        let found = match what.split(' ').collect::<Vec<_>>()[..] {
            ["merge", name] if is_one(name) => Some(Outcome::Clean),
            ["commit", "(merge)"] => {
                // The message that git proposes: "Merge branch 'ui' into main".
                let named = rest.split('\'').nth(1).is_some_and(is_one);
                named.then_some(Outcome::Conflicts)
            }
            ["rebase", .., "(start)"] => {
                let onto = rest.strip_prefix("checkout ").is_some_and(is_one);
                (is_onto, has_stopped) = (onto, false);
                None
            }
            ["rebase", .., "(continue)"] => {
                has_stopped = true;
                None
            }
            ["rebase", .., end @ ("(finish)" | "(abort)")] => {
                let is_conflict = has_stopped || end == "(abort)";
                let ended = if is_conflict { Outcome::Conflicts } else { Outcome::Clean };
                std::mem::take(&mut is_onto).then_some(ended)
            }
            _ => None,
        };
        if let (Some(found), true) = (found, is_new) {
            return Some(found);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log with one line for each second and message.
    fn log(lines: &[(i64, &str)]) -> String {
        let name = "d5bd669c76d540d7f64830d021f124522c02df74";
        let line = |(second, text): &(i64, &str)| format!("{name} {name} A <a@x> {second} +0100\t{text}\n");
        lines.iter().map(line).collect()
    }

    #[track_caller]
    fn check(lines: &[(i64, &str)], expected: Option<Outcome>) {
        assert_eq!(outcome(&log(lines), &["ui", "main"], 10), expected);
    }

    #[test]
    fn a_merge_that_git_makes_is_clean_and_one_by_hand_was_a_conflict() {
        check(&[(11, "merge ui: Merge made by the 'ort' strategy.")], Some(Outcome::Clean));
        check(&[(11, "merge ui: Fast-forward")], Some(Outcome::Clean));
        check(&[(11, "commit (merge): Merge branch 'ui' into main")], Some(Outcome::Conflicts));
    }

    #[test]
    fn a_rebase_that_stopped_was_a_conflict() {
        let start = (11, "rebase (start): checkout main");
        let finish = (13, "rebase (finish): returning to refs/heads/api");
        check(&[start, (12, "rebase (pick): pay"), finish], Some(Outcome::Clean));
        check(&[start, (12, "rebase (continue): pay"), finish], Some(Outcome::Conflicts));
        check(&[start, (13, "rebase (abort): returning to refs/heads/api")], Some(Outcome::Conflicts));
        check(
            &[(9, "rebase (start): checkout main"), (9, "rebase (continue): pay"), finish],
            Some(Outcome::Conflicts),
        );
        check(&[start, (12, "rebase (continue): pay")], None);
    }

    #[test]
    fn what_is_older_or_of_another_branch_says_nothing() {
        check(&[(10, "merge ui: Fast-forward")], None);
        check(&[(11, "merge docs: Fast-forward"), (12, "commit: Merge branch 'ui'")], None);
        check(
            &[(11, "rebase (start): checkout docs"), (12, "rebase (finish): returning to refs/heads/api")],
            None,
        );
        check(&[(11, "commit (merge): Merge branch 'docs'")], None);
    }
}
