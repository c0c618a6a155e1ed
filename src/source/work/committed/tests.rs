//! The reported state of edits equals git's own.

mod simulated;

use super::*;

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use crate::core::model::text::remains::keeps_most;
use crate::core::model::{CommitState, Edit, EditState};
use crate::source::os::clock;
use crate::source::repos::objects::parse_name;

/// When the head moved: later than the kernel has changed any of these files.
const MOVED: i64 = 4_000_000_000;

/// A repository, made by hand, with a linked working tree and a file in each.
struct Stage {
    folder: tempfile::TempDir,
    repo: Repo,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let tree = |path: &str, id: &str| Worktree {
            path: root.join(path),
            id: id.to_owned(),
            branch: Some("main".into()),
            exists: true,
            ..Worktree::default()
        };
        let worktrees = vec![tree("shop", ""), tree("shop-pay", "pay")];
        let repo = Repo { common_dir: root.join("shop/.git"), worktrees, ..Repo::default() };
        let stage = Self { folder, repo };
        for path in ["shop/.git/refs/heads", "shop/.git/worktrees/pay/logs", "shop/src", "notes/old"] {
            std::fs::create_dir_all(stage.at(path)).unwrap();
        }
        for file in ["shop/src/a.rs", "shop-pay/src/a.rs", "notes/a.md", "notes/old/b.md"] {
            stage.write(file, "");
        }
        stage
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        let moved = SystemTime::UNIX_EPOCH + Duration::from_secs(MOVED.unsigned_abs());
        std::fs::File::options().write(true).open(path).unwrap().set_modified(moved).unwrap();
    }

    /// Writes a reflog that was last written when its last line says.
    fn log(&self, path: &str, text: &str) {
        self.write(path, text);
    }

    /// Asks about an edit so many seconds after the head moved.
    fn ask(&self, path: &str, seconds: i64) -> CommitState {
        self.ask_by(path, seconds, SignedDuration::ZERO)
    }

    fn ask_by(&self, path: &str, seconds: i64, doubt: SignedDuration) -> CommitState {
        let repos = [self.repo.clone()];
        let plain = [Untrusted::from_path(&self.at("notes"))];
        let now = Timestamp::from_second(MOVED + 1_000).unwrap();
        let uid = rustix::process::geteuid().as_raw();
        let at = Timestamp::from_second(MOVED + seconds).unwrap();
        let edit = Edit::new(Untrusted::from_path(&self.at(path)), Some(at));
        let mut kept = CommitCache::default();
        let mut heads = Heads::new((&repos, &plain), (now, doubt), uid, &mut kept);
        content_in_git(&heads.fate(&edit, EditFacts::default()))
    }
}

/// Returns whether git has what the file holds.
fn content_in_git(fate: &EditFate) -> CommitState {
    match (fate.is_clean, fate.committed) {
        (true, _) => CommitState::Yes,
        (false, CommitState::No) if !fate.state.is_away() => CommitState::No,
        (false, _) => CommitState::Unknown,
    }
}

fn line(seconds: i64) -> String {
    format!(
        "{} {} Ann > Lee <a@b> {seconds} +0100\tcommit: new > old 5 +0000\n",
        "0".repeat(40),
        "1".repeat(40)
    )
}

#[test]
fn a_folder_that_some_version_control_keeps_tells_nothing() {
    for name in [".git", ".hg", ".svn", ".fslckout"] {
        let stage = Stage::new();
        assert_eq!(stage.ask("notes/old/b.md", 1), CommitState::No);
        stage.write(&format!("notes/{name}"), "gitdir: /nowhere/to/be/found");
        assert_eq!(stage.ask("notes/old/b.md", 1), CommitState::Unknown, "{name}");
        assert_eq!(stage.ask("notes/a.md", 1), CommitState::Unknown, "{name}");
    }
}

#[test]
fn a_filter_fits_a_file_as_it_does_for_git() {
    for (line, path, fits) in [
        ("*.rs filter=x", "/a/b.rs", true),
        ("*.env filter=x", "/a/.env", true),
        ("*.env filter=x", "/a/prod.ENV", true),
        ("*.env filter=x", "/a/env", false),
        ("*.rs text", "/a/b.rs", false),
        ("src/** filter=x", "/a/b.rs", true),
    ] {
        assert_eq!(names_filter(line, Path::new(path)), fits, "{line} {path}");
    }
}

