//! Forced reuse of PIDs: the heir is never taken for the dead, and never loses what is its own.

use std::io::Write;
use std::time::Duration;

use claimtop::act::lock::StateFolder;
use claimtop::act::road::Answer;
use claimtop::act::system::System;
use claimtop::core::report::VerdictState;

use crate::stage::{Agent, Stage, act, end, record, release, report, start_ticks};

const ROUNDS: u32 = 300;

#[test]
fn an_heir_of_a_pid_is_never_the_dead_and_keeps_its_own() {
    let stage = Stage::new();
    let state = StateFolder::open(System, &stage.state_path()).unwrap();
    let mut eyes = stage.eyes();
    let (mut dead, mut refused) = (0, 0);
    for round in 0..ROUNDS {
        let agent = stage.agent();
        let (pid, ticks) = (agent.id(), start_ticks(agent.id()));
        let path = stage.register(pid, ticks);
        let name = format!("{pid}.json");
        end(agent);
        // Within one tick PID and start can be equal, and then only a pidfd could tell.
        std::thread::sleep(Duration::from_millis(20));
        let Some(heir) = reuse(&stage, pid) else {
            return eprintln!("skipped: PID reuse cannot be forced here (no privilege, or too busy)");
        };
        let old = report(&mut eyes);
        let old = record(&old, &name);
        assert_eq!(old.verdict.state, VerdictState::Dead, "round {round}: {:?}", old.verdict);
        dead += 1;
        let key = old.key.clone();
        stage.register(pid, start_ticks(pid));
        let released = act(&state, &mut eyes, &stage.rules(), release(&key), &Answer::Yes);
        assert!(released.is_err(), "round {round}: a live heir's record was released: {released:?}");
        assert!(path.exists());
        refused += 1;
        std::fs::remove_file(&path).unwrap();
        end(heir);
    }
    eprintln!("{dead} reuses told as dead, {refused} releases of the heir refused");
}

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
