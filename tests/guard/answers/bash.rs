//! The reader of shell lines beside bash: what bash really runs of random lines, where and with which words, the
//! reader must have found.
//!
//! `CLAIMTOP_LINES` sets the number of lines.

use std::fmt::Write as _;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use claimtop::testing::core::shell_commands;

use super::simulator::Dice;

/// The programs of the lines: each notes its folder and its words in a file of its own, and ends with 0, or `no` with 1.
const PROGRAM: &str = r#"#!/bin/sh
printf '%s\0' "$PWD" "${0##*/}" "$@" > "$CALLS/$$"
[ "${0##*/}" != no ]
"#;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Call {
    folder: String,
    words: Vec<String>,
}

/// Makes lines of what agents write: lists, pipelines, subshells, loops, quotes, variables and redirections.
struct Writer {
    dice: Dice,
    /// Whether each command of the line runs exactly once.
    is_straight: bool,
}

impl Writer {
    fn one(&mut self, of: &[&str]) -> String {
        of[self.dice.below(of.len())].to_owned()
    }

    fn word(&mut self) -> String {
        self.one(&[
            "a", "b.rs", "-m", "--", "'a b'", "\"c  d\"", "e\\ f", "x'y z'\"w\"", "$V", "\"$V\"", "${W}",
            "\"$W/x\"", "~/p", "$HOME", "\"$PWD\"", "$NONE", "\"\"", "''", "'$V'", "\\$V", "\"a\\\"b\"",
            "{p,q}", "x{1,2}y", "a#b", "'#'", "$'t\\tn'", "\"$(ok inner)\"", "$(ok)", "`ok back`", "\"a'b\"",
            "'\"'", "!", "=", "a=b", "*.none", "'*'", "[z]", "2", "%", "@{u}", "HEAD~1", ":/", "^x",
            "\"`ok q`\"", "\\\\", "é",
        ])
    }

    fn simple(&mut self) -> String {
        let mut line = self.one(&["ok", "ok", "ok", "no"]);
        if line == "no" {
            self.is_straight = false;
        }
        for _ in 0..self.dice.below(4) {
            let word = self.word();
            // What a substitution runs is counted by bash alone.
            self.is_straight &= !word.contains('`') && !word.contains("$(");
            write!(line, " {word}").unwrap();
        }
        if self.dice.below(5) == 0 {
            line += &self
                .one(&[" >out", " 2>&1", " >/dev/null 2>&1", " <in", " <<<word", " >>'o u t'", " &>all"]);
        }
        if self.dice.below(9) == 0 {
            line = self.one(&["V=w ", "A=1 B='2 3' "]) + &line;
        }
        line
    }

    /// Writes a command; `cd` only where that happens in any case, for the reader takes a `cd` behind a condition as done.
    fn command(&mut self, depth: usize, is_certain: bool) -> String {
        match self.dice.below(if depth == 0 { 8 } else { 14 }) {
            0 if is_certain => {
                self.one(&["cd a", "cd b", "cd ..", "cd a/c", "cd -- a", "cd \"$HOME\"", "cd", "cd ./b/.."])
            }
            1 => self.one(&["V=x", "V='y z'", "W=$V", "V=", "W=a V=b", "export V=q", "unset V"]),
            8 => format!("( {} )", self.list(depth - 1, true)),
            9 => format!("{{ {}; }}", self.list(depth - 1, false)),
            10 => {
                self.is_straight = false;
                format!("for f in a 'b c' $V; do {}; ok \"$f\"; done", self.list(depth - 1, false))
            }
            11 => {
                self.is_straight = false;
                format!(
                    "if {}; then {}; else {}; fi",
                    self.simple(),
                    self.list(depth - 1, false),
                    self.list(depth - 1, false)
                )
            }
            12 => {
                self.is_straight = false;
                let quoted = self.list(depth - 1, true).replace('\'', "'\\''");
                format!("bash -c '{quoted}'")
            }
            13 => format!("{} <<'END'\nok not $V\nEND\nok after", self.simple()),
            _ => self.simple(),
        }
    }

