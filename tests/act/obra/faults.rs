//! Every call of a release and of its undo is refused once and preceded by a kill once, and others interfere at every
//! look: all rows change or none, and the journal records which.

use std::cell::Cell;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use claimtop::core::assess::Policy;
use claimtop::core::model::Snapshot;
use claimtop::observe::Observer;
use claimtop::testing::act::{ActionError, Look, System};
use claimtop::testing::core::{EndResult, History};
use jiff::Timestamp;
use rustix::io::Errno;

use crate::faulty::{Fault, FaultyDisk};
use crate::obra::stage::Stage;
use crate::obra::writer::Writer;

/// Marks the process that is to be killed: its stage, its deed, and the moment.
const CHILD: &str = "CLAIMTOP_TEST_OBRA_CRASH";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Release,
    Undo,
}

/// A stage before a deed, with the rows before and after it.
fn scene(deed: Deed) -> (Stage, Vec<String>) {
    let stage = Stage::new();
    if deed == Deed::Undo {
        stage.release(&stage.state(System)).unwrap();
    }
    let before = stage.rows();
    (stage, before)
}

/// Does the deed on a disk; returns the number of calls, or none if there is no state folder.
fn carry_out(stage: &Stage, deed: Deed, disk: FaultyDisk) -> (Result<(), ActionError>, usize) {
    let state = match stage.try_state(disk) {
        Ok(state) => state,
        Err(trouble) => return (Err(trouble), 0),
    };
    let done = match deed {
        Deed::Release => stage.release(&state),
        Deed::Undo => stage.undo(&state, 1),
    };
    (done.map(drop), state.disk.calls())
}

/// Checks that rows, parked copies and the journal agree.
#[track_caller]
fn check(stage: &Stage, deed: Deed, before: &[String], history: &History, what: &str) {
    let number = if deed == Deed::Release { 1 } else { 2 };
    let entry = history.entries.iter().find(|entry| entry.number == number);
    let ended = entry.map(|entry| entry.outcome.as_ref().unwrap().ended);
    let rows = stage.rows();
    let changed = rows.iter().zip(before).filter(|(now, before)| now != before).count();
    match ended {
        Some(EndResult::Done) => assert_eq!(changed, 3, "{what}: {rows:?}"),
        Some(EndResult::Failed | EndResult::Changed) | None => assert_eq!(changed, 0, "{what}: {rows:?}"),
        Some(EndResult::Stuck | EndResult::Unknown | EndResult::Partly) => panic!("{what}: {ended:?}"),
    }
    let copies = 1 + usize::from(deed == Deed::Undo);
    let kept = if ended == Some(EndResult::Done) { copies } else { copies - 1 };
    assert_eq!(stage.parked().len(), kept, "{what}: {ended:?}");
    assert_eq!(&stage.recovered(), history, "{what}: recovering twice is recovering once");
}

#[test]
fn every_refused_call_leaves_all_rows_or_none() {
    for deed in [Deed::Release, Deed::Undo] {
        let (done, calls) = carry_out(&scene(deed).0, deed, FaultyDisk::new(0, Fault::Kill, None));
        done.unwrap();
        for at in 1..=calls {
            for fault in [Fault::Refuse(Errno::NOSPC), Fault::Half(Errno::IO)] {
                let (stage, before) = scene(deed);
                let _ = carry_out(&stage, deed, FaultyDisk::new(at, fault, None));
                check(&stage, deed, &before, &stage.recovered(), &format!("{deed:?}, call {at}, {fault:?}"));
            }
        }
    }
}

#[test]
fn every_kill_leaves_all_rows_or_none() {
    for deed in [Deed::Release, Deed::Undo] {
        for moment in ["call", "look"] {
            let mut was_killed = true;
            let mut at = 0;
            while was_killed {
                at += 1;
                let (stage, before) = scene(deed);
                was_killed = killed(&stage, deed, moment, at);
                check(&stage, deed, &before, &stage.recovered(), &format!("{deed:?}, {moment} {at}"));
            }
            assert!(at > 2, "{deed:?} was never killed at a {moment}");
        }
    }
}

