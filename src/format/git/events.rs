//! The events that git writes about one process of its own (`trace2.eventTarget`; git's
//! `Documentation/technical/api-trace2.txt`): a JSON object a line, in a file that is named after the process.

use jiff::Timestamp;
use serde::Deserialize;

use crate::core::guard::git::git_call;
use crate::core::guard::git::reach::{Reach, is_pattern};
use crate::core::model::text::secret::hide_in_arguments;
use crate::core::model::{GitCommand, GitReach, Untrusted};

/// The most arguments, and the most characters of one, that are kept.
const MOST_WORDS: usize = 32;
const MOST_WORD: usize = 200;
/// The most names of programs above, and the most characters of one.
const MOST_ABOVE: usize = 8;
const MOST_NAME: usize = 64;
/// The longest name of a process with those above it, in bytes, and the longest path of a working tree.
const MOST_SID: usize = 1 << 10;
const MOST_TREE: usize = 4 << 10;

/// The commands that can change files, refs or the stash (git(1)).
const CHANGING: [&str; 33] = [
    "add", "am", "apply", "bisect", "branch", "checkout", "checkout-index", "cherry-pick", "clean", "commit",
    "fast-import", "filter-branch", "merge", "mv", "pull", "read-tree", "rebase", "replace", "reset",
    "restore", "revert", "rm", "sparse-checkout", "stage", "stash", "submodule", "switch", "symbolic-ref",
    "tag", "update-index", "update-ref", "worktree", "lfs",
];

/// Git's own options that have a value in the next word (git(1)).
const VALUED: [&str; 7] =
    ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix"];

/// What a file of events says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct EventFile {
    /// The command, if it is one that can change something and ran in a working tree.
    pub(crate) command: Option<GitCommand>,
    /// How many lines make no sense.
    pub(crate) broken: usize,
    /// Whether the process has said that it ends.
    pub(crate) has_ended: bool,
}

/// What the name of a file of events says of the process: `20261129T094706.756893Z-H0a7c9cdf-P00007cdc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventName<'a> {
    /// The first 8 digits of the SHA-1 of its host's name.
    pub(crate) host: &'a str,
    /// Its PID.
    pub(crate) pid: u32,
}

impl<'a> EventName<'a> {
    /// Reads a name; `None` if git would not give it.
    pub(crate) fn parse(name: &'a str) -> Option<Self> {
        let (rest, pid) = name.rsplit_once("-P")?;
        let (time, host) = rest.split_once("-H")?;
        let is_hex = |text: &str| text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_time = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || b"T.Z".contains(&byte));
        let is_sound = is_hex(pid) && is_hex(host) && is_time(time);
        Some(Self { host, pid: u32::from_str_radix(pid, 16).ok().filter(|pid| is_sound && *pid > 0)? })
    }
}

/// The fields of events that are read.
#[derive(Deserialize)]
struct Event {
    event: String,
    sid: String,
    time: Option<Timestamp>,
    #[serde(default)]
    argv: Vec<String>,
    #[serde(default)]
    ancestry: Vec<String>,
    worktree: Option<String>,
    name: Option<String>,
    code: Option<i32>,
}