    fn list(&mut self, depth: usize, is_certain: bool) -> String {
        let mut line = self.command(depth, is_certain);
        for _ in 0..self.dice.below(4) {
            let link = self.one(&["; ", " && ", "\n", " || ", " | ", " ;  "]);
            let is_always = !link.contains('|') && !link.contains('&');
            self.is_straight &= is_always;
            // A document ends with its line.
            let link = if line.ends_with("ok after") { "\n".to_owned() } else { link };
            line += &(link + &self.command(depth, is_certain && is_always));
        }
        line
    }
}

/// Has bash run a line in a folder, and returns what it called.
fn run(line: &str, stage: &Path) -> Vec<Call> {
    let calls = stage.join("calls");
    std::fs::create_dir_all(&calls).unwrap();
    let status = Command::new("bash")
        .args(["-c", line])
        .current_dir(stage.join("w"))
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", stage.join("bin").display()))
        .env("HOME", stage.join("home"))
        .env("CALLS", &calls)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_ne!(status.code(), Some(2), "bash cannot read {line:?}");
    let mut found = Vec::new();
    for file in std::fs::read_dir(&calls).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        let mut words = bytes.strip_suffix(b"\0").unwrap().split(|byte| *byte == 0);
        let mut word = || Some(String::from_utf8(words.next()?.to_vec()).unwrap());
        found.push(Call { folder: word().unwrap(), words: std::iter::from_fn(word).collect() });
    }
    std::fs::remove_dir_all(calls).unwrap();
    found.sort();
    found
}

/// Returns whether what was read may be what was called: a word that only the shell knows may be any number of words.
fn may_be((folder, words): &(Option<String>, Vec<Option<String>>), call: &Call) -> bool {
    let known = words.iter().take_while(|word| word.is_some()).count();
    folder.as_ref().is_none_or(|folder| *folder == call.folder)
        && call.words.len() >= known
        && (known < words.len() || call.words.len() == known)
        && words.iter().zip(&call.words).take(known).all(|(read, called)| read.as_ref() == Some(called))
}

fn stage(root: &Path) -> PathBuf {
    let stage = root.canonicalize().unwrap();
    for folder in ["w/a/c", "w/b", "home/a", "home/b", "bin"] {
        std::fs::create_dir_all(stage.join(folder)).unwrap();
    }
    for name in ["ok", "no"] {
        let path = stage.join("bin").join(name);
        std::fs::write(&path, PROGRAM).unwrap();
        std::fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    for folder in ["w", "w/a", "w/b", "w/a/c", "home"] {
        std::fs::write(stage.join(folder).join("in"), "").unwrap();
    }
    stage
}

#[test]
fn what_bash_runs_of_a_line_is_read() {
    let count = std::env::var("CLAIMTOP_LINES").map_or(150, |text| text.parse().unwrap());
    let tmp = tempfile::tempdir().unwrap();
    let stage = stage(tmp.path());
    let (place, home) = (stage.join("w"), stage.join("home"));
    let (mut wrong, mut calls) = (Vec::new(), 0);
    for seed in 0..count {
        let mut writer = Writer { dice: Dice::new(seed), is_straight: true };
        let line = writer.list(2, true);
        let read = shell_commands(&line, place.to_str().unwrap(), home.to_str().unwrap());
        let called = run(&line, &stage);
        calls += called.len();
        for call in called.iter().filter(|call| !read.iter().any(|read| may_be(read, call))) {
            wrong.push(format!("{line:?}\n   ran {call:?}\n  read {read:?}"));
        }
        let of_ours = |(_, words): &&(Option<String>, Vec<Option<String>>)| {
            words.first().is_some_and(|word| matches!(word.as_deref(), Some("ok" | "no")))
        };
        if writer.is_straight && read.iter().filter(of_ours).count() > called.len() {
            wrong.push(format!("{line:?}\n  read more than ran: {read:?}"));
        }
    }
    wrong.sort_by_key(String::len);
    wrong.dedup_by_key(|text| text.split('\n').next().map(str::to_owned));
    wrong.truncate(20);
    assert!(wrong.is_empty(), "{} of {calls} calls:\n{}", wrong.len(), wrong.join("\n"));
    assert!(calls as u64 > count, "{calls} calls of {count} lines");
}
