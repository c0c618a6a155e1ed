//! Runs git within a deadline, in a way that runs no program of the repository.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::source::os::clock;

/// How often to check whether it has ended.
const STEP: Duration = Duration::from_millis(1);

/// How much of an answer is waited for.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// How long git may take.
    pub(super) deadline: Duration,
    /// The most bytes of its output; more is not read.
    pub(super) most: usize,
}

/// What holds for a single question.
const USUAL: Limits = Limits { deadline: Duration::from_secs(2), most: 4 << 20 };

/// Git, and the working tree that it is run for.
pub(super) struct Git {
    /// The program.
    pub(super) program: PathBuf,
    /// The home of the person who asks, whose settings say what is ignored.
    pub(super) home: PathBuf,
    /// The tree.
    pub(super) tree: PathBuf,
    /// The tree's own folder below `worktrees`.
    pub(super) own: PathBuf,
    /// The filters in the repository's settings: each is switched off.
    pub(super) filters: Vec<OsString>,
}

/// The result of a run of git.
pub(super) struct Answer {
    /// Its exit code.
    pub(super) code: i32,
    /// Its output.
    pub(super) out: Vec<u8>,
    /// Whether there is more of it.
    pub(super) is_cut: bool,
}

impl Git {
    /// Runs git; `None` if it does not answer in time or at all.
    pub(super) fn ask(&self, arguments: &[&str]) -> Option<Answer> {
        let mut command = quiet(&self.program, &self.home);
        self.switch_off(&mut command);
        command.args(["--no-optional-locks", "--no-pager", "-c", "core.fsmonitor=false"]);
        command.args(["-c", "core.hooksPath=/dev/null", "-c", "core.untrackedCache=false"]);
        command.arg("--git-dir").arg(&self.own).arg("--work-tree").arg(&self.tree).args(arguments);
        command.current_dir(&self.tree);
        answer_of(command)
    }

    /// Switches the filters off: git reads a file that may have changed at the very moment the index was written once
    /// more, through them.
    fn switch_off(&self, command: &mut Command) {
        let settings = self.filters.iter().flat_map(|filter| {
            [("clean", ""), ("process", ""), ("smudge", ""), ("required", "false")].map(|(key, value)| {
                let mut name = OsString::from("filter.");
                name.push(filter);
                name.push(".");
                name.push(key);
                (name, value)
            })
        });
        let mut count = 0_usize;
        for (name, value) in settings {
            command.env(format!("GIT_CONFIG_KEY_{count}"), name);
            command.env(format!("GIT_CONFIG_VALUE_{count}"), value);
            count += 1;
        }
        command.env("GIT_CONFIG_COUNT", count.to_string());
    }
}

/// Prepares a run of git that asks nobody anything.
pub(super) fn quiet(program: &Path, home: &Path) -> Command {
    #[expect(clippy::disallowed_methods, reason = "a person asked what git says")]
    let mut command = Command::new(program);
    // Other environment variables can lead to another repository, or to programs.
    command.env_clear().env("HOME", home).env("PATH", folder_of(program));
    command.envs([("LC_ALL", "C"), ("GIT_NO_LAZY_FETCH", "1"), ("GIT_OPTIONAL_LOCKS", "0")]);
    command.envs([("GIT_TERMINAL_PROMPT", "0"), ("GIT_PAGER", "cat")]);
    command
}

/// Prepares a run of git in a folder, of no repository and without anybody's settings.
pub(super) fn bare(program: &Path, folder: &Path) -> Command {
    let mut command = quiet(program, folder);
    command.envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")]);
    // Git looks for a repository in the folder itself, and in none above it (git(1)).
    command.env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap_or(folder)).current_dir(folder);
    command
}

/// Runs a command; `None` if it does not answer in time or at all.
pub(super) fn answer_of(command: Command) -> Option<Answer> {
    answer_within(command, Stdio::null(), USUAL)
}

/// Runs a command with an input; `None` if it does not answer within the limits or at all.
pub(super) fn answer_within(mut command: Command, input: Stdio, limits: Limits) -> Option<Answer> {
    command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let answer = answer(&mut child, limits);
    if answer.is_none() {
        // It may have ended at this very moment.
        let _ = child.kill();
        let _ = child.wait();
    }
    answer
}

fn folder_of(program: &Path) -> &OsStr {
    program.parent().map_or(OsStr::new("/usr/bin"), Path::as_os_str)
}

/// Reads a program's output until it has ended; `None` at the deadline.
fn answer(child: &mut Child, limits: Limits) -> Option<Answer> {
    let began_at = clock::steady();
    let mut pipe = child.stdout.take()?;
    rustix::fs::fcntl_setfl(&pipe, rustix::fs::OFlags::NONBLOCK).ok()?;
    let mut out = Vec::new();
    while began_at.elapsed() < limits.deadline {
        // Check for the end first, so that its last output is read afterwards.
        let ended = child.try_wait().ok()?;
        take(&mut pipe, &mut out, limits.most);
        if out.len() > limits.most {
            let _ = child.kill();
            let _ = child.wait();
            out.truncate(limits.most);
            return Some(Answer { code: 0, out, is_cut: true });
        }
        if let Some(code) = ended.map(|status: ExitStatus| status.code()) {
            return Some(Answer { code: code?, out, is_cut: false });
        }
        std::thread::sleep(STEP);
    }
    None
}

/// Takes the bytes that have arrived.
fn take(pipe: &mut impl Read, out: &mut Vec<u8>, most: usize) {
    let mut part = [0; 64 << 10];
    while out.len() <= most {
        match pipe.read(&mut part) {
            Ok(0) | Err(_) => return,
            Ok(read) => out.extend_from_slice(part.get(..read).unwrap_or_default()),
        }
    }
}
