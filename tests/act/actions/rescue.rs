//! Every call of a rescue is refused once, cut in half once and preceded by a kill once, and others write at every call:
//! the files are all as before or all as planned, nobody's bytes are lost, and the next rescue does what this one did not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use claimtop::testing::act::{ActionError, Answer, Look, Patience, Rules, StateFolder, System};
use claimtop::testing::core::{EndResult, History, Request, RescueFile, RescueTarget, RescueWay, RestoreTo};
use rustix::io::Errno;

use crate::faulty::{Fault, FaultyDisk, child_with};
use crate::stage::{self, SESSION, Stage, act};

/// Marks the process that is to be killed: the deed, the call, and its stage.
const CHILD: &str = "CLAIMTOP_TEST_RESCUE_CRASH";

const COMMITTED: &str = "one\ntwo\nthree\n";
const OTHER: &str = "zero\none\ntwo\nthree\n";
const RESCUED: &str = "one\ntwo\nthree\nfour\n";
const MERGED: &str = "zero\none\ntwo\nthree\nfour\n";
const NEW: &str = "a new file\n";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    /// Replaces a clean file and writes a missing one, as one.
    Place,
    Beside,
    Merge,
    /// Undoes the first.
    Undo,
}

const DEEDS: [Deed; 4] = [Deed::Place, Deed::Beside, Deed::Merge, Deed::Undo];

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["-c", "user.name=x", "-c", "user.email=x@x"]).args(arguments);
    let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

struct Scene {
    stage: Stage,
    deed: Deed,
}

impl Scene {
    fn new(deed: Deed) -> Self {
        let stage = Stage::new();
        let repo = stage.path("home/shop");
        std::fs::create_dir_all(repo.join("src")).unwrap();
        stage.write("home/shop/src/pay.rs", COMMITTED);
        git(&repo, &["init", "-q"]);
        git(&repo, &["add", "-A"]);
        git(&repo, &["commit", "-qm", "first"]);
        // For the names of what is rescued.
        for text in [RESCUED, NEW] {
            let path = stage.write("tmp/text", text);
            git(&repo, &["hash-object", "-w", path.to_str().unwrap()]);
        }
        let scene = Self { stage, deed };
        scene.reset();
        scene
    }

    fn repo(&self) -> PathBuf {
        self.stage.path("home/shop")
    }

    /// Makes the world as it is before the deed.
    fn reset(&self) {
        let _ = std::fs::remove_dir_all(self.stage.state_path());
        let _ = std::fs::remove_dir_all(self.repo().join("src"));
        let is_clean = matches!(self.deed, Deed::Place | Deed::Undo);
        self.stage.write("home/shop/src/pay.rs", if is_clean { COMMITTED } else { OTHER });
        if self.deed == Deed::Undo {
            self.carry_out(Deed::Place, System).unwrap();
        }
    }

    fn rules(&self) -> Rules {
        let programs = std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect();
        Rules { programs, ..self.stage.rules() }
    }

    fn request(&self, deed: Deed) -> Request {
        let file = |name: &str, text: &str| RescueFile {
            path: self.repo().join("src").join(name).into(),
            tree: self.repo().to_str().unwrap().into(),
            blob: blob(text).as_str().into(),
            size: text.len().try_into().unwrap(),
            mode: Some(0o644),
            whose: "pay".into(),
            content: Some(Arc::new(text.as_bytes().to_vec())),
            base: Some(Arc::new(COMMITTED.as_bytes().to_vec())),
        };
        let pay = file("pay.rs", RESCUED);
        let (files, way) = match deed {
            Deed::Place => (vec![pay, file("new/new.rs", NEW)], RescueWay::Place),
            Deed::Beside => (vec![pay], RescueWay::Beside),
            Deed::Merge => (vec![pay], RescueWay::Merge),
            Deed::Undo => return Request::Undo { entry: 1, to: RestoreTo::Origin },
        };
        Request::Rescue { lost: RescueTarget::Files(files), way }
    }

    /// Does a deed on a disk.
    fn carry_out<D: claimtop::testing::act::Disk>(&self, deed: Deed, disk: D) -> Result<D, ActionError> {
        let mut observer = self.stage.observer();
        let state = StateFolder::open(disk, &self.stage.state_path())?;
        let receipt = act(&state, &mut observer, &self.rules(), self.request(deed), &Answer::Yes)?;
        if receipt.outcome.ended == EndResult::Done {
            return Ok(state.disk);
        }
        Err(ActionError::Refused(format!("{:?}", receipt.outcome)))
    }

