//! Real git in real repositories, some of them hostile.

#![expect(clippy::disallowed_methods, reason = "a test makes its repositories")]

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::*;

/// A repository with one linked working tree, on a branch or detached.
struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    /// Returns `None` if git is not installed.
    fn new(add: &[&str]) -> Option<Self> {
        let stage = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(stage.at("home")).unwrap();
        std::fs::create_dir_all(stage.at("shop")).unwrap();
        if Command::new("git").arg("--version").output().is_err() {
            eprintln!("skipped: git was not found");
            return None;
        }
        stage.git("shop", &["init", "-q", "-b", "main"]);
        stage.write("shop/a.txt", "a\n");
        stage.write("shop/.gitignore", "*.env\n");
        stage.commit("shop");
        stage.git("shop", &[&["worktree", "add", "-q"], add].concat());
        Some(stage)
    }

    fn at(&self, below: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(below)
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.at(file), text).unwrap();
    }

    #[track_caller]
    fn git(&self, folder: &str, arguments: &[&str]) {
        let mut command = Command::new("git");
        command.env("HOME", self.at("home")).env("GIT_CONFIG_NOSYSTEM", "1").current_dir(self.at(folder));
        command.args(["-c", "user.name=dev", "-c", "user.email=dev@example.org"]).args(arguments);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn commit(&self, folder: &str) {
        self.git(folder, &["add", "-A"]);
        self.git(folder, &["commit", "-q", "-m", "work"]);
    }

    fn ask(&self) -> TreeState {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let programs = std::env::split_paths(&path).collect();
        Asker { programs, home: self.at("home") }.ask(&self.at("fix"), &Fence::default())
    }
}

const ON_BRANCH: [&str; 3] = ["-b", "fix", "../fix"];

#[test]
fn a_tree_that_has_nothing_of_its_own_loses_nothing() {
    let Some(stage) = Stage::new(&ON_BRANCH) else { return };
    let state = stage.ask();
    assert_eq!(state.lost(), [""; 0], "{state:?}");
    assert_eq!(state.unmerged, Some(0));
}

#[test]
fn everything_that_would_be_lost_is_told() {
    let Some(stage) = Stage::new(&ON_BRANCH) else { return };
    stage.write("fix/b.txt", "b\n");
    stage.commit("fix");
    stage.write("fix/a.txt", "another\n");
    stage.write("fix/c.txt", "c\n");
    stage.git("fix", &["add", "c.txt"]);
    stage.write("fix/new.txt", "n\n");
    stage.write("fix/x.env", "SECRET=1\n");
    let state = stage.ask();
    assert_eq!((state.is_changed, state.is_staged, state.unmerged), (Some(true), Some(true), Some(1)));
    let names = |names: &Option<Names>| names.as_ref().unwrap().first.clone();
    assert_eq!(
        (names(&state.untracked), names(&state.ignored)),
        (vec!["new.txt".into()], vec!["x.env".into()])
    );
    let lost = state.lost().join("\n");
    assert!(lost.contains("ignored, which git worktree remove deletes without warning (x.env)"), "{lost}");
}

#[test]
fn commits_that_only_a_detached_head_has_would_be_lost() {
    let Some(stage) = Stage::new(&["--detach", "../fix"]) else { return };
    stage.write("fix/b.txt", "b\n");
    stage.commit("fix");
    let state = stage.ask();
    assert_eq!((state.unnamed, state.unmerged), (Some(1), Some(1)));
    assert_eq!(state.lost(), ["commits: 1 on no branch"]);
}

#[test]
fn what_git_was_told_not_to_look_at_is_looked_at() {
    let Some(stage) = Stage::new(&ON_BRANCH) else { return };
    stage.git("fix", &["update-index", "--assume-unchanged", "a.txt"]);
    stage.write("fix/a.txt", "changed by hand\n");
    assert_eq!(stage.ask().unwatched.unwrap().count, 1);
}

#[test]
fn a_merge_in_the_middle_and_submodules_are_told() {
    let Some(stage) = Stage::new(&ON_BRANCH) else { return };
    stage.write("shop/.git/worktrees/fix/MERGE_HEAD", "");
    stage.write("fix/.gitmodules", "");
    let state = stage.ask();
    assert_eq!((state.amid, state.has_submodules), (Some("merge"), true));
}

