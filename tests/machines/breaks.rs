//! The connection breaks at each message of any order: it is known what was done, and nothing is done twice.

use std::path::PathBuf;

use serde_json::Value;

use super::far::json;
use super::stage::{Made, Stage};

/// The messages of an order, and of a question after one.
const MESSAGES: [&str; 4] = ["up ask", "down plans", "up order", "down receipt"];
const AGAIN: [&str; 4] = ["up settle before", "up settle after", "down receipt before", "down receipt after"];

/// An order, and whether it is done.
struct Operation<'a> {
    stage: &'a Stage,
    /// The command, without its confirmation.
    command: &'a [&'a str],
    is_done: &'a dyn Fn() -> bool,
}

impl Operation<'_> {
    /// Waits until the files there are old enough to be touched; returns how the command is confirmed.
    fn consent(&self) -> Vec<String> {
        loop {
            let shown = self.stage.run(&[self.command, &["--dry-run", "--json"]].concat());
            if shown.out.contains("s ago: wait") {
                std::thread::sleep(std::time::Duration::from_millis(50));
                continue;
            }
            let shown = json(&shown);
            return match shown["plans"][0]["code"].as_str() {
                Some(code) => vec!["--confirm".to_owned(), code.to_owned()],
                None => vec!["--yes".to_owned()],
            };
        }
    }

    /// Breaks the connection at these lines, and checks that the report on the order is true. Returns whether it was
    /// done.
    #[track_caller]
    fn check(&self, cuts: &[&str]) -> bool {
        let Self { stage, command, is_done } = self;
        let consent = self.consent();
        let consent: Vec<&str> = consent.iter().map(String::as_str).collect();
        stage.cut(cuts);
        let before = stage.times_done();
        let answer = stage.run(&[command, &consent[..], &["--json"]].concat());
        let said = json(&answer);
        let Some(order) = said["orders"].get(0) else {
            let why = said["refused"][0]["why"].as_str().unwrap_or_else(|| panic!("{cuts:?}: {answer:?}"));
            assert!(answer.code == 4 && why.contains("lost"), "{cuts:?}: {said}");
            assert!(!is_done() && stage.times_done() == before, "{cuts:?}");
            return false;
        };
        let ended = order["became"]["ended"]["ended"] == "done";
        assert_eq!(answer.code == 0, ended, "{cuts:?}: {answer:?}");
        assert!(order["became"].get("unknown").is_none(), "{cuts:?}: {said}");
        assert_eq!(is_done(), ended, "{cuts:?}: {said}");
        assert_eq!(stage.times_done(), before + usize::from(ended), "{cuts:?}");
        let same = |entry: &&Value| entry["order"]["id"] == order["id"];
        let here = stage.journal();
        let entry = here.iter().find(same).unwrap_or_else(|| panic!("{cuts:?}: {here:?}"));
        assert_eq!(entry["outcome"]["ended"] == "done", ended, "{cuts:?}: {here:?}");
        let there = stage.journal_there();
        let there = there.iter().find(same);
        assert_eq!(there.is_some_and(|entry| entry["outcome"]["ended"] == "done"), ended, "{cuts:?}");
        ended
    }

    /// Breaks the connection at every line; `back` undoes the operation again.
    #[track_caller]
    fn check_everywhere(&self, back: &dyn Fn()) {
        let check = |cuts: &[&str]| {
            if self.check(cuts) {
                back();
            }
            assert!(!(self.is_done)(), "{cuts:?}");
        };
        for message in MESSAGES {
            for when in ["before", "after"] {
                check(&[&format!("{message} {when}")]);
            }
        }
        for again in AGAIN {
            check(&["up order after", again]);
            check(&["down receipt before", again, "up settle after"]);
        }
    }

    /// Carries it out over an intact connection.
    #[track_caller]
    fn carry_out(&self) {
        self.stage.cut(&[]);
        let consent = self.consent();
        let consent: Vec<&str> = consent.iter().map(String::as_str).collect();
        let answer = self.stage.run(&[self.command, &consent[..]].concat());
        assert!(answer.code == 0 && (self.is_done)(), "{answer:?}");
    }
}

/// Takes the newest entry back.
fn undo(stage: &Stage) {
    stage.cut(&[]);
    let undone = stage.run(&["undo", "--yes"]);
    assert_eq!(undone.code, 0, "{undone:?}");
}