/// Reads the events of one process.
pub(crate) fn read(name: &str, bytes: &[u8]) -> EventFile {
    let mut file = EventFile::default();
    let Some(EventName { pid, .. }) = EventName::parse(name) else { return file };
    let (mut argv, mut above, mut tree, mut mode) = (Vec::new(), Vec::new(), None, None);
    let (mut sid, mut at, mut ended, mut exit) = (None, None, None, None);
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let event: Event = match serde_json::from_slice(line) {
            Ok(event) => event,
            Err(_) => {
                file.broken += 1;
                continue;
            }
        };
        let is_its = event.sid.rsplit('/').next() == Some(name) && event.sid.len() <= MOST_SID;
        match event.event.as_str() {
            _ if !is_its => file.broken += 1,
            "start" => (sid, at, argv) = (Some(event.sid), event.time, event.argv),
            "cmd_ancestry" => above = event.ancestry,
            // A submodule is another repository of the same process.
            "def_repo" => tree = tree.or(event.worktree),
            "cmd_mode" => mode = event.name,
            "exit" | "atexit" | "signal" => {
                (ended, exit) = (event.time, event.code);
                file.has_ended = true;
            }
            _ => {}
        }
    }
    let (Some(sid), Some(at), Some(tree)) = (sid, at, tree) else { return file };
    let plain = without_options(&argv);
    let is_changing = plain.get(1).is_some_and(|verb| CHANGING.contains(&verb.as_str()));
    if !is_changing || tree.len() > MOST_TREE || !tree.starts_with('/') {
        return file;
    }
    let reach = reach(plain, &tree, mode.as_deref());
    let mut words: Vec<Untrusted> = argv.into_iter().map(Untrusted::from).collect();
    // Before they are cut: a part of a secret looks like none.
    hide_in_arguments(&mut words);
    words.truncate(MOST_WORDS);
    words.iter_mut().for_each(|word| *word = cut(word.raw(), MOST_WORD));
    let above = above.iter().take(MOST_ABOVE).map(|name| cut(name, MOST_NAME)).collect();
    let sid = sid.as_str().into();
    file.command = Some(GitCommand {
        sid,
        pid,
        at,
        ended,
        exit,
        tree: tree.as_str().into(),
        words,
        reach,
        above,
        caller: None,
    });
    file
}

fn cut(text: &str, most: usize) -> Untrusted {
    text.chars().take(most).collect::<String>().into()
}

/// Returns the words of a call without git's own options: where it ran is known otherwise.
fn without_options(argv: &[String]) -> Vec<String> {
    let mut words = argv.iter().skip(1);
    let mut plain = vec!["git".to_owned()];
    while let Some(word) = words.next() {
        if VALUED.contains(&word.as_str()) {
            words.next();
        } else if !word.starts_with('-') {
            plain.push(word.clone());
            plain.extend(words.by_ref().cloned());
        }
    }
    plain
}

