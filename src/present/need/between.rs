//! What is between two windows, in a few words: who, what, and how one of them gets out of it.

use std::collections::HashSet;

use crate::core::judge::rules::place::edits::warnings;
use crate::core::model::report::need::quoted;
use crate::core::model::{
    Code, Finding, Key, KeyKind, NeedKind, RecordKind, RecordView, Report, Untrusted, WarningSort, WindowView,
};
use crate::present::need::doing::{folder, short};
use crate::present::report_index::{Index, window_and_machine, window_and_pid, window_name};
use crate::present::text::age;
use crate::present::text::{count, file_name, safe};

/// How collisions are said: the code, what several windows share, what is wrong with one window alone
/// where its sentence says too much, and the way out, in which `{}` is the window that is to yield.
const SAYINGS: [(Code, &str, Option<&str>, &str); 14] = [
    (Code::LostEdits, "edits lost", None, "u brings them back"),
    (Code::SharedSessionId, "same session", None, "close {}"),
    (Code::SharedContextId, "same context ID", None, "unset CLAUDE_SESSION_ID in one of them"),
    (Code::SharedTerminalId, "same terminal ID", None, "park the finished one"),
    (Code::InheritedRecord, "same identity", Some("has a dead window's identity"), "park its record"),
    (Code::OverwrittenRecord, "same session slot", None, "give each its own worktree"),
    (
        Code::UnstableContextId,
        "changing context IDs",
        Some("a new context ID at every call"),
        "have its hook call claimtop context-id",
    ),
    (Code::SameWorktree, "same tree", None, "git worktree add for {}"),
    (Code::SameFolder, "same folder", None, "give {} its own folder"),
    (Code::OverlappingFiles, "same files", None, "pause {}"),
    (Code::WillConflict, "will conflict", None, "rebase {} onto the other"),
    (Code::ContestedClaim, "same claim", Some("holds a claim that another holds too"), "let {} release it"),
    (Code::ContestedPort, "same port", None, "give {} another port"),
    (
        Code::IdentitySplit,
        "two identities",
        Some("its registry and another record name different sessions"),
        "trust its registry",
    ),
];

/// How it is said of a window that several open sessions of one system name; its registry may say nothing of it.
const OF_SESSIONS: (&str, &str) = ("several open sessions name it", "end the one that it has left");

/// A collision in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    /// Who, each by its name.
    pub(crate) who: Vec<String>,
    /// What.
    pub(crate) what: String,
    /// The same where there is little room: without whose it is, if that is one of who.
    pub(crate) brief: String,
    /// The way out.
    pub(crate) way: String,
    /// The first step of it.
    pub(crate) first_step: String,
}

/// Finds a window that a report shows.
type Find<'a> = &'a dyn Fn(&Key) -> Option<&'a WindowView>;

/// Says what is between windows; nothing of another need. For many windows of one report, find them by
/// an index.
pub(crate) fn describe<'a>(report: &Report, find: Find<'a>, kind: &NeedKind) -> Option<Words> {
    let NeedKind::Collision { code, message, windows, also, files, subjects } = kind else { return None };
    let (_, _, mut alone, mut way) = saying(*code)?;
    if is_of_sessions(*code, subjects, &|key| report.records().find(|record| record.key == *key)) {
        (alone, way) = (Some(OF_SESSIONS.0), OF_SESSIONS.1);
    }
    let (first, last, more) = few(windows);
    let mut who = names(find, first.iter().chain(last));
    let many = who.len() + more;
    if more > 0 {
        who.insert(who.len().saturating_sub(1), format!("{more} more"));
    }
    // The worst stands first: what follows is cut where there is no room.
    let codes = std::iter::once(code).chain(also);
    let is_lost = *code == Code::LostEdits && !files.is_empty();
    let owner = if is_lost { owner(report, find, (subjects, windows)) } else { Owner::Only };
    let what = match (many, alone) {
        _ if is_lost => lost(files, &owner),
        (0, _) | (1, None) => clause(&safe(&message.brief())),
        (1, Some(alone)) => alone.to_owned(),
        (many, _) => codes.filter_map(|code| shared(*code, files, many)).collect::<Vec<_>>().join(", "),
    };
    let brief = match owner {
        Owner::Among(_) => lost(files, &Owner::Only),
        Owner::Only | Owner::Other(_) => what.clone(),
    };
    let what = last_guard_note(report, find, windows).map_or(what.clone(), |note| format!("{what}; {note}"));
    let next = also.iter().find(|other| !is_solved_with(*code, **other)).and_then(|other| saying(*other));
    let next = next.map_or_else(String::new, |(.., way)| format!(", then {way}"));
    let named = |way: &str| way.replace("{}", who.last().map_or("one", String::as_str));
    let rebase = (*code == Code::WillConflict).then(|| rebase(find, windows)).flatten();
    let way = rebase.as_deref().unwrap_or(way);
    let (way, first_step) = (named(&format!("{way}{next}")), named(way));
    Some(Words { who, what, brief, way, first_step })
}

