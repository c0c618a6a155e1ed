//! A holder that comes back between the last look and the move keeps its record.

use std::path::Path;

use claimtop::core::assess::Policy;
use claimtop::core::model::{Process, ProcessId, Report, Snapshot};
use claimtop::observe::Observer;
use claimtop::testing::act::{Answer, Look, Patience, Preview, StateFolder, System};
use claimtop::testing::core::{EndResult, Outcome};
use jiff::Timestamp;

use crate::stage::{SESSION, Stage, end, record, release, report, start_ticks};

/// An observer whose look changes once the file was taken.
struct Late<F> {
    observer: Observer,
    look: F,
}

impl<F: FnMut(&mut Observer) -> Snapshot> Look for Late<F> {
    fn look(&mut self) -> Snapshot {
        self.observer.look()
    }

    fn look_again(&mut self) -> Snapshot {
        (self.look)(&mut self.observer)
    }

    fn policy(&self) -> &Policy {
        self.observer.policy()
    }

    fn now(&self) -> Timestamp {
        self.observer.now()
    }
}

/// An observer whose first look was long before.
struct Early {
    observer: Observer,
    before: Option<Snapshot>,
}

impl Look for Early {
    fn look(&mut self) -> Snapshot {
        self.before.take().unwrap_or_else(|| self.observer.look())
    }

    fn policy(&self) -> &Policy {
        self.observer.policy()
    }

    fn now(&self) -> Timestamp {
        self.observer.now()
    }
}

/// Releases the record of a file that was reported, with the answer that it requires.
fn release_seen(stage: &Stage, name: &str, reported: &Report, observer: &mut impl Look) -> Outcome {
    let state = StateFolder::open(System, &stage.state_path()).unwrap();
    let now = observer.now();
    let mut lock = state.lock(Patience::Wait, now).unwrap();
    let key = record(reported, name).key.clone();
    let seen = Preview::look(&lock, reported, release(&key), &stage.rules(), now).unwrap();
    let answer = seen.wanted().map_or(Answer::Yes, Answer::Typed);
    let verified = seen.confirm(&answer).unwrap().verify(&mut lock, observer).unwrap();
    verified.execute(observer).unwrap().outcome
}

/// Releases the record of a file, and looks by `look` once it was taken.
fn release_late(stage: &Stage, name: &str, look: impl FnMut(&mut Observer) -> Snapshot) -> Outcome {
    let mut late = Late { observer: stage.observer(), look };
    let reported = report(&mut late.observer);
    release_seen(stage, name, &reported, &mut late)
}

/// Looks, and sees an ended process as if it were alive.
fn look_with(observer: &mut Observer, process: &Process) -> Snapshot {
    let mut snapshot = observer.look();
    snapshot.processes.listed.insert(process.id.pid);
    snapshot.processes.by_pid.insert(process.id.pid, process.clone());
    snapshot
}

/// Registers an ended process beside a live one; returns how it was.
fn dead_beside_living(stage: &Stage, living: u32) -> Process {
    let dead = stage.agent();
    let id = ProcessId { pid: dead.id(), start_ticks: start_ticks(dead.id()) };
    stage.register(id.pid, id.start_ticks);
    stage.register(living, start_ticks(living));
    end(dead);
    Process { id, ..stage.observer().look().processes.get(living).unwrap().clone() }
}

#[test]
fn what_was_taken_goes_back_when_its_holder_lives_by_now() {
    let stage = Stage::new();
    let other = stage.agent();
    let holder = dead_beside_living(&stage, other.id());
    let name = format!("{}.json", holder.id.pid);
    let path = stage.path("home/.claude/sessions").join(&name);
    let text = std::fs::read_to_string(&path).unwrap();
    let outcome = release_late(&stage, &name, |observer| look_with(observer, &holder));
    assert_eq!(outcome.ended, EndResult::Changed, "{}", outcome.detail);
    assert!(outcome.detail.contains("its holder is now alive"), "{}", outcome.detail);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    end(other);
}

