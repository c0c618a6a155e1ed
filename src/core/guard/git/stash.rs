//! Calls of git that make or take entries of the stash, a stack that all working trees of a repository share.

use crate::core::guard::git::invocation::{VerbCall, verb_of};
use crate::core::guard::shell::token::is_known;
use crate::core::guard::shell::{Command, ShellContext, commands};

/// What one call does to the stash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StashCall {
    /// The folder that it works in, absolute.
    pub(crate) folder: String,
    /// Its verb, such as `stash pop`.
    pub(crate) verb: &'static str,
    pub(crate) effect: StashEffect,
}

/// How a call changes the stash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StashEffect {
    /// It makes an entry, if there is anything to stash.
    Makes,
    /// It takes the entry at this place, `n` of `stash@{n}`.
    Takes(usize),
    /// It takes every entry.
    TakesAll,
    /// It removes the objects of entries that were taken before.
    Prunes,
    /// It takes an entry, or some, that only the shell or git knows.
    TakesUnknown,
}

/// Returns what the calls of git in a shell line do to the stash, in their order.
pub(crate) fn stash_calls(line: &str, place: &ShellContext<'_>) -> Vec<StashCall> {
    // Most lines have nothing to do with it.
    let verbs = ["stash", "reflog", "gc", "prune"];
    if !line.contains("git") || !verbs.iter().any(|verb| line.contains(verb)) {
        return Vec::new();
    }
    commands(line, place).iter().filter_map(call).collect()
}

fn call(command: &Command) -> Option<StashCall> {
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    let VerbCall { folder, verb, rest, .. } = verb_of(&words, command.folder.as_deref().unwrap_or_default())?;
    if rest.iter().any(|word| matches!(*word, "-h" | "--help")) {
        return None;
    }
    let has = |names: &[&str]| rest.iter().any(|word| names.contains(word));
    let is_dry = has(&["-n", "--dry-run"]);
    let (verb, effect) = match verb {
        "stash" => stash(rest)?,
        // An entry can be left behind where the changes cannot be applied again.
        "pull" | "rebase" | "merge" if has(&["--autostash"]) => ("--autostash", StashEffect::Makes),
        "reflog" if !is_dry => reflog(rest)?,
        "update-ref" if has(&["-d"]) && has(&["refs/stash"]) => ("update-ref -d", StashEffect::TakesAll),
        "gc" if has(&["--prune=now", "--prune=all"]) => ("gc --prune=now", StashEffect::Prunes),
        "prune" if !is_dry => {
            let expire = rest.iter().position(|word| word.starts_with("--expire"));
            let value = expire.and_then(|at| match rest.get(at)?.strip_prefix("--expire=") {
                Some(value) => Some(value),
                None => rest.get(at + 1).copied(),
            });
            (expire.is_none() || value.is_some_and(is_now)).then_some(("prune", StashEffect::Prunes))?
        }
        _ => return None,
    };
    Some(StashCall { folder, verb, effect })
}

/// Returns what `git stash` does (git-stash(1)).
fn stash(rest: &[&str]) -> Option<(&'static str, StashEffect)> {
    let Some((first, rest)) = rest.split_first() else { return Some(("stash", StashEffect::Makes)) };
    let mut words = rest.iter().copied().filter(|word| !word.starts_with('-'));
    match *first {
        "pop" => Some(("stash pop", taken(words.next())?)),
        "drop" => Some(("stash drop", taken(words.next())?)),
        "branch" => {
            words.next()?;
            Some(("stash branch", taken(words.next())?))
        }
        "clear" => Some(("stash clear", StashEffect::TakesAll)),
        "push" | "save" | "store" => Some(("stash", StashEffect::Makes)),
        option if option.starts_with('-') => Some(("stash", StashEffect::Makes)),
        _ => None,
    }
}

/// Returns which entry a word names; `None` if it names a commit: then none is dropped.
fn taken(word: Option<&str>) -> Option<StashEffect> {
    let Some(word) = word else { return Some(StashEffect::Takes(0)) };
    let name = word.strip_prefix("refs/").unwrap_or(word);
    let place = match name.strip_prefix("stash") {
        Some("") => return Some(StashEffect::Takes(0)),
        Some(place) => place.strip_prefix("@{").and_then(|place| place.strip_suffix('}'))?,
        None => name,
    };
    if !is_known(word) {
        return Some(StashEffect::TakesUnknown);
    }
    // A number alone is a place as well, if it is short: a commit's name may have digits only.
    let is_place = !place.is_empty() && place.len() < 7 && place.bytes().all(|byte| byte.is_ascii_digit());
    match place.parse() {
        Ok(place) if is_place => Some(StashEffect::Takes(place)),
        // A time, as in `stash@{2.hours.ago}`.
        _ if name != place => Some(StashEffect::TakesUnknown),
        _ => None,
    }
}