#[test]
fn a_configuration_may_name_more_attributes() {
    for line in ["attributesFile = ~/x", "\tattributesfile=/x", "[include]", "[includeIf \"gitdir:/x\"]"] {
        assert!(names_more(line), "{line}");
    }
    assert!(!names_more("autocrlf = input") && !names_more("[core]"));
}

#[test]
fn an_edit_after_the_head_moved_is_in_no_commit() {
    let stage = Stage::new();
    stage.log("shop/.git/logs/HEAD", &(line(MOVED - 50) + &line(MOVED)));
    stage.log("shop/.git/worktrees/pay/logs/HEAD", &line(MOVED - 500));
    for (path, seconds, expected) in [
        ("shop/src/a.rs", 1, CommitState::No),
        ("shop/src/a.rs", 0, CommitState::Unknown),
        ("shop/src/a.rs", -20, CommitState::Unknown),
        ("shop-pay/src/a.rs", 1, CommitState::No),
        // Its reflog was written later than its last line says.
        ("shop-pay/src/a.rs", -100, CommitState::Unknown),
        // A later moment than now.
        ("shop/src/a.rs", 1_001, CommitState::Unknown),
        ("shop/src/gone.rs", 1, CommitState::Unknown),
        ("shop/../shop/src/a.rs", 1, CommitState::Unknown),
        ("elsewhere/a.rs", 1, CommitState::Unknown),
        ("notes/a.md", 1, CommitState::No),
        ("notes/old/b.md", -900, CommitState::No),
        ("notes/a.md", 1_001, CommitState::Unknown),
    ] {
        assert_eq!(stage.ask(path, seconds), expected, "{path} {seconds}");
    }
}

#[test]
fn a_clock_that_was_set_tells_nothing_of_what_was_close() {
    let stage = Stage::new();
    stage.log("shop/.git/logs/HEAD", &line(MOVED));
    let doubt = SignedDuration::from_secs(60);
    assert_eq!(stage.ask_by("shop/src/a.rs", 60, doubt), CommitState::Unknown);
    assert_eq!(stage.ask_by("shop/src/a.rs", 61, doubt), CommitState::No);
    stage.log("shop/.git/logs/HEAD", &line(MOVED + 2_000));
    assert_eq!(stage.ask("shop/src/a.rs", 900), CommitState::Unknown);
}

#[test]
fn a_reflog_that_is_none_tells_nothing() {
    let stage = Stage::new();
    let cut = line(MOVED);
    for text in
        ["", "\n", cut.trim_end(), "no line\n", &"x".repeat(9_000), &(cut.clone() + "0 1 A <b> x +0000\n")]
    {
        stage.log("shop/.git/logs/HEAD", text);
        assert_eq!(stage.ask("shop/src/a.rs", 1), CommitState::Unknown, "{text:.80}");
    }
    stage.log("shop/.git/logs/HEAD", &line(MOVED).repeat(100));
    assert_eq!(stage.ask("shop/src/a.rs", 1), CommitState::No);
    std::fs::rename(stage.at("shop/.git/logs/HEAD"), stage.at("log")).unwrap();
    std::os::unix::fs::symlink(stage.at("log"), stage.at("shop/.git/logs/HEAD")).unwrap();
    assert_eq!(stage.ask("shop/src/a.rs", 1), CommitState::Unknown, "a link");
}

#[test]
fn a_repository_without_a_branch_has_no_commit() {
    let stage = Stage::new();
    assert_eq!(stage.ask("shop/src/a.rs", -900), CommitState::No);
    assert_eq!(stage.ask("shop-pay/src/a.rs", -900), CommitState::Unknown);
    stage.write("shop/.git/refs/heads/topic/a", "");
    assert_eq!(stage.ask("shop/src/a.rs", -900), CommitState::Unknown);
}

#[test]
fn packed_branches_are_branches() {
    let stage = Stage::new();
    stage.write("shop/.git/packed-refs", "");
    assert_eq!(stage.ask("shop/src/a.rs", -900), CommitState::Unknown);
}

