//! A home, a temporary folder and a state folder of a test's own, over the real disk.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use claimtop::core::assess::{Policy, assess};
use claimtop::core::judge::window::agent::Signatures;
use claimtop::core::model::{Key, RecordView, Report};
use claimtop::observe::{Observer, Options};
use claimtop::source::places::Places;
use claimtop::testing::act::{
    ActionError, Answer, Disk, Look, Patience, Preview, Receipt, Rules, StateFolder,
};
use claimtop::testing::core::{Action, Request};
use jiff::SignedDuration;

/// The session of the stage's records.
pub(crate) const SESSION: &str = "95fe798d-3725-4649-974a-0dec79220193";

pub(crate) struct Stage {
    root: PathBuf,
    /// Removes everything at the end; `None` for a stage of another process.
    _folder: Option<tempfile::TempDir>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let stage = Self { root: folder.path().canonicalize().unwrap(), _folder: Some(folder) };
        for below in ["home/.claude/sessions", "home/.maia/sessions", "tmp", "bin/@anthropic-ai/claude-code"]
        {
            std::fs::create_dir_all(stage.path(below)).unwrap();
        }
        crate::program::copy("/bin/sleep", stage.path("bin/@anthropic-ai/claude-code/claude"));
        stage
    }

    /// Returns a stage that another process has made.
    pub(crate) fn at(root: &Path) -> Self {
        Self { root: root.to_path_buf(), _folder: None }
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.root.join(below)
    }

    pub(crate) fn write(&self, below: &str, text: &str) -> PathBuf {
        let path = self.path(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Dates a file to 2023, which is before this machine's boot.
    pub(crate) fn age(path: &Path) {
        let file = std::fs::File::options().write(true).open(path).unwrap();
        let long_ago = std::time::Duration::from_secs(1_700_000_000);
        file.set_modified(std::time::SystemTime::UNIX_EPOCH + long_ago).unwrap();
    }

    /// Starts a process that looks like Claude Code.
    pub(crate) fn agent(&self) -> Agent {
        let program = self.path("bin/@anthropic-ai/claude-code/claude");
        let mut command = Command::new(program);
        command.arg("600").stdin(Stdio::null()).current_dir(self.path("home"));
        command.env("HOME", self.path("home"));
        Agent(crate::program::spawn(&mut command))
    }

    /// Writes Claude Code's registry entry of a process.
    pub(crate) fn register(&self, pid: u32, ticks: u64) -> PathBuf {
        let text = format!(
            r#"{{"pid":{pid},"sessionId":"{SESSION}","cwd":"/x","startedAt":1,"procStart":"{ticks}","version":"2.1.330","kind":"interactive","name":"alpha","status":"idle"}}"#
        );
        self.write(&format!("home/.claude/sessions/{pid}.json"), &text)
    }

    pub(crate) fn observer(&self) -> Observer {
        self.observer_of(&[])
    }

    pub(crate) fn observer_of(&self, roots: &[&str]) -> Observer {
        self.eyes_at(roots, &self.path("tmp"))
    }

    /// Looks with a temporary folder elsewhere.
    pub(crate) fn eyes_at(&self, roots: &[&str], tmp: &Path) -> Observer {
        // Agents of other test runs could rightly be holders too, as could any whose namespace cannot be read while
        // they begin or end.
        Observer::new(Options { stage: Some(self.root.clone()), ..self.options(roots, tmp) })
    }

    /// Returns options to look at all processes.
    pub(crate) fn options(&self, roots: &[&str], tmp: &Path) -> Options {
        let signatures = Signatures::built_in().unwrap();
        let roots = roots.iter().map(|root| self.path(root)).collect();
        let places = Places::new(self.path("home"), tmp.to_path_buf(), roots);
        Options { places, policy: Policy { signatures }, ..Options::default() }
    }

    pub(crate) fn rules(&self) -> Rules {
        let uid = rustix::process::geteuid().as_raw();
        // A second ahead of the clock, which can lag behind the file system's by some milliseconds.
        Rules {
            home: self.path("home"),
            uid,
            programs: Vec::new(),
            settled_for: SignedDuration::from_secs(-1),
        }
    }

    pub(crate) fn state_path(&self) -> PathBuf {
        self.path("state")
    }
}

pub(crate) fn start_ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap().parse().unwrap()
}

/// A process that looks like Claude Code; it ends with its holder.
pub(crate) struct Agent(Child);

impl Agent {
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

pub(crate) fn end(agent: Agent) {
    drop(agent);
}

pub(crate) fn report(observer: &mut Observer) -> Report {
    let snapshot = observer.look();
    assess(&snapshot, observer.policy())
}

/// Returns the record whose file has this name.
pub(crate) fn record<'a>(report: &'a Report, name: &str) -> &'a RecordView {
    let is_it = |record: &&RecordView| record.location.text().raw().ends_with(name);
    report.records().find(is_it).unwrap_or_else(|| panic!("no record {name}"))
}

/// Carries out an action from plan to receipt with the answer that the plan requires.
pub(crate) fn act<D: Disk>(
    state: &StateFolder<D>,
    observer: &mut Observer,
    rules: &Rules,
    request: Request,
    answer: &Answer,
) -> Result<Receipt, ActionError> {
    let now = observer.now();
    let mut lock = state.lock(Patience::Wait, now)?;
    let report = report(observer);
    let seen = Preview::look(&lock, &report, request, rules, now)?;
    seen.confirm(answer)?.verify(&mut lock, observer)?.execute(observer)
}

pub(crate) fn release(key: &Key) -> Request {
    Request::Act { key: key.clone(), action: Action::Release }
}