/// Waits until the record in a file of this name is known over there, and returns its key.
fn key_of(stage: &Stage, name: &str) -> String {
    loop {
        if let Some(key) = known(stage, name) {
            return key;
        }
    }
}

fn known(stage: &Stage, name: &str) -> Option<String> {
    let report = json(&stage.run(&["ls", "--json", "--on", "far"]));
    let is_its = |value: &Value| value.as_str().is_some_and(|text| text.ends_with(name));
    let records = report["records"].as_array().unwrap().iter();
    let record = records.filter(|record| is_its(&record["location"]["path"])).map(|record| &record["key"]);
    let findings = report["findings"].as_array().unwrap().iter();
    let corrupt = findings.filter(|finding| finding["code"] == "corrupt-record");
    let keys = record.chain(corrupt.map(|finding| &finding["subjects"][0])).filter_map(Value::as_str);
    keys.into_iter().find(|key| key.ends_with("@far")).map(str::to_owned)
}

/// Writes a record over there in a form that its system no longer uses, of the window that lives there.
fn legacy(stage: &Stage) -> (String, PathBuf, PathBuf) {
    let pid = std::fs::read_to_string(stage.world.path("begun")).unwrap().trim().to_owned();
    let name = format!("maia_active_swarm_session_{pid}.json");
    let old = stage.world.write(&format!("far-tmp/{name}"), r#"{"current_agent":"sre","unknown":1.50}"#);
    let new = stage.world.path(&format!("far/.maia/sessions/swarm_session_{pid}.json"));
    (name, old, new)
}

#[test]
fn a_release() {
    let stage = Stage::new(Made::Home, "operate");
    stage.end();
    let key = stage.key();
    let operation = Operation { stage: &stage, command: &["release", &key], is_done: &|| !stage.lies() };
    operation.check_everywhere(&|| undo(&stage));
}

#[test]
fn a_migration() {
    let stage = Stage::new(Made::Home, "operate");
    let (name, old, new) = legacy(&stage);
    let text = std::fs::read(&old).unwrap();
    let key = key_of(&stage, &name);
    let is_done = || {
        assert_ne!(old.exists(), new.exists());
        new.exists()
    };
    let operation = Operation { stage: &stage, command: &["migrate", &key], is_done: &is_done };
    operation.check_everywhere(&|| undo(&stage));
    operation.carry_out();
    assert_eq!(std::fs::read(&new).unwrap(), text);
}

#[test]
fn parking() {
    let stage = Stage::new(Made::Home, "operate");
    let broken = stage.world.write("far/.maia/sessions/swarm_session_1.json", "{");
    let key = key_of(&stage, broken.to_str().unwrap());
    let operation = Operation { stage: &stage, command: &["park", &key], is_done: &|| !broken.exists() };
    operation.check_everywhere(&|| undo(&stage));
    assert_eq!(std::fs::read(&broken).unwrap(), b"{");
}

#[test]
fn taking_it_back() {
    let stage = Stage::new(Made::Home, "operate");
    stage.end();
    let key = stage.key();
    let release = Operation { stage: &stage, command: &["release", &key], is_done: &|| !stage.lies() };
    release.carry_out();
    let operation = Operation { stage: &stage, command: &["undo"], is_done: &|| stage.lies() };
    operation.check_everywhere(&|| release.carry_out());
}

#[test]
fn what_is_brought_back_beside_what_lies_there_by_now() {
    let stage = Stage::new(Made::Home, "operate");
    stage.end();
    let key = stage.key();
    let place = std::fs::read_dir(stage.registry()).unwrap().next().unwrap().unwrap().path();
    let old = std::fs::read(&place).unwrap();
    Operation { stage: &stage, command: &["release", &key], is_done: &|| !place.exists() }.carry_out();
    std::fs::write(&place, "new").unwrap();
    let taken = stage.run(&["undo", "--yes"]);
    assert!(taken.code == 3 && taken.out.contains("--beside"), "{taken:?}");
    let beside = place.with_file_name(format!("{}.restored", place.file_name().unwrap().to_str().unwrap()));
    let operation = Operation { stage: &stage, command: &["undo", "--beside"], is_done: &|| beside.exists() };
    assert!(!operation.check(&["up order before"]) && operation.check(&["down receipt before"]));
    assert_eq!((std::fs::read(&beside).unwrap(), std::fs::read(&place).unwrap()), (old, b"new".to_vec()));
    assert_eq!(stage.journal()[0]["outcome"]["there"], stage.journal_there()[0]["number"]);
}