/// Returns the command that does what is advised for a collision of this machine, if one does: a person runs it in the
/// window that is to yield.
pub(crate) fn advised_command<'a>(
    kind: &NeedKind,
    window: &dyn Fn(&Key) -> Option<&'a WindowView>,
) -> Option<String> {
    let NeedKind::Collision { code, windows, .. } = kind else { return None };
    if *code == Code::SharedContextId {
        return Some("unset CLAUDE_SESSION_ID".to_owned());
    }
    if !matches!(code, Code::SameWorktree | Code::OverwrittenRecord | Code::OverlappingFiles) {
        return None;
    }
    let last = windows.last().filter(|key| key.machine().is_none()).and_then(window)?;
    let root = last.repo.as_ref()?.worktree.raw();
    let (above, tree) = root.rsplit_once('/')?;
    let plain = |c: char| if c.is_alphanumeric() { c } else { '-' };
    let name: String = window_name(last).chars().map(plain).collect();
    let name = name.trim_matches('-');
    let beside = format!("{above}/{tree}-{name}");
    Some(format!("git -C {} worktree add {} -b {name}", quoted(root), quoted(&beside)))
}

/// Returns the commands that a finding itself has for what is between these windows.
pub(crate) fn found_command(report: &Report, kind: &NeedKind) -> Option<String> {
    let NeedKind::Collision { code: Code::WillConflict, subjects, .. } = kind else { return None };
    let is_it = |finding: &&Finding| finding.code == Code::WillConflict && *finding.subjects == **subjects;
    report.findings().find(is_it)?.command.as_ref().map(|command| command.to_string())
}

/// Returns whether the way out of a collision also ends another one between the same windows: by the end of a window, or
/// by a folder of its own.
fn is_solved_with(first: Code, other: Code) -> bool {
    let is_of_folder = |code| {
        matches!(
            code,
            Code::SameWorktree | Code::SameFolder | Code::OverlappingFiles | Code::OverwrittenRecord
        )
    };
    first == Code::SharedSessionId || first == other || (is_of_folder(first) && is_of_folder(other))
}

/// Whose edits are gone.
enum Owner {
    /// Of the only window that is named.
    Only,
    /// Of one of the windows that are named.
    Among(String),
    /// Of another one.
    Other(String),
}

/// Finds whose edits are gone: of the first subject.
fn owner<'a>(report: &Report, find: Find<'a>, (subjects, windows): (&[Key], &[Key])) -> Owner {
    let key = subjects.first();
    let dead = || Some(safe(report.owner_of_edits(key?)?.0.raw()));
    let Some(window) = key.and_then(find) else {
        return Owner::Other(dead().map_or("a dead window".to_owned(), |name| format!("{name} (dead)")));
    };
    let at = windows.iter().filter(|key| find(key).is_some()).position(|key| *key == window.key);
    match (windows, at) {
        ([_], Some(_)) => Owner::Only,
        (_, Some(at)) => {
            let name = names(find, windows.iter()).into_iter().nth(at);
            Owner::Among(name.unwrap_or_else(|| window_and_pid(window)))
        }
        (_, None) => Owner::Other(window_name(window)),
    }
}

/// Says which files have lost edits, and whose.
fn lost(files: &[Untrusted], owner: &Owner) -> String {
    let file = files.first().map(|file| safe(file.raw())).unwrap_or_default();
    let more = if files.len() > 1 { format!(" and {} more", files.len() - 1) } else { String::new() };
    let of = match owner {
        Owner::Only => String::new(),
        Owner::Among(name) | Owner::Other(name) => format!(" of {name}"),
    };
    format!("{file}{more}{of} gone")
}

/// Returns the first clause of a sentence, without what explains it: not a file's name before a colon.
fn clause(sentence: &str) -> String {
    let mut starts = sentence.match_indices(": ").filter_map(|(at, _)| sentence.get(..at));
    starts.find(|start| start.contains(' ')).unwrap_or(sentence).to_owned()
}

