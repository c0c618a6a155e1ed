//! The present processes of one window, with their costs.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::AsFd;

use jiff::{SignedDuration, Timestamp};

use crate::core::judge::window::tool_shell::tool_command;
use crate::core::model::{Household, Member, ProcessId, ProcessState, Untrusted};
use crate::source::os::processes::linux::cost::measure::measures;
use crate::source::os::processes::linux::proc::stat::ticks_per_second;
use crate::source::os::processes::linux::proc::{Proc, Reading};
use crate::source::os::processes::linux::sockets::tcp::count_clients;
use crate::source::os::processes::linux::{details, print};
use crate::source::os::processes::measure::Measure;

/// The most processes that are measured: adding up the pages of a large one takes 2 ms.
const MOST: usize = 200;

/// Measures a window's own process and those below it, parents before their children; returns nothing if it has ended.
pub(crate) fn measured(of: &Household) -> Vec<Member> {
    let Ok(mut proc) = Proc::open() else { return Vec::new() };
    let those = tree(&print::parents(&mut proc).unwrap_or_default(), of);
    let ids: Vec<ProcessId> = those.iter().map(|(id, _)| *id).collect();
    let mut measures = measures(&mut proc, &ids);
    count_clients(measures.values_mut().filter_map(|one| one.ports.as_mut()).flatten().collect());
    let members = those.into_iter().filter_map(|(id, parent)| {
        let folder = proc.folder_of(id)?;
        // An agent's arguments may contain a person's prompt.
        let argv = if id == of.id { Vec::new() } else { details::argv(folder.as_fd(), "cmdline") };
        let Measure { load, ports, hindrance: _ } = measures.remove(&id)?;
        Some(Member {
            id,
            parent,
            started_at: started_at(of, id),
            command: command(&argv).or_else(|| name(&mut proc, id))?,
            folder: details::cwd(folder.as_fd(), "cwd"),
            memory: load.memory,
            cpu_time: load.cpu_time,
            ports: ports.unwrap_or_default(),
        })
    });
    members.collect()
}

/// Returns the kernel's name for a process that has not exited: a zombie takes nothing.
fn name(proc: &mut Proc, id: ProcessId) -> Option<Untrusted> {
    match proc.process(id.pid) {
        Reading::Read(line) if line.process.id == id && line.process.state != ProcessState::Zombie => {
            Some(line.process.comm)
        }
        Reading::Read(_) | Reading::Unreadable | Reading::Gone => None,
    }
}

fn command(argv: &[Untrusted]) -> Option<Untrusted> {
    let joined = || argv.iter().map(Untrusted::raw).collect::<Vec<_>>().join(" ");
    let command = tool_command(argv).unwrap_or_else(joined);
    (!command.is_empty()).then(|| command.as_str().into())
}

/// Returns when a process began: its window's start plus the kernel's ticks in between.
fn started_at(of: &Household, id: ProcessId) -> Option<Timestamp> {
    let ticks = i64::try_from(id.start_ticks.checked_sub(of.id.start_ticks)?).ok()?;
    let per_second = i64::try_from(ticks_per_second()).ok()?;
    let after = SignedDuration::from_millis(ticks.checked_mul(1_000)?.checked_div(per_second)?);
    of.started_at?.checked_add(after).ok()
}

