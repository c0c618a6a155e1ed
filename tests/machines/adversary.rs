//! A hostile machine: it poses as another one, buries live processes, asks for orders and floods.

use std::io::BufRead;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json as value};

use super::apart::screen;
use super::far::{are_possible, configure, json, over_all};
use super::program;
use super::stage::{Made, Stage};
use super::world::World;

const SCRIPT: &str = include_str!("adversary.py");
const LOOK: &str = r#"{"look":{"at":"2026-11-24T00:00:00Z"}}"#;

/// A window here that has registered itself.
struct Window(Child);

impl Drop for Window {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Window {
    fn new(world: &World, name: &str) -> Self {
        let agent = world.path("share/claude/versions/2.1.330");
        std::fs::create_dir_all(agent.parent().unwrap()).unwrap();
        program::copy("/bin/sleep", &agent);
        let window = Self(program::spawn(Command::new(agent).arg("3600").env("HOME", world.path("home"))));
        window.register(world, name);
        window
    }

    fn start(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap().parse().unwrap()
    }

    fn session(&self) -> String {
        format!("dddddddd-0000-4000-8000-{:012}", self.0.id())
    }

    /// Writes its entry of the registry whole, by a rename.
    fn register(&self, world: &World, name: &str) {
        let (pid, start) = (self.0.id(), self.start().to_string());
        let text = value!({"pid": pid, "sessionId": self.session(), "cwd": "/x", "procStart": start,
            "startedAt": 1, "version": "2.1.330", "kind": "interactive", "entrypoint": "cli", "name": name, "status": "busy"});
        let new = world.write(&format!("home/.claude/sessions/{pid}.new"), &text.to_string());
        std::fs::rename(new, world.path(&format!("home/.claude/sessions/{pid}.json"))).unwrap();
    }
}

/// Watches a machine that sends these lines, beside others.
fn watch(world: &World, machines: &[&str], lines: &[Value], how: &str) -> PathBuf {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    let says = world.write("says", &format!("{}\n{LOOK}\n", lines.join("\n")));
    let (script, hears) = (world.write("adversary.py", SCRIPT), world.path("hears"));
    let text = |path: &PathBuf| path.to_str().unwrap().to_owned();
    let words = ["python3".to_owned(), text(&script), text(&says), text(&hears), how.to_owned()];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    configure(world, machines, &[("evil", &words)]);
    hears
}

fn hello(more: &Value) -> Value {
    let mut hello = value!({"schema": "claimtop.stream.v1", "version": "9", "machine": "m", "store": "evil", "host": "h",
        "boot": null, "pid_namespace": null, "now": jiff::Timestamp::now().to_string(), "takes_orders": true});
    hello.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    value!({ "hello": hello })
}

/// Returns the first lines of a real witness, as JSON.
fn witnessed(mut witness: Command) -> Vec<Value> {
    let mut witness = witness.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = std::io::BufReader::new(witness.stdout.take().unwrap()).lines().map(Result::unwrap);
    let all = lines.map(|line| serde_json::from_str::<Value>(&line).unwrap());
    let mut told = Vec::new();
    for line in all {
        let is_end = line.get("look").is_some();
        told.push(line);
        if is_end {
            break;
        }
    }
    witness.kill().unwrap();
    witness.wait().unwrap();
    told
}

/// Declares a process of the sender of this hello dead.
fn tombstone(hello: &Value, (pid, start): (u32, u64), session: &str) -> Value {
    let later = "2100-01-01T00:00:00Z";
    value!({"part": {"kind": "tombstone", "id": format!("{pid} {start}"), "is": {"pid": pid, "start_ticks": start,
        "pidfd_inode": null, "host": hello["host"], "boot_id": hello["boot"], "pid_namespace": hello["pid_namespace"],
        "time_namespace": 4_026_531_834_u64, "session_id": session, "seen_alive_at": later, "proven_at": later,
        "reason": "no-process"}}})
}

#[test]
fn who_says_that_it_is_this_machine_buries_and_hides_nobody_here() {
    let world = World::new();
    let window = Window::new(&world, "mine");
    let mine = witnessed(world.command(&["stream", "--observe"]));
    let me = &mine[0]["hello"];
    let mut lines = vec![hello(
        &value!({"machine": me["machine"], "boot": me["boot"], "pid_namespace": me["pid_namespace"]}),
    )];
    lines.push(tombstone(me, (window.0.id(), window.start()), &window.session()));
    // It shows windows of this machine as its own, and declares them dead.
    let parts =
        mine.iter().filter(|line| line["part"]["kind"] == "window" || line["part"]["kind"] == "record");
    lines.extend(parts.cloned().map(|mut part| {
        if let Some(verdict) = part.pointer_mut("/part/is/verdict") {
            verdict["state"] = "dead".into();
        }
        part
    }));
    watch(&world, &[], &lines, "");
    let report = json(&over_all(&world, &["ls", "--json"]));
    assert_eq!(report["machines"][0]["state"], "live", "{report}");
    let here = |list: &str| -> Vec<Value> {
        let all = report[list].as_array().unwrap().iter();
        all.filter(|one| !one["key"].as_str().unwrap().contains('@')).cloned().collect()
    };
    let is_mine = |one: &&Value| one["session_id"] == *window.session();
    let records = here("records");
    let record = records.iter().find(is_mine).unwrap_or_else(|| panic!("{report}"));
    assert_eq!(record["verdict"]["state"], "alive", "{record}");
    assert!(here("windows").iter().any(|one| is_mine(&one)), "{report}");
    let claims = here("claims");
    assert!(!claims.is_empty() && claims.iter().all(|claim| claim["status"] != "dead"), "{claims:?}");
}

#[test]
fn who_says_that_it_is_a_container_here_buries_nobody_who_is_seen_in_it() {
    if !are_possible() {
        return;
    }
    let stage = Stage::new(Made::Shared, "observe");
    let mut inside = Command::new(&stage.words[3]);
    inside.args(&stage.words[4..]).args([env!("CARGO_BIN_EXE_claimtop"), "stream", "--observe"]);
    let told = witnessed(inside);
    let its = told[0]["hello"].clone();
    let window =
        told.iter().find(|line| line["part"]["is"]["name"] == *stage.name).unwrap()["part"]["is"].clone();
    let number = |field: &str| window[field].as_u64().unwrap();
    let lines = [
        hello(
            &value!({"machine": its["machine"], "boot": its["boot"], "pid_namespace": its["pid_namespace"]}),
        ),
        tombstone(&its, (u32::try_from(number("pid")).unwrap(), number("start_ticks")), &stage.session),
    ];
    watch(&stage.world, &[], &lines, "");
    let report = json(&over_all(&stage.world, &["ls", "--json"]));
    assert_eq!(report["machines"][0]["state"], "live", "{report}");
    let records = report["records"].as_array().unwrap().iter();
    let record = records.filter(|one| one["session_id"] == *stage.session).collect::<Vec<_>>();
    assert!(!record.is_empty() && record.iter().all(|one| one["verdict"]["state"] != "dead"), "{record:?}");
}

#[test]
fn who_orders_is_not_obeyed_and_who_is_only_looked_at_is_ordered_nothing() {
    let world = World::new();
    let window = Window::new(&world, "mine");
    let key = json(&world.run(&["ls", "--json"]))["records"][0]["key"].clone();
    let from = value!({"host": "h", "store": "evil"});
    let lines = [
        hello(&value!({})),
        value!({"ask": {"number": 1, "requests": [{"Act": {"key": key, "action": "release"}}]}}),
        value!({"order": {"id": "o-1", "to": null, "digest": "d", "typed": null, "from": from}}),
        value!({"settle": {"id": "o-1", "action": "release", "title": "t", "from": from}}),
        value!({"receipt": {"id": "o-1", "became": {"ended": {"entry": 1, "ended": "done", "detail": ""}}}}),
        value!({"part": {"kind": "broken", "id": "x", "is": {"key": "r-00000000", "path": "/-rf '\"$(touch x)"}}}),
        value!({"part": {"kind": "finding", "id": "f", "is": {"code": "corrupt-record", "severity": "warning",
            "subjects": ["r-00000000"], "message": "--yes '; touch pwned; \u{1b}[2J", "evidence": [], "remedy": "park"}}}),
    ];
    let hears = watch(&world, &[], &lines, "");
    let mut screen = screen(&world);
    screen.press("5/pwned\r");
    screen.wait_for("--yes '; touch pwned");
    screen.press("P");
    let heard = |what: &str| std::fs::read_to_string(&hears).is_ok_and(|text| text.contains(what));
    screen.wait_until("it is asked", |_| heard(r#"{"ask""#));
    // It answers another question; a yes confirms nothing.
    screen.press("y\ry\u{1b}");
    screen.wait_until("two beats more", |_| {
        std::fs::read_to_string(&hears).is_ok_and(|text| text.matches(r#"{"beat""#).count() > 2)
    });
    assert!(!heard(r#"{"order""#) && !heard(r#"{"settle""#), "{}", screen.picture());
    let all = String::from_utf8_lossy(&screen.written).into_owned();
    assert!(!all.contains("pwned; \u{1b}[2J"), "an escape of its own has reached the terminal");
    screen.end();
    assert!(world.path(&format!("home/.claude/sessions/{}.json", window.0.id())).exists());
    let journal = json(&world.run(&["journal", "--json"]));
    assert_eq!(journal["entries"], value!([]), "{journal}");
}

#[test]
fn who_looks_without_end_delays_neither_another_machine_nor_this_one() {
    if !are_possible() {
        return;
    }
    let world = World::new();
    let window = Window::new(&world, "mine-0-");
    let broken = |number: u32| {
        let key = format!("r-{number:08x}");
        value!({"part": {"kind": "broken", "id": key, "is": {"key": key, "path": "/p"}}})
    };
    let lines: Vec<Value> = std::iter::once(hello(&value!({}))).chain((0..20_000).map(broken)).collect();
    watch(&world, &["devbox"], &lines, "--flood");
    let mut screen = screen(&world);
    screen.wait_for("8 Machines 2");
    screen.press("8");
    screen.wait_until("both are live", |screen| screen.picture().matches("● live").count() == 2);
    screen.press("3");
    let sessions = world.path("devbox/.claude/sessions");
    let file = |name: &str| {
        let mut files = std::fs::read_dir(&sessions).unwrap().map(|entry| entry.unwrap().path());
        files.find(|path| std::fs::read_to_string(path).is_ok_and(|text| text.contains(name))).unwrap()
    };
    let pay = file("devbox-pay");
    let text = std::fs::read_to_string(&pay).unwrap();
    for number in 1..6 {
        window.register(&world, &format!("mine-{number}-"));
        let new = world.write("new.json", &text.replace("devbox-pay", &format!("theirs-{number}-")));
        std::fs::rename(new, &pay).unwrap();
        screen.wait_until("both changes", |screen| {
            screen.shows(&format!("mine-{number}-")) && screen.shows(&format!("theirs-{number}-"))
        });
    }
    assert_eq!(screen.end(), 0);
}

#[test]
fn who_comes_again_and_again_brings_no_more_words_than_at_once() {
    let world = World::new();
    // Each has a text of its own, and all of them exceed what one machine may send.
    let _window = Window::new(&world, "mine");
    let told = witnessed(world.command(&["stream", "--observe"]));
    let record = told.iter().find(|line| line["part"]["kind"] == "record").unwrap().clone();
    let with = |number: u32| {
        let mut record = record.clone();
        record["part"]["is"]["record"]["variant"] = format!("{number}-{}", "word".repeat(100)).into();
        record
    };
    let script = |first: u32| {
        let lines: Vec<String> = (first..first + 100).map(|number| with(number).to_string()).collect();
        lines.join("\n")
    };
    world.write("first", &format!("{}\n{}\n{LOOK}\n", hello(&value!({})), script(0)));
    world.write("second", &format!("{}\n{}\n{LOOK}\n", hello(&value!({})), script(1_000)));
    let base = world.path("").to_str().unwrap().to_owned();
    let words = format!("cd {base}; if mkdir once; then cat first; exit 1; fi; cat second; exec sleep 600");
    configure(&world, &[], &[("evil", &["sh", "-c", &words])]);
    let mut screen = screen(&world);
    screen.wait_for("8 Machines 1");
    screen.press("8");
    screen.wait_for("evil");
    screen.press("\r");
    screen.wait_for("things that this version does not know");
    screen.end();
}
