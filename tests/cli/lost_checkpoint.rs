//! Checkpoints of entire whose branch another session's commit deleted, in a repository of real git: the command that
//! `doctor` prints brings them back.

use std::path::PathBuf;
use std::process::{Command, Output};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::missing::skip_for_want_of;
use crate::world::World;

const OWN: &str = "95fe798d-3725-4649-974a-0dec79220193";
const OTHER: &str = "db4e04a8-9640-4079-8e03-5ac2d1294846";

/// A repository in which two sessions made checkpoints, with a name that a shell would split.
struct Stage {
    world: World,
    folder: PathBuf,
}

impl Stage {
    fn new() -> Self {
        let world = World::new();
        let folder = world.path("home/it's $(shop) here");
        std::fs::create_dir_all(&folder).unwrap();
        let stage = Self { world, folder };
        stage.git(&["init", "-q", "-b", "main"]);
        stage.git(&["commit", "-q", "--allow-empty", "-m", "begin"]);
        stage
    }

    fn run(&self, command: &mut Command) -> Output {
        command.env("HOME", self.world.path("home")).current_dir(&self.folder);
        for (name, value) in [("AUTHOR", "dev"), ("COMMITTER", "dev")] {
            command.env(format!("GIT_{name}_NAME"), value).env(format!("GIT_{name}_EMAIL"), "dev@x");
        }
        command.output().unwrap()
    }

    #[track_caller]
    fn git(&self, arguments: &[&str]) -> String {
        let output = self.run(Command::new("git").args(arguments));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Makes a checkpoint as entire does: a commit of its own beside the history, with the session in its message.
    fn checkpoint(&self, session: &str, above: Option<&str>) -> String {
        let message = format!(
            "Checkpoint\n\nEntire-Metadata: .entire/metadata/{session}\nEntire-Session: {session}\nEntire-Strategy: manual-commit"
        );
        let tree = self.git(&["write-tree"]);
        let above: Vec<&str> = above.map_or_else(Vec::new, |above| vec!["-p", above]);
        self.git(&[&["commit-tree", &tree, "-m", &message][..], &above].concat())
    }

    /// Writes the state of a session as entire does.
    fn state(&self, session: &str, base: &str, checkpoints: u32) {
        let ago = |minutes| Timestamp::now() - SignedDuration::from_mins(minutes);
        let state = serde_json::json!({
            "session_id": session, "base_commit": base, "worktree_path": self.folder, "phase": "idle",
            "started_at": ago(60).to_string(), "last_interaction_time": ago(5).to_string(),
            "checkpoint_count": checkpoints, "files_touched": [], "first_prompt": "Add login",
        });
        let folder = self.folder.join(".git/entire-sessions");
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("{session}.json"));
        std::fs::write(&path, state.to_string()).unwrap();
        let written = std::time::SystemTime::now() - std::time::Duration::from_secs(300);
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(written).unwrap();
    }

    fn claimtop(&self, arguments: &[&str]) -> String {
        let output = self.run(&mut self.world.command(arguments));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns the repair command for the lost checkpoint, as `doctor` prints it.
    fn command(&self) -> Option<String> {
        let told = self.claimtop(&["doctor"]);
        let at = told.find("lost-checkpoint")?;
        let line = told[at..].lines().find_map(|line| line.trim().strip_prefix("Command "))?;
        Some(line.trim().to_owned())
    }

    fn claims(&self) -> Vec<(String, String)> {
        let report: Value = serde_json::from_str(&self.claimtop(&["ls", "--json"])).unwrap();
        let claims =
            report["claims"].as_array().unwrap().iter().filter(|claim| claim["resource"]["kind"] == "branch");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        claims.map(|claim| (text(&claim["resource"]["id"]), text(&claim["status"]))).collect()
    }
}

#[test]
fn what_another_sessions_commit_deleted_comes_back_by_the_command_that_is_printed() {
    if Command::new("git").arg("--version").output().is_err() {
        return skip_for_want_of("git");
    }
    let stage = Stage::new();
    let base = stage.git(&["rev-parse", "HEAD"]);
    let branch = format!("entire/{}-e3b0c4", &base[..7]);
    let reference = format!("refs/heads/{branch}");
    // A checkpoint that an earlier commit took: no branch names it either.
    stage.checkpoint(OWN, None);
    let first = stage.checkpoint(OWN, None);
    let last = stage.checkpoint(OWN, Some(&first));
    let of_other = stage.checkpoint(OTHER, Some(&last));
    stage.git(&["update-ref", &reference, &of_other]);
    stage.state(OWN, &base, 2);
    stage.state(OTHER, &base, 1);
    assert_eq!(stage.command(), None);
    assert_eq!(
        stage.claims(),
        [(branch.clone(), "unproven".to_owned()), (branch.clone(), "unproven".to_owned())]
    );

    // The other one commits: entire takes its checkpoints, and deletes the branch.
    stage.git(&["commit", "-q", "--allow-empty", "-m", "other\n\nEntire-Checkpoint: a1b2c3d4e5f6"]);
    stage.git(&["branch", "-q", "-D", &branch]);
    stage.state(OTHER, &stage.git(&["rev-parse", "HEAD"]), 0);
    assert_eq!(stage.claims(), [(branch.clone(), "ghost".to_owned())]);
    let command = stage.command().expect("it is told");
    // By then git has packed the unreferenced commits, and amended ones lie about as well.
    stage.git(&["commit", "-q", "--amend", "--allow-empty", "-m", "amended"]);
    stage.git(&["gc", "-q"]);
    let output = stage.run(Command::new("sh").args(["-c", &command]));
    assert!(output.status.success(), "{command}\n{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(stage.git(&["rev-parse", &reference]), last, "{command}");
    assert_eq!(stage.command(), None);
    assert_eq!(stage.claims(), [(branch, "unproven".to_owned())]);
}

#[test]
fn where_git_has_cleaned_up_the_command_changes_nothing() {
    if Command::new("git").arg("--version").output().is_err() {
        return skip_for_want_of("git");
    }
    let stage = Stage::new();
    let base = stage.git(&["rev-parse", "HEAD"]);
    stage.checkpoint(OTHER, None);
    stage.state(OWN, &base, 2);
    let command = stage.command().expect("it is told");
    let before = stage.git(&["for-each-ref"]);
    let output = stage.run(Command::new("sh").args(["-c", &command]));
    assert!(!output.status.success(), "{command}");
    assert_eq!(stage.git(&["for-each-ref"]), before);
}
