//! Every call of a set-up is refused once, cut in half once and preceded by a kill once, and others write at every call:
//! each agent's settings are as before or as planned, no bytes are lost, and the next set-up does the rest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use claimtop::testing::act::{
    ActionError, Answer, Disk, Look, Patience, Preview, StateFolder, System, follow_up,
};
use claimtop::testing::core::{
    EndResult, History, HookEntries, HookEntry, HookForm, Request, RestoreTo, SettingsEdit, SetupWay, Wiring,
};
use rustix::io::Errno;

use crate::faulty::{Fault, FaultyDisk, child_with};
use crate::stage::{self, Stage};

/// Marks the process that is to be killed: the deed, the call, and its stage.
const CHILD: &str = "CLAIMTOP_TEST_SETUP_CRASH";

const BEFORE: &str = "{\n  \"model\": \"x\"\n}\n";
const AFTER: &str = "{
  \"model\": \"x\",
  \"hooks\": {
    \"Stop\": [
      { \"hooks\": [{ \"type\": \"command\", \"command\": \"claimtop bind\" }] }
    ]
  }
}
";
const MADE: &str = "// claimtop\n";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    /// Changes a file and makes another one.
    Add,
    /// Changes the one back and parks the other one.
    Remove,
    /// Undoes the first.
    Undo,
    /// Undoes the first where the agent has written its settings since.
    UndoRewritten,
}

const DEEDS: [Deed; 4] = [Deed::Add, Deed::Remove, Deed::Undo, Deed::UndoRewritten];

struct Scene {
    stage: Stage,
    deed: Deed,
}

impl Scene {
    fn new(deed: Deed) -> Self {
        let scene = Self { stage: Stage::new(), deed };
        scene.reset();
        scene
    }

    fn settings(&self) -> PathBuf {
        self.stage.path("home/.claude/settings.json")
    }

    fn plugin(&self) -> PathBuf {
        self.stage.path("home/.config/plugin/claimtop.js")
    }

    /// Makes the world as it is before the deed.
    fn reset(&self) {
        let _ = std::fs::remove_dir_all(self.stage.state_path());
        let _ = std::fs::remove_dir_all(self.stage.path("home/.config"));
        self.stage.write("home/.claude/settings.json", BEFORE);
        if self.deed != Deed::Add {
            self.carry_out(Deed::Add, System).unwrap();
        }
        if self.deed == Deed::UndoRewritten {
            self.stage.write("home/.claude/settings.json", &rewritten(AFTER));
        }
    }

    /// Asks for what is left to do of a deed.
    fn request(&self, deed: Deed) -> Request {
        let way = match deed {
            Deed::Add => SetupWay::Add,
            Deed::Remove => SetupWay::Remove,
            Deed::Undo | Deed::UndoRewritten => return Request::Undo { entry: 1, to: RestoreTo::Origin },
        };
        let stop =
            HookEntry { event: "Stop".into(), matcher: String::new(), command: "claimtop bind".into() };
        let hooks =
            HookEntries { form: HookForm::Groups, hooks: vec![stop], status_line: None, server: None };
        let edit = |agent: &str, path: PathBuf, wiring| SettingsEdit {
            agent: agent.into(),
            path: path.into(),
            base: self.stage.path("home").into(),
            wiring,
            way,
        };
        let all = [
            edit("Claude Code", self.settings(), Wiring::Hooks(hooks)),
            edit("opencode", self.plugin(), Wiring::Plugin(MADE.into())),
        ];
        let (now, then) = (self.files(), after(deed));
        let is_left = |file: &SettingsEdit| now.get(file.agent.as_str()) != then.get(file.agent.as_str());
        Request::Setup { files: all.into_iter().filter(is_left).collect() }
    }

    /// Does a deed on a disk.
    fn carry_out<D: Disk>(&self, deed: Deed, disk: D) -> Result<D, ActionError> {
        let mut observer = self.stage.observer();
        let report = stage::report(&mut observer);
        let state = StateFolder::open(disk, &self.stage.state_path())?;
        let lock = state.lock(Patience::Wait, observer.now())?;
        let preview = Preview::look(&lock, &report, self.request(deed), &self.stage.rules(), observer.now())?;
        drop(lock);
        let done = follow_up::carry_out(&state, preview, &Answer::Yes, &mut observer)?;
        let ends = done.followed.iter().map(|part| part.end.as_ref().map(|receipt| receipt.outcome.ended));
        let mut ends = ends.chain([Ok(done.receipt.outcome.ended)]);
        if ends.all(|end| end == Ok(EndResult::Done)) {
            return Ok(state.disk);
        }
        Err(ActionError::Refused(format!("{done:?}")))
    }