/// Returns the guard's last message to one of two windows about the other, and when it was.
fn last_guard_note<'a>(report: &Report, find: Find<'a>, keys: &[Key]) -> Option<String> {
    let [one, other] = keys else { return None };
    let (one, other) = (find(one)?, find(other)?);
    let newest = |window, of| Some((warnings(window, of).next_back()?, window, of));
    let both = newest(one, other).into_iter().chain(newest(other, one));
    let (warning, window, of) = both.max_by_key(|(warning, ..)| warning.at)?;
    let names = names(find, [&window.key, &of.key].into_iter());
    let [name, of] = names.as_slice() else { return None };
    let ago = age::label_between(report.taken_at, warning.at);
    let path = warning.path.as_ref().map(|path| format!(" {}", short(path, folder(window))));
    let path = path.unwrap_or_else(|| " files here".to_owned());
    Some(match warning.how {
        WarningSort::Briefed | WarningSort::Noted => {
            format!("{name} was warned {ago} ago that {of} edits{path}")
        }
        WarningSort::HeldUp => format!("{name} was held up {ago} ago because of the work of {of}"),
        WarningSort::WentOn => format!("{name} went on {ago} ago despite the work of {of}"),
    })
}

/// Returns the way out of a collision: what the window that is to yield does.
pub(crate) fn way_out(index: &Index, finding: &Finding) -> Option<String> {
    let (.., mut way) = saying(finding.code)?;
    if is_of_sessions(finding.code, &finding.subjects, &|key| index.record(key)) {
        way = OF_SESSIONS.1;
    }
    let of_record = |key: &Key| index.window(index.record(key)?.window.as_ref()?);
    let yields = finding.yields().iter().rev();
    let name = yields.filter_map(|key| index.window(key).or_else(|| of_record(key))).map(window_name).next();
    Some(way.replace("{}", name.as_deref().unwrap_or("one")))
}

/// Returns whether it is only sessions that disagree about who a window is, and no marker or pointer.
fn is_of_sessions<'a>(code: Code, subjects: &[Key], record: &dyn Fn(&Key) -> Option<&'a RecordView>) -> bool {
    let is_session = |key: &Key| record(key).is_none_or(|record| record.kind == RecordKind::Session);
    let has_window = subjects.iter().any(|key| key.kind() == Some(KeyKind::Window));
    code == Code::IdentitySplit && has_window && subjects.iter().all(is_session)
}

/// Returns how collisions of a kind are said.
pub(super) fn saying(code: Code) -> Option<(Code, &'static str, Option<&'static str>, &'static str)> {
    SAYINGS.into_iter().find(|(own, ..)| *own == code)
}

/// The most windows that are named.
const MOST_NAMED: usize = 8;

/// Returns the windows to name, the one that is to yield by itself where there are many, and how many more there are.
fn few(windows: &[Key]) -> (&[Key], Option<&Key>, usize) {
    match (windows.get(..MOST_NAMED - 1), windows.last()) {
        (Some(first), Some(last)) if windows.len() > MOST_NAMED => {
            (first, Some(last), windows.len() - MOST_NAMED)
        }
        _ => (windows, None, 0),
    }
}

/// Names windows so that they can be distinguished.
fn names<'a, 'k>(find: Find<'a>, keys: impl Iterator<Item = &'k Key>) -> Vec<String> {
    let windows: Vec<&WindowView> = keys.filter_map(find).collect();
    let all = |name: fn(&WindowView) -> String| windows.iter().map(|window| name(window)).collect::<Vec<_>>();
    let tell_apart = |names: &Vec<String>| names.iter().collect::<HashSet<_>>().len() == names.len();
    let machines: HashSet<Option<&str>> = windows.iter().map(|window| window.key.machine()).collect();
    if machines.len() > 1 {
        let names = all(window_and_machine);
        return if tell_apart(&names) { names } else { all(window_and_pid) };
    }
    [window_name as fn(&WindowView) -> String, window_and_machine]
        .into_iter()
        .map(all)
        .find(tell_apart)
        .unwrap_or_else(|| all(window_and_pid))
}

/// Says which branch is rebased onto which, where both have one.
fn rebase<'a>(find: Find<'a>, windows: &[Key]) -> Option<String> {
    let branch = |key: &Key| find(key)?.repo.as_ref()?.branch.as_ref().map(Untrusted::shown);
    Some(format!("rebase {} onto {}", branch(windows.last()?)?, branch(windows.first()?)?))
}

