//! What others have open or lock, and what lies under names that claimtop would take.

use std::fs::OpenOptions;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use claimtop::act::disk::Patience;
use claimtop::act::lock::StateFolder;
use claimtop::core::journal::{Ended, History, Outcome};
use jiff::Timestamp;
use rustix::io::Errno;

use crate::faults::{Deed, Scene, sweep};
use crate::faulty::{Fault, Faulty};
use crate::missing::skip_for_want_of;
use crate::stage::Stage;

/// Runs the deed on a disk where nothing goes wrong.
fn run(scene: &Scene, far: bool) {
    scene.run(Faulty::new(usize::MAX, Fault::Kill, scene.far(far)));
}

fn last_outcome(stage: &Stage) -> Outcome {
    let journal = std::fs::read(stage.state_path().join("journal.jsonl")).unwrap();
    History::read(&journal).entries.last().unwrap().outcome.clone().unwrap()
}

/// Starts a process that has a file open, for writing or not.
fn with_open(path: &Path, writes: bool) -> Child {
    let file = OpenOptions::new().read(!writes).append(writes).open(path).unwrap();
    let mut command = Command::new("sleep");
    command.arg("600");
    if writes {
        command.stdout(file)
    } else {
        command.stdin(file)
    };
    command.spawn().unwrap()
}

fn end(children: Vec<Child>) {
    for mut child in children {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn what_somebody_writes_into_is_not_copied_and_removed() {
    let mut refused = 0;
    sweep(|scene, far| {
        let opened = |writes| scene.files().keys().map(|path| with_open(path, writes)).collect::<Vec<_>>();
        let before = scene.files();
        let writers = opened(true);
        run(scene, far);
        // Within one file system it stays the same file, wherever it lies.
        assert_eq!(scene.files() == before, far, "{:?}, far {far}: {:?}", scene.deed, scene.files());
        if far {
            let outcome = last_outcome(&scene.stage);
            assert_eq!(outcome.ended, Ended::Changed, "{}", outcome.detail);
            let pids = writers.iter().map(|writer| format!("PID {} has ", writer.id()));
            let is_named = pids.into_iter().any(|words| outcome.detail.contains(&words));
            assert!(is_named && outcome.detail.contains("open"), "{}", outcome.detail);
            refused += 1;
        }
        end(writers);
        scene.reset();
        let (before, readers) = (scene.files(), opened(false));
        run(scene, far);
        assert_ne!(scene.files(), before, "who only reads is in nobody's way: {:?}", scene.deed);
        end(readers);
    });
    assert_eq!(refused, 6);
}

#[test]
fn what_an_earlier_journal_left_is_neither_written_over_nor_removed() {
    sweep(|scene, far| {
        if !matches!(scene.deed, Deed::Release | Deed::Migrate | Deed::End) {
            return;
        }
        let name = scene.place.file_name().unwrap().to_str().unwrap();
        let left = [
            scene.stage.write(&format!("state/parked/1-1-{name}"), "parked by an earlier journal"),
            scene.stage.write(&format!("state/parked/2-1-{name}"), "parked later"),
            scene.place.with_file_name(".claimtop-3-1"),
        ];
        std::fs::write(&left[2], "could not be put back").unwrap();
        run(scene, far);
        let outcome = last_outcome(&scene.stage);
        assert_eq!(outcome.ended, Ended::Done, "{:?}, far {far}: {}", scene.deed, outcome.detail);
        let said = left.map(|path| std::fs::read_to_string(path).unwrap());
        assert_eq!(said, ["parked by an earlier journal", "parked later", "could not be put back"]);
    });
}

#[test]
fn a_copy_that_is_not_whole_stays_where_it_is_and_is_named() {
    let stage = Stage::new();
    let (place, parked) = (stage.path("tmp/claim"), "1-1-claim");
    stage.write(&format!("state/parked/{parked}"), "the cl");
    let print = format!(
        r#"{{"dev":1,"ino":1,"size":9,"mode":384,"modified_at":"2026-11-20T20:00:00Z","sha256":"{}"}}"#,
        "0".repeat(64)
    );
    let take =
        format!(r#"{{"step":"take","from":"{}","parked":"{parked}","print":{print}}}"#, place.display());
    let intent =
        format!(r#"{{"action":"park","title":"park a claim","why":"it is torn","movements":[{take}]}}"#);
    stage.write(
        "state/journal.jsonl",
        &format!("{{\"entry\":1,\"at\":\"2026-11-20T20:00:01Z\",\"intent\":{intent}}}\n"),
    );
    std::fs::create_dir_all(stage.path("tmp")).unwrap();
    let far = Faulty::new(usize::MAX, Fault::Refuse(Errno::IO), Some(stage.state_path().join("parked")));
    let state = StateFolder::open(far, &stage.state_path()).unwrap();
    drop(state.lock(Patience::Wait, Timestamp::UNIX_EPOCH).unwrap());
    let outcome = last_outcome(&stage);
    let told =
        format!("it was cut off; a copy of {} that is not whole is parked as {parked}", place.display());
    assert_eq!((outcome.ended, outcome.detail), (Ended::Stuck, told));
    assert_eq!(std::fs::read_to_string(stage.state_path().join("parked").join(parked)).unwrap(), "the cl");
}

/// Locks a file as `fcntl` does, for its process or for the open file, until its input ends.
const LOCKER: &str = "
import fcntl, os, struct, sys
fd = os.open(sys.argv[2], os.O_RDWR)
command = {'process': fcntl.F_SETLK, 'open file': 37}[sys.argv[1]]
fcntl.fcntl(fd, command, struct.pack('hhqqixxxx', fcntl.F_WRLCK, 0, 0, 0, 0))
print('held', flush=True)
sys.stdin.read()
";

/// Starts a process that locks a file with `fcntl`, and waits until it does.
fn with_locked(path: &Path, owner: &str) -> Child {
    let mut command = Command::new("/usr/bin/python3");
    command.args(["-c", LOCKER, owner]).arg(path).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut held = [0; 4];
    child.stdout.as_mut().unwrap().read_exact(&mut held).unwrap();
    child
}

/// Runs every deed while the files in the world are locked.
fn run_while_locked<L>(lock: impl Fn(&Path) -> L, unlock: impl Fn(Vec<L>)) {
    sweep(|scene, far| {
        let is_parked = |path: &Path| path.starts_with(scene.stage.state_path());
        let before = scene.files();
        let held: Vec<L> = before.keys().filter(|path| !is_parked(path)).map(|path| lock(path)).collect();
        // An undone release only puts back.
        assert_eq!(held.is_empty(), scene.deed == Deed::UndoRelease);
        run(scene, far);
        assert_eq!(scene.files() != before, held.is_empty(), "{:?}, far {far}", scene.deed);
        unlock(held);
        scene.reset();
        run(scene, far);
        assert_ne!(scene.files(), before, "{:?}, far {far}", scene.deed);
    });
}

#[test]
fn what_a_process_holds_a_lock_on_stays_where_it_is() {
    if !Path::new("/proc/locks").exists() {
        return eprintln!("skipped: this system does not list locks");
    }
    run_while_locked(
        |path| {
            let file = std::fs::File::open(path).unwrap();
            file.lock_shared().unwrap();
            file
        },
        drop,
    );
    if !Path::new("/usr/bin/python3").exists() {
        return skip_for_want_of("python3");
    }
    for owner in ["process", "open file"] {
        run_while_locked(|path| with_locked(path, owner), end);
    }
}
