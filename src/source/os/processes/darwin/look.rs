//! Queries macOS for one process, and for the list of all.

use libproc::bsd_info::BSDInfo;
use libproc::proc_pid::{pidinfo, pidpath};
use libproc::processes::{ProcFilter, pids_by_type};
use rustix::io::Errno;
use rustix::process::{Pid, getsid, test_kill_process};
use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind};

use crate::core::model::text::secret::{hide, hide_in_arguments};
use crate::core::model::{Details, Untrusted};
use crate::source::os::processes::darwin::facts::Facts;
use crate::source::os::processes::environment::variables;

/// Makes the system count zombies as well (`proc_pidinfo` of XNU).
const ZOMBIES_TOO: u64 = 1;

/// The outcome of reading a process.
pub(crate) enum Reading<T> {
    Read(T),
    /// It exists, and may not be read.
    Unreadable,
    /// No process has this PID.
    Gone,
}

/// Reads one process and its effective user.
pub(crate) fn facts(pid: u32) -> Reading<(Facts, u32)> {
    let info: Option<BSDInfo> = i32::try_from(pid).ok().and_then(|pid| pidinfo(pid, ZOMBIES_TOO).ok());
    match info.filter(|info| info.pbi_pid == pid) {
        Some(info) => Reading::Read((
            Facts {
                pid,
                parent: info.pbi_ppid,
                status: info.pbi_status,
                name: info.pbi_comm.iter().map(|letter| letter.to_ne_bytes()[0]).collect(),
                seconds: info.pbi_start_tvsec,
                micros: info.pbi_start_tvusec,
                device: info.e_tdev,
                session: session(pid),
            },
            info.pbi_uid,
        )),
        None if is_gone(pid) => Reading::Gone,
        None => Reading::Unreadable,
    }
}

/// Returns whether no process has a PID: the second opinion on every absence that counts (kill(2), signal 0).
pub(crate) fn is_gone(pid: u32) -> bool {
    number(pid).is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

/// Returns the PIDs of all processes but the kernel's own, and why some may be missing.
pub(crate) fn all() -> (Vec<u32>, Option<String>) {
    let mut pids = match pids_by_type(ProcFilter::All) {
        Ok(pids) => pids,
        Err(error) => return (Vec::new(), Some(format!("the system lists no processes: {error}"))),
    };
    // The kernel reports how much room it needs, with some to spare, and silently leaves out processes that do not
    // fit.
    let has_room = pids.len() < pids.capacity();
    let is_sound = pids.contains(&std::process::id()) && pids.contains(&1);
    pids.retain(|pid| *pid != 0);
    let doubt = (!has_room || !is_sound).then(|| "the system's list of processes is not complete".to_owned());
    (pids, doubt)
}

/// Returns the path of the executable, as the kernel resolved it.
pub(crate) fn executable(pid: u32) -> Option<Untrusted> {
    let mut path: Untrusted = pidpath(i32::try_from(pid).ok()?).ok()?.into();
    hide(&mut path);
    Some(path)
}

/// Reads the details of some processes. Another user's process, or a protected one, reveals little.
pub(crate) fn details(those: &[(u32, u32)]) -> Vec<(u32, Details)> {
    let kind = ProcessRefreshKind::nothing()
        .with_cmd(UpdateKind::Always)
        .with_cwd(UpdateKind::Always)
        .with_environ(UpdateKind::Always)
        .without_tasks();
    let pids: Vec<sysinfo::Pid> = those.iter().map(|(pid, _)| sysinfo::Pid::from_u32(*pid)).collect();
    // A new one each time: an old one keeps the facts of the process that had the PID before.
    let mut system = System::new().ok();
    if let Some(system) = &mut system {
        system.refresh_processes_specifics(ProcessesToUpdate::Some(&pids), true, kind);
    }
    let read = |(pid, uid): &(u32, u32)| {
        let process = system.as_ref().and_then(|system| system.process(sysinfo::Pid::from_u32(*pid)));
        let own =
            Details { uid: Some(*uid), exe: executable(*pid), ns_pids: vec![*pid], ..Details::default() };
        (*pid, process.map_or(own.clone(), |process| Details { ..with(own, process) }))
    };
    those.iter().map(read).collect()
}

fn with(own: Details, process: &sysinfo::Process) -> Details {
    let mut argv: Vec<_> =
        process.cmd().iter().map(|argument| Untrusted::from_path(argument.as_ref())).collect();
    hide_in_arguments(&mut argv);
    Details {
        argv,
        cwd: process.cwd().map(Untrusted::from_path),
        env: variables(process.environ().iter().map(|entry| entry.as_encoded_bytes())),
        ..own
    }
}

/// Returns the leader of a process's session; 0 if that is not reported.
fn session(pid: u32) -> u32 {
    let leader = number(pid).and_then(|pid| getsid(Some(pid)).ok());
    leader.and_then(|leader| u32::try_from(leader.as_raw_nonzero().get()).ok()).unwrap_or_default()
}

fn number(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}
