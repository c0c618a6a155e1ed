//! Where files are parked if a rename does not reach the state folder: always on their own file system, and never
//! where another system looks.

use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use claimtop::observe::Observer;
use claimtop::testing::act::{
    ActionError, Answer, Disk, Executor, Look, Patience, Preview, Receipt, StateFolder, System, prune,
};
use claimtop::testing::core::{Action, EndResult, History, Request, RestoreTo};
use claimtop::testing::source::clock;
use jiff::SignedDuration;

use crate::actions::undo::parked;
use crate::faulty::{Fault, FaultyDisk};
use crate::stage::{Stage, act, end, record, release, report, start_ticks};

/// Starts the half of a test that needs a mount namespace of its own.
const CHILD: &str = "CLAIMTOP_TEST_BOUND";

/// A disk on which no rename reaches the state folder's own park.
fn far(stage: &Stage) -> FaultyDisk {
    FaultyDisk::new(usize::MAX, Fault::Kill, Some(stage.state_path().join("parked")))
}

/// Registers a process that has ended.
fn dead_window(stage: &Stage) -> PathBuf {
    let agent = stage.agent();
    let path = stage.register(agent.id(), start_ticks(agent.id()));
    end(agent);
    path
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

/// Previews a release of a file.
fn seen<D: Disk>(
    state: &StateFolder<D>,
    stage: &Stage,
    path: &Path,
    action: Action,
) -> Result<Preview, ActionError> {
    let mut observer = stage.observer();
    let report = report(&mut observer);
    let key = record(&report, name(path)).key.clone();
    let lock = state.lock(state.patience, observer.now()).unwrap();
    Preview::look(&lock, &report, Request::Act { key, action }, &stage.rules(), observer.now())
}

fn released<D: Disk>(state: &StateFolder<D>, stage: &Stage, path: &Path) -> Result<Receipt, ActionError> {
    let mut observer = stage.observer();
    let key = record(&report(&mut observer), name(path)).key.clone();
    act(state, &mut observer, &stage.rules(), release(&key), &Answer::Yes)
}

fn undone<D: Disk>(state: &StateFolder<D>, stage: &Stage, entry: u64) -> Receipt {
    let undo = Request::Undo { entry, to: RestoreTo::Origin };
    let receipt = act(state, &mut stage.observer(), &stage.rules(), undo, &Answer::Yes).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
    receipt
}

/// Releases a file, checks that it lies in one of our folders in `within`, and brings it back.
#[track_caller]
fn check<D: Disk>(state: &StateFolder<D>, stage: &Stage, path: &Path, within: &Path) -> PathBuf {
    let before = std::fs::metadata(path).unwrap();
    let receipt = released(state, stage, path).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
    let lies = parked(&stage.state_path());
    let folder = lies.parent().unwrap();
    assert_eq!(folder.parent(), Some(within), "{}", lies.display());
    let own = std::fs::metadata(folder).unwrap();
    assert_eq!((own.uid(), own.mode() & 0o777), (before.uid(), 0o700));
    let after = std::fs::metadata(&lies).unwrap();
    assert_eq!((after.dev(), after.ino()), (before.dev(), before.ino()), "it is another file");
    undone(state, stage, receipt.entry);
    assert_eq!(std::fs::metadata(path).unwrap().ino(), before.ino());
    folder.to_path_buf()
}

#[test]
fn a_file_is_parked_above_the_folders_that_systems_list_and_always_in_the_same_place() {
    let stage = Stage::new();
    let state = StateFolder::open(far(&stage), &stage.state_path()).unwrap();
    let path = dead_window(&stage);
    let claude = stage.path("home/.claude");
    let folder = check(&state, &stage, &path, &claude);
    assert_eq!(check(&state, &stage, &path, &claude), folder);
    assert!(name(&folder).starts_with(".claimtop-parked-"));
    // Maia's records are right below its folder, which no system lists.
    let maia = stage.write("home/.maia/sessions/swarm_session_77.json", r#"{"current_agent":"sre"}"#);
    let seen = seen(&state, &stage, &maia, Action::Release).unwrap();
    let told = format!("in a folder of its own in {}", stage.path("home/.maia").display());
    assert!(seen.plan.inverse.ends_with(&told), "{}", seen.plan.inverse);
}

#[test]
fn a_file_in_a_folder_like_tmp_is_parked_there_and_the_sheet_says_who_may_take_it() {
    let stage = Stage::new();
    std::fs::set_permissions(stage.path("tmp"), PermissionsExt::from_mode(0o1777)).unwrap();
    let agent = stage.agent();
    let legacy = stage.write(
        &format!("tmp/maia_active_swarm_session_{}.json", agent.id()),
        r#"{"current_agent":"sre_agent"}"#,
    );
    end(agent);
    let state = StateFolder::open(far(&stage), &stage.state_path()).unwrap();
    let seen = seen(&state, &stage, &legacy, Action::Release).unwrap();
    let tmp = stage.path("tmp");
    let told =
        format!("in a folder of its own in {0}: a reboot or a cleaner of {0} may delete it", tmp.display());
    assert!(seen.plan.inverse.ends_with(&told), "{}", seen.plan.inverse);
    assert_eq!(std::fs::read_dir(&tmp).unwrap().count(), 1, "a look makes no folder");
    let mut observer = stage.observer();
    let mut released = || {
        let key = record(&report(&mut observer), name(&legacy)).key.clone();
        let answer = seen.wanted().map_or(Answer::Yes, Answer::Typed);
        let lock = state.lock(state.patience, observer.now()).unwrap();
        let seen =
            Preview::look(&lock, &report(&mut observer), release(&key), &stage.rules(), observer.now())
                .unwrap();
        drop(lock);
        let answer = seen.wanted().map_or(answer, Answer::Typed);
        let receipt = act(&state, &mut observer, &stage.rules(), release(&key), &answer).unwrap();
        assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
        (receipt.entry, parked(&stage.state_path()).parent().unwrap().to_path_buf())
    };
    let (entry, folder) = released();
    assert_eq!((folder.parent(), std::fs::metadata(&folder).unwrap().mode() & 0o777), (Some(&*tmp), 0o700));
    undone(&state, &stage, entry);
    assert_eq!(released().1, folder);
    let journal = std::fs::read(stage.state_path().join("journal.jsonl")).unwrap();
    assert_eq!(History::read(&journal).parked_folders(), [&*folder]);
}

#[test]
fn what_is_to_move_to_another_file_system_is_left_where_it_is() {
    let stage = Stage::new();
    let memory = Path::new("/dev/shm");
    let device = |path: &Path| std::fs::metadata(path).map(|meta| meta.dev()).ok();
    if device(memory).is_none() || device(memory) == device(&stage.path("")) {
        return eprintln!("skipped: there is no second file system");
    }
    let other = tempfile::tempdir_in(memory).unwrap();
    let tmp = other.path().canonicalize().unwrap();
    let agent = stage.agent();
    let file = format!("maia_active_swarm_session_{}.json", agent.id());
    std::fs::write(tmp.join(&file), r#"{"current_agent":"sre_agent"}"#).unwrap();
    let mut observer = stage.eyes_at(&[], &tmp);
    let state = StateFolder::open(System, &stage.state_path()).unwrap();
    let key = record(&report(&mut observer), &file).key.clone();
    let migrate = Request::Act { key: key.clone(), action: Action::Migrate };
    let refused = act(&state, &mut observer, &stage.rules(), migrate, &Answer::Yes).unwrap_err();
    assert!(
        matches!(&refused, ActionError::Never(why) if why.contains("claimtop does not copy")),
        "{refused}"
    );
    assert!(tmp.join(&file).exists());
    end(agent);
}

#[test]
fn undo_brings_back_what_a_late_writer_has_written_and_says_so() {
    let stage = Stage::new();
    let path = dead_window(&stage);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut writer = std::fs::File::options().append(true).open(&path).unwrap();
    let mut hand = Executor::new(&stage.state_path(), stage.observer(), stage.rules()).unwrap();
    let report = hand.report();
    let request = release(&record(&report, name(&path)).key);
    let seen = hand.see(&report, &[request]).unwrap().remove(0).unwrap();
    let entry = hand.carry_out(seen, &Answer::Yes).unwrap().receipt.entry;
    writer.write_all(b" written late").unwrap();

    let at_once = SignedDuration::from_secs(-1);
    let outdated = hand.outdated(at_once).unwrap();
    assert_eq!(outdated[0].kept, Some(prune::KeepReason::Changed));
    assert_eq!(prune::removable(&outdated).count(), 0);
    hand.prune(&outdated, at_once).unwrap();

    let report = hand.report();
    let undo = Request::Undo { entry, to: RestoreTo::Origin };
    let seen = hand.see(&report, &[undo]).unwrap().remove(0).unwrap();
    let told =
        format!("{} was written to after it was parked: its current content is restored", path.display());
    assert!(seen.plan.why.contains(&told), "{:?}", seen.plan.why);
    let receipt = hand.carry_out(seen, &Answer::Yes).unwrap().receipt;
    assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{text} written late"));
}

#[test]
fn what_somebody_has_open_is_not_pruned_until_they_close_it() {
    let stage = Stage::new();
    let path = dead_window(&stage);
    let reader = std::fs::File::open(&path).unwrap();
    let mut opener = crate::program::spawn(Command::new("sleep").arg("600").stdin(reader));
    let state = StateFolder::open(System, &stage.state_path()).unwrap();
    released(&state, &stage, &path).unwrap();
    let lies = parked(&stage.state_path());
    let hand = Executor::new(&stage.state_path(), stage.observer(), stage.rules()).unwrap();
    let at_once = SignedDuration::from_secs(-1);
    let outdated = hand.outdated(at_once).unwrap();
    assert_eq!(outdated[0].kept, Some(prune::KeepReason::Open(opener.id())));
    hand.prune(&outdated, at_once).unwrap();
    assert!(lies.exists());
    opener.kill().unwrap();
    opener.wait().unwrap();
    hand.prune(&hand.outdated(at_once).unwrap(), at_once).unwrap();
    assert!(!lies.exists());
}

/// Runs the other half of a test in a mount namespace of its own; returns `false` if that is not permitted.
fn in_own_mounts(test: &str, stage: &Stage) -> bool {
    let is_granted =
        Command::new("unshare").args(["--mount", "true"]).status().is_ok_and(|end| end.success());
    if !is_granted {
        eprintln!("skipped: no mount namespace is granted");
        return false;
    }
    let output = Command::new("unshare")
        .arg("--mount")
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, stage.path(""))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    true
}

/// Mounts a folder over itself: the same file system, and no rename leads out of it.
fn bind(folder: &Path) {
    let status = Command::new("mount").arg("--bind").args([folder, folder]).status().unwrap();
    assert!(status.success());
}

#[test]
fn across_a_bind_mount_of_the_same_file_system_it_is_parked_within_the_mount() {
    let stage = Stage::new();
    dead_window(&stage);
    in_own_mounts("actions::parking::bound", &stage);
}

/// The half in a mount namespace; without its variable it does nothing.
#[test]
fn bound() {
    let Ok(root) = std::env::var(CHILD) else { return };
    let stage = Stage::at(Path::new(&root));
    let sessions = stage.path("home/.claude/sessions");
    let path = std::fs::read_dir(&sessions).unwrap().next().unwrap().unwrap().path();
    let state = StateFolder::open(System, &stage.state_path()).unwrap();
    bind(&stage.path("home/.claude"));
    check(&state, &stage, &path, &stage.path("home/.claude"));
    // In the folder that Claude Code itself lists there is no place.
    bind(&sessions);
    let refused = released(&state, &stage, &path).unwrap_err();
    assert!(
        matches!(&refused, ActionError::Never(why) if why.contains("there is no folder there to park it in")),
        "{refused}"
    );
    assert!(path.exists());
}

#[test]
fn a_power_cut_takes_no_confirmed_release_back() {
    let stage = Stage::new();
    let path = dead_window(&stage);
    let disk = FaultyDisk::new(usize::MAX, Fault::Kill, None);
    let unsynced = Rc::clone(&disk.unsynced);
    let state = StateFolder::open(disk, &stage.state_path()).unwrap();
    assert_eq!(released(&state, &stage, &path).unwrap().outcome.ended, EndResult::Done);
    drop(state);
    let journal =
        std::fs::File::options().write(true).open(stage.state_path().join("journal.jsonl")).unwrap();
    journal.set_len(journal.metadata().unwrap().len() - unsynced.get()).unwrap();
    let state = StateFolder::open(System, &stage.state_path()).unwrap();
    let _lock = state.lock(Patience::Wait, clock::now()).unwrap();
    assert!(!path.exists(), "it was confirmed");
}

#[test]
fn a_lock_of_any_size_is_parked_unread_and_comes_back_unless_it_was_written_since() {
    let stage = Stage::new();
    let git = ["objects", "refs/heads"].map(|below| stage.path(&format!("home/shop/.git/{below}")));
    git.iter().for_each(|folder| std::fs::create_dir_all(folder).unwrap());
    stage.write("home/shop/.git/HEAD", "ref: refs/heads/main\n");
    let text = "DIRC".repeat(1 << 19);
    let lock = stage.write("home/shop/.git/index.lock", &text);
    let state = StateFolder::open(System, &stage.state_path()).unwrap();
    let mut observer = stage.observer_of(&["home/shop"]);
    let plan = |observer: &mut Observer| {
        let report = report(observer);
        let request = release(&record(&report, "index.lock").key);
        let lock = state.lock(Patience::Wait, observer.now()).unwrap();
        Preview::look(&lock, &report, request, &stage.rules(), observer.now()).unwrap()
    };
    let carry_out = |preview: Preview, observer: &mut Observer| {
        let answer = preview.wanted().map_or(Answer::Yes, Answer::Typed);
        let mut lock = state.lock(Patience::Wait, observer.now())?;
        preview.confirm(&answer)?.verify(&mut lock, observer)?.execute(observer)
    };
    let seen = plan(&mut observer);
    std::fs::write(&lock, text.replace("DIRC", "DIRc")).unwrap();
    let changed = carry_out(seen, &mut observer);
    assert!(matches!(changed, Err(ActionError::Changed(_))), "{changed:?}");
    let seen = plan(&mut observer);
    let receipt = carry_out(seen, &mut observer).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
    assert!(!lock.exists());
    undone(&state, &stage, receipt.entry);
    assert_eq!(std::fs::metadata(&lock).unwrap().len(), 2 << 20);
}

#[test]
fn several_that_nobody_is_known_to_hold_take_one_code_and_come_back_as_one() {
    let stage = Stage::new();
    let _somebody = stage.agent();
    for number in 0..3 {
        let name = format!("tmp/claude_session_shop{number}");
        Stage::age(
            &stage
                .write(&name, &format!("{}\n2020-01-01T00:00:00\n", "95fe798d-3725-4649-974a-0dec79220101")),
        );
    }
    let slots = || {
        let names = std::fs::read_dir(stage.path("tmp")).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("claude_session_")).count()
    };
    let mut hand = Executor::new(&stage.state_path(), stage.observer(), stage.rules()).unwrap();
    let report = hand.report();
    let keys =
        (0..3).map(|number| record(&report, &format!("claude_session_shop{number}")).key.clone()).collect();
    let request = Request::Several { keys, action: Action::Park };
    let seen = hand.see(&report, &[request]).unwrap().remove(0).unwrap();
    assert_eq!(seen.plan.follows.len(), 3);
    let code = seen.wanted().unwrap();
    let wrong = hand.see(&report, &[seen.request().clone()]).unwrap().remove(0).unwrap();
    let refused = hand.carry_out(wrong, &Answer::Typed("nothing".to_owned()));
    assert!(matches!(refused, Err(ActionError::NotConfirmed(_))), "{refused:?}");
    let done = hand.carry_out(seen, &Answer::Typed(code)).unwrap();
    assert!(done.followed.iter().all(|part| part.end.is_ok()), "{done:?}");
    assert_eq!(slots(), 0);
    let undo = Request::Undo { entry: done.receipt.entry, to: RestoreTo::Origin };
    let report = hand.report();
    let seen = hand.see(&report, &[undo]).unwrap().remove(0).unwrap();
    hand.carry_out(seen, &Answer::Yes).unwrap();
    assert_eq!(slots(), 3);
}
