//! Tombstones: the lessons of looks about the dead, and that these stay.

use std::collections::BTreeSet;

use jiff::SignedDuration;

use claimtop::core::assess::assess;
use claimtop::core::model::{
    Details, Format, InnerPids, Process, Reason, Role, SeenAgent, Snapshot, VerdictState,
};
use claimtop::testing::core::{Lesson, TombstoneKeeper, has_exited, merged};

use crate::common;
use crate::common::policy;

const SESSION: &str = "95fe798d-3725-4649-974a-0dec79220193";

const WORLD: &str = r#"
title = "an agent, as its own registry names it"
PROCESS
[[file]]
path = "~/.claude/sessions/4711.json"
written = "30 min ago"
text = '''{"pid":4711,"sessionId":"95fe798d-3725-4649-974a-0dec79220193","cwd":"/w","startedAt":0,"procStart":"{{tick 20 hours ago}}","version":"2.1.197","kind":"interactive","entrypoint":"cli","name":"alpha","status":"idle"}'''
[expect]
findings = []
"#;

const LIVES: &str = "[[process]]\npid = 4711\nname = \"claude\"\nstarted = \"20 hours ago\"\n";

fn world(process: &str) -> Snapshot {
    common::parse(&WORLD.replace("PROCESS", process), "a world").snapshot()
}

fn learn(ledger: &mut TombstoneKeeper, snapshot: &Snapshot) -> Lesson {
    ledger.learn(snapshot, &assess(snapshot, policy()))
}

/// Fails unless exactly this is learnt from one look.
#[track_caller]
fn check(snapshot: &Snapshot, expected: Option<Reason>) {
    let lesson = learn(&mut TombstoneKeeper::default(), snapshot);
    let found: Vec<_> = lesson.learnt.iter().map(|stone| (stone.id.pid, stone.reason)).collect();
    assert_eq!(found, Vec::from_iter(expected.map(|reason| (4711, reason))));
    assert!(lesson.refuted.is_empty());
}

#[test]
fn an_agent_that_is_named_with_pid_and_start_gets_one_by_proof() {
    let exited = format!("{LIVES}state = \"zombie\"\nexited = true\n");
    check(&world(""), Some(Reason::NoProcess));
    check(&world(&exited), Some(Reason::Exited));
    check(&world(&LIVES.replace("20 hours", "3 hours")), Some(Reason::OtherProcess));
    let lesson = learn(&mut TombstoneKeeper::default(), &world(""));
    assert_eq!(lesson.learnt.first().unwrap().session_id.as_ref().unwrap().raw(), SESSION);
}

#[test]
fn nobody_gets_one_who_lives_or_is_dead_without_proof() {
    check(&world(LIVES), None);
    // Other threads may be alive, as far as a state alone shows.
    check(&world(&format!("{LIVES}state = \"zombie\"\n")), None);
    check(&world("[host]\npartial_scan = \"hidepid\"\n"), None);
    check(&world("[host]\npid_namespace = 4026532999\n"), None);
    let inside =
        "[[process]]\npid = 9899\nname = \"bash\"\nstarted = \"20 hours ago\"\nns_pids = [9899, 4711]\n";
    check(&world(inside), None);
    check(&world(&inside.replace("[9899, 4711]", "[]")), None);
}

#[test]
fn who_lived_in_the_last_look_gets_one_though_its_entry_went_with_it() {
    let mut ledger = TombstoneKeeper::default();
    assert!(learn(&mut ledger, &world(LIVES)).is_empty());
    let mut left = world("");
    left.records.clear();
    let learnt = learn(&mut ledger, &left).learnt;
    let stone = learnt.first().unwrap();
    assert_eq!((stone.id.pid, stone.session_id.as_ref().unwrap().raw()), (4711, SESSION));
    assert!(learn(&mut ledger, &left).is_empty(), "it is learnt once");
}

/// An agent that ends cleanly removes its entry and continues for a moment; and when one has exited, some of its
/// threads may not have yet.
#[test]
fn who_goes_on_without_its_entry_gets_one_when_its_end_is_proven() {
    let mut ledger = TombstoneKeeper::default();
    let exiting = format!("{LIVES}state = \"zombie\"\n");
    assert!(learn(&mut ledger, &world(LIVES)).is_empty());
    for process in [LIVES, exiting.as_str()] {
        let mut look = world(process);
        look.records.clear();
        assert!(learn(&mut ledger, &look).is_empty());
    }
    let mut left = world("");
    left.records.clear();
    let learnt = learn(&mut ledger, &left).learnt;
    let stone = learnt.first().unwrap();
    assert_eq!((stone.id.pid, stone.session_id.as_ref().unwrap().raw()), (4711, SESSION));
    assert_eq!(stone.name.as_ref().unwrap().raw(), "alpha", "the name went with the entry");
    assert!(learn(&mut ledger, &left).is_empty(), "it is learnt once");
}

