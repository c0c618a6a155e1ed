//! Every call of every action is refused once, cut in half once, and preceded by a kill once. Each time, exactly one
//! copy of every byte survives, recovering twice equals recovering once, and the journal is true.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use claimtop::core::model::Key;
use claimtop::testing::act::{ActionError, Answer, Look, Patience, StateFolder, System};
use claimtop::testing::core::{Action, EndResult, History, Request, RestoreTo};
use rustix::io::Errno;

use crate::faulty::{Fault, FaultyDisk, child_with};
use crate::stage::{Stage, act, end, record, report, start_ticks};

const ERRNOS: [Errno; 5] = [Errno::NOSPC, Errno::ROFS, Errno::IO, Errno::ACCESS, Errno::MFILE];
/// Marks the process that is to be killed: which action, which call, whether far.
const CHILD: &str = "CLAIMTOP_TEST_CRASH";

/// An action over one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TestAction {
    Release,
    Migrate,
    End,
    UndoRelease,
    UndoMigrate,
    UndoEnd,
}

const TEST_ACTIONS: [TestAction; 6] = [
    TestAction::Release,
    TestAction::Migrate,
    TestAction::End,
    TestAction::UndoRelease,
    TestAction::UndoMigrate,
    TestAction::UndoEnd,
];

/// A stage with the file of an action.
pub(crate) struct Scene {
    pub(crate) stage: Stage,
    pub(crate) test_action: TestAction,
    /// Where the file lies before a release, migration or end.
    pub(crate) place: PathBuf,
    pub(crate) text: String,
    pub(crate) live: u32,
    /// When the file was written.
    written: Cell<Option<SystemTime>>,
    /// Whether the state folder is out of reach of a rename.
    is_far: bool,
}

impl Scene {
    fn new(stage: Stage, test_action: TestAction, is_far: bool, live: u32, dead: (u32, u64)) -> Self {
        let session = format!(
            r#"{{"session_id":"db4e04a8-9640-4079-8e03-5ac2d1294846","base_commit":"3397a23560d2f07f1d894e0049da6c8fb7a9553b","worktree_path":"/gone","started_at":"2023-11-10T10:00:00Z","phase":"idle","last_interaction_time":"2023-11-10T11:00:00Z","checkpoint_count":0,"agent_type":"Gemini CLI","owner":{{"pid":4242,"start":"777","boot":"{}","host":"{}","name":"claude"}}}}"#,
            std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap().trim(),
            std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim(),
        );
        let (below, text) = match test_action {
            TestAction::Release | TestAction::UndoRelease => (
                format!("home/.claude/sessions/{}.json", dead.0),
                format!(
                    r#"{{"pid":{},"sessionId":"95fe798d-3725-4649-974a-0dec79220193","procStart":"{}"}}"#,
                    dead.0, dead.1
                ),
            ),
            TestAction::Migrate | TestAction::UndoMigrate => (
                format!("tmp/maia_active_swarm_session_{live}.json"),
                r#"{"current_agent":"sre_agent"}"#.to_owned(),
            ),
            TestAction::End | TestAction::UndoEnd => (
                "home/shop/.git/entire-sessions/db4e04a8-9640-4079-8e03-5ac2d1294846.json".to_owned(),
                session,
            ),
        };
        let place = stage.path(&below);
        let scene = Self { stage, test_action, place, text, live, written: Cell::default(), is_far };
        scene.reset();
        scene
    }

    /// Makes the world as it is before the action.
    pub(crate) fn reset(&self) {
        for entry in std::fs::read_dir(self.stage.path("")).unwrap() {
            let path = entry.unwrap().path();
            if !path.ends_with("bin") {
                std::fs::remove_dir_all(&path).unwrap();
            }
        }
        let folders = [
            "home/.claude/sessions",
            "home/.maia/sessions",
            "home/shop/.git/objects",
            "home/shop/.git/refs/heads",
            "home/shop/.git/entire-session-locks",
            "tmp",
        ];
        folders.iter().for_each(|folder| std::fs::create_dir_all(self.stage.path(folder)).unwrap());
        self.stage.write("home/shop/.git/HEAD", "ref: refs/heads/main\n");
        self.stage.write(self.place.strip_prefix(self.stage.path("")).unwrap().to_str().unwrap(), &self.text);
        if matches!(self.test_action, TestAction::End | TestAction::UndoEnd) {
            Stage::age(&self.place);
        }
        self.written.set(std::fs::metadata(&self.place).unwrap().modified().ok());
        if matches!(self.test_action, TestAction::UndoRelease | TestAction::UndoMigrate | TestAction::UndoEnd)
        {
            self.first(FaultyDisk::new(usize::MAX, Fault::Kill, self.far(self.is_far)));
        }
    }

