//! A holder that comes back between the last look and the move keeps its record.

use claimtop::act::disk::Patience;
use claimtop::act::lock::StateFolder;
use claimtop::act::road::{Answer, Seen};
use claimtop::act::system::System;
use claimtop::act::witness::{Eyes, Witness};
use claimtop::core::assess::Policy;
use claimtop::core::journal::Ended;
use claimtop::core::process::{Process, ProcessId};
use claimtop::core::snapshot::Snapshot;
use jiff::Timestamp;

use crate::stage::{Stage, end, record, release, report, start_ticks};

/// Eyes that see a process only once the file was taken.
struct Late {
    eyes: Eyes,
    process: Process,
}

impl Witness for Late {
    fn look(&mut self) -> Snapshot {
        self.eyes.look()
    }

    fn look_again(&mut self) -> Snapshot {
        let mut snapshot = self.eyes.look();
        snapshot.processes.listed.insert(self.process.id.pid);
        snapshot.processes.by_pid.insert(self.process.id.pid, self.process.clone());
        snapshot
    }

    fn policy(&self) -> &Policy {
        self.eyes.policy()
    }

    fn now(&self) -> Timestamp {
        self.eyes.now()
    }
}

#[test]
fn what_was_taken_goes_back_when_its_holder_lives_by_now() {
    let stage = Stage::new();
    let (dead, other) = (stage.agent(), stage.agent());
    let holder = ProcessId { pid: dead.id(), start_ticks: start_ticks(dead.id()) };
    let path = stage.register(holder.pid, holder.start_ticks);
    end(dead);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut eyes = stage.eyes();
    let like_it = eyes.look().processes.get(other.id()).unwrap().clone();
    let key = record(&report(&mut eyes), &format!("{}.json", holder.pid)).key.clone();
    let mut late = Late { eyes, process: Process { id: holder, ..like_it } };

    let state = StateFolder::open(System, &stage.state_path()).unwrap();
    let now = late.now();
    let mut lock = state.lock(Patience::Wait, now).unwrap();
    let seen = Seen::see(&lock, &report(&mut late.eyes), release(&key), &stage.rules(), now).unwrap();
    let verified = seen.confirm(&Answer::Yes).unwrap().verify(&mut lock, &mut late).unwrap();
    let outcome = verified.execute(&mut late).unwrap().outcome;
    assert_eq!(outcome.ended, Ended::Changed, "{}", outcome.detail);
    assert!(outcome.detail.contains("its holder is alive by now"), "{}", outcome.detail);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    end(other);
}