#[test]
fn a_file_of_another_repository_is_not_this_heads() {
    let stage = Stage::new();
    stage.log("shop/.git/logs/HEAD", &line(MOVED));
    stage.write("shop/vendor/lib/src/b.rs", "");
    assert_eq!(stage.ask("shop/vendor/lib/src/b.rs", 1), CommitState::No);
    std::os::unix::fs::symlink(stage.at("shop-pay/src"), stage.at("shop/link")).unwrap();
    assert_eq!(stage.ask("shop/link/a.rs", 1), CommitState::Unknown);
    stage.write("shop/vendor/lib/.git", "gitdir: elsewhere");
    assert_eq!(stage.ask("shop/vendor/lib/src/b.rs", 1), CommitState::Unknown);
    stage.write("notes/old/.git", "gitdir: elsewhere");
    assert_eq!(stage.ask("notes/old/b.md", 1), CommitState::Unknown);
    stage.write("shop/.jj/repo", "");
    assert_eq!(stage.ask("shop/src/a.rs", 1), CommitState::Unknown);
}

/// A repository that git itself changes.
struct Real {
    folder: tempfile::TempDir,
    /// When each file was edited last.
    edited: BTreeMap<&'static str, Timestamp>,
    /// What that left.
    texts: BTreeMap<&'static str, String>,
    kept: CommitCache,
    /// How much later it is looked at.
    later: SignedDuration,
}

const FILES: [&str; 4] = ["a.txt", "src/b.txt", "src/deep/c.txt", "src/deep/d.md"];
const TEXTS: [&str; 5] = ["one\n", "two\n", "one\r\ntwo\r\n", "one\ntwo\n", "$Id$\nthree\n"];

impl Real {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let real = Self {
            folder,
            edited: BTreeMap::new(),
            texts: BTreeMap::new(),
            kept: CommitCache::default(),
            later: SignedDuration::ZERO,
        };
        real.git(&["init", "-q", "-b", "main"]);
        real
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn git(&self, arguments: &[&str]) -> Vec<u8> {
        self.git_at(arguments, clock::now())
    }

