//! What is between two windows, in a few words: who, what, and how one of them gets out of it.

use std::collections::BTreeSet;

use crate::core::judge::rules::edits::warnings;
use crate::core::model::{Code, Key, NeedKind, Report, Untrusted, WindowView};
use crate::present::age;
use crate::present::lookup::{window_and_pid, window_name};
use crate::present::text::{count, file_name, safe};

/// How collisions are said: the code, what several windows share, what is wrong with one window alone
/// where its sentence says too much, and the way out, in which `{}` is whoever is to yield.
const SAYINGS: [(Code, &str, Option<&str>, &str); 12] = [
    (Code::SharedSessionId, "one session", None, "close {}"),
    (Code::SharedContextId, "one context ID", None, "unset CLAUDE_SESSION_ID in one"),
    (Code::SharedTerminalId, "one terminal ID", None, "park the one that is over"),
    (Code::InheritedRecord, "one identity", Some("has a dead window's identity"), "park its record"),
    (Code::OverwrittenRecord, "one session slot", None, "a worktree for each"),
    (
        Code::UnstableContextId,
        "changing context IDs",
        Some("another context ID at every call"),
        "let its hook ask claimtop context-id",
    ),
    (Code::SameWorktree, "one tree", None, "git worktree add for {}"),
    (Code::SameFolder, "one folder", None, "a folder of its own for {}"),
    (Code::OverlappingFiles, "the same files", None, "let {} pause"),
    (Code::ContestedClaim, "one claim", Some("a claim that another holds too"), "let {} release it"),
    (Code::ContestedPort, "one port", None, "give {} another port"),
    (
        Code::IdentitySplit,
        "two identities",
        Some("its registry and another record name two sessions"),
        "trust its registry",
    ),
];

/// A collision in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    /// Who, each by its name.
    pub(crate) who: Vec<String>,
    /// What.
    pub(crate) what: String,
    /// The way out.
    pub(crate) way: String,
}

/// Says what is between windows; nothing of another need.
pub(crate) fn words(report: &Report, kind: &NeedKind) -> Option<Words> {
    let NeedKind::Collision { code, message, windows, also, files, subjects: _ } = kind else { return None };
    let (_, _, alone, way) = saying(*code)?;
    let who = names(report, windows);
    let codes: BTreeSet<&Code> = std::iter::once(code).chain(also).collect();
    let what = match (who.len(), alone) {
        (0, _) | (1, None) => safe(&message.brief()),
        (1, Some(alone)) => alone.to_owned(),
        _ => codes.into_iter().filter_map(|code| shared(*code, files)).collect::<Vec<_>>().join(", "),
    };
    let what = told(report, windows).map_or(what.clone(), |told| format!("{what}; {told}"));
    let way = way.replace("{}", who.last().map_or("one", String::as_str));
    Some(Words { who, what, way })
}

/// Says which of two windows a guard has told of the other last, and when.
fn told(report: &Report, keys: &[Key]) -> Option<String> {
    let [one, other] = keys else { return None };
    let window = |key: &Key| report.windows.iter().find(|window| window.key == *key);
    let (one, other) = (window(one)?, window(other)?);
    let newest = |window, of| warnings(window, of).next_back().map(|warning| (warning.at, window));
    let (at, window) = newest(one, other).into_iter().chain(newest(other, one)).max_by_key(|(at, _)| *at)?;
    Some(format!("{} was told {} ago", window_name(window), age::between(report.taken_at, at)))
}

fn saying(code: Code) -> Option<(Code, &'static str, Option<&'static str>, &'static str)> {
    SAYINGS.into_iter().find(|(own, ..)| *own == code)
}

/// Names windows so that they can be told apart.
fn names(report: &Report, keys: &[Key]) -> Vec<String> {
    let window = |key: &Key| report.windows.iter().find(|window| window.key == *key);
    let windows: Vec<&WindowView> = keys.iter().filter_map(window).collect();
    let names: Vec<String> = windows.iter().map(|window| window_name(window)).collect();
    let is_alone = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    if names.iter().all(is_alone) { names } else { windows.into_iter().map(window_and_pid).collect() }
}

/// Says what windows share.
fn shared(code: Code, files: &[Untrusted]) -> Option<String> {
    let (_, shared, ..) = saying(code)?;
    Some(match files {
        [file] if code == Code::OverlappingFiles => safe(file_name(file.raw())),
        [_, _, ..] if code == Code::OverlappingFiles => count(files.len(), "file"),
        _ => shared.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::Severity;

    #[test]
    fn every_collision_has_words() {
        for code in Code::ALL.iter().filter(|code| code.severity() == Severity::Collision) {
            assert!(saying(*code).is_some(), "{}", code.name());
        }
    }
}