    /// Returns the settings that are there, by their agents.
    fn files(&self) -> BTreeMap<&'static str, String> {
        let all = [("Claude Code", self.settings()), ("opencode", self.plugin())];
        all.into_iter()
            .filter_map(|(agent, path)| Some((agent, std::fs::read_to_string(path).ok()?)))
            .collect()
    }

    /// Recovers; each file must be as before or as after, and the deed can be ended.
    #[track_caller]
    fn check(&self, before: &BTreeMap<&'static str, String>, what: &str) {
        let state = StateFolder::open(System, &self.stage.state_path()).unwrap();
        drop(state.lock(Patience::Wait, self.stage.observer().now()).unwrap());
        drop(state);
        let journal = std::fs::read(self.stage.state_path().join("journal.jsonl")).unwrap_or_default();
        for entry in History::read(&journal).entries {
            assert_ne!(entry.outcome.as_ref().unwrap().ended, EndResult::Stuck, "{what}");
        }
        let (now, then) = (self.files(), after(self.deed));
        for agent in ["Claude Code", "opencode"] {
            let known = [before.get(agent), then.get(agent)];
            assert!(known.contains(&now.get(agent)), "{what}: {agent}: {now:?}");
        }
        let beside = std::fs::read_dir(self.stage.path("home/.claude")).unwrap().count();
        assert_eq!(beside, 2, "{what}: something is left beside the settings");
        if now != then {
            self.carry_out(self.deed, System).unwrap_or_else(|error| {
                panic!("{what}: again: {error}\n{}\n{now:?}", String::from_utf8_lossy(&journal))
            });
            assert_eq!(self.files(), then, "{what}");
        }
    }
}

fn after(deed: Deed) -> BTreeMap<&'static str, String> {
    let files: &[_] = match deed {
        Deed::Add => &[("Claude Code", AFTER), ("opencode", MADE)],
        Deed::Remove | Deed::Undo | Deed::UndoRewritten => &[("Claude Code", BEFORE)],
    };
    let is_rewritten = deed == Deed::UndoRewritten;
    let text = |text: &str| if is_rewritten { rewritten(text) } else { text.to_owned() };
    files.iter().map(|(agent, known)| (*agent, text(known))).collect()
}

/// Returns settings as their agent has written them since.
fn rewritten(text: &str) -> String {
    text.replace("\"x\"", "\"z\"")
}

#[test]
fn a_refusal_of_any_call_of_a_set_up_loses_nothing() {
    for deed in DEEDS {
        let scene = Scene::new(deed);
        let calls = scene.carry_out(deed, FaultyDisk::new(0, Fault::Kill, None)).unwrap().calls();
        assert_eq!(scene.files(), after(deed), "{deed:?}");
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
fn a_kill_before_any_call_of_a_set_up_loses_nothing() {
    for deed in DEEDS {
        let scene = Scene::new(deed);
        for at in 1.. {
            scene.reset();
            let before = scene.files();
            let order = format!("{deed:?} {at} {}", scene.stage.path("").display());
            let status = child_with("actions::setup::child", (CHILD, &order));
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
fn settings_that_an_agent_writes_in_between_are_kept() {
    const INTRUDER: &str = "{ \"model\": \"y\" }\n";
    for deed in DEEDS {
        let scene = Scene::new(deed);
        let calls = scene.carry_out(deed, FaultyDisk::new(0, Fault::Kill, None)).unwrap().calls();
        for at in 1..=calls {
            scene.reset();
            let settings = scene.settings();
            let mut disk = FaultyDisk::new(at, Fault::Kill, None);
            disk.fault = None;
            disk.meanwhile = Box::new(move || {
                let draft = settings.with_file_name("draft");
                std::fs::write(&draft, INTRUDER).unwrap();
                std::fs::rename(&draft, &settings).unwrap();
            });
            let done = scene.carry_out(deed, disk).map(drop);
            let mut all: Vec<String> = scene.files().into_values().collect();
            for entry in std::fs::read_dir(scene.stage.state_path().join("parked")).into_iter().flatten() {
                all.push(std::fs::read_to_string(entry.unwrap().path()).unwrap());
            }
            // What claimtop adds to the settings of the agent is a change of them.
            let is_kept = all.iter().any(|text| text == INTRUDER);
            assert!(is_kept, "{deed:?} at {at}: {done:?}, {all:#?}");
        }
    }
}