    /// Runs git with a date for what it commits.
    fn git_at(&self, arguments: &[&str], at: Timestamp) -> Vec<u8> {
        let root = self.root();
        let names = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];
        let output = std::process::Command::new("git")
            .args(["-c", "gc.auto=0", "-c", "advice.detachedHead=false"])
            .args(arguments)
            .current_dir(&root)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", &root)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_COMMITTER_DATE", format!("{} +0000", at.as_second()))
            .envs(names.map(|name| (name, "ann")))
            .output()
            .unwrap();
        output.stdout
    }

    fn write(&mut self, file: &'static str, text: &str) {
        let path = self.root().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self.edited.insert(file, clock::now());
        self.texts.insert(file, text.to_owned());
    }

    fn step(&mut self, (what, file, text): (u8, usize, usize)) {
        let file = FILES[file];
        match what {
            0..6 => {
                self.write(file, TEXTS[text]);
                // It is seen before anything else is done, or not.
                if what < 3 {
                    self.state_after(file, self.edited[file]);
                }
            }
            6 => drop(self.git(&["add", "-A"])),
            7 => drop(self.git(&["commit", "-q", "-m", "one"])),
            8 | 9 => {
                self.git(&["add", "-A"]);
                self.git(&["commit", "-q", "-m", "all"]);
            }
            10 => drop(self.git(&["stash", "-q"])),
            11 => drop(self.git(&["stash", "pop", "-q"])),
            12 => drop(self.git(&["checkout", "-q", "-b", "topic"])),
            13 => drop(self.git(&["checkout", "-q", "main"])),
            14 => drop(self.git(&["reset", "-q", "--hard", "HEAD~1"])),
            15 => drop(self.git(&["reset", "-q", "--soft", "HEAD~1"])),
            16 => drop(self.git(&["restore", "--", file])),
            17 => drop(self.git(&["restore", "-s", "HEAD", "--staged", "--worktree", "--", file])),
            18 => drop(self.git(&["gc", "-q"])),
            19 => drop(self.git(&["config", "core.autocrlf", if text == 0 { "true" } else { "false" }])),
            _ => {
                let line = ["", "* text=auto\n", "*.txt ident\n", "*.md ident\n", "*.txt eol=crlf\n"][text];
                std::fs::write(self.root().join(".gitattributes"), line).unwrap();
            }
        }
    }

    fn now(&self) -> Timestamp {
        clock::now() + self.later
    }

    fn state_after(&mut self, file: &str, at: Timestamp) -> CommitState {
        self.told_of(file, at, EditFacts::default())
    }

    fn told_upon(&mut self, file: &str, at: Timestamp, upon: Option<Name>) -> CommitState {
        self.told_of(file, at, EditFacts { upon, ..EditFacts::default() })
    }

    fn told_of(&mut self, file: &str, at: Timestamp, known: EditFacts) -> CommitState {
        content_in_git(&self.fate_of(file, at, known))
    }

    fn fate_of(&mut self, file: &str, at: Timestamp, known: EditFacts) -> EditFate {
        let root = self.root();
        let tree = Worktree {
            path: root.clone(),
            id: String::new(),
            branch: Some("main".into()),
            exists: true,
            ..Worktree::default()
        };
        let repos = [Repo { common_dir: root.join(".git"), worktrees: vec![tree], ..Repo::default() }];
        let edit = Edit::new(Untrusted::from_path(&root.join(file)), Some(at));
        let uid = rustix::process::geteuid().as_raw();
        let fate = Heads::new((&repos, &[]), (self.now(), SignedDuration::ZERO), uid, &mut self.kept)
            .fate(&edit, known);
        self.kept.rest();
        fate
    }

    /// Checks where the bytes of an edit are by all that git has.
    fn check_state(&self, file: &str, state: EditState, story: &[(u8, usize, usize)]) {
        let text = self.texts[file].as_bytes();
        let blob = |at: &str| self.git(&["cat-file", "blob", &format!("{at}:{file}")]);
        let all = |arguments: &[&str]| {
            let names = String::from_utf8(self.git(arguments)).unwrap();
            names.lines().map(&blob).collect::<Vec<_>>()
        };
        let commits = all(&["log", "-g", "--format=%H"]);
        let is_in_file = std::fs::read(self.root().join(file)).is_ok_and(|now| now == text);
        let is_in = |texts: &[Vec<u8>]| texts.iter().any(|other| other == text);
        match state {
            EditState::Gone => {
                let stashes = all(&["stash", "list", "--format=%H"]);
                let is_held = is_in_file || is_in(&commits) || is_in(&stashes) || blob("") == text;
                assert!(!is_held, "{file} is not gone, after {story:?}");
            }
            EditState::Present => assert!(is_in_file || blob("") == text, "{file}, after {story:?}"),
            EditState::Committed => {
                let is_most = |other: &Vec<u8>| keeps_most(b"", text, other);
                assert!(commits.iter().any(is_most), "{file} is not committed, after {story:?}");
            }
            EditState::Superseded => assert!(!is_in_file, "{file} is as it was left, after {story:?}"),
            EditState::Stashed | EditState::Unknown => {}
        }
    }

    /// Checks every edited file against git.
    fn check(&mut self, story: &[(u8, usize, usize)], is_end: bool) {
        let is_plain = !story.iter().any(|(what, ..)| *what > 18);
        for (file, at) in self.edited.clone() {
            let fate = self.fate_of(file, at, EditFacts::default());
            if is_end {
                self.check_state(file, fate.state, story);
            }
            let told = content_in_git(&fate);
            let status = self.git(&["status", "--porcelain", "--ignored", "-uall", "--", file]);
            let Ok(text) = std::fs::read(self.root().join(file)) else {
                assert_eq!(told, CommitState::Unknown, "{file} has gone, after {story:?}");
                continue;
            };
            let of_head = self.git(&["cat-file", "blob", &format!("HEAD:{file}")]);
            let has = |tree: &str| self.git(&["rev-parse", "-q", "--verify", &format!("{tree}:{file}")]);
            let is_staged = has("HEAD") == has("");
            let is_in_head = !self.git(&["ls-tree", "HEAD", "--", file]).is_empty() && of_head == text;
            let is_in_head = is_in_head && is_staged;
            match told {
                CommitState::Yes => assert!(is_in_head, "{file} is in no commit, after {story:?}"),
                CommitState::No => assert!(!status.is_empty(), "{file} is committed, after {story:?}"),
                CommitState::Unknown => assert!(!is_in_head, "{file} is committed, after {story:?}"),
            }
            assert!(
                !is_plain || status.is_empty() == (told == CommitState::Yes),
                "{file}: {told:?}, {story:?}"
            );
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]

    #[test]
    fn whatever_is_done_git_says_the_same(
        steps in proptest::collection::vec((0_u8..19, 0..FILES.len(), 0..TEXTS.len()), 1..14),
        more in proptest::collection::vec((0_u8..21, 0..FILES.len(), 0..TEXTS.len()), 0..6),
    ) {
        let mut real = Real::new();
        let story: Vec<_> = steps.into_iter().chain(more).collect();
        for end in 1..=story.len() {
            real.step(story[end - 1]);
            if end % 3 == 0 || end == story.len() {
                real.check(&story[..end], end == story.len());
            }
        }
    }
}

