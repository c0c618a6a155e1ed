//! Runs the built program in a world of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A home and a temporary folder, both empty at first.
pub(crate) struct World {
    folder: TempDir,
    program: PathBuf,
}

/// The program's output and exit code.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The exit code.
    pub(crate) code: i32,
    /// The standard output.
    pub(crate) out: String,
    /// The standard error output.
    pub(crate) err: String,
}

impl World {
    /// Makes an empty world.
    pub(crate) fn new() -> Self {
        Self::of(env!("CARGO_BIN_EXE_claimtop"))
    }

    /// Makes an empty world for another build of the program.
    pub(crate) fn of(program: impl Into<PathBuf>) -> Self {
        let world = Self { folder: TempDir::new().unwrap(), program: program.into() };
        for name in ["home", "tmp"] {
            std::fs::create_dir(world.path(name)).unwrap();
        }
        world
    }

    /// Returns a path inside.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file inside.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Prepares the program with an empty environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().env("HOME", self.path("home")).stdin(Stdio::null());
        command.args(arguments);
        if !arguments.contains(&"--home") {
            command.arg("--home").arg(self.path("home")).arg("--tmp").arg(self.path("tmp"));
        }
        command
    }

    /// Runs the program.
    pub(crate) fn run(&self, arguments: &[&str]) -> Answer {
        self.run_with(arguments, &[])
    }

    /// Runs the program with environment variables.
    pub(crate) fn run_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Answer {
        let output = self.command(arguments).envs(environment.iter().copied()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Answer {
            code: output.status.code().unwrap_or(-1),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }
}