#[test]
fn what_was_taken_goes_back_when_another_record_says_by_now_that_its_session_runs() {
    let stage = Stage::new();
    let agent = stage.agent();
    let text = format!("{SESSION}\n2026-11-20T10:00:00.000000\n");
    let slot = stage.write("tmp/claude_session_shop", &text);
    let outcome = release_late(&stage, "claude_session_shop", |observer| {
        stage.register(agent.id(), start_ticks(agent.id()));
        observer.look()
    });
    assert_eq!(outcome.ended, EndResult::Changed, "{}", outcome.detail);
    assert!(outcome.detail.contains("its holder is now alive"), "{}", outcome.detail);
    assert_eq!(std::fs::read_to_string(slot).unwrap(), text);
    end(agent);
}

/// Releases the record of a file after another file, or the same, has lost its record since the last report.
fn release_after(stage: &Stage, name: &str, written: &Path) -> Outcome {
    let mut observer = stage.observer();
    let (reported, before) = (report(&mut observer), Some(observer.look()));
    let mut early = Early { observer, before };
    // Between the report and the look at the file itself, both times.
    std::fs::write(written, "nothing").unwrap();
    release_seen(stage, name, &reported, &mut early)
}

#[test]
fn what_is_no_record_by_now_goes_back() {
    let stage = Stage::new();
    let other = stage.agent();
    let name = format!("{}.json", dead_beside_living(&stage, other.id()).id.pid);
    let path = stage.path("home/.claude/sessions").join(&name);
    let outcome = release_after(&stage, &name, &path);
    assert_eq!(outcome.ended, EndResult::Changed, "{}", outcome.detail);
    assert!(outcome.detail.ends_with("is no longer a record"), "{}", outcome.detail);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "nothing");
    end(other);
}

#[test]
fn what_belongs_to_a_record_goes_with_it_even_if_it_is_no_record_by_now() {
    let stage = Stage::new();
    let agent = stage.agent();
    let name = format!("swarm_session_{}.json", agent.id());
    let companion = format!("home/.maia/sessions/learning_{}", name.trim_start_matches("swarm_"));
    let session = stage.write(&format!("home/.maia/sessions/{name}"), r#"{"current_agent":"sre_agent"}"#);
    let companion = stage.write(&companion, r#"{"session_id":"s_1"}"#);
    end(agent);
    // Another process runs here: it is unknown whether this one owns the two.
    let other = stage.agent();
    let outcome = release_after(&stage, &name, &companion);
    assert_eq!(outcome.ended, EndResult::Done, "{}", outcome.detail);
    assert!(!session.exists() && !companion.exists());
    let parked = std::fs::read_dir(stage.state_path().join("parked")).unwrap();
    let texts = parked.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    assert!(texts.collect::<Vec<_>>().contains(&"nothing".to_owned()));
    end(other);
}

#[test]
fn what_cannot_go_back_stays_parked_beside_what_its_holder_has_written_anew() {
    let stage = Stage::new();
    let other = stage.agent();
    let holder = dead_beside_living(&stage, other.id());
    let name = format!("{}.json", holder.id.pid);
    let path = stage.path("home/.claude/sessions").join(&name);
    let old = std::fs::read_to_string(&path).unwrap();
    let outcome = release_late(&stage, &name, |observer| {
        std::fs::write(&path, "{\"new\":true}").unwrap();
        look_with(observer, &holder)
    });
    assert_eq!(outcome.ended, EndResult::Stuck, "{}", outcome.detail);
    assert!(outcome.detail.contains("there is a file at"), "{}", outcome.detail);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"new\":true}");
    let parked = std::fs::read_dir(stage.state_path().join("parked")).unwrap().next().unwrap().unwrap();
    assert_eq!(std::fs::read_to_string(parked.path()).unwrap(), old);
    end(other);
}