/// Runs the edits of two windows, one after the other, and then some commands.
#[track_caller]
fn check_left(steps: &[&[&str]], expected: CommitState) {
    let mut real = Real::new();
    real.write("a.txt", "one\n");
    real.write("src/b.txt", "one\n");
    real.git(&["add", "-A"]);
    let before = clock::now() - SignedDuration::from_secs(100);
    real.git_at(&["commit", "-q", "-m", "one"], before);
    let edits = ["one\ntwo\n", "one\ntwo\nthree\n"].map(|text| {
        real.write("a.txt", text);
        real.edited["a.txt"]
    });
    for step in steps {
        match step {
            ["by hand", file] => std::fs::write(real.root().join(file), "by hand\n").unwrap(),
            ["before", arguments @ ..] => drop(real.git_at(arguments, before)),
            arguments => drop(real.git(arguments)),
        }
    }
    for at in edits {
        assert_eq!(real.state_after("a.txt", at), expected, "after {steps:?}");
    }
}

#[test]
fn what_no_commit_has_had_since_is_in_none() {
    for steps in [
        &[&["stash", "-q"][..], &["stash", "pop", "-q"]][..],
        &[&["stash", "-q"], &["stash", "apply", "-q"]],
        &[&["add", "-A"], &["reset", "-q"]],
        &[&["commit", "-aqm", "two"], &["reset", "-q", "--soft", "HEAD~1"]],
        &[&["commit", "-aqm", "two"], &["reset", "-q", "HEAD~1"]],
        &[
            &["commit", "-aqm", "two"],
            &["commit", "-q", "--amend", "-m", "three"],
            &["reset", "-q", "HEAD~1"],
        ],
        &[&["by hand", "src/b.txt"], &["commit", "-qm", "other", "src/b.txt"]],
        &[&["checkout", "-qb", "topic"], &["commit", "--allow-empty", "-qm", "none"]],
        &[
            &["by hand", "src/b.txt"],
            &["stash", "push", "-q", "src/b.txt"],
            &["commit", "--allow-empty", "-qm", "none"],
        ],
    ] {
        check_left(steps, CommitState::No);
    }
}

#[test]
fn what_somebody_else_may_have_done_since_is_not_told() {
    for steps in [
        &[&["commit", "-aqm", "two"][..], &["by hand", "a.txt"]][..],
        &[&["commit", "-aqm", "two"], &["reset", "-q", "--hard", "HEAD~1"], &["by hand", "a.txt"]],
        &[&["commit", "-aqm", "two"], &["revert", "--no-edit", "HEAD"], &["by hand", "a.txt"]],
        &[
            &["checkout", "-qb", "topic"],
            &["commit", "-aqm", "two"],
            &["checkout", "-q", "main"],
            &["by hand", "a.txt"],
        ],
        &[&["stash", "-q"], &["by hand", "a.txt"]],
        // A commit that bears an earlier date.
        &[&["before", "commit", "-aqm", "two"], &["by hand", "a.txt"], &["reset", "-q"]],
        &[
            &["commit", "--allow-empty", "-qm", "none"],
            &["commit", "-aqm", "two"],
            &["by hand", "a.txt"],
            &["reflog", "delete", "HEAD@{0}"],
            &["reset", "-q"],
        ],
    ] {
        check_left(steps, CommitState::Unknown);
    }
}

