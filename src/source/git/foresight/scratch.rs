//! A git folder of claimtop's own beside each working tree: git reads the repository's objects, and neither its
//! settings nor its hooks; it writes into a store that is removed afterwards.

use std::cell::Cell;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::settings::Settings;
use crate::source::database::sqlite::copies::{Copies, Copy};
use crate::source::git::run::{Answer, Limits, answer_within, quiet};
use crate::source::os::clock;
use crate::source::os::open::plain::{open_plain, small};

/// How long one command may take, and how much it may answer.
const LIMITS: Limits = Limits { deadline: Duration::from_secs(5), most: 64 << 20 };
/// The largest index that is copied, in bytes.
const MOST_INDEX: u64 = 256 << 20;
/// The largest other file of git's that is copied, in bytes.
const MOST_FILE: usize = 4 << 20;

/// Whether git may see the objects of the repository. What writes objects must not: git refreshes the times of those
/// that exist already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Only the store of its own, which it may add to.
    Own,
    /// Those of the repository as well, only to read.
    Repository,
}

/// The store of one repository.
pub(super) struct Scratch {
    program: PathBuf,
    home: PathBuf,
    folder: Copy,
    /// The objects of the repository, as git expects a list of folders.
    alternates: std::ffi::OsString,
    inputs: AtomicU32,
    has_folders: AtomicBool,
    /// Until when the pair that is merged now may take.
    until: Cell<Option<Instant>>,
}

/// The git folder of one working tree.
pub(super) struct Desk {
    git_dir: PathBuf,
    pub(super) tree: PathBuf,
    settings: Vec<(String, Vec<u8>)>,
}

impl Scratch {
    /// Makes an empty store.
    pub(super) fn new(program: &Path, home: &Path, copies: &Copies, common: &Path) -> Result<Self, String> {
        let folder = copies.make().map_err(|error| error.to_string())?;
        let scratch = Self {
            program: program.to_path_buf(),
            home: home.to_path_buf(),
            folder,
            alternates: listed(&common.join("objects")),
            inputs: AtomicU32::new(0),
            has_folders: AtomicBool::new(false),
            until: Cell::new(None),
        };
        make_folder(&scratch.objects().join("pack"))?;
        Ok(scratch)
    }

    /// Does the work of one pair, for which git has as long as for one command.
    pub(super) fn for_pair<T>(&self, work: impl FnOnce() -> T) -> T {
        self.until.set(Some(clock::steady() + LIMITS.deadline));
        let done = work();
        self.until.set(None);
        done
    }

    pub(super) fn objects(&self) -> PathBuf {
        self.folder.folder().join("objects")
    }

    /// Makes the git folder for a working tree, whose own folder and common directory these are.
    pub(super) fn desk(
        &self,
        tree: &Path,
        (own, common): (&Path, &Path),
        settings: &Settings,
    ) -> Result<Desk, String> {
        let number = self.inputs.fetch_add(1, Ordering::Relaxed);
        let git_dir = self.folder.folder().join(format!("desk-{number}"));
        for folder in ["objects", "refs", "info"] {
            make_folder(&git_dir.join(folder))?;
        }
        write(&git_dir.join("HEAD"), b"ref: refs/heads/none\n")?;
        write(&git_dir.join("config"), settings.file().as_bytes())?;
        for (from, name) in [
            (common, "info/exclude"),
            (common, "info/attributes"),
            (own, "info/sparse-checkout"),
            (common, "shallow"),
        ] {
            copy_small(&from.join(name), &git_dir.join(name))?;
        }
        copy_index(own, &git_dir)?;
        Ok(Desk { git_dir, tree: tree.to_path_buf(), settings: settings.harmless() })
    }