/// Says what so many windows share.
fn shared(code: Code, files: &[Untrusted], windows: usize) -> Option<String> {
    let (_, shared, ..) = saying(code)?;
    let edit = if windows == 2 { "both edit" } else { "all edit" };
    Some(match files {
        [file] if code == Code::OverlappingFiles => format!("{edit} {}", safe(file_name(file.raw()))),
        [_, _, ..] if code == Code::OverlappingFiles => format!("{edit} {}", count(files.len(), "file")),
        [file] if code == Code::WillConflict => format!("{shared} in {}", safe(file.raw())),
        [_, _, ..] if code == Code::WillConflict => format!("{shared} in {}", count(files.len(), "file")),
        _ => shared.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::Severity;
    use crate::core::testing;

    #[test]
    fn only_the_first_clause_is_said_of_records_without_a_window() {
        assert_eq!(clause("2 records have one ID, x-1: a window can get it"), "2 records have one ID, x-1");
        assert_eq!(clause("slot.json: has two owners: let one go"), "slot.json: has two owners");
        assert_eq!(clause("nothing to explain"), "nothing to explain");
    }

    #[test]
    fn of_very_many_windows_some_are_named_and_the_one_that_is_to_yield() {
        let report = testing::busy();
        let window = |number: u32| {
            let mut window = report.windows[0].clone();
            (window.key, window.name) =
                (Key::typed(&format!("w-{number:08x}")), Some(format!("w{number}").into()));
            window
        };
        let windows: Vec<WindowView> = (0..60).map(window).collect();
        let find = |key: &Key| windows.iter().find(|window| window.key == *key);
        let say = |many: usize| {
            let kind = NeedKind::Collision {
                code: Code::SharedSessionId,
                message: "they run one session".into(),
                subjects: Vec::new(),
                windows: windows.iter().take(many).map(|window| window.key.clone()).collect(),
                also: Vec::new(),
                files: Vec::new(),
            };
            let said = describe(&report, &find, &kind).unwrap();
            (said.who.join(" "), said.what, said.way)
        };
        let told =
            |who: &str, last: &str| (who.to_owned(), "same session".to_owned(), format!("close {last}"));
        assert_eq!(say(8), told("w0 w1 w2 w3 w4 w5 w6 w7", "w7"));
        assert_eq!(say(60), told("w0 w1 w2 w3 w4 w5 w6 52 more w59", "w59"));
    }

    #[test]
    fn windows_of_one_name_are_kept_apart_in_all_of_a_sentence() {
        let mut report = testing::busy();
        report.windows.truncate(2);
        report.windows.iter_mut().for_each(|window| window.name = Some("twin".into()));
        let keys: Vec<Key> = report.windows.iter().map(|window| window.key.clone()).collect();
        let windows = report.windows.clone();
        let find = |key: &Key| windows.iter().find(|window| window.key == *key);
        let kind = NeedKind::Collision {
            code: Code::LostEdits,
            message: "gone".into(),
            subjects: vec![keys[1].clone()],
            windows: keys,
            also: Vec::new(),
            files: vec!["src/pay.rs".into()],
        };
        let described = describe(&report, &find, &kind).unwrap();
        assert_eq!(described.who, ["twin 4711", "twin 4890"]);
        assert_eq!(described.what, "src/pay.rs of twin 4890 gone");
        assert_eq!(described.brief, "src/pay.rs gone");
    }

    #[test]
    fn several_advices_for_one_pair_are_one_order() {
        let report = testing::busy();
        let keys: Vec<Key> = report.windows.iter().take(2).map(|window| window.key.clone()).collect();
        let find = |key: &Key| report.windows.iter().find(|window| window.key == *key);
        let way = |code, also: &[Code]| {
            let (subjects, windows, also) = (Vec::new(), keys.clone(), also.to_vec());
            let kind =
                NeedKind::Collision { code, message: "x".into(), subjects, windows, also, files: Vec::new() };
            let described = describe(&report, &find, &kind).unwrap();
            described.way.replace(described.who.last().unwrap(), "ui")
        };
        let (claim, port) = (Code::ContestedClaim, Code::ContestedPort);
        assert_eq!(way(claim, &[port]), "let ui release it, then give ui another port");
        assert_eq!(way(Code::SameWorktree, &[Code::OverlappingFiles]), "git worktree add for ui");
        let way_of_three = way(Code::SameWorktree, &[Code::OverlappingFiles, port]);
        assert_eq!(way_of_three, "git worktree add for ui, then give ui another port");
        assert_eq!(way(Code::SharedSessionId, &[claim, port]), "close ui");
    }

    #[test]
    fn every_collision_has_words() {
        for code in Code::ALL.iter().filter(|code| code.severity() == Severity::Collision) {
            assert!(saying(*code).is_some(), "{}", code.name());
        }
    }
}