#[test]
fn an_edit_after_a_commit_of_the_same_second_is_not_in_it() {
    let mut real = Real::new();
    real.write("a.txt", "one\n");
    let head = |real: &Real| parse_name(real.git(&["rev-parse", "HEAD"]).trim_ascii()).unwrap();
    let commit = |real: &Real| {
        real.git(&["add", "-A"]);
        real.git(&["commit", "-q", "-m", "one"]);
        head(real)
    };
    let first = commit(&real);
    real.write("a.txt", "two\n");
    let before = real.edited["a.txt"];
    let second = commit(&real);
    real.write("a.txt", "three\n");
    let after = real.edited["a.txt"];
    std::fs::write(real.root().join("a.txt"), "by hand\n").unwrap();
    assert_eq!(real.told_upon("a.txt", after, Some(second)), CommitState::No);
    assert_eq!(real.told_upon("a.txt", before, Some(first)), CommitState::Unknown);
    real.git(&["commit", "-q", "--allow-empty", "-m", "two"]);
    assert_eq!(real.told_upon("a.txt", after, Some(second)), CommitState::No);
    commit(&real);
    std::fs::write(real.root().join("a.txt"), "by hand again\n").unwrap();
    assert_eq!(real.told_upon("a.txt", after, Some(second)), CommitState::Unknown);
}

#[test]
fn an_edit_that_left_what_the_commit_had_is_none() {
    let mut real = Real::new();
    real.write("a.txt", "one\n");
    real.git(&["add", "-A"]);
    real.git(&["commit", "-q", "-m", "one"]);
    let head = parse_name(real.git(&["rev-parse", "HEAD"]).trim_ascii());
    let mut edited = |text: &str| {
        real.write("a.txt", text);
        let held = name_held(&real.root().join("a.txt"));
        std::fs::write(real.root().join("a.txt"), "by hand\n").unwrap();
        real.told_of("a.txt", real.edited["a.txt"], EditFacts { upon: head, held, open_at: None })
    };
    assert_eq!(edited("two\n"), CommitState::No);
    assert_eq!(edited("one\n"), CommitState::Unknown);
}

#[test]
fn what_was_found_open_is_judged_from_then_on() {
    let mut real = Real::new();
    real.write("a.txt", "one\n");
    real.git(&["add", "-A"]);
    real.git(&["commit", "-q", "-m", "one"]);
    real.write("a.txt", "two\n");
    let at = real.edited["a.txt"];
    real.git(&["commit", "-aqm", "two"]);
    real.git(&["reset", "-q", "HEAD~1"]);
    real.later = SignedDuration::from_secs(2);
    let open_at = Some(real.now());
    std::fs::write(real.root().join("a.txt"), "by hand\n").unwrap();
    assert_eq!(real.state_after("a.txt", at), CommitState::Unknown);
    assert_eq!(real.told_of("a.txt", at, EditFacts { open_at, ..EditFacts::default() }), CommitState::No);
}

#[test]
fn what_is_only_staged_is_in_no_commit() {
    let staged = [&["add", "-A"][..], &["restore", "-s", "HEAD", "-W", "a.txt"]];
    check_left(&staged, CommitState::Unknown);
    check_left(&[staged[0], staged[1], &["restore", "-S", "a.txt"]], CommitState::Yes);
    check_left(&[&["commit", "-aqm", "two"]], CommitState::Yes);
    for version in ["2", "4"] {
        let written = ["update-index", "--index-version", version];
        check_left(&[&["commit", "-aqm", "two"], &written], CommitState::Yes);
        check_left(&[staged[0], staged[1], &written], CommitState::Unknown);
    }
    // One that is several files, of which the other has all, or what was.
    let split = ["update-index", "--split-index", "-q"];
    check_left(&[&["commit", "-aqm", "two"], &split], CommitState::Yes);
    check_left(
        &[&["config", "core.splitIndex", "true"], &split, &["commit", "-aqm", "two"]],
        CommitState::Yes,
    );
    check_left(&[staged[0], staged[1], &split], CommitState::Unknown);
    check_left(&[&["commit", "-aqm", "two"], &["rm", "-q", "--cached", "a.txt"]], CommitState::Unknown);
}

#[test]
fn paths_that_an_index_tells_by_their_difference_are_found() {
    // Its successor cuts off more bytes than one byte can count.
    let long = concat!(
        "src/a-folder-whose-name-is-so-long-that-it-takes-more-than-one-byte-to-say/",
        "how-much-of-it-is-to-be-cut-off-before-the-path-that-comes-next-in-the-order-of-all-paths/c.rs"
    );
    let mut real = Real::new();
    let paths = ["Makefile", "src/a.rs", "src/ab.rs", long, "src/deep.rs", "z"];
    let text = |path: &str| format!("{path}\n");
    std::fs::create_dir_all(real.root().join(long).parent().unwrap()).unwrap();
    paths.iter().for_each(|path| real.write(path, &text(path)));
    real.git(&["add", "-A"]);
    real.git(&["commit", "-qm", "one"]);
    real.git(&["update-index", "--index-version", "4"]);
    for path in paths {
        assert_eq!(real.state_after(path, real.edited[path]), CommitState::Yes, "{path}");
    }
}

