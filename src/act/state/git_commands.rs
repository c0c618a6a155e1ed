//! Takes in what git reports of its commands, as long as a claimtop is open: a line for each command that can change
//! something, with the window below which it ran, and git's files removed.
//!
//! Git never waits for this: it writes files of its own, and at most as many as `trace2.maxFiles` says.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FlockOperation, flock, unlinkat};
use rustix::io::Errno;

use crate::act::error::ActionError;
use crate::act::fs::system::System;
use crate::act::state::append::{open_end, write_once};
use crate::act::state::tombstones::change;
use crate::core::judge::window::agent::{Candidates, Role, Signatures};
use crate::core::judge::window::context::server_above;
use crate::core::model::snapshot::process::ancestry;
use crate::core::model::snapshot::work::git_command::merged;
use crate::core::model::text::json;
use crate::core::model::{GitCaller, GitCommand, SeenBelow};
use crate::format::git::events::EventName;
use crate::observe::watch::arrivals::{Arrival, Arrivals};
use crate::source::os::open::folder::Folder;
use crate::source::os::{clock, host, processes};
use crate::source::own::git_commands::{KNOWN_FOR, is_of_here, names, open, read};
use crate::source::own::lines;
use crate::source::places::git_commands_in;

/// From which size on the file of commands is written anew, in bytes, and how many it then keeps, the newest.
const LARGE: u64 = 1 << 20;
const MOST_KEPT: usize = 1_024;
/// How many running processes of git's are remembered.
const MOST_RUNNING: usize = 4_096;
/// The file by which git says that there are too many (`trace2.maxFiles`): as long as it lies there git writes no other.
const TOO_MANY: &str = "git-trace2-discard";

/// Takes in what git reports, on a thread of its own, if a person has made the folder for that. Of several open
/// claimtops one does it, and another one after that has ended.
///
/// # Errors
/// The folder is not this user's own, or the system has no more threads.
pub(crate) fn listen(state: &Path, signatures: Signatures) -> io::Result<()> {
    let Some(folder) = open(state).map_err(io::Error::other)? else { return Ok(()) };
    let file = git_commands_in(state);
    let candidates = signatures.candidates();
    let mut listener = Listener { folder, file, signatures, candidates, running: HashMap::new() };
    std::thread::Builder::new().name("git-events".to_owned()).spawn(move || {
        if let Err(errno) = listener.follow() {
            tracing::warn!(%errno, "git's events are not followed");
        }
    })?;
    Ok(())
}

struct Listener {
    folder: Folder,
    file: PathBuf,
    signatures: Signatures,
    candidates: Candidates,
    /// What was above processes of git's that run, by the names of their files.
    running: HashMap<String, GitCaller>,
}

impl Listener {
    fn follow(&mut self) -> Result<(), Errno> {
        while let Err(errno) = flock(&self.folder, FlockOperation::LockExclusive) {
            if errno != Errno::INTR {
                return Err(errno);
            }
        }
        let arrivals = Arrivals::watch(self.folder.path())?;
        self.take_all();
        arrivals.each(|arrival| match arrival {
            Arrival::Began(name) => self.began(name),
            Arrival::Ended(name) if name == TOO_MANY => self.take_all(),
            Arrival::Ended(name) => self.take(&name),
            Arrival::Anything => self.take_all(),
        })
    }

    /// Looks who has started git, before that ends.
    fn began(&mut self, name: String) {
        let Some(EventName { pid, .. }) = EventName::parse(&name).filter(|_| is_of_here(&name)) else {
            return;
        };
        if let Some(caller) = self.caller(pid) {
            if self.running.len() >= MOST_RUNNING {
                self.running.clear();
            }
            self.running.insert(name, caller);
        }
    }

    fn caller(&self, pid: u32) -> Option<GitCaller> {
        let table = processes::chain(pid, &self.candidates);
        let process = table.get(pid).filter(|process| process.comm.raw().starts_with("git"))?.id;
        let window = match server_above(&table, &self.signatures, pid) {
            Some((window, agent, Role::Agent)) => Some(SeenBelow { id: window.id, agent: agent.into() }),
            // It serves several windows.
            Some(_) => return None,
            None => None,
        };
        let is_whole = ancestry(&table, pid).last().is_some_and(|top| top.parent == 0);
        let boot_id = host::boot_id()?.into();
        (window.is_some() || is_whole).then_some(GitCaller { boot_id, process, window })
    }

    /// Takes in all files of commands that have ended.
    fn take_all(&mut self) {
        for name in names(&self.folder) {
            let is_over =
                || read(&self.folder, &name).is_some_and(|file| file.has_ended) || !is_running(&name);
            if is_over() {
                self.take(&name);
            } else if !self.running.contains_key(&name) {
                self.began(name);
            }
        }
        self.remove(TOO_MANY);
        self.trim();
    }

    /// Takes in one file.
    fn take(&mut self, name: &str) {
        let Some(read) = read(&self.folder, name).filter(|_| is_of_here(name)) else { return };
        if read.broken > 0 {
            tracing::warn!(lines = read.broken, name, "git's events make no sense");
        }
        let kept = read.command.map_or(Ok(()), |command| self.keep(command));
        self.running.remove(name);
        match kept {
            Ok(()) => self.remove(name),
            // The file stays, and says the same later.
            Err(errno) => tracing::debug!(%errno, "a git command could not be kept"),
        }
    }

    fn keep(&self, command: GitCommand) -> Result<(), Errno> {
        // Git's own processes run where the one runs that started them all.
        let caller = command.sid.raw().rsplit('/').find_map(|name| self.running.get(name)).cloned();
        let command = GitCommand { caller, ..command };
        let Ok(line) = json::to_line(&command) else { return Ok(()) };
        let (file, size) = open_end(&self.file)?;
        write_once(&file, format!("{line}\n").as_bytes())?;
        if size > LARGE {
            self.trim();
        }
        Ok(())
    }

    /// Forgets commands that are too old, or too many.
    fn trim(&self) {
        let now = clock::now();
        let host = host::host(now);
        let trimmed = || -> Result<(), ActionError> {
            let all: Vec<GitCommand> =
                lines::kept(&self.file, &host).map_err(ActionError::failed_at("read", &self.file))?;
            let is_large = self.file.symlink_metadata().is_ok_and(|meta| meta.len() > LARGE);
            let is_old = |command: &GitCommand| now.duration_since(command.at) > KNOWN_FOR;
            if !is_large && !all.first().is_some_and(is_old) {
                return Ok(());
            }
            let mut all = merged(all, Vec::new());
            all.retain(|command| !is_old(command));
            all.drain(..all.len().saturating_sub(MOST_KEPT));
            change(&System, &self.file, || Ok(all))
        };
        if let Err(error) = trimmed() {
            tracing::debug!(%error, "old git commands could not be forgotten");
        }
    }

    /// Removes a file of git's; one that has gone is fine.
    fn remove(&self, name: &str) {
        if let Err(errno) = unlinkat(&self.folder, OsStr::new(name), AtFlags::empty())
            && errno != Errno::NOENT
        {
            tracing::debug!(%errno, name, "a file of git's events stays");
        }
    }
}

/// Returns whether a git with the PID of a file's name runs.
fn is_running(name: &str) -> bool {
    let none = Candidates::default();
    let is_git = |pid| {
        let table = processes::chain(pid, &none);
        table.get(pid).is_some_and(|process| process.comm.raw().starts_with("git"))
    };
    EventName::parse(name).is_some_and(|name| is_git(name.pid))
}
