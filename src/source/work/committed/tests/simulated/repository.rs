//! A real repository whose times are those of a simulated clock.
//!
//! The clock begins a day ahead of the machine's: whatever the system stamps by itself, such as a file's change time, is
//! of before, and the times that are given to files decide.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use jiff::{SignedDuration, Timestamp};
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};

use crate::source::os::clock;

pub(super) struct Repository {
    folder: tempfile::TempDir,
    pub(super) root: PathBuf,
    began_at: Timestamp,
    pub(super) now: Timestamp,
    /// The commands and edits, each with when it was.
    pub(super) story: Vec<String>,
}

impl Repository {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let began_at = Timestamp::from_second(clock::now().as_second() + 86_400).unwrap();
        std::fs::create_dir_all(root.join("shop")).unwrap();
        let new = Self { folder, root, began_at, now: began_at, story: Vec::new() };
        assert!(new.folder.path().exists());
        new
    }

    pub(super) fn pass(&mut self, ms: usize) {
        self.now += SignedDuration::from_millis(i64::try_from(ms).unwrap());
    }

    pub(super) fn since_begin(&self) -> SignedDuration {
        self.now.duration_since(self.began_at)
    }

    pub(super) fn note(&mut self, what: &str) {
        let line = format!("{:.3} {what}", self.since_begin().as_secs_f64());
        self.story.push(line);
    }

    /// Prepares to run git in a folder at this moment.
    pub(super) fn command(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        let date = format!("@{} +0000", self.now.as_second());
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", &self.root);
        command.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date);
        command.envs([("LC_ALL", "C"), ("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_EDITOR", "true")]);
        command.env("GIT_SEQUENCE_EDITOR", "true");
        command
            .args(["-c", "gc.auto=0", "-c", "advice.detachedHead=false", "-c", "merge.conflictStyle=merge"]);
        command.args(["-c", "user.name=x", "-c", "user.email=x@x", "-c", "core.fsync=none"]);
        command.current_dir(folder).args(arguments).stdin(Stdio::null());
        command
    }

    /// Runs git; every file that it writes gets the time of the clock. Returns whether it succeeded.
    pub(super) fn git(&mut self, folder: &Path, arguments: &[&str]) -> bool {
        let output = self.command(folder, arguments).output().unwrap();
        let came = if output.status.success() { "" } else { " FAILED" };
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        self.note(&format!("{name}: git {}{came}", arguments.join(" ")));
        if let ["mv", _, to] = arguments {
            self.stamp(&folder.join(to));
        }
        self.stamp_below(&self.root.clone());
        output.status.success()
    }

    pub(super) fn write(&self, path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self.stamp(path);
    }

    /// Renames a file, which changes the times of both folders, and the time of change that no program can give it.
    pub(super) fn rename(&self, path: &Path, to: &Path) {
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::rename(path, to).unwrap();
        self.stamp(to);
        self.stamp_below(&self.root);
    }

    fn stamp(&self, path: &Path) {
        let now = Timespec { tv_sec: self.now.as_second(), tv_nsec: i64::from(self.now.subsec_nanosecond()) };
        let times = Timestamps { last_access: now, last_modification: now };
        // A command that failed has made no file.
        let _ = utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW);
    }

    /// Gives what the system has stamped below a folder the time of the clock.
    pub(super) fn stamp_below(&self, folder: &Path) {
        use std::os::unix::fs::MetadataExt;
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let (path, meta) = (entry.path(), entry.metadata().unwrap());
            if meta.is_dir() {
                self.stamp_below(&path);
            }
            if !meta.is_symlink() && meta.mtime() < self.began_at.as_second() {
                self.stamp(&path);
            }
        }
    }
}
