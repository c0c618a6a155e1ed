//! Who has a database open, and which processes are Obra's, as far as they may be looked at.

use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, openat, readlinkat, statat};
use rustix::io::Errno;

use crate::core::process::ProcessTable;
use crate::core::text::Untrusted;
use crate::format::obra::is_runner;
use crate::source::open::{meta_of, small};
use crate::source::processes::own_pid;

/// The most bytes of arguments that are read.
const ARGUMENTS: usize = 128 << 10;

/// Looks at open files.
#[derive(Default)]
pub(super) struct Openers {
    own: Option<PathBuf>,
}

/// Who uses databases.
pub(super) struct Used {
    /// Who has each file open; `None` where a process that could be Obra's may not be looked at.
    pub(super) by_file: Vec<Option<Vec<u32>>>,
    /// The processes of Obra that live.
    pub(super) runners: Vec<u32>,
}

/// One of the files that are asked for.
pub(super) struct File {
    /// Its name without the folder, which may be called otherwise in a container.
    pub(super) name: Vec<u8>,
    /// Device and inode.
    pub(super) id: (u64, u64),
}

/// What one process has open.
enum Open {
    /// These of the files, by number.
    Files(Vec<usize>),
    /// It may not be looked at.
    Hidden,
    /// It has exited.
    Gone,
}

impl Openers {
    /// Looks at every process but ourselves and other runs of this program, which only read.
    pub(super) fn look(&mut self, files: &[File], processes: &ProcessTable) -> Used {
        let own = self.own.get_or_insert_with(|| exe("self").unwrap_or_default()).clone();
        let mut used = Used { by_file: vec![Some(Vec::new()); files.len()], runners: Vec::new() };
        for pid in processes.listed.iter().copied().filter(|pid| *pid != own_pid()) {
            let argv = argv(pid);
            let is_runner = is_runner(argv.iter().map(Untrusted::raw));
            if is_runner {
                used.runners.push(pid);
            }
            match open_files(pid, files) {
                Open::Files(open) if open.is_empty() || exe(&pid.to_string()) == Some(own.clone()) => {}
                Open::Files(open) => open.into_iter().for_each(|at| add(&mut used.by_file, at, pid)),
                Open::Hidden if is_runner || may_be_python(&argv) => used.by_file.fill(None),
                Open::Hidden | Open::Gone => {}
            }
        }
        used
    }
}

fn add(by_file: &mut [Option<Vec<u32>>], at: usize, pid: u32) {
    if let Some(Some(pids)) = by_file.get_mut(at) {
        pids.push(pid);
    }
}

fn exe(pid: &str) -> Option<PathBuf> {
    let target = readlinkat(CWD, format!("/proc/{pid}/exe"), Vec::new()).ok()?;
    target.into_string().ok().map(PathBuf::from)
}

/// Reads the arguments, which everybody may.
fn argv(pid: u32) -> Vec<Untrusted> {
    let text = small(Path::new(&format!("/proc/{pid}/cmdline")), ARGUMENTS).unwrap_or_default();
    text.split(|byte| *byte == 0).take(8).map(Untrusted::from_bytes).collect()
}

/// Returns whether a process runs Python, as Obra does, or too little is known to exclude it.
fn may_be_python(argv: &[Untrusted]) -> bool {
    let first = argv.first().map_or("", |name| name.raw().rsplit('/').next().unwrap_or_default());
    // A kernel thread has no arguments, and no files.
    ["python", "pypy", "uv"].iter().any(|name| first.starts_with(name))
}

fn open_files(pid: u32, files: &[File]) -> Open {
    let folder = format!("/proc/{pid}/fd");
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let fd = match openat(CWD, folder.as_str(), flags, Mode::empty()) {
        Ok(fd) => fd,
        Err(Errno::NOENT | Errno::SRCH) => return Open::Gone,
        Err(_) => return Open::Hidden,
    };
    let Ok(listing) = Dir::read_from(&fd) else { return Open::Hidden };
    let mut open = Vec::new();
    for entry in listing {
        let Ok(entry) = entry else { return Open::Hidden };
        open.extend(which(&fd, entry.file_name(), files));
    }
    open.sort_unstable();
    open.dedup();
    Open::Files(open)
}

/// Returns which of the files a descriptor is. Only one of that name is asked itself: a file of a
/// broken network mount would not answer.
fn which(folder: &OwnedFd, number: &CStr, files: &[File]) -> Option<usize> {
    let link = readlinkat(folder, number, Vec::new()).ok()?;
    let name = link.as_bytes().rsplit(|byte| *byte == b'/').next()?;
    let is_named = |file: &&File| file.name == name;
    files.iter().find(is_named)?;
    let meta = meta_of(&statat(folder, number, AtFlags::empty()).ok()?);
    files.iter().position(|file| file.id == (meta.dev, meta.ino))
}
