//! The whole way from a plan to its undo.

use std::path::PathBuf;

use claimtop::core::model::Key;
use claimtop::observe::Observer;
use claimtop::testing::act::{
    ActionError, Answer, Disk, Executor, Look, Patience, Preview, Receipt, Rules, StateFolder, System,
};
use claimtop::testing::core::{Action, EndResult, Request, RestoreTo};
use jiff::{SignedDuration, Timestamp};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::actions::undo::{ACL, NOTE, access_list, give, given};
use crate::faulty::{Fault, FaultyDisk};
use crate::stage::{Stage, act, end, record, release, report, start_ticks};

#[test]
fn a_dead_record_is_parked_and_restored_with_bytes_mode_and_time() {
    let stage = Stage::new();
    let agent = stage.agent();
    let path = stage.register(agent.id(), start_ticks(agent.id()));
    let name = format!("{}.json", agent.id());
    let before = (std::fs::read(&path).unwrap(), std::fs::metadata(&path).unwrap().modified().unwrap());
    let mut observer = stage.observer();
    let state = StateFolder::open(System, &stage.state_path()).unwrap();
    let key = record(&report(&mut observer), &name).key.clone();

    let refused = act(&state, &mut observer, &stage.rules(), release(&key), &Answer::Yes).unwrap_err();
    assert!(matches!(refused, ActionError::Never(_)), "a live window's registry: {refused}");
    end(agent);
    let receipt = act(&state, &mut observer, &stage.rules(), release(&key), &Answer::Yes).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
    assert!(!path.exists());
    assert_eq!(std::fs::read_dir(stage.state_path().join("parked")).unwrap().count(), 1);

    let undo = Request::Undo { entry: receipt.entry, to: RestoreTo::Origin };
    let undone = act(&state, &mut observer, &stage.rules(), undo.clone(), &Answer::Yes).unwrap();
    assert_eq!(undone.outcome.ended, EndResult::Done, "{}", undone.outcome.detail);
    let after = (std::fs::read(&path).unwrap(), std::fs::metadata(&path).unwrap().modified().unwrap());
    assert_eq!(before, after);
    let again = act(&state, &mut observer, &stage.rules(), undo, &Answer::Yes).unwrap_err();
    assert_eq!(again.to_string(), "entry 1 cannot be undone: entry 2 has undone it");
}

#[test]
fn a_state_folder_that_was_deleted_or_replaced_is_made_anew() {
    let stage = Stage::new();
    let mut hand = Executor::new(&stage.state_path(), stage.observer(), stage.rules()).unwrap();
    for round in 1..=3 {
        let agent = stage.agent();
        let path = stage.register(agent.id(), start_ticks(agent.id()));
        end(agent);
        let report = hand.report();
        let key = record(&report, path.file_name().unwrap().to_str().unwrap()).key.clone();
        let seen = hand.see(&report, &[release(&key)]).unwrap().remove(0).unwrap();
        let receipt = hand.carry_out(seen, &Answer::Yes).unwrap().receipt;
        assert_eq!(receipt.outcome.ended, EndResult::Done, "round {round}: {}", receipt.outcome.detail);
        assert_eq!(hand.history().unwrap().entries.len(), 1, "round {round}");
        std::fs::remove_dir_all(stage.state_path()).unwrap();
        if round == 2 {
            std::fs::create_dir(stage.state_path()).unwrap();
        }
    }
}

#[test]
fn a_hand_that_only_looks_sees_the_same_and_does_nothing() {
    let stage = Stage::new();
    let agent = stage.agent();
    let path = stage.register(agent.id(), start_ticks(agent.id()));
    end(agent);
    let mut looking = Executor::looking(&stage.state_path(), stage.observer(), stage.rules()).unwrap();
    let report = looking.report();
    let request = release(&record(&report, path.file_name().unwrap().to_str().unwrap()).key);
    let seen = looking.see(&report, std::slice::from_ref(&request)).unwrap().remove(0).unwrap();
    assert_eq!(
        looking.carry_out(seen.clone(), &Answer::Yes).unwrap_err().to_string(),
        "this claimtop is read-only"
    );
    assert!(path.exists() && !stage.state_path().exists());

    let mut acting = Executor::new(&stage.state_path(), stage.observer(), stage.rules()).unwrap();
    let again = acting.see(&report, &[request]).unwrap().remove(0).unwrap();
    assert_eq!(again.code(), seen.code());
    // An action does not prevent others from looking.
    let state = StateFolder::open(System, &stage.state_path()).unwrap();
    let _lock = state.lock(Patience::Wait, looking.now()).unwrap();
    assert!(looking.see(&report, &[seen.request().clone()]).unwrap().remove(0).is_ok());
}

