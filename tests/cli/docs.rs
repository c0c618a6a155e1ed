//! Each command of README.md and the pages under `docs` works as it is written.
//!
//! Every line that begins with `claimtop` in a block of `sh`, or with `$ claimtop` in one of `console`, runs in a home of
//! the test's own, page by page and in order. It ends with exit code 0, or with the one that its comment names
//! (`# exit 3`). What needs another machine, a database or somebody's own rows is parsed instead. The options of both are in
//! the help of their command.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::missing::skip_for_want_of;
use crate::world::{Answer, World};

/// Lines that cannot run here, and why.
const PARSED: [(&str, &str); 7] = [
    ("claimtop context-id --strict", "its answer depends on the program above the tests"),
    ("claimtop events", "runs until interrupted"),
    ("claimtop guard replay", "needs a recording of calls"),
    ("claimtop stream", "runs until interrupted"),
    ("claimtop undo 7", "is an entry of somebody's journal"),
    ("claimtop witness --dry-run", "needs a database"),
    ("claimtop witness\n", "runs until interrupted"),
];

/// What a line has that names another machine or a database.
const ELSEWHERE: [&str; 4] = ["--fleet ", "--on ", "@", "postgres://"];

/// The line by which a shell runs the program over the test's own folders; the demo accepts no others than its own.
const PROGRAM: &str = r#"claimtop() { case "$1" in demo) "$PROGRAM" "$@" ;; *) "$PROGRAM" --home "$HOME" --tmp "$TMPDIR" "$@" ;; esac; }"#;

/// A command of a page.
#[derive(Debug, PartialEq)]
struct Line {
    /// The command, without its comment.
    text: String,
    /// The exit code that the page names.
    code: i32,
}

impl Line {
    /// Takes a line of a page apart.
    fn new(line: &str) -> Self {
        let (text, comment) = line.split_once(" #").unwrap_or((line, ""));
        let named =
            comment.rsplit_once("exit ").filter(|(before, _)| before.ends_with("# ") || *before == " ");
        let code = named.and_then(|(_, code)| code.trim().parse().ok()).unwrap_or(0);
        Self { text: text.trim().to_owned(), code }
    }

    /// Returns whether it is only parsed.
    fn is_parsed(&self) -> bool {
        let whole = format!("{}\n", self.text);
        let is_listed = PARSED.iter().any(|(start, _)| whole.starts_with(start));
        is_listed
            || ELSEWHERE.iter().any(|part| self.text.contains(part))
            || self.text.split_whitespace().any(is_key)
    }
}

/// Returns whether a word is the key of a row, such as `l-58aac2de`: each machine has its own.
fn is_key(word: &str) -> bool {
    let (sort, hash) = word.split_once('-').unwrap_or_default();
    sort.len() == 1 && hash.len() == 8 && hash.chars().all(|digit| digit.is_ascii_hexdigit())
}

/// Returns the commands of a page.
fn commands(page: &str) -> Vec<Line> {
    let (mut block, mut all) = (None, Vec::new());
    for line in page.lines().map(str::trim) {
        if let Some(language) = line.strip_prefix("```") {
            block = if block.is_some() { None } else { Some(language) };
            continue;
        }
        let command = match block {
            Some("sh") => Some(line),
            Some("console") => line.strip_prefix("$ "),
            _ => None,
        };
        let is_own = |line: &&str| line.split_whitespace().next() == Some("claimtop");
        all.extend(command.filter(is_own).map(Line::new));
    }
    all
}

/// A home with what the pages name: a repository, a dead window, and a session whose new file is gone.
struct Home(World);

impl Home {
    fn new() -> Self {
        let home = Self(World::new());
        home.0.write("home/shop/src/pay.rs", "pay\n");
        for format in ["pid-file.toml", "gastown.toml"] {
            let from = root().join("assets/formats").join(format);
            home.0.write(&format!("home/shop/assets/formats/{format}"), &fs::read_to_string(from).unwrap());
        }
        fs::create_dir_all(home.0.path("home/.config/systemd/user")).unwrap();
        for line in ["git init -q -b main", "git add -A", "git -c user.name=x -c user.email=x@x commit -qm a"]
        {
            assert_eq!(home.shell(line).code, 0, "{line}");
        }
        let tree = home.tree().display().to_string();
        let entry = format!(
            r#"{{"pid":4194304,"sessionId":"8ea371c9-d075-4ce5-81ca-7094f1d38108","cwd":"{tree}","startedAt":1,"procStart":"77","version":"2.1.330","kind":"interactive","name":"docs-old","status":"idle"}}"#
        );
        home.0.write("home/.claude/sessions/4194304.json", &entry);
        home.lose();
        home
    }

    fn tree(&self) -> PathBuf {
        self.0.path("home/shop")
    }

