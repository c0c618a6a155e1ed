//! Files that others have open or locked, and files under names that claimtop would take.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use claimtop::testing::core::{EndResult, History, Outcome};

use crate::actions::faults::{Scene, TestAction, sweep};
use crate::faulty::{Fault, FaultyDisk};
use crate::missing::skip_for_want_of;
use crate::stage::Stage;

/// Runs the action on a disk without faults.
fn run(scene: &Scene, far: bool) {
    scene.run(FaultyDisk::new(usize::MAX, Fault::Kill, scene.far(far)));
}

fn last_outcome(stage: &Stage) -> Outcome {
    let journal = std::fs::read(stage.state_path().join("journal.jsonl")).unwrap();
    History::read(&journal).entries.last().unwrap().outcome.clone().unwrap()
}

fn end(children: Vec<Child>) {
    for mut child in children {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn what_somebody_still_writes_is_in_that_very_file_wherever_it_lies() {
    sweep(|scene, far| {
        let before = scene.files();
        // A claimtop's own open files are not visible to it.
        let mut writers: Vec<_> =
            before.keys().map(|path| OpenOptions::new().append(true).open(path).unwrap()).collect();
        run(scene, far);
        assert_ne!(scene.files(), before, "{:?}, far {far}", scene.test_action);
        for writer in &mut writers {
            writer.write_all(b" written late").unwrap();
        }
        let after = scene.files();
        for text in before.values() {
            let late = format!("{text} written late");
            let lies = after.values().filter(|text| **text == late).count();
            assert_eq!(lies, 1, "{:?}, far {far}: {after:#?}", scene.test_action);
        }
    });
}

#[test]
fn what_an_earlier_journal_left_is_neither_written_over_nor_removed() {
    sweep(|scene, far| {
        if !matches!(scene.test_action, TestAction::Release | TestAction::Migrate | TestAction::End) {
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
        assert_eq!(outcome.ended, EndResult::Done, "{:?}, far {far}: {}", scene.test_action, outcome.detail);
        let said = left.map(|path| std::fs::read_to_string(path).unwrap());
        assert_eq!(said, ["parked by an earlier journal", "parked later", "could not be put back"]);
    });
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

/// Runs every action while the files in the world are locked.
fn run_while_locked<L>(lock: impl Fn(&Path) -> L, unlock: impl Fn(Vec<L>)) {
    sweep(|scene, far| {
        let is_own = |part: &OsStr| part == "claimtop" || part.to_string_lossy().contains("claimtop-parked");
        let is_parked = |path: &Path| path.starts_with(scene.stage.state_path()) || path.iter().any(is_own);
        let before = scene.files();
        let held: Vec<L> = before.keys().filter(|path| !is_parked(path)).map(|path| lock(path)).collect();
        // An undone release only puts back.
        assert_eq!(held.is_empty(), scene.test_action == TestAction::UndoRelease);
        run(scene, far);
        assert_eq!(scene.files() != before, held.is_empty(), "{:?}, far {far}", scene.test_action);
        unlock(held);
        scene.reset();
        run(scene, far);
        assert_ne!(scene.files(), before, "{:?}, far {far}", scene.test_action);
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