#[test]
fn a_taken_place_is_told_and_restored_beside() {
    let stage = Stage::new();
    let agent = stage.agent();
    let path = stage.register(agent.id(), start_ticks(agent.id()));
    let name = format!("{}.json", agent.id());
    end(agent);
    let old = std::fs::read_to_string(&path).unwrap();
    let mut observer = stage.observer();
    let state = StateFolder::open(System, &stage.state_path()).unwrap();
    let key = record(&report(&mut observer), &name).key.clone();
    let receipt = act(&state, &mut observer, &stage.rules(), release(&key), &Answer::Yes).unwrap();
    std::fs::write(&path, "{\"new\":true}").unwrap();
    let undo = |to| Request::Undo { entry: receipt.entry, to };
    let taken =
        act(&state, &mut observer, &stage.rules(), undo(RestoreTo::Origin), &Answer::Yes).unwrap_err();
    assert!(matches!(taken, ActionError::Taken(_)), "{taken}");
    assert!(taken.to_string().contains("12 bytes of"), "{taken}");
    act(&state, &mut observer, &stage.rules(), undo(RestoreTo::Beside), &Answer::Yes).unwrap();
    let beside = |number: &str| path.with_file_name(format!("{name}.restored{number}"));
    assert_eq!(std::fs::read_to_string(beside("")).unwrap(), old);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"new\":true}");
    // A second version has a different name.
    std::fs::write(&path, &old).unwrap();
    let receipt = act(&state, &mut observer, &stage.rules(), release(&key), &Answer::Yes).unwrap();
    std::fs::write(&path, "{\"new\":true}").unwrap();
    let undo = Request::Undo { entry: receipt.entry, to: RestoreTo::Beside };
    act(&state, &mut observer, &stage.rules(), undo, &Answer::Yes).unwrap();
    for number in ["", "-2"] {
        assert_eq!(std::fs::read_to_string(beside(number)).unwrap(), old, "{number}");
    }
}

#[test]
fn a_legacy_record_moves_to_its_window_and_back() {
    let stage = Stage::new();
    let agent = stage.agent();
    let text = r#"{"current_agent":"sre_agent","unknown":1.50}"#;
    let legacy = stage.write(&format!("tmp/maia_active_swarm_session_{}.json", agent.id()), text);
    let mut observer = stage.observer();
    let state = StateFolder::open(System, &stage.state_path()).unwrap();
    let key = record(&report(&mut observer), legacy.file_name().unwrap().to_str().unwrap()).key.clone();
    let migrate = Request::Act { key, action: Action::Migrate };
    let receipt = act(&state, &mut observer, &stage.rules(), migrate, &Answer::Yes).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
    let current = stage.path(&format!("home/.maia/sessions/swarm_session_{}.json", agent.id()));
    assert_eq!(std::fs::read_to_string(&current).unwrap(), text);
    assert!(!legacy.exists());
    let undo = Request::Undo { entry: receipt.entry, to: RestoreTo::Origin };
    let undone = act(&state, &mut observer, &stage.rules(), undo, &Answer::Yes).unwrap();
    assert_eq!(undone.outcome.ended, EndResult::Done, "{}", undone.outcome.detail);
    assert_eq!((std::fs::read_to_string(&legacy).unwrap().as_str(), current.exists()), (text, false));
    end(agent);
}

/// Writes the state of an entire session whose owner lived before the last boot.
fn dead_entire_session(stage: &Stage) -> (PathBuf, String) {
    let git = stage.path("home/shop/.git");
    for below in ["objects", "refs/heads"] {
        std::fs::create_dir_all(git.join(below)).unwrap();
    }
    std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    let text = format!(
        r#"{{"session_id":"db4e04a8-9640-4079-8e03-5ac2d1294846","base_commit":"3397a23560d2f07f1d894e0049da6c8fb7a9553b","worktree_path":"{}","started_at":"2023-11-10T10:00:00Z","phase":"idle","last_interaction_time":"2023-11-10T11:00:00Z","checkpoint_count":0,"agent_type":"Gemini CLI","owner":{{"pid":4242,"start":"777","boot":"{}","host":"{}","name":"claude"}}}}"#,
        stage.path("home/shop").display(),
        std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap().trim(),
        std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim(),
    );
    let path = stage.write("home/shop/.git/entire-sessions/db4e04a8-9640-4079-8e03-5ac2d1294846.json", &text);
    Stage::age(&path);
    (path, text)
}