    /// Has a session write a file that is removed again: until its time is later than git's.
    fn lose(&self) {
        for _ in 0..200 {
            let (path, text) =
                (self.0.write("home/shop/src/refunds.rs", "one\ntwo\nthree\n"), "one\\ntwo\\nthree\\n");
            let (path, at) = (path.display(), jiff::Timestamp::now());
            let session = format!(
                r#"{{"type":"user","cwd":"{0}","timestamp":"{at}","message":{{"role":"user","content":"Refunds"}}}}
{{"type":"assistant","timestamp":"{at}","message":{{"content":[{{"type":"tool_use","id":"t1","name":"Write","input":{{"file_path":"{path}","content":"{text}"}}}}]}}}}
{{"type":"user","timestamp":"{at}","message":{{"content":[{{"type":"tool_result","tool_use_id":"t1"}}]}},"toolUseResult":{{"type":"create","filePath":"{path}","content":"{text}","structuredPatch":[],"originalFile":null}}}}
"#,
                self.tree().display()
            );
            self.0.write("home/.claude/projects/shop/2e4d1b63-7a1f-4c8f-8b64-1a3e9b7d2102.jsonl", &session);
            fs::remove_file(self.tree().join("src/refunds.rs")).unwrap();
            if self.shell("claimtop rescue").out.contains("gone for") {
                return;
            }
        }
        panic!("the file is not known to be gone: {:?}", self.shell("claimtop rescue src/refunds.rs"));
    }

    /// Runs a line as a person's shell does, in the repository.
    fn shell(&self, line: &str) -> Answer {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{PROGRAM}\n{line}")]).current_dir(self.tree()).stdin(Stdio::null());
        shell.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        shell.env("HOME", self.0.path("home")).env("TMPDIR", self.0.path("tmp"));
        shell.env("PROGRAM", env!("CARGO_BIN_EXE_claimtop")).env("LANG", "C.UTF-8");
        let output = shell.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let code = output.status.code().unwrap_or(-1);
        Answer { code, out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// Runs a line; a file that was written just now is waited for.
    fn run(&self, line: &str) -> Answer {
        loop {
            let answer = self.shell(line);
            if !(answer.out.contains("s ago: wait") || answer.err.contains("s ago: wait")) {
                return answer;
            }
        }
    }

    /// Returns what is wrong with a line: its options, or its end.
    fn fault(&self, line: &Line) -> Option<String> {
        let command = line.text.split(['>', '|']).next().unwrap_or_default();
        let help = self.shell(&format!("{command} --help"));
        let shared = self.shell("claimtop help options");
        let words = help.out.split_whitespace().chain(shared.out.split_whitespace());
        let known: BTreeSet<&str> = words.map(|word| word.trim_end_matches(',')).collect();
        let has = |option: &str| known.contains(option);
        let options = command.split_whitespace().filter(|word| word.starts_with("--"));
        let unknown: Vec<&str> = options.filter(|option| !has(option)).collect();
        if help.code != 0 || !unknown.is_empty() {
            return Some(format!("{line:?}: its help does not have {unknown:?}: {}", help.err));
        }
        let answer = if line.is_parsed() { return None } else { self.run(&line.text) };
        (answer.code != line.code)
            .then(|| format!("{line:?} ended with {}: {}{}", answer.code, answer.out, answer.err))
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns README.md and the pages under `docs`.
fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let docs = docs.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    std::iter::once(root().join("README.md")).chain(docs).collect()
}

/// Returns what is wrong with the commands of a page.
fn faults(path: &Path) -> Vec<String> {
    let lines = commands(&fs::read_to_string(path).unwrap());
    let page = path.file_name().unwrap().to_string_lossy();
    if !lines.iter().any(|line| !line.is_parsed()) {
        return vec![format!("{page} has no command that runs")];
    }
    let home = Home::new();
    let faults = lines.iter().filter_map(|line| home.fault(line));
    faults.map(|fault| format!("{page}: {fault}")).collect()
}

fn has_git() -> bool {
    Command::new("git").arg("--version").output().is_ok()
}

#[test]
fn each_command_of_the_pages_works_as_written() {
    if !has_git() {
        return skip_for_want_of("git");
    }
    let pages = pages();
    assert!(pages.len() > 9, "{pages:?}");
    let faults: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = pages.iter().map(|page| scope.spawn(|| faults(page))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_command_that_does_not_work_is_found() {
    if !has_git() {
        return skip_for_want_of("git");
    }
    let home = Home::new();
    let check = |line: &str, is_wrong: bool| {
        let fault = home.fault(&Line::new(line));
        assert_eq!(fault.is_some(), is_wrong, "{line}: {fault:?}");
    };
    check("claimtop ls --walls", true);
    check("claimtop let-go", true);
    check("claimtop release r-0f21ab3c@devbox --force", true);
    check("claimtop fleet init postgres://db.example/work --now", true);
    // A hook's command never fails its agent, whatever it is given.
    check("claimtop guard --fro claude", true);
    check("claimtop bind --bogus", true);
    check("claimtop explain docs-older", true);
    check("claimtop explain docs-old   # why it is dead", false);
    check("claimtop doctor   # what is wrong", true);
    check("claimtop doctor   # what is wrong # exit 1", false);
    check("claimtop release r-0f21ab3c@devbox --dry-run", false);
}

#[test]
fn commands_are_those_of_shells_alone() {
    let page = "claimtop one\n```sh\nclaimtop two --a   # why\nsudo claimtop\nclaimtopple\n```\n\
                ```toml\nclaimtop three\n```\n   ```console\n   $ claimtop four # exit 3\n   claimtop five\n   ```\n";
    let line = |text: &str, code| Line { text: text.to_owned(), code };
    assert_eq!(commands(page), [line("claimtop two --a", 0), line("claimtop four", 3)]);
    assert!(is_key("l-58aac2de") && !is_key("docs-old") && !is_key("--redact"));
}