#[test]
fn a_file_whose_time_was_set_back_is_not_untouched() {
    let stage = Stage::new();
    stage.log("shop/.git/logs/HEAD", &line(MOVED));
    assert_eq!(stage.ask("shop/src/a.rs", 1), CommitState::No);
    let real = clock::now().as_second();
    stage.log("shop/.git/logs/HEAD", &line(real - 1_000));
    let back = |path: &str, seconds: i64| {
        let to = SystemTime::UNIX_EPOCH + Duration::from_secs((real + seconds).unsigned_abs());
        std::fs::File::options().write(true).open(stage.at(path)).unwrap().set_modified(to).unwrap();
    };
    back("shop/.git/logs/HEAD", -1_000);
    back("shop/src/a.rs", -900);
    assert_eq!(stage.ask("shop/src/a.rs", real - 800 - MOVED), CommitState::Unknown);
    assert_eq!(stage.ask("shop/src/a.rs", real + 800 - MOVED), CommitState::No);
}

#[test]
fn a_commit_that_could_not_be_read_is_tried_again() {
    let mut real = Real::new();
    real.write("a.txt", "one\n");
    let at = real.edited["a.txt"];
    real.git(&["add", "-A"]);
    real.git(&["commit", "-q", "-m", "one"]);
    let [objects, away] = ["objects", "away"].map(|name| real.root().join(".git").join(name));
    std::fs::rename(&objects, &away).unwrap();
    assert_eq!(real.state_after("a.txt", at), CommitState::Unknown);
    std::fs::rename(&away, &objects).unwrap();
    assert_eq!(real.state_after("a.txt", at), CommitState::Unknown, "not at once");
    real.later = SignedDuration::from_secs(11);
    assert_eq!(real.state_after("a.txt", at), CommitState::Yes);
}

#[test]
fn what_was_restored_is_no_edit_any_more() {
    let mut real = Real::new();
    real.write("src/b.txt", "one\n");
    let at = real.edited["src/b.txt"];
    assert_eq!(real.state_after("src/b.txt", at), CommitState::No);
    real.git(&["add", "-A"]);
    real.git(&["commit", "-q", "-m", "one"]);
    assert_eq!(real.state_after("src/b.txt", at), CommitState::Yes);
    real.git(&["gc", "-q"]);
    real.write("src/b.txt", "two\n");
    let at = real.edited["src/b.txt"];
    assert_eq!(real.state_after("src/b.txt", at), CommitState::No);
    real.git(&["restore", "src/b.txt"]);
    assert_eq!(real.state_after("src/b.txt", at), CommitState::Yes);
}

#[test]
fn a_tree_that_is_packed_as_a_change_of_another_is_read() {
    let mut real = Real::new();
    for number in 0..300 {
        std::fs::create_dir_all(real.root().join("src")).unwrap();
        std::fs::write(real.root().join(format!("src/{number}.txt")), number.to_string()).unwrap();
    }
    for text in ["one\n", "two\n", "three\n"] {
        real.write("src/b.txt", text);
        real.git(&["add", "-A"]);
        real.git(&["commit", "-q", "-m", text]);
    }
    real.git(&["gc", "-q"]);
    for commit in ["main", "main~1", "main~2"] {
        real.git(&["checkout", "-q", "--detach", commit]);
        let at = clock::now();
        assert_eq!(real.state_after("src/b.txt", at), CommitState::Yes, "{commit}");
    }
    let bases = real.git(&["cat-file", "--batch-check=%(deltabase)", "--batch-all-objects"]);
    let is_delta = |line: &&[u8]| !line.is_empty() && line.iter().any(|byte| *byte != b'0');
    assert!(bases.split(|byte| *byte == b'\n').any(|line| is_delta(&line)));
}