    pub(crate) fn far(&self, far: bool) -> Option<PathBuf> {
        far.then(|| self.stage.state_path().join("parked"))
    }

    /// Does the action that an undo undoes.
    fn first(&self, disk: FaultyDisk) {
        let state = StateFolder::open(disk, &self.stage.state_path()).unwrap();
        let mut observer = self.stage.observer_of(&["home/shop"]);
        let receipt = act(&state, &mut observer, &self.stage.rules(), self.forward(), &Answer::Yes).unwrap();
        assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
    }

    fn forward(&self) -> Request {
        let mut observer = self.stage.observer_of(&["home/shop"]);
        let report = report(&mut observer);
        let key: Key = record(&report, self.place.file_name().unwrap().to_str().unwrap()).key.clone();
        let action = match self.test_action {
            TestAction::Migrate | TestAction::UndoMigrate => Action::Migrate,
            TestAction::Release | TestAction::UndoRelease | TestAction::End | TestAction::UndoEnd => {
                Action::Release
            }
        };
        Request::Act { key, action }
    }

    /// Does the action on a disk, however it ends; returns how many calls it made.
    pub(crate) fn run(&self, disk: FaultyDisk) -> usize {
        self.attempt(disk).0
    }

    /// Does the action on a disk; returns how many calls it made, and why it was not done.
    fn attempt(&self, disk: FaultyDisk) -> (usize, Option<ActionError>) {
        let request = match self.test_action {
            TestAction::Release | TestAction::Migrate | TestAction::End => self.forward(),
            TestAction::UndoRelease | TestAction::UndoMigrate | TestAction::UndoEnd => {
                Request::Undo { entry: 1, to: RestoreTo::Origin }
            }
        };
        let mut observer = self.stage.observer_of(&["home/shop"]);
        let Ok(state) = StateFolder::open(disk, &self.stage.state_path()) else { return (usize::MAX, None) };
        let done = act(&state, &mut observer, &self.stage.rules(), request, &Answer::Yes);
        (state.disk.calls(), done.err())
    }

    /// Returns every relevant file, by its place.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, String> {
        let mut all = BTreeMap::new();
        collect(&self.stage.path(""), &mut all);
        let (program, state) = (self.stage.path("bin"), self.stage.state_path());
        all.retain(|path, _| !path.starts_with(&program) && path.parent() != Some(&state));
        all.retain(|path, _| !path.ends_with("HEAD") && path.extension().is_none_or(|end| end != "lock"));
        all
    }

    /// Recovers, and checks everything that must hold then.
    fn check(&self, what: &str) {
        let recover = || {
            let state = StateFolder::open(System, &self.stage.state_path()).unwrap();
            let now = self.stage.observer().now();
            drop(state.lock(Patience::Wait, now).unwrap_or_else(|error| panic!("{what}: {error}")));
            (self.files(), std::fs::read(self.stage.state_path().join("journal.jsonl")).unwrap_or_default())
        };
        let once = recover();
        assert_eq!(once, recover(), "{what}: recovering twice is not recovering once");
        let (files, journal) = once;
        let shown = || format!("{what}: {files:#?}\n{}", String::from_utf8_lossy(&journal));
        assert!(files.keys().all(|path| !name(path).starts_with(".claimtop")), "left behind: {}", shown());
        let history = History::read(&journal);
        assert!(history.unreadable <= 1, "{}", shown());
        let last = history.entries.last();
        let is_undo = matches!(
            self.test_action,
            TestAction::UndoRelease | TestAction::UndoMigrate | TestAction::UndoEnd
        );
        let is_done = last.is_some_and(|entry| {
            assert!(entry.outcome.is_some(), "{}", shown());
            assert_ne!(entry.outcome.as_ref().unwrap().ended, EndResult::Stuck, "{}", shown());
            entry.outcome.as_ref().unwrap().ended == EndResult::Done
                && entry.intent.undoes.is_some() == is_undo
        });
        let copies: Vec<&PathBuf> =
            files.iter().filter(|(_, text)| **text == self.text).map(|(path, _)| path).collect();
        assert_eq!(copies.len(), 1, "not exactly one copy: {}", shown());
        let is_home = *copies.first().unwrap() == &self.place;
        let modified = std::fs::metadata(copies.first().unwrap()).unwrap().modified().unwrap();
        let is_dated = Some(modified) == self.written.get();
        let is_moved = matches!(self.test_action, TestAction::Migrate | TestAction::UndoMigrate) && !is_home;
        assert!(is_dated != is_moved, "the time is another: {}", shown());
        assert_eq!(is_home, is_done == is_undo, "the journal does not say what is: {}", shown());
        let others = files.len() - 1;
        let new =
            self.text.replace(r#""phase":"idle""#, r#""phase":"ended","ended_at":"2023-11-10T11:00:00Z""#);
        match self.test_action {
            TestAction::End | TestAction::UndoEnd if !is_home => {
                assert_eq!(files.get(&self.place), Some(&new), "{}", shown());
                assert_eq!(others, 1, "{}", shown());
            }
            TestAction::UndoEnd => assert!(
                files.iter().all(|(path, text)| *text == self.text || (*path != self.place && *text == new)),
                "{}",
                shown()
            ),
            TestAction::Migrate | TestAction::UndoMigrate if !is_home => {
                let new = self.stage.path(&format!("home/.maia/sessions/swarm_session_{}.json", self.live));
                assert_eq!((*copies.first().unwrap(), others), (&new, 0), "{}", shown());
            }
            TestAction::Release
            | TestAction::UndoRelease
            | TestAction::Migrate
            | TestAction::UndoMigrate
            | TestAction::End => {
                assert_eq!(others, 0, "{}", shown());
            }
        }
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn collect(folder: &Path, all: &mut BTreeMap<PathBuf, String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, all);
        } else {
            let text = std::fs::read(&path).unwrap();
            all.insert(path, String::from_utf8_lossy(&text).into_owned());
        }
    }
}

