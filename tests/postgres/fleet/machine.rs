//! A machine of a test's own: folders with a record of a missing process, and claimtop run over them.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

pub(crate) struct Machine {
    pub(crate) folder: tempfile::TempDir,
}

/// A program that ends with the test.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Machine {
    /// Makes one on which nothing was ever done.
    pub(crate) fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "tmp"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    pub(crate) fn new(session: &str) -> Self {
        let Self { folder } = Self::empty();
        let sessions = folder.path().join("home/.claude/sessions");
        std::fs::create_dir_all(&sessions).unwrap();
        let cwd = folder.path().join("home/src/shop");
        let record = format!(
            r#"{{"pid": 4000001, "sessionId": "{session}", "procStart": "7", "startedAt": 1, "cwd": "{}"}}"#,
            cwd.display()
        );
        std::fs::write(sessions.join("4000001.json"), record).unwrap();
        Self { folder }
    }

    /// Returns the file of its record.
    pub(crate) fn record(&self) -> PathBuf {
        self.folder.path().join("home/.claude/sessions/4000001.json")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_claimtop"));
        for name in ["home", "tmp", "state"] {
            command.arg(format!("--{name}")).arg(self.folder.path().join(name));
        }
        command.args(arguments).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub(crate) fn witness(&self, url: &str) -> Running {
        let mut command = self.command(&["witness", "--fleet", url]);
        Running(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    pub(crate) fn seen(&self, url: &str) -> Value {
        let output = self.run(&["ls", "--json", "--fleet", url]);
        serde_json::from_slice(&output.stdout).unwrap_or_default()
    }

    /// Gives it a `[fleet]` with these lines.
    pub(crate) fn configure(&self, lines: &str) {
        let folder = self.folder.path().join("home/.config/claimtop");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("config.toml"), format!("[fleet]\n{lines}\n")).unwrap();
    }

    /// Returns the entries of its journal.
    pub(crate) fn journal(&self) -> Vec<Value> {
        let output = self.run(&["journal", "--json"]);
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        told["entries"].as_array().cloned().unwrap_or_default()
    }
}

/// Waits until a condition holds.
#[track_caller]
pub(crate) fn until<T>(what: &str, mut holds: impl FnMut() -> Option<T>) -> T {
    for _ in 0..300 {
        if let Some(found) = holds() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    panic!("never: {what}");
}

pub(crate) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

/// Returns the records of other machines, each with its machine.
pub(crate) fn far_records(seen: &Value) -> Vec<String> {
    let all = seen["records"].as_array().cloned().unwrap_or_default();
    let keys = all.iter().filter_map(|record| record["key"].as_str());
    keys.filter(|key| key.contains('@')).map(str::to_owned).collect()
}

/// Makes an SSH key without a passphrase, and returns its path.
pub(crate) fn key(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"])
        .arg(&path)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", text(&made));
    path
}