/// Returns the processes below a window with their parents, without those below another window.
fn tree(all: &[(ProcessId, u32)], of: &Household) -> Vec<(ProcessId, u32)> {
    let mut children: BTreeMap<u32, Vec<(ProcessId, u32)>> = BTreeMap::new();
    for (id, parent) in all {
        children.entry(*parent).or_default().push((*id, *parent));
    }
    let mut found: Vec<(ProcessId, u32)> = all.iter().filter(|(id, _)| *id == of.id).copied().collect();
    let mut seen = BTreeSet::from([of.id.pid]);
    let mut at = 0;
    while let Some((above, _)) = found.get(at).filter(|_| found.len() < MOST) {
        let below = children.get(&above.pid).into_iter().flatten();
        let is_its = |(id, _): &&(ProcessId, u32)| !of.others.contains(&id.pid);
        let below: Vec<_> = below.filter(is_its).filter(|(id, _)| seen.insert(id.pid)).copied().collect();
        found.extend(below);
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::process::{Child, Command, Stdio};

    use super::*;
    use crate::core::model::{Key, KeyKind};
    use crate::source::os::processes::started::spawn;

    fn id(pid: u32) -> ProcessId {
        ProcessId { pid, start_ticks: u64::from(pid) }
    }

    fn household(id: ProcessId, others: &[u32]) -> Household {
        let key = Key::derive(KeyKind::Window, &["1"]);
        let started_at = Some("2026-11-22T10:00:00Z".parse().unwrap());
        Household { key, id, started_at, others: others.iter().copied().collect() }
    }

    #[test]
    fn what_runs_below_another_window_is_that_ones() {
        let all = [(1, 0), (5, 1), (6, 5), (7, 6), (8, 5), (9, 8), (10, 1)];
        let all: Vec<(ProcessId, u32)> = all.into_iter().map(|(pid, parent)| (id(pid), parent)).collect();
        let found = |of: &Household| tree(&all, of).iter().map(|(id, _)| id.pid).collect::<Vec<_>>();
        assert_eq!(found(&household(id(5), &[])), [5, 6, 8, 7, 9]);
        assert_eq!(found(&household(id(5), &[8, 10])), [5, 6, 7]);
        assert_eq!(found(&household(ProcessId { start_ticks: 4, ..id(5) }, &[])), [] as [u32; 0]);
    }

    #[test]
    fn a_circle_of_a_torn_list_has_an_end() {
        let all = [(id(5), 6), (id(6), 5)];
        assert_eq!(tree(&all, &household(id(5), &[])).len(), 2);
    }

    #[test]
    fn a_process_began_as_long_after_its_window_as_its_ticks_say() {
        let of = household(ProcessId { pid: 5, start_ticks: 1_000 }, &[]);
        let later = ProcessId { pid: 6, start_ticks: 1_000 + 90 * ticks_per_second() };
        assert_eq!(started_at(&of, later), Some("2026-11-22T10:01:30Z".parse().unwrap()));
        assert_eq!(started_at(&of, id(6)), None, "it began before");
    }

    struct CpuStart(Child);

    impl Drop for CpuStart {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test starts a process of its own")]
    fn memory_and_ports_of_real_processes_are_measured() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut command = Command::new("/bin/sleep");
        let child = CpuStart(spawn(command.arg("600").stdin(Stdio::null())));
        let mut command = Command::new("/bin/true");
        let ended = CpuStart(spawn(command.stdin(Stdio::null()).stdout(Stdio::piped())));
        let mut proc = Proc::open().unwrap();
        let is_zombie = |proc: &mut Proc| matches!(proc.process(ended.0.id()), Reading::Read(line) if line.process.state == ProcessState::Zombie);
        while !is_zombie(&mut proc) {
            std::thread::yield_now();
        }
        let Reading::Read(own) = proc.process(std::process::id()) else { panic!("we run") };
        let members = measured(&household(own.process.id, &[]));
        let of = |pid: u32| members.iter().find(|member| member.id.pid == pid).unwrap();
        let port = listener.local_addr().unwrap().port();
        let us = of(std::process::id());
        assert!(us.ports.iter().any(|one| one.number == port), "{us:?}");
        assert!(us.memory.is_some_and(|bytes| bytes > 0) && us.command == own.process.comm, "{us:?}");
        let sleep = of(child.0.id());
        assert!(members.iter().all(|member| member.id.pid != ended.0.id()), "nobody has waited for it");
        assert_eq!((sleep.command.raw(), sleep.parent), ("/bin/sleep 600", std::process::id()));
    }
}
