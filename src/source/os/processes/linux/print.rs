//! The prints of processes that a person may end: their own, in their own PID namespace.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{fstat, readlinkat};
use rustix::process::geteuid;
use sha2::{Digest, Sha256};

use crate::core::model::text::hex;
use crate::core::model::text::secret::has_secret;
use crate::core::model::{ProcessId, ProcessPrint, ProcessState, Untrusted};
use crate::source::os::processes::linux::details;
use crate::source::os::processes::linux::proc::{Proc, Reading, slurp, understood};

/// The most bytes of arguments that are compared; the kernel allows about 2 MiB (execve(2)).
const ARGUMENTS: usize = 4 << 20;
/// The most bytes of an environment whose names are kept, and the most names.
const ENVIRONMENT: usize = 256 << 10;
const NAMES: usize = 512;

/// Reads the print of one process; `None` if it has exited, is not this user's, cannot be read completely, or is in
/// another PID namespace.
pub(crate) fn read(proc: &mut Proc, pid: u32) -> Option<ProcessPrint> {
    let folder = proc.folder(pid).ok()?;
    let at = folder.as_fd();
    if !proc.is_own() || fstat(at).ok()?.st_uid != geteuid().as_raw() {
        return None;
    }
    let mut text = Vec::new();
    let outcome = slurp(at, "stat", &mut text, 4 << 10);
    let Reading::Read(line) = understood(pid, outcome.map(|()| text.as_slice())) else { return None };
    let Reading::Read(numbers) = details::ns_pids(at, "status") else { return None };
    let lives = matches!(line.process.state, ProcessState::Running | ProcessState::Stopped);
    if line.is_kernels || !lives || numbers.len() != 1 {
        return None;
    }
    let exe = readlinkat(at, "exe", Vec::new()).ok()?;
    slurp(at, "cmdline", &mut text, ARGUMENTS).ok()?;
    let program = format!("{:?} {:?} {text:?}", exe, line.layout?);
    let argv = details::argv(at, "cmdline");
    let command = argv.iter().map(Untrusted::raw).collect::<Vec<_>>().join(" ");
    Some(ProcessPrint {
        id: line.process.id,
        parent: line.process.parent,
        command: if command.is_empty() { line.process.comm.clone() } else { command.as_str().into() },
        name: line.process.comm,
        exe: details::exe(at, "exe")?,
        program: hex(&Sha256::digest(program.as_bytes())),
        folder: details::cwd(at, "cwd"),
        environment: names(at),
    })
}

/// Returns every process with its parent.
///
/// # Errors
/// Not all processes can be listed.
pub(crate) fn parents(proc: &mut Proc) -> Result<Vec<(ProcessId, u32)>, String> {
    let (listing, failure) = proc.list();
    failure.map_or(Ok(()), Err)?;
    let mut parents = Vec::with_capacity(listing.len());
    for (pid, _) in listing {
        if let Reading::Read(line) = proc.process(pid) {
            parents.push((line.process.id, line.process.parent));
        }
    }
    Ok(parents)
}

/// Reads the names of an environment's variables.
fn names(at: BorrowedFd<'_>) -> Vec<Untrusted> {
    let mut text = Vec::new();
    match slurp(at, "environ", &mut text, ENVIRONMENT) {
        Ok(()) => names_in(&text),
        Err(_) => Vec::new(),
    }
}

/// Returns the entries that look like names, and so cannot be values that were written over them.
fn names_in(text: &[u8]) -> Vec<Untrusted> {
    let is_name = |name: &&[u8]| {
        let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        !name.is_empty() && name.len() <= 64 && name.iter().all(is_letter)
    };
    let entries = text.split(|byte| *byte == 0);
    let names = entries.filter_map(|entry| {
        let end = entry.iter().position(|byte| *byte == b'=')?;
        entry.get(..end).filter(is_name)
    });
    let names = names.take(NAMES).map(Untrusted::from_bytes);
    let mut names: Vec<Untrusted> = names.filter(|name| !has_secret(name.raw())).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_names_of_an_environment_are_kept() {
        let text = b"TOKEN=hush\0PATH=/bin:/x=y\0A=1\0A=2\0not a name=hush\0hush\0=hush\0AKIAIOSFODNN7EXAMPLE=\0\0LAST=";
        let names = names_in(text);
        assert_eq!(names.iter().map(Untrusted::raw).collect::<Vec<_>>(), ["A", "LAST", "PATH", "TOKEN"]);
    }

    #[test]
    fn our_own_print_is_the_same_twice_and_listed() {
        let mut proc = Proc::open().unwrap();
        let own = read(&mut proc, std::process::id()).unwrap();
        assert_eq!(own.id.pid, std::process::id());
        assert_eq!(own, read(&mut proc, std::process::id()).unwrap());
        assert!(parents(&mut proc).unwrap().contains(&(own.id, own.parent)));
        assert!(read(&mut proc, 4_194_304).is_none());
    }
}