/// Has a window edit a file, and then runs some commands. What it left was seen at once, is known by its name, or is
/// not known.
#[track_caller]
fn check_fate(steps: &[&[&str]], expected: [EditState; 3]) {
    for (what, expected) in ["seen", "named", "not known"].into_iter().zip(expected) {
        let mut real = Real::new();
        let before = clock::now() - SignedDuration::from_secs(100);
        real.write("a.txt", "one\n");
        real.git(&["add", "-A"]);
        real.git_at(&["commit", "-qm", "one"], before);
        real.write("a.txt", "one\ntwo and three\n");
        let at = real.edited["a.txt"];
        let held = name_held(&real.root().join("a.txt")).filter(|_| what != "not known");
        let known = EditFacts { held, ..EditFacts::default() };
        if what == "seen" {
            assert_eq!(real.fate_of("a.txt", at, known).state, EditState::Present);
        }
        real.later = SignedDuration::from_secs(20);
        let (path, later) = (real.root().join("a.txt"), clock::now() + SignedDuration::from_secs(10));
        // The kernel dates a file by the last tick of its clock.
        let probe = real.root().join(".git/probe");
        while file_at(&probe).is_none_or(|meta| meta.touched_at() <= at) {
            std::fs::write(&probe, "").unwrap();
        }
        for step in steps {
            match step {
                ["write", text] => std::fs::write(&path, text).unwrap(),
                ["rm"] => std::fs::remove_file(&path).unwrap(),
                arguments => drop(real.git_at(arguments, later)),
            }
        }
        // A second time from what is remembered.
        for _ in 0..2 {
            let fate = real.fate_of("a.txt", at, known);
            assert_eq!(fate.state, expected, "{what}, after {steps:?}");
            assert_eq!(fate.since.is_some(), expected.is_away());
            assert_eq!(fate.stash.is_some(), expected == EditState::Stashed);
        }
    }
}

#[test]
fn what_became_of_an_edit() {
    use EditState::{Committed, Gone, Present, Stashed, Superseded, Unknown};
    let [commit, hard, stash, pop] = [
        &["commit", "-aqm", "two"][..],
        &["reset", "-q", "--hard"],
        &["stash", "-q"],
        &["stash", "pop", "-q"],
    ];
    let (formatted, more) = (["write", "one\n  two and\n  three"], ["write", "one\ntwo and three\nfour\n"]);
    check_fate(&[], [Present; 3]);
    check_fate(&[commit], [Committed; 3]);
    check_fate(&[commit, &["commit", "-q", "--amend", "-m", "three"]], [Committed; 3]);
    check_fate(&[commit, &["reset", "-q", "--hard", "HEAD~1"]], [Committed, Committed, Unknown]);
    check_fate(&[commit, &["reset", "-q", "--soft", "HEAD~1"]], [Present; 3]);
    check_fate(&[hard], [Gone; 3]);
    check_fate(&[&["checkout", "-q", "--", "a.txt"]], [Gone; 3]);
    check_fate(&[&["rm", "-qf", "a.txt"]], [Gone; 3]);
    check_fate(&[&["rm"]], [Gone; 3]);
    check_fate(&[stash], [Stashed; 3]);
    check_fate(&[stash, &["stash", "drop", "-q"]], [Gone; 3]);
    check_fate(&[stash, pop], [Present, Present, Unknown]);
    check_fate(&[&["add", "-A"], &["restore", "-s", "HEAD", "-W", "a.txt"]], [Present, Present, Unknown]);
    check_fate(&[&["add", "-A"], &["rm"]], [Present, Present, Unknown]);
    check_fate(&[&["write", "another text\n"]], [Gone, Unknown, Unknown]);
    check_fate(&[&formatted], [Superseded, Unknown, Unknown]);
    check_fate(&[&more], [Superseded, Unknown, Unknown]);
    check_fate(&[&more, commit], [Committed, Unknown, Unknown]);
    check_fate(&[&more, stash], [Stashed, Unknown, Stashed]);
    check_fate(&[&more, commit, &["reset", "-q", "--hard", "HEAD~1"]], [Committed, Unknown, Unknown]);
    check_fate(&[hard, &["commit", "-q", "--allow-empty", "-m", "none"]], [Gone; 3]);
    // Another's text was committed: whether the edit is in it shows only its own text.
    check_fate(&[&["write", "another text\n"], commit], [Gone, Unknown, Unknown]);
    // A file that was renamed has what was left there, also when git brings the old one back.
    let (moved, back) = (["mv", "a.txt", "b.txt"], ["checkout", "-q", "--", "a.txt"]);
    check_fate(&[&moved], [Unknown; 3]);
    check_fate(&[&moved, &["restore", "--staged", "a.txt"], &back], [Unknown; 3]);
}
