//! Which processes have a database open, and which are Obra's, as far as they may be inspected.

use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Dir, readlinkat};
use rustix::io::Errno;

use crate::core::model::{ProcessTable, Untrusted};
use crate::format::obra::is_runner;
use crate::source::os::open::plain::small;
use crate::source::os::opener::{File, descriptors, which};
use crate::source::os::processes::own::own_pid;

/// The most bytes of arguments that are read.
const ARGUMENTS: usize = 128 << 10;

/// Looks at open files.
#[derive(Default)]
pub(crate) struct Openers {
    own: Option<PathBuf>,
}

/// The processes that use databases.
pub(crate) struct DatabaseUsers {
    /// The processes that have each file open; `None` if a process that could be Obra's may not be inspected.
    pub(crate) by_file: Vec<Option<Vec<u32>>>,
    /// The living processes of Obra.
    pub(crate) runners: Vec<u32>,
}

/// The files that one process has open.
enum Open {
    /// These of the given files, by index.
    Files(Vec<usize>),
    /// It may not be inspected.
    Hidden,
    /// It has exited.
    Gone,
}

impl Openers {
    /// Inspects every process but this one and other runs of this program, which only read.
    pub(crate) fn look(&mut self, files: &[File], processes: &ProcessTable) -> DatabaseUsers {
        // Other systems do not report which files a process has open, and silence must not pass for an answer.
        if !cfg!(target_os = "linux") {
            return DatabaseUsers { by_file: vec![None; files.len()], runners: Vec::new() };
        }
        let own = self.own.get_or_insert_with(|| exe("self").unwrap_or_default()).clone();
        let mut used = DatabaseUsers { by_file: vec![Some(Vec::new()); files.len()], runners: Vec::new() };
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

/// Reads the arguments, which every user may read.
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
    let fd = match descriptors(pid) {
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