/// Lets a process of its own be killed at a moment; returns whether it got that far.
fn killed(stage: &Stage, deed: Deed, moment: &str, at: usize) -> bool {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["obra::faults::child", "--exact", "--ignored"])
        .env(CHILD, format!("{deed:?} {moment} {at} {}", stage.root().display()))
        .stdout(Stdio::null())
        .status()
        .unwrap();
    let signal = status.signal();
    assert!(status.success() || signal == Some(9), "{deed:?}, {moment} {at}: {status}");
    signal.is_some()
}

/// The process that is killed; not a test by itself.
#[test]
#[ignore = "is called by the test of kills"]
fn child() {
    let Ok(told) = std::env::var(CHILD) else { return };
    let told: Vec<&str> = told.splitn(4, ' ').collect();
    let &[deed, moment, at, root] = told.as_slice() else { panic!("{told:?}") };
    let (stage, at) = (Stage::at(Path::new(root)), at.parse().unwrap());
    let deed = if deed == "Release" { Deed::Release } else { Deed::Undo };
    if moment == "call" {
        return carry_out(&stage, deed, FaultyDisk::new(at, Fault::Kill, None)).0.unwrap();
    }
    let mut eyes = Disturbed::new(&stage, at, || {
        let own = rustix::process::getpid();
        rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
    });
    match deed {
        Deed::Release => stage.release_by(&stage.state(System), &mut eyes).map(drop).unwrap(),
        Deed::Undo => stage.undo_by(&stage.state(System), 1, &mut eyes).map(drop).unwrap(),
    }
}

/// An observer with an event right before one of its looks.
struct Disturbed<F> {
    eyes: Observer,
    at: usize,
    looks: Cell<usize>,
    happens: F,
}

impl<F: FnMut()> Disturbed<F> {
    fn new(stage: &Stage, at: usize, happens: F) -> Self {
        Self { eyes: stage.eyes(), at, looks: Cell::new(0), happens }
    }
}

impl<F: FnMut()> Look for Disturbed<F> {
    fn look(&mut self) -> Snapshot {
        self.looks.set(self.looks.get() + 1);
        if self.looks.get() == self.at {
            (self.happens)();
        }
        self.eyes.look()
    }

    fn policy(&self) -> &Policy {
        self.eyes.policy()
    }

    fn now(&self) -> Timestamp {
        self.eyes.now()
    }
}

#[test]
fn whoever_comes_in_between_is_not_written_over() {
    for at in 1.. {
        let stage = Stage::new();
        let other = stage.connect();
        other.busy_timeout(std::time::Duration::ZERO).unwrap();
        let mut has_renewed = false;
        let mut eyes = Disturbed::new(&stage, at, || {
            // From the last look on no other process can write.
            has_renewed =
                other.execute("UPDATE session_record SET total_turns = 99 WHERE id = 6", []).is_ok();
        });
        let done = stage.release_by(&stage.state(System), &mut eyes);
        if eyes.looks.get() < at {
            return assert!(at > 2, "there was no look in between");
        }
        let renewed = stage.rows()[1].contains("Integer(99)");
        assert_eq!(renewed, has_renewed);
        let is_done = done.is_ok_and(|receipt| receipt.outcome.ended == EndResult::Done);
        assert_ne!(is_done, renewed, "look {at}");
    }
}

#[test]
fn an_orchestrator_that_comes_in_between_keeps_everything() {
    for at in 1.. {
        let stage = Stage::new();
        let before = stage.rows();
        let mut writer = None;
        let mut eyes = Disturbed::new(&stage, at, || writer = Some(Writer::obra(&stage)));
        let done = stage.release_by(&stage.state(System), &mut eyes);
        if eyes.looks.get() < at {
            return assert!(at > 2, "there was no look in between");
        }
        assert_eq!(stage.rows(), before, "look {at}");
        assert!(
            done.is_err() || done.is_ok_and(|receipt| receipt.outcome.ended != EndResult::Done),
            "look {at}"
        );
        assert!(writer.unwrap().pid() > 0);
    }
}