#[test]
fn a_main_working_tree_and_what_is_none_are_not_asked() {
    let Some(stage) = Stage::new(&ON_BRANCH) else { return };
    let asker = Asker { programs: vec!["/usr/bin".into()], home: stage.at("home") };
    for folder in ["shop", "home", "nowhere"] {
        let state = asker.ask(&stage.at(folder), &Fence::default());
        assert!(state.unasked.is_some() && !state.lost().is_empty(), "{folder}: {state:?}");
    }
}

#[test]
fn nothing_that_a_repository_names_is_run() {
    let Some(stage) = Stage::new(&ON_BRANCH) else { return };
    let marker = stage.at("ran");
    let script = stage.at("evil");
    stage.write("evil", &format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", marker.display()));
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).unwrap();
    stage.write("fix/.gitattributes", "* filter=a.b=c diff=evil\n");
    stage.commit("fix");
    let evil = script.to_str().unwrap();
    for (key, value) in [
        ("filter.a.b=c.clean", evil),
        ("filter.a.b=c.process", evil),
        ("filter.a.b=c.required", "true"),
        ("diff.external", evil),
        ("diff.evil.textconv", evil),
        ("diff.evil.command", evil),
        ("core.fsmonitor", evil),
        ("core.sshCommand", evil),
        ("core.pager", evil),
        ("core.alternateRefsCommand", evil),
        ("alias.ls-files", &format!("!{evil}")),
        ("remote.far.url", &format!("ext::{evil}")),
        ("remote.far.promisor", "true"),
        ("protocol.ext.allow", "always"),
        ("extensions.partialClone", "far"),
    ] {
        stage.git("shop", &["config", key, value]);
    }
    for hook in ["post-index-change", "fsmonitor-watchman", "query-watchman", "reference-transaction"] {
        std::fs::copy(&script, stage.at("shop/.git/hooks").join(hook)).unwrap();
    }
    // An object that is not there would be fetched; and what was written at the moment of the index is
    // read once more, through the filter.
    let head = std::fs::read_to_string(stage.at("shop/.git/refs/heads/main")).unwrap();
    let (folder, object) = head.trim().split_at(2);
    let object = stage.at("shop/.git/objects").join(folder).join(object);
    stage.write("fix/a.txt", "b\n");
    let index = std::fs::File::open(stage.at("shop/.git/worktrees/fix/index")).unwrap();
    let at = std::fs::metadata(stage.at("fix/a.txt")).unwrap().modified().unwrap();
    index.set_modified(at - std::time::Duration::from_secs(5)).unwrap();
    let _ = std::fs::remove_file(&marker);
    let state = stage.ask();
    assert!(!marker.exists(), "ran: {}", std::fs::read_to_string(&marker).unwrap());
    assert_eq!(state.unasked, None);
    std::fs::remove_file(object).unwrap();
    let state = stage.ask();
    assert!(!marker.exists(), "ran: {}", std::fs::read_to_string(&marker).unwrap());
    assert!(!state.lost().is_empty());
    // It would have run all the same: the world is as hostile as it seems.
    let mut status = Command::new("git");
    status.env("HOME", stage.at("home")).current_dir(stage.at("fix")).arg("status").output().unwrap();
    assert!(marker.exists(), "git status runs what it names");
}

#[test]
fn a_git_that_does_not_answer_is_ended() {
    let Some(stage) = Stage::new(&ON_BRANCH) else { return };
    std::fs::create_dir(stage.at("bin")).unwrap();
    stage.write("bin/git", "#!/bin/sh\nexec /bin/sleep 600\n");
    std::fs::set_permissions(stage.at("bin/git"), std::fs::Permissions::from_mode(0o700)).unwrap();
    let asker = Asker { programs: vec![stage.at("bin")], home: stage.at("home") };
    let state = asker.ask(&stage.at("fix"), &Fence::default());
    assert_eq!(state.unasked.as_deref(), Some("git did not list its settings in time"));
}