/// Returns which files a call may change; `None` if that cannot be said for sure.
fn reach(words: Vec<String>, tree: &str, mode: Option<&str>) -> Option<GitReach> {
    // What these change in files is another command's doing: a hook's, or that of a merge.
    let call = git_call(words, tree).filter(|call| !matches!(call.verb, "add" | "commit" | "pull"))?;
    if !call.left_out.is_empty() || !call.spares.is_empty() {
        return None;
    }
    // Only git knows whether a word is a path or a commit, and says so.
    let paths = match call.reach {
        Reach::Tree => return Some(GitReach::Tree),
        Reach::PathsOrTree(_) if call.verb == "checkout" && mode != Some("path") => {
            return (mode == Some("branch")).then_some(GitReach::Tree);
        }
        Reach::Paths(paths) | Reach::Files(paths) | Reach::PathsOrTree(paths) => paths,
    };
    let inside = |path: &String| {
        let inside = path.strip_prefix(tree)?;
        Some(cut(inside.trim_start_matches('/'), MOST_TREE)).filter(|path| !is_pattern(path.raw()))
    };
    let paths: Vec<Untrusted> = paths.iter().filter_map(inside).collect();
    match paths.iter().any(|path| path.is_empty()) {
        true => Some(GitReach::Tree),
        false => (!paths.is_empty()).then_some(GitReach::Paths(paths)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "20261129T094706.756893Z-H0a7c9cdf-P00007cdc";

    /// Returns the events of a process of git's with these arguments and this word of its own.
    fn events(argv: &[&str], mode: &str) -> String {
        let sid = format!("20261129T094706.000000Z-H0a7c9cdf-P00000001/{NAME}");
        format!(
            r#"{{"event":"version","sid":"{sid}","evt":"4"}}
{{"event":"start","sid":"{sid}","time":"2026-11-29T09:47:06.756981Z","argv":{argv:?}}}
{{"event":"cmd_ancestry","sid":"{sid}","ancestry":["make","bash"]}}
{{"event":"def_repo","sid":"{sid}","worktree":"/w"}}
{{"event":"cmd_mode","sid":"{sid}","name":"{mode}"}}
{{"event":"atexit","sid":"{sid}","time":"2026-11-29T09:47:06.758175Z","code":0}}
"#
        )
    }

    #[track_caller]
    fn check(argv: &[&str], mode: &str, expected: &str) {
        let read = read(NAME, events(argv, mode).as_bytes());
        assert!(read.has_ended && read.broken == 0, "{read:?}");
        let reach = read.command.map(|command| match command.reach {
            None => "nothing".to_owned(),
            Some(GitReach::Tree) => "tree".to_owned(),
            Some(GitReach::Paths(paths)) => paths.iter().map(Untrusted::raw).collect::<Vec<_>>().join(" "),
        });
        assert_eq!(reach.as_deref().unwrap_or("not kept"), expected, "{argv:?}");
    }

    #[test]
    fn what_a_command_reaches_is_read_from_its_arguments_and_its_own_word() {
        check(&["git", "reset", "--hard"], "hard", "tree");
        check(&["/usr/libexec/git-core/git", "reset", "--hard", "-q"], "hard", "tree");
        check(&["git", "--git-dir=.git", "--work-tree", ".", "-c", "a=b", "stash"], "", "tree");
        check(&["git", "checkout", "-f", "x"], "branch", "tree");
        check(&["git", "checkout", "x"], "path", "x");
        check(&["git", "checkout", "x"], "", "nothing");
        check(&["git", "checkout", "--", "src/a.rs", "b.rs"], "path", "src/a.rs b.rs");
        check(&["git", "checkout", "--", "*.rs"], "path", "nothing");
        check(&["git", "checkout", "--", ".", ":!a.rs"], "path", "nothing");
        check(&["git", "restore", "."], "", "tree");
        check(&["git", "clean", "-fd", "build"], "", "build");
        check(&["git", "commit", "-m", "x"], "", "nothing");
        check(&["git", "status"], "", "not kept");
        check(&["git", "log", "--", "reset"], "", "not kept");
        check(&["git"], "", "not kept");
    }

    #[test]
    fn hostile_events_are_counted_bounded_and_hidden() {
        let token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
        let long = "x".repeat(1 << 20);
        let text = events(&["git", "commit", "-m", token, &long], "");
        let mut lines =
            text.replace("\n{", "\nnonsense\n{\"event\":\"start\",\"sid\":\"other\",\"argv\":[]}\n{");
        lines.push_str("{\"event\":");
        let read = read(NAME, lines.as_bytes());
        let command = read.command.unwrap();
        assert_eq!((read.broken, command.pid, command.exit), (11, 0x7cdc, Some(0)));
        assert_eq!(command.words.last().unwrap().raw().len(), MOST_WORD);
        assert!(!command.line().contains("0123456789"), "{}", command.line());
        assert_eq!(command.above, ["make", "bash"].map(Untrusted::from));
    }

    #[test]
    fn only_names_that_git_gives_are_read() {
        assert_eq!(EventName::parse(NAME), Some(EventName { host: "0a7c9cdf", pid: 0x7cdc }));
        for name in [
            "",
            "git-trace2-discard",
            "-H0a7c9cdf-P00000000",
            "x-H0a7c9cdf-P00000001",
            "-H0a7c9cd-P00000001",
            "../-H0a7c9cdf-P00000001",
            "20261129T094706.756893Z-Localhost-P00007cdc",
            "-H0a7c9cdf-P+0000001",
        ] {
            assert_eq!(EventName::parse(name), None, "{name}");
        }
        assert_eq!(read("other", events(&["git", "stash"], "").as_bytes()), EventFile::default());
    }
}