    /// Runs git for a working tree.
    pub(super) fn run(
        &self,
        desk: &Desk,
        access: Access,
        input: Option<&[u8]>,
        arguments: &[&str],
    ) -> Result<Answer, String> {
        let name = arguments.first().copied().unwrap_or_default();
        let mut command = quiet(&self.program, &self.home);
        command.envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")]);
        command.envs([("GIT_NO_REPLACE_OBJECTS", "1"), ("GIT_LITERAL_PATHSPECS", "1")]);
        command.env("GIT_OBJECT_DIRECTORY", self.objects());
        if access == Access::Repository {
            command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", &self.alternates);
        }
        for (at, (key, value)) in desk.settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{at}"), key);
            command.env(format!("GIT_CONFIG_VALUE_{at}"), std::ffi::OsStr::from_bytes(value));
        }
        command.env("GIT_CONFIG_COUNT", desk.settings.len().to_string());
        command.args(["--no-optional-locks", "--no-pager"]);
        command.arg("--git-dir").arg(&desk.git_dir).arg("--work-tree").arg(&desk.tree).args(arguments);
        command.current_dir(&desk.tree);
        let input = match input {
            Some(bytes) => self.input(bytes)?.into(),
            None => Stdio::null(),
        };
        let left = self.until.get().map(|until| until.saturating_duration_since(clock::steady()));
        let deadline = left.map_or(LIMITS.deadline, |left| left.min(LIMITS.deadline));
        let answer = answer_within(command, input, Limits { deadline, ..LIMITS });
        let answer = answer.ok_or_else(|| format!("git {name} did not answer in time"))?;
        if answer.is_cut { Err(format!("git {name} answered too much")) } else { Ok(answer) }
    }

    /// Runs git, and takes any exit code but 0 for a failure.
    pub(super) fn output(
        &self,
        desk: &Desk,
        access: Access,
        input: Option<&[u8]>,
        arguments: &[&str],
    ) -> Result<Vec<u8>, String> {
        let answer = self.run(desk, access, input, arguments)?;
        let name = arguments.first().copied().unwrap_or_default();
        match answer.code {
            0 => Ok(answer.out),
            code => Err(format!("git {name} failed with exit code {code}")),
        }
    }

    /// Runs git, and returns its only line.
    pub(super) fn line(
        &self,
        desk: &Desk,
        access: Access,
        input: Option<&[u8]>,
        arguments: &[&str],
    ) -> Result<String, String> {
        let out = self.output(desk, access, input, arguments)?;
        Ok(String::from_utf8_lossy(out.trim_ascii()).into_owned())
    }

    /// Puts objects of the repository into the store, so that git can read them without seeing the others.
    pub(super) fn fetch<'a>(
        &self,
        desk: &Desk,
        objects: impl Iterator<Item = &'a str>,
    ) -> Result<(), String> {
        let list: String = objects.flat_map(|object| [object, "\n"]).collect();
        if list.is_empty() {
            return Ok(());
        }
        let pack = self.objects().join("pack/pack");
        let pack = pack.to_str().ok_or("the state folder's name is not text")?;
        let arguments = ["pack-objects", "-q", "--window=0", pack];
        self.output(desk, Access::Repository, Some(list.as_bytes()), &arguments).map(drop)
    }

    /// Puts the folders of the first commit into the store, once: git does not write those again that did not change.
    pub(super) fn fetch_folders(&self, desk: &Desk, commit: &str) -> Result<(), String> {
        if self.has_folders.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let tree = format!("{commit}^{{tree}}");
        let arguments = ["rev-list", "--objects", "--no-object-names", "--filter=blob:none", &tree];
        let folders = self.output(desk, Access::Repository, None, &arguments)?;
        self.fetch(desk, String::from_utf8_lossy(&folders).lines())
    }

    /// Puts an input into a file: git may answer before it has read all of it.
    fn input(&self, bytes: &[u8]) -> Result<File, String> {
        let number = self.inputs.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.folder().join(format!("input-{number}"));
        write(&path, bytes)?;
        File::open(&path).map_err(|error| error.to_string())
    }
}

/// Returns a folder as git lists it (git(1), `GIT_ALTERNATE_OBJECT_DIRECTORIES`): in quotes where its name could be
/// taken for two.
fn listed(folder: &Path) -> std::ffi::OsString {
    let bytes = folder.as_os_str().as_bytes();
    if !bytes.contains(&b':') && !bytes.starts_with(b"\"") {
        return folder.into();
    }
    let mut quoted = vec![b'"'];
    for byte in bytes {
        if matches!(byte, b'"' | b'\\') {
            quoted.push(b'\\');
        }
        quoted.push(*byte);
    }
    quoted.push(b'"');
    std::ffi::OsString::from_vec(quoted)
}

fn make_folder(path: &Path) -> Result<(), String> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|error| error.to_string())
}

pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(bytes)).map_err(|error| error.to_string())
}

/// Copies a small file if it exists.
fn copy_small(from: &Path, to: &Path) -> Result<(), String> {
    use rustix::io::Errno;
    match small(from, MOST_FILE) {
        Ok(bytes) => write(to, &bytes),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(()),
        Err(error) => Err(format!("{} cannot be read: {error}", name_of(from))),
    }
}

/// Copies the index, and what it shares (gitrepository-layout(5)).
fn copy_index(own: &Path, git_dir: &Path) -> Result<(), String> {
    copy_with_time(&own.join("index"), &git_dir.join("index"))?;
    let entries = std::fs::read_dir(own).map_err(|error| error.to_string())?;
    for entry in entries.flatten() {
        if entry.file_name().as_bytes().starts_with(b"sharedindex.") {
            copy_with_time(&entry.path(), &git_dir.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// Copies a file with its time: to git, a file as old as the index may have changed since.
fn copy_with_time(from: &Path, to: &Path) -> Result<(), String> {
    let unread = |why: &dyn std::fmt::Display| format!("its {} cannot be read: {why}", name_of(from));
    let (fd, _) = open_plain(from).map_err(|error| unread(&error))?;
    let source = File::from(fd);
    let meta = source.metadata().map_err(|error| unread(&error))?;
    if meta.len() > MOST_INDEX {
        return Err(format!("its {} is larger than {} MiB", name_of(from), MOST_INDEX >> 20));
    }
    let target = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to);
    let mut target = target.map_err(|error| error.to_string())?;
    std::io::copy(&mut source.take(MOST_INDEX), &mut target).map_err(|error| unread(&error))?;
    let modified = meta.modified().and_then(|modified| target.set_modified(modified));
    modified.map_err(|error| error.to_string())
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(folder: &str, expected: &str) {
        assert_eq!(listed(Path::new(folder)), expected);
    }

    #[test]
    fn a_folder_with_a_colon_is_one_folder() {
        check("/src/shop/.git/objects", "/src/shop/.git/objects");
        check("/src/a:b\"c\\d", "\"/src/a:b\\\"c\\\\d\"");
    }
}