/// Another claimtop may prove the death first, and know less.
#[test]
fn one_says_when_its_process_was_seen_alive_and_learns_it_later_if_need_be() {
    let mut left = world("");
    let bare = learn(&mut TombstoneKeeper::default(), &left).learnt;
    assert_eq!(bare.first().unwrap().seen_alive_at, None);
    let id = bare.first().unwrap().id;
    let at = |minutes| left.taken_at + SignedDuration::from_mins(minutes);
    for (minutes, expected) in [(-1, Some(at(-1))), (1, None)] {
        let mut look = left.clone();
        look.seen_agents = vec![SeenAgent { id, last_seen_at: at(minutes), registered_at: None }];
        let stones = learn(&mut TombstoneKeeper::default(), &look).learnt;
        assert_eq!(stones.first().unwrap().seen_alive_at, expected);
        look.tombstones = bare.clone().into();
        let later = learn(&mut TombstoneKeeper::default(), &look).learnt;
        let kept = merged(bare.clone(), &later);
        assert_eq!(Vec::from_iter(kept.iter().map(|stone| stone.seen_alive_at)), [expected]);
    }
    left.tombstones = bare.into();
    assert!(learn(&mut TombstoneKeeper::default(), &left).is_empty(), "there is nothing to add");
}

#[test]
fn a_living_process_refutes_its_tombstone_and_only_that() {
    let stones = learn(&mut TombstoneKeeper::default(), &world("")).learnt;
    let mut lives = world(LIVES);
    lives.tombstones = stones.clone().into();
    let lesson = learn(&mut TombstoneKeeper::default(), &lives);
    assert_eq!(lesson, Lesson { refuted: vec![stones.first().unwrap().id], ..Lesson::default() });
    let mut heir = world(&LIVES.replace("20 hours", "3 hours"));
    heir.tombstones = stones.into();
    assert!(learn(&mut TombstoneKeeper::default(), &heir).is_empty());
}

#[test]
fn a_known_tombstone_is_not_learnt_again() {
    let mut look = world("");
    look.tombstones = learn(&mut TombstoneKeeper::default(), &look).learnt.into();
    assert!(learn(&mut TombstoneKeeper::default(), &look).is_empty());
}

/// A list that is not whole, and a process of an unknown namespace that began at no holder's start.
fn doubtful(mut look: Snapshot) -> Snapshot {
    look.processes.partial = Some("doubt".to_owned());
    let any = look.processes.by_pid.values().next().cloned();
    if let Some(any) = any {
        let id =
            claimtop::core::model::ProcessId { pid: 4_100_002, start_ticks: any.id.start_ticks + 7_777_777 };
        let nobody = Process {
            id,
            inner: InnerPids::Unread,
            is_renamed: false,
            details: Some(Details::default()),
            has_exited: None,
            ..any
        };
        look.processes.listed.insert(id.pid);
        look.processes.by_pid.insert(id.pid, nobody);
    }
    look
}

#[test]
fn in_every_world_whoever_has_a_tombstone_stays_dead_and_nobody_who_lives_gets_one() {
    let mut buried = 0;
    for case in common::cases() {
        let (path, mut look) = (&case.path, case.snapshot().clone());
        // A note may spare a session, and a lock of a working tree is judged by the processes that work there.
        let is_plain = look.bound.notes.is_empty() && look.bound.is_whole();
        if !look.tombstones.is_empty() || !is_plain {
            continue;
        }
        let lesson = learn(&mut TombstoneKeeper::default(), &look);
        let lives = |process: &&Process| !has_exited(process);
        let living: BTreeSet<_> =
            look.processes.by_pid.values().filter(lives).map(|process| process.id).collect();
        for stone in &lesson.learnt {
            assert!(!living.contains(&stone.id), "{}: {stone:?} lives", path.display());
        }
        look.tombstones = merged(lesson.learnt, &[]).into();
        let doubtful = doubtful(look);
        for record in assess(&doubtful, policy()).records() {
            let Some(holder) = record
                .holder
                .as_ref()
                .filter(|holder| holder.role == Role::Agent && record.format != Format::Git)
            else {
                continue;
            };
            let pid = holder.pid.as_ref().and_then(|pid| pid.valid());
            let id = pid.zip(holder.start_ticks);
            let id = id.map(|(pid, start_ticks)| claimtop::core::model::ProcessId { pid, start_ticks });
            let Some(stone) = id.and_then(|id| doubtful.tombstone(id)) else { continue };
            let verdict = &record.verdict;
            if verdict.state == VerdictState::Unknown && verdict.reason == Reason::OtherHost {
                continue;
            }
            assert_eq!(
                (verdict.state, verdict.reason),
                (VerdictState::Dead, stone.reason),
                "{}",
                path.display()
            );
            buried += 1;
        }
    }
    assert!(buried > 10, "only {buried} are buried in all worlds");
}