/// Returns what `git reflog` does to the log of the stash, which is its list of entries. Git spares that unless a
/// time is given (git-gc(1), `gc.reflogExpire`).
fn reflog(rest: &[&str]) -> Option<(&'static str, StashEffect)> {
    let (first, rest) = rest.split_first()?;
    let is_stash = |word: &&str| matches!(*word, "stash" | "refs/stash" | "--all");
    match *first {
        "expire" if rest.iter().any(is_stash) => {
            let times = rest.iter().filter_map(|word| {
                word.strip_prefix("--expire=").or_else(|| word.strip_prefix("--expire-unreachable="))
            });
            times.into_iter().any(is_now).then_some(("reflog expire", StashEffect::TakesAll))
        }
        "delete" => {
            let names = |word: &&&str| word.starts_with("stash@") || word.starts_with("refs/stash@");
            Some(("reflog delete", taken(rest.iter().find(names).copied())?))
                .filter(|_| rest.iter().any(|word| names(&word)))
        }
        _ => None,
    }
}

fn is_now(time: &str) -> bool {
    matches!(time, "now" | "all" | "0" | "now.ago" | "0.seconds.ago")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_it_does_to_the_stash() {
        let place = ShellContext { folder: "/w", home: None, top_of: &|_| None };
        for (line, expected) in [
            ("git stash", "stash /w Makes"),
            ("git stash -u", "stash /w Makes"),
            ("git stash -m 'stash pop'", "stash /w Makes"),
            ("git stash push -- a.rs", "stash /w Makes"),
            ("git stash save wip", "stash /w Makes"),
            ("git stash store -m x 0123", "stash /w Makes"),
            ("git pull --rebase --autostash", "--autostash /w Makes"),
            ("git stash pop", "stash pop /w Takes(0)"),
            ("git -C x stash pop -q", "stash pop /w/x Takes(0)"),
            ("git stash pop --index stash@{2}", "stash pop /w Takes(2)"),
            ("git stash pop 'stash@{10}'", "stash pop /w Takes(10)"),
            ("git stash pop refs/stash@{1} -q", "stash pop /w Takes(1)"),
            ("git stash drop stash", "stash drop /w Takes(0)"),
            ("git stash drop 3", "stash drop /w Takes(3)"),
            ("git stash drop \"stash@{$n}\"", "stash drop /w TakesUnknown"),
            ("git stash drop $x", "stash drop /w TakesUnknown"),
            ("git stash drop stash@{1.hour.ago}", "stash drop /w TakesUnknown"),
            ("git stash branch fix", "stash branch /w Takes(0)"),
            ("git stash branch fix stash@{1}", "stash branch /w Takes(1)"),
            ("git stash clear", "stash clear /w TakesAll"),
            ("git stash && make; git stash pop", "stash /w Makes; stash pop /w Takes(0)"),
            ("cd x && git stash pop && git stash pop", "stash pop /w/x Takes(0); stash pop /w/x Takes(0)"),
            ("git update-ref -d refs/stash", "update-ref -d /w TakesAll"),
            ("git reflog expire --expire=now --all", "reflog expire /w TakesAll"),
            ("git reflog expire --expire-unreachable=all refs/stash", "reflog expire /w TakesAll"),
            ("git reflog delete --rewrite stash@{1}", "reflog delete /w Takes(1)"),
            ("git gc --prune=now --aggressive", "gc --prune=now /w Prunes"),
            ("git prune", "prune /w Prunes"),
            ("git prune --expire now", "prune /w Prunes"),
            // These take nothing.
            ("git stash list", ""),
            ("git stash show -p stash@{1}", ""),
            ("git stash apply", ""),
            ("git stash apply stash@{1}", ""),
            ("git stash create", ""),
            ("git stash pop 0123456789abcdef0123456789abcdef01234567", ""),
            ("git stash branch fix 0123abc", ""),
            ("git stash branch", ""),
            ("git stash pop --help", ""),
            ("git update-ref -d refs/heads/stash", ""),
            ("git update-ref refs/stash HEAD", ""),
            ("git reflog expire --all", ""),
            ("git reflog expire --expire=now HEAD", ""),
            ("git reflog expire --expire=now --all --dry-run", ""),
            ("git reflog expire --expire=never --all", ""),
            ("git reflog delete HEAD@{1}", ""),
            ("git reflog", ""),
            ("git gc", ""),
            ("git gc --prune=2.weeks.ago", ""),
            ("git prune -n", ""),
            ("git prune --expire=2.weeks", ""),
            ("git remote prune origin", ""),
            ("echo git stash pop", ""),
            ("git --git-dir=/x stash pop", ""),
            ("git -C $x stash pop", ""),
            ("git log --grep 'stash pop'", ""),
        ] {
            let told = |call: &StashCall| format!("{} {} {:?}", call.verb, call.folder, call.effect);
            let found: Vec<String> = stash_calls(line, &place).iter().map(told).collect();
            assert_eq!(found.join("; "), expected, "{line}");
        }
    }
}