/// Runs `each` for each action, near and far.
pub(crate) fn sweep(mut each: impl FnMut(&Scene, bool)) {
    for test_action in TEST_ACTIONS {
        for far in [false, true] {
            let stage = Stage::new();
            let live = stage.agent();
            let dead = stage.agent();
            let dead_id = (dead.id(), start_ticks(dead.id()));
            end(dead);
            let scene = Scene::new(stage, test_action, far, live.id(), dead_id);
            each(&scene, far);
            end(live);
        }
    }
}

#[test]
fn a_refusal_of_any_call_loses_nothing() {
    let mut runs = 0;
    sweep(|scene, far| {
        let faults = ERRNOS.map(Fault::Refuse).into_iter().chain([Fault::Half(Errno::NOSPC)]);
        for fault in faults {
            for at in 1.. {
                scene.reset();
                let before = scene.files();
                let (calls, trouble) = scene.attempt(FaultyDisk::new(at, fault, scene.far(far)));
                let what = format!("{:?}, far {far}, {fault:?} at {at}: {trouble:?}", scene.test_action);
                let is_stuck = matches!(trouble, Some(ActionError::Stuck(_)));
                assert!(trouble.is_none() || is_stuck || scene.files() == before, "{what}: not as it was");
                scene.check(&what);
                runs += 1;
                if calls < at {
                    break;
                }
            }
        }
    });
    eprintln!("{runs} runs");
    assert!(runs > 1_000, "only {runs} runs");
}

#[test]
fn a_kill_before_any_call_loses_nothing() {
    let mut kills = 0;
    sweep(|scene, far| {
        for at in 1.. {
            scene.reset();
            let order = format!(
                "{:?} {at} {far} {} {}",
                scene.test_action,
                scene.live,
                scene.stage.path("").display()
            );
            let status = child_with("actions::faults::child", (CHILD, &order));
            scene.check(&format!("{:?}, far {far}, killed at {at}", scene.test_action));
            if status.success() {
                break;
            }
            kills += 1;
        }
    });
    eprintln!("{kills} kills");
    assert!(kills > 200, "only {kills} kills");
}

/// The process that is killed; without its variable it does nothing.
#[test]
fn child() {
    let Ok(order) = std::env::var(CHILD) else { return };
    let mut parts = order.splitn(5, ' ');
    let mut next = || parts.next().unwrap().to_owned();
    let test_action = next();
    let test_action = *TEST_ACTIONS.iter().find(|known| format!("{known:?}") == test_action).unwrap();
    let (at, far, live): (usize, bool, u32) =
        (next().parse().unwrap(), next().parse().unwrap(), next().parse().unwrap());
    let stage = Stage::at(Path::new(&next()));
    let place = match test_action {
        TestAction::Release | TestAction::UndoRelease => first_in(&stage.path("home/.claude/sessions")),
        TestAction::Migrate | TestAction::UndoMigrate => first_in(&stage.path("tmp")),
        TestAction::End | TestAction::UndoEnd => first_in(&stage.path("home/shop/.git/entire-sessions")),
    };
    let scene =
        Scene { stage, test_action, place, text: String::new(), live, written: Cell::default(), is_far: far };
    let disk = FaultyDisk::new(at, Fault::Kill, scene.far(far));
    scene.run(disk);
}

/// Returns the only file of a folder, or a name in it if there is none.
fn first_in(folder: &Path) -> PathBuf {
    let first = std::fs::read_dir(folder).ok().and_then(|mut entries| entries.next());
    first.map_or_else(|| folder.join("none"), |entry| entry.unwrap().path())
}