    /// Returns the files of the working tree.
    fn files(&self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        collect(&self.repo().join("src"), "", &mut all);
        all
    }

    /// Returns the files as they are after the deed.
    fn after(&self) -> BTreeMap<String, String> {
        let files: &[(&str, &str)] = match self.deed {
            Deed::Place => &[("pay.rs", RESCUED), ("new/new.rs", NEW)],
            Deed::Beside => &[("pay.rs", OTHER), ("pay.rs.rescued", RESCUED)],
            Deed::Merge => &[("pay.rs", MERGED)],
            Deed::Undo => &[("pay.rs", COMMITTED)],
        };
        files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    /// Recovers; the files must be all as before or all as after, as the journal says, and the deed can be done or undone.
    #[track_caller]
    fn check(&self, before: &BTreeMap<String, String>, what: &str) {
        let state = StateFolder::open(System, &self.stage.state_path()).unwrap();
        drop(state.lock(Patience::Wait, self.stage.observer().now()).unwrap());
        let journal = std::fs::read(self.stage.state_path().join("journal.jsonl")).unwrap_or_default();
        let history = History::read(&journal);
        let number = if self.deed == Deed::Undo { 2 } else { 1 };
        let entry = history.entries.iter().find(|entry| entry.number == number);
        let ended = entry.map(|entry| entry.outcome.as_ref().unwrap().ended);
        assert_ne!(ended, Some(EndResult::Stuck), "{what}");
        let is_done = ended == Some(EndResult::Done);
        let expected = if is_done { &self.after() } else { before };
        assert_eq!(&self.files(), expected, "{what}: {ended:?}");
        if !is_done {
            self.carry_out(self.deed, System).unwrap_or_else(|error| panic!("{what}: again: {error}"));
            assert_eq!(self.files(), self.after(), "{what}");
        }
    }
}

/// Returns git's name for a text (`git hash-object`).
fn blob(text: &str) -> String {
    use std::io::Write;
    let mut git = Command::new("git")
        .args(["hash-object", "--stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    git.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    String::from_utf8(git.wait_with_output().unwrap().stdout).unwrap().trim().to_owned()
}

fn collect(folder: &Path, above: &str, all: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let name = format!("{above}{}", path.file_name().unwrap().to_string_lossy());
        if path.is_dir() {
            collect(&path, &format!("{name}/"), all);
        } else {
            all.insert(name, std::fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn a_refusal_of_any_call_of_a_rescue_loses_nothing() {
    for deed in DEEDS {
        let scene = Scene::new(deed);
        let calls = scene.carry_out(deed, FaultyDisk::new(0, Fault::Kill, None)).unwrap().calls();
        assert_eq!(scene.files(), scene.after(), "{deed:?}");
        for at in 1..=calls {
            for fault in [Fault::Refuse(Errno::NOSPC), Fault::Half(Errno::NOSPC)] {
                scene.reset();
                let before = scene.files();
                let _ = scene.carry_out(deed, FaultyDisk::new(at, fault, None));
                scene.check(&before, &format!("{deed:?}, {fault:?} at {at}"));
            }
        }
    }
}

#[test]
fn a_kill_before_any_call_of_a_rescue_loses_nothing() {
    for deed in DEEDS {
        let scene = Scene::new(deed);
        for at in 1.. {
            scene.reset();
            let before = scene.files();
            let order = format!("{deed:?} {at} {}", scene.stage.path("").display());
            let status = child_with("actions::rescue::child", (CHILD, &order));
            scene.check(&before, &format!("{deed:?}, killed at {at}"));
            if status.success() {
                assert!(at > 10, "{deed:?} made {at} calls");
                break;
            }
        }
    }
}

/// The process that is killed; without its variable it does nothing.
#[test]
fn child() {
    let Ok(order) = std::env::var(CHILD) else { return };
    let parts: Vec<&str> = order.splitn(3, ' ').collect();
    let &[deed, at, root] = parts.as_slice() else { panic!("{order}") };
    let deed = *DEEDS.iter().find(|known| format!("{known:?}") == deed).unwrap();
    let scene = Scene { stage: Stage::at(Path::new(root)), deed };
    scene.carry_out(deed, FaultyDisk::new(at.parse().unwrap(), Fault::Kill, None)).unwrap();
}

#[test]
fn whoever_writes_in_between_keeps_every_byte() {
    const INTRUDER: &str = "written in between\n";
    for deed in [Deed::Place, Deed::Beside, Deed::Merge] {
        let scene = Scene::new(deed);
        let calls = scene.carry_out(deed, FaultyDisk::new(0, Fault::Kill, None)).unwrap().calls();
        for at in 1..=calls {
            scene.reset();
            let pay = scene.repo().join("src/pay.rs");
            let mut disk = FaultyDisk::new(at, Fault::Kill, None);
            disk.fault = None;
            let beside = pay.clone();
            disk.meanwhile = Box::new(move || {
                let draft = beside.with_file_name("draft");
                std::fs::write(&draft, INTRUDER).unwrap();
                std::fs::rename(&draft, &beside).unwrap();
            });
            let done = scene.carry_out(deed, disk).map(drop);
            let mut all = scene.files();
            collect(&scene.stage.state_path().join("parked"), "parked/", &mut all);
            let is_kept = all.values().any(|text| text == INTRUDER);
            assert!(is_kept, "{deed:?} at {at}: {done:?}, {all:#?}");
            let merged = all.values().filter(|text| *text == MERGED).count();
            assert!(merged <= 1, "{deed:?} at {at}: {all:#?}");
        }
    }
}

#[test]
fn a_path_that_leaves_its_tree_is_refused() {
    let scene = Scene::new(Deed::Place);
    let outside = scene.stage.path("home/evil.rs");
    let paths = [
        scene.repo().join("../evil.rs"),
        scene.repo().join("src/../../evil.rs"),
        outside.clone(),
        PathBuf::from("src/evil.rs"),
    ];
    for path in paths {
        for way in [RescueWay::Place, RescueWay::Beside, RescueWay::Merge] {
            let Request::Rescue { lost: RescueTarget::Files(mut files), .. } = scene.request(Deed::Beside)
            else {
                panic!("no files")
            };
            files[0].path = path.clone().into();
            let request = Request::Rescue { lost: RescueTarget::Files(files), way };
            let state = StateFolder::open(System, &scene.stage.state_path()).unwrap();
            let refused =
                act(&state, &mut scene.stage.observer(), &scene.rules(), request, &Answer::Yes).unwrap_err();
            assert!(matches!(refused, ActionError::Never(_)), "{}: {refused}", path.display());
        }
    }
    let before = scene.files();
    assert!(!outside.exists() && before.len() == 1, "{before:?}");
}

/// The look reads only the end of a transcript; a record of the dead window is what is chosen.
#[test]
fn what_a_dead_window_lost_far_back_in_its_session_is_brought_back() {
    let scene = Scene::new(Deed::Place);
    let (stage, lost) = (&scene.stage, scene.repo().join("src/lost.rs"));
    let written = format!(
        r#"{{"timestamp":"2026-11-02T10:00:00Z","sessionId":"{SESSION}","cwd":{0:?},"message":{{"content":[{{"tool_use_id":"1","content":"ok"}}]}},"toolUseResult":{{"type":"create","filePath":{1:?},"content":"a lost file\n","structuredPatch":[]}}}}"#,
        scene.repo(),
        lost
    );
    let other =
        format!(r#"{{"timestamp":"2026-11-02T10:00:01Z","type":"other","text":"{}"}}"#, "z".repeat(1_000));
    let text = format!("{written}\n{}", format!("{other}\n").repeat(3_000));
    let project: String = scene.repo().to_str().unwrap().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    stage.write(&format!("home/.claude/projects/{project}/{SESSION}.jsonl"), &text);
    // A PID that no process has.
    let entry = format!(
        r#"{{"pid":4194301,"sessionId":"{SESSION}","cwd":{:?},"startedAt":1,"procStart":"5","version":"2.1.330","kind":"interactive","name":"alpha","status":"idle"}}"#,
        scene.repo()
    );
    stage.write("home/.claude/sessions/4194301.json", &entry);
    let mut observer = stage.observer_of(&["home/shop"]);
    let report = stage::report(&mut observer);
    let record =
        report.records().find(|record| record.session_id.as_ref().is_some_and(|id| id.raw() == SESSION));
    let lost_by = RescueTarget::By(record.unwrap().key.clone());
    let request = Request::Rescue { lost: lost_by, way: RescueWay::Place };
    let state = StateFolder::open(System, &stage.state_path()).unwrap();
    let receipt = act(&state, &mut observer, &scene.rules(), request, &Answer::Yes).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Done);
    assert_eq!(std::fs::read_to_string(&lost).unwrap(), "a lost file\n");
}