/// Releases that session, which ends it in place.
fn end_session(stage: &Stage, state: &StateFolder<System>, observer: &mut Observer) -> Receipt {
    let key = record(&report(observer), "5ac2d1294846.json").key.clone();
    let receipt = act(state, observer, &stage.rules(), release(&key), &Answer::Yes).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
    receipt
}

#[test]
fn an_entire_session_ends_in_place_and_back() {
    let stage = Stage::new();
    let (path, text) = dead_entire_session(&stage);
    let mut observer = stage.observer_of(&["home/shop"]);
    let state = StateFolder::open(System, &stage.state_path()).unwrap();
    let receipt = end_session(&stage, &state, &mut observer);
    let ended = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        ended,
        text.replace(r#""phase":"idle""#, r#""phase":"ended","ended_at":"2023-11-10T11:00:00Z""#)
    );
    let undo = Request::Undo { entry: receipt.entry, to: RestoreTo::Origin };
    let undone = act(&state, &mut observer, &stage.rules(), undo, &Answer::Yes).unwrap();
    assert_eq!(undone.outcome.ended, EndResult::Done, "{}", undone.outcome.detail);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn an_entire_session_comes_back_where_its_folder_has_gone() {
    let stage = Stage::new();
    let (path, text) = dead_entire_session(&stage);
    let mut observer = stage.observer_of(&["home/shop"]);
    let state = StateFolder::open(System, &stage.state_path()).unwrap();
    let receipt = end_session(&stage, &state, &mut observer);
    std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    let undo = Request::Undo { entry: receipt.entry, to: RestoreTo::Origin };
    let undone = act(&state, &mut observer, &stage.rules(), undo, &Answer::Yes).unwrap();
    assert_eq!(undone.outcome.ended, EndResult::Done, "{}", undone.outcome.detail);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn what_its_system_has_written_since_stays_and_the_older_content_comes_back_beside_it() {
    let stage = Stage::new();
    let (path, text) = dead_entire_session(&stage);
    let mut observer = stage.observer_of(&["home/shop"]);
    let state = StateFolder::open(System, &stage.state_path()).unwrap();
    let receipt = end_session(&stage, &state, &mut observer);
    std::fs::write(&path, "{}").unwrap();
    let undo = |to| Request::Undo { entry: receipt.entry, to };
    let refused =
        act(&state, &mut observer, &stage.rules(), undo(RestoreTo::Origin), &Answer::Yes).unwrap_err();
    assert!(matches!(refused, ActionError::Taken(_)), "{refused}");
    assert!(refused.to_string().ends_with("can be restored beside it (--beside)"), "{refused}");
    let beside = act(&state, &mut observer, &stage.rules(), undo(RestoreTo::Beside), &Answer::Yes).unwrap();
    assert_eq!(beside.outcome.ended, EndResult::Done, "{}", beside.outcome.detail);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}");
    // The entire CLI removes every file whose name begins with the session's ID together with it.
    let restored = path.with_file_name(format!(".{}.restored", path.file_name().unwrap().display()));
    assert_eq!(std::fs::read_to_string(restored).unwrap(), text);
}

#[test]
fn a_session_that_has_ended_keeps_group_access_list_and_attributes() {
    let stage = Stage::new();
    let (path, _) = dead_entire_session(&stage);
    let folder = path.parent().unwrap();
    // A new file gets a list from its folder, even if the old one had none.
    if let Err(errno) = give(folder, "system.posix_acl_default", &access_list()) {
        return eprintln!("skipped: no access lists here: {errno}");
    }
    for has_list in [false, true] {
        if has_list {
            give(&path, ACL, &access_list()).unwrap();
        }
        give(&path, NOTE, b"of mine").unwrap();
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&path, None, Some(1234)).unwrap();
        }
        let before = given(&path);
        assert_eq!(before.1[1].is_empty(), !has_list, "{before:?}");
        let mut observer = stage.observer_of(&["home/shop"]);
        let state = StateFolder::open(System, &stage.state_path()).unwrap();
        let receipt = end_session(&stage, &state, &mut observer);
        assert!(std::fs::read_to_string(&path).unwrap().contains(r#""phase":"ended""#));
        assert_eq!(given(&path), before);
        let undo = Request::Undo { entry: receipt.entry, to: RestoreTo::Origin };
        let undone = act(&state, &mut observer, &stage.rules(), undo, &Answer::Yes).unwrap();
        assert_eq!(undone.outcome.ended, EndResult::Done, "{}", undone.outcome.detail);
        assert_eq!(given(&path), before);
    }
}

#[test]
fn a_file_that_was_written_just_now_is_planned_and_not_touched() {
    let stage = Stage::new();
    let agent = stage.agent();
    let path = stage.register(agent.id(), start_ticks(agent.id()));
    end(agent);
    let mut observer = stage.observer();
    let state = StateFolder::open(System, &stage.state_path()).unwrap();
    let key = record(&report(&mut observer), path.file_name().unwrap().to_str().unwrap()).key.clone();
    let rules = Rules { settled_for: SignedDuration::from_hours(1), ..stage.rules() };
    let now = observer.now();
    let mut lock = state.lock(Patience::None, now).unwrap();
    let seen = Preview::look(&lock, &report(&mut observer), release(&key), &rules, now).unwrap();
    let why = seen.wait.clone().unwrap().to_string();
    assert!(why.contains(" was written 0.") && why.ends_with(" s ago: wait"), "{why}");
    assert!(seen.plan.why.contains(&why));
    let refused = seen.confirm(&Answer::Yes).unwrap().verify(&mut lock, &mut observer).err().unwrap();
    assert!(matches!(&refused, ActionError::TooYoung(why) if why.ends_with(" s ago: wait")), "{refused}");
    assert!(path.exists());
    assert!(lock.history.entries.is_empty());
}

/// Starts a process that holds the lock of the state folder, as another claimtop would.
fn holder(stage: &Stage) -> Option<std::process::Child> {
    drop(StateFolder::open(System, &stage.state_path()).unwrap().lock(Patience::None, Timestamp::UNIX_EPOCH));
    let lock = stage.state_path().join("lock");
    let mut command = std::process::Command::new("flock");
    let child = command.args(["--no-fork", "--exclusive"]).arg(&lock).args(["sleep", "600"]).spawn().ok()?;
    let own = std::fs::File::open(&lock).unwrap();
    while flock(&own, FlockOperation::NonBlockingLockExclusive).is_ok() {
        flock(&own, FlockOperation::Unlock).unwrap();
        std::thread::yield_now();
    }
    Some(child)
}

#[test]
fn another_claimtop_that_is_at_work_is_named_at_once_and_not_waited_for_long() {
    let stage = Stage::new();
    let Some(mut other) = holder(&stage) else { return eprintln!("skipped: no flock(1)") };
    let pid = other.id();
    let told = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let (heard, limit) = (std::sync::Arc::clone(&told), std::time::Duration::from_millis(30));
    let on_wait = move |words: &str| heard.lock().unwrap().push(words.to_owned());
    let hand = Executor::new(&stage.state_path(), stage.observer(), stage.rules()).unwrap();
    let mut hand = hand.waiting(limit, Some(Box::new(on_wait)));
    let report = hand.report();
    let mut refused = || hand.see(&report, &[]).err().unwrap();
    let going = format!("another claimtop, PID {pid}, is at work");
    assert_eq!(refused(), ActionError::Busy(format!("{going}; nothing was done")));
    assert_eq!(told.lock().unwrap().as_slice(), [format!("{going}; waiting for 0 s at most")]);

    let process = rustix::process::Pid::from_child(&other);
    rustix::process::kill_process(process, rustix::process::Signal::STOP).unwrap();
    let stopped = format!(
        "another claimtop, PID {pid}, is stopped in the middle of its work: kill -CONT {pid} resumes it; nothing was done"
    );
    while !std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap().contains(") T ") {
        std::thread::yield_now();
    }
    assert_eq!(refused(), ActionError::Busy(stopped));
    other.kill().unwrap();
    other.wait().unwrap();
    assert!(hand.see(&report, &[]).is_ok());
}

#[test]
fn an_entire_session_that_its_own_cli_works_on_is_left_alone() {
    let stage = Stage::new();
    let (path, text) = dead_entire_session(&stage);
    let name = path.file_name().unwrap().to_str().unwrap().replace(".json", ".lock");
    let lock = stage.write(&format!("home/shop/.git/entire-session-locks/{name}"), "");
    let lock = std::fs::File::open(lock).unwrap();
    let mut observer = stage.observer_of(&["home/shop"]);
    let state = StateFolder::open(System, &stage.state_path()).unwrap();
    let key = record(&report(&mut observer), "5ac2d1294846.json").key.clone();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    let refused = act(&state, &mut observer, &stage.rules(), release(&key), &Answer::Yes).unwrap_err();
    assert!(matches!(&refused, ActionError::Changed(why) if why.contains("at work")), "{refused}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    flock(&lock, FlockOperation::Unlock).unwrap();
    let receipt = act(&state, &mut observer, &stage.rules(), release(&key), &Answer::Yes).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
}

#[test]
fn what_is_not_asked_for_is_no_confirmation() {
    let stage = Stage::new();
    let agent = stage.agent();
    let name = format!("swarm_session_{}.json", agent.id());
    stage.write(&format!("home/.maia/sessions/{name}"), r#"{"current_agent":"sre_agent"}"#);
    let mut observer = stage.observer();
    let state = StateFolder::open(System, &stage.state_path()).unwrap();
    let key = record(&report(&mut observer), &name).key.clone();
    assert_eq!(wanted(&state, &mut observer, &stage, &key).as_deref(), Some("home (claude-code)/sre_agent"));
    for answer in [Answer::Yes, Answer::Typed("y".to_owned())] {
        let refused = act(&state, &mut observer, &stage.rules(), release(&key), &answer).unwrap_err();
        assert!(matches!(refused, ActionError::NotConfirmed(_)), "{refused}");
    }
    let named = Answer::Typed("home (claude-code)/sre_agent".to_owned());
    let receipt = act(&state, &mut observer, &stage.rules(), release(&key), &named).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
    let (path, _) = dead_entire_session(&stage);
    let mut observer = stage.observer_of(&["home/shop"]);
    let dead = record(&report(&mut observer), path.file_name().unwrap().to_str().unwrap()).key.clone();
    assert_eq!(wanted(&state, &mut observer, &stage, &dead), None, "a plain yes is enough");
    end(agent);
}

/// Returns the text that must be typed for a release.
fn wanted(state: &StateFolder<System>, observer: &mut Observer, stage: &Stage, key: &Key) -> Option<String> {
    let now = observer.now();
    let lock = state.lock(Patience::None, now).unwrap();
    let seen = Preview::look(&lock, &report(observer), release(key), &stage.rules(), now).unwrap();
    seen.wanted()
}

/// Releases the registry entry of a process that has ended; returns the receipt, if there is one.
fn release_one<D: Disk>(stage: &Stage, disk: D) -> Result<Receipt, ActionError> {
    let agent = stage.agent();
    let path = stage.register(agent.id(), start_ticks(agent.id()));
    end(agent);
    let mut observer = stage.observer();
    let key = record(&report(&mut observer), path.file_name().unwrap().to_str().unwrap()).key.clone();
    let state = StateFolder::open(disk, &stage.state_path())?;
    act(&state, &mut observer, &stage.rules(), release(&key), &Answer::Yes)
}

#[test]
fn an_entry_that_cannot_be_undone_says_why() {
    let stage = Stage::new();
    let refuse = |at| FaultyDisk::new(at, Fault::Refuse(Errno::IO), None);
    let failed = (1..).find_map(|at| release_one(&stage, refuse(at)).ok()).unwrap();
    assert_eq!(failed.outcome.ended, EndResult::Failed, "{}", failed.outcome.detail);
    let (undone, pruned) = (release_one(&stage, System).unwrap(), release_one(&stage, System).unwrap());
    let mut hand = Executor::new(&stage.state_path(), stage.observer(), stage.rules()).unwrap();
    let undo = |hand: &mut Executor, entry| {
        let report = hand.report();
        hand.see(&report, &[Request::Undo { entry, to: RestoreTo::Origin }]).unwrap().remove(0)
    };
    let seen = undo(&mut hand, undone.entry).unwrap();
    let undoing = hand.carry_out(seen, &Answer::Yes).unwrap().receipt.entry;
    let at_once = SignedDuration::from_secs(-1);
    hand.prune(&hand.outdated(at_once).unwrap(), at_once).unwrap();
    let mut check = |entry: u64, why: &str| {
        let refused = undo(&mut hand, entry).unwrap_err();
        assert_eq!(refused.to_string(), format!("entry {entry} cannot be undone: {why}"));
    };
    check(failed.entry, &failed.outcome.detail);
    check(undone.entry, &format!("entry {undoing} has undone it"));
    check(undoing, "it is itself an undo");
    check(
        pruned.entry,
        "its parked files were discarded: `journal --prune` has removed them, or will when it is run again",
    );
}

#[test]
fn on_a_stage_nobody_outside_of_it_counts() {
    let (stage, other) = (Stage::new(), Stage::new());
    let (agent, stranger) = (stage.agent(), other.agent());
    let seen = |observer: &mut Observer| {
        let processes = observer.look().processes;
        [agent.id(), stranger.id()].map(|pid| processes.get(pid).is_some())
    };
    assert_eq!(seen(&mut stage.observer()), [true, false]);
    assert_eq!(seen(&mut stage.observer().only_below(None)), [true, true]);
}
