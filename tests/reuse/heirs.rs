//! Forced reuse of PIDs: the heir is never mistaken for the dead process, and never loses its own claims.

use std::collections::BTreeSet;
use std::io::Write;
use std::time::Duration;

use claimtop::core::judge::window::agent::Signatures;
use claimtop::core::model::{Code, VerdictState};
use claimtop::testing::act::{Answer, StateFolder, System};
use claimtop::testing::source::Scanner;

use crate::stage::{Agent, Stage, act, end, record, release, report, start_ticks};
use crate::{alone, rounds};

#[test]
fn an_heir_of_a_pid_is_never_the_dead_and_keeps_its_own() {
    let _alone = alone();
    let stage = Stage::new();
    let state = StateFolder::open(System, &stage.state_path()).unwrap();
    let mut observer = stage.observer();
    let mut scanner = Scanner::new(&Signatures::built_in().unwrap());
    let (mut dead, mut refused) = (0, 0);
    for round in 0..rounds() {
        let agent = stage.agent();
        let (pid, ticks) = (agent.id(), start_ticks(agent.id()));
        let before = pidfd_inode(&mut scanner, pid);
        let path = stage.register(pid, ticks);
        let name = format!("{pid}.json");
        end(agent);
        // Within one tick PID and start can be equal, and then only a pidfd could distinguish them.
        std::thread::sleep(Duration::from_millis(20));
        let Some(heir) = reuse(&stage, pid) else {
            return eprintln!("skipped: PID reuse cannot be forced here (no privilege, or too busy)");
        };
        if before.is_some() {
            assert_ne!(before, pidfd_inode(&mut scanner, pid), "round {round}: one inode for two processes");
        }
        let old = report(&mut observer);
        assert!(old.findings.iter().any(|finding| finding.code == Code::RecycledPid), "round {round}");
        assert!(old.windows.iter().any(|window| window.pid == pid), "round {round}: the heir is no window");
        let old = record(&old, &name);
        assert_eq!(old.verdict.state, VerdictState::Dead, "round {round}: {:?}", old.verdict);
        dead += 1;
        let key = old.key.clone();
        stage.register(pid, start_ticks(pid));
        let released = act(&state, &mut observer, &stage.rules(), release(&key), &Answer::Yes);
        assert!(released.is_err(), "round {round}: a live heir's record was released: {released:?}");
        assert!(path.exists());
        refused += 1;
        std::fs::remove_file(&path).unwrap();
        end(heir);
    }
    eprintln!("{dead} reuses told as dead, {refused} releases of the heir refused");
}

/// Returns the inode that distinguishes processes of one PID, if the kernel has it.
fn pidfd_inode(scanner: &mut Scanner, pid: u32) -> Option<u64> {
    scanner.scan(&BTreeSet::from([pid])).get(pid).unwrap().pidfd_inode
}

/// Starts an agent that gets this PID, by the kernel's last PID, which only root can set.
fn reuse(stage: &Stage, pid: u32) -> Option<Agent> {
    for _ in 0..200 {
        let mut file = std::fs::OpenOptions::new().write(true).open("/proc/sys/kernel/ns_last_pid").ok()?;
        file.write_all((pid - 1).to_string().as_bytes()).ok()?;
        let child = stage.agent();
        if child.id() == pid {
            return Some(child);
        }
    }
    None
}
