//! A process of its own that has the database open: this program, called again under another name.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rustix::fs::{AtFlags, CWD, linkat};

use crate::obra::stage::Stage;

/// Names the stage of a writer.
const STAGE: &str = "CLAIMTOP_TEST_WRITER";

/// Runs the statements that it is given; it ends with its holder.
pub(crate) struct Writer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Writer {
    /// Starts a process that looks like Obra's.
    pub(crate) fn obra(stage: &Stage) -> Self {
        Self::named("obra", stage)
    }

    /// Starts a process by any name, and lets it open the database.
    pub(crate) fn named(name: &str, stage: &Stage) -> Self {
        let mut child = Command::new(program(stage))
            .arg0(name)
            .args(["obra::writer::child", "--exact", "--ignored", "--nocapture"])
            .env(STAGE, stage.root())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut writer = Self { child, input, output };
        writer.tell("PRAGMA synchronous = off; SELECT COUNT(*) FROM sqlite_master;");
        writer
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Lets it run statements.
    pub(crate) fn tell(&mut self, sql: &str) {
        writeln!(self.input, "{sql}").unwrap();
        let said = self
            .output
            .by_ref()
            .lines()
            .map(Result::unwrap)
            .find_map(|line| line.strip_prefix("said: ").map(str::to_owned));
        assert_eq!(said.as_deref(), Some("done"), "{sql}");
    }

    /// Kills it in the middle of a transaction that has reached the disk.
    pub(crate) fn crash(mut self) {
        self.tell("PRAGMA cache_size = 1; BEGIN IMMEDIATE; UPDATE session_record SET status = 'completed';");
        self.tell("INSERT INTO ballast SELECT randomblob(200000) FROM session_record;");
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Returns this program by another path: runs of claimtop's own program only read, and do not
/// count as users of a database.
fn program(stage: &Stage) -> PathBuf {
    // Not by its path, which a script may stand in for (tests/alone).
    let (own, other) = ("/proc/self/exe", stage.root().join("writer"));
    if !other.exists() && linkat(CWD, own, CWD, &other, AtFlags::SYMLINK_FOLLOW).is_err() {
        std::fs::copy(own, &other).unwrap();
    }
    other
}

/// The body of a writer; not a test by itself.
#[test]
#[ignore = "is called by the tests that need a writer"]
fn child() {
    let Some(root) = std::env::var_os(STAGE) else { return };
    let connection = Stage::at(root.as_ref()).connect();
    for sql in std::io::stdin().lines().map(Result::unwrap) {
        match connection.execute_batch(&sql) {
            Ok(()) => println!("said: done"),
            Err(error) => println!("said: {error}"),
        }
    }
}
