//! Acting on another machine from here: its own plan, confirmed here, done and journalled there, once at most.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::far::{NAMESPACES, are_possible, json};
use super::program;
use super::pty::{Screen, claimtop};
use super::world::{Answer, World};

/// Begins a window there that has registered itself, and ends it when it is told to.
const WINDOW: &str = r#"
base=$1; export HOME=$base/far
mkdir -p $HOME/.claude $HOME/shop
[ $2 = shared ] && mkdir -p $base/home/.claude && mount --bind $base/home/.claude $HOME/.claude
mkdir -p $HOME/.claude/sessions
cd $HOME/shop; $base/share/claude/versions/2.1.330 3600 & pid=$!
start=$(cut -d')' -f2 /proc/$pid/stat | awk '{print $20}')
domain=; [ $2 = home ] || domain="\"pidDomain\":\"linux:$(cat /etc/machine-id):$(readlink /proc/self/ns/pid)\","
printf '{"pid":%d,"sessionId":"aaaaaaaa-0000-4000-8000-000000000001","cwd":"%s","procStart":"%s",%s"startedAt":1,"version":"2.1.330","kind":"interactive","entrypoint":"cli","name":"alpha","status":"busy"}' \
  $pid $HOME/shop $start "$domain" > $HOME/.claude/sessions/$pid.json
echo $pid > $base/begun
while [ ! -e $base/end ]; do sleep 0.05; done
kill $pid; wait $pid; echo > $base/ended; exec sleep 3600
"#;

/// What a shell there does before claimtop is started.
const BEGIN: &str = "base=$1; shift; export HOME=$base/far; exec \"$@\"\n";

/// What lies between: it hands lines on, until one that it is told of comes.
const RELAY: &str = include_str!("relay.py");

/// A machine that takes orders, and this one.
struct Stage {
    world: World,
    made: Made,
    machine: Child,
    /// What reaches it, through the relay.
    words: Vec<String>,
}

impl Drop for Stage {
    fn drop(&mut self) {
        // The first window of all lives on otherwise, and so does a machine of namespaces.
        self.world.write("end", "");
        let _ = self.machine.kill();
        let _ = self.machine.wait();
    }
}

/// What the other machine is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Made {
    /// A home of its own.
    Home,
    /// Namespaces of its own as well.
    Namespaces,
    /// Namespaces, and a folder of Claude Code's that is this machine's as well.
    Shared,
}

impl Stage {
    /// Makes a machine in which a window runs.
    fn new(made: Made, allow: &str) -> Self {
        let world = World::new();
        let agent = world.path("share/claude/versions/2.1.330");
        std::fs::create_dir_all(agent.parent().unwrap()).unwrap();
        program::copy("/bin/sleep", &agent);
        let text = |path: PathBuf| path.to_str().unwrap().trim_end_matches('/').to_owned();
        let base = text(world.path(""));
        let mut machine = match made {
            Made::Home => Command::new("sh"),
            Made::Namespaces | Made::Shared => Command::new("unshare"),
        };
        if made != Made::Home {
            machine.args(NAMESPACES).arg("sh");
        }
        machine.arg(world.write("window.sh", WINDOW)).arg(&base).arg(match made {
            Made::Home => "home",
            Made::Namespaces => "namespaces",
            Made::Shared => "shared",
        });
        let machine = machine.spawn().unwrap();
        wait_for(&world.path("begun"));
        let mut words =
            vec!["python3".to_owned(), text(world.write("relay.py", RELAY)), text(world.path("cuts"))];
        if made != Made::Home {
            let children = Command::new("pgrep").args(["-P", &machine.id().to_string()]).output().unwrap();
            let inside = String::from_utf8(children.stdout).unwrap().trim().to_owned();
            let enter = ["nsenter", "--target", &inside, "--pid", "--mount", "--uts"];
            words.extend(enter.map(str::to_owned));
        }
        words.extend(["sh".to_owned(), text(world.write("begin.sh", BEGIN)), base]);
        let stage = Self { world, made, machine, words };
        stage.configure(allow);
        stage
    }

    fn configure(&self, allow: &str) {
        let config = format!(
            "[[machine]]\nname = 'far'\ncommand = {:?}\npath = {:?}\nallow = '{allow}'\n",
            self.words,
            env!("CARGO_BIN_EXE_claimtop")
        );
        self.world.write("home/.config/claimtop/config.toml", &config);
    }

    /// Ends the window over there. In namespaces its own claimtop must look on: nobody else can prove that.
    fn end(&self) {
        if self.made == Made::Home {
            self.world.write("end", "");
            return wait_for(&self.world.path("ended"));
        }
        let mut witness = Command::new(&self.words[3]);
        witness.args(&self.words[4..]).args([env!("CARGO_BIN_EXE_claimtop"), "stream", "--observe"]);
        let mut witness = witness.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(witness.stdout.take().unwrap()).lines();
        let mut until = |part: &str| while !lines.next().unwrap().unwrap().contains(part) {};
        until(r#"{"look""#);
        self.world.write("end", "");
        wait_for(&self.world.path("ended"));
        // Whatever is written there is looked at at once: a death may take more than one look.
        let is_told = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let note = self.registry().join("9.json");
                while !is_told.load(Ordering::Relaxed) {
                    std::fs::write(&note, "").unwrap();
                    std::fs::remove_file(&note).unwrap();
                    std::thread::sleep(std::time::Duration::from_millis(100));
                }
            });
            until(r#""kind":"tombstone""#);
            is_told.store(true, Ordering::Relaxed);
        });
        witness.kill().unwrap();
        witness.wait().unwrap();
    }

    /// Lets the relay break the connection at these lines, each once: `up order before`.
    fn cut(&self, cuts: &[&str]) {
        self.world.write("cuts", &cuts.join("\n"));
    }

    fn run(&self, arguments: &[&str]) -> Answer {
        self.world.run_with(arguments, &[("PATH", "/usr/bin:/bin")])
    }

    /// Runs it again for as long as a file over there is too young to be touched.
    fn settled(&self, arguments: &[&str]) -> Answer {
        loop {
            let answer = self.run(arguments);
            if answer.code == 0 || !answer.out.contains("s ago: wait") {
                return answer;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }

    /// Waits until what is there is old enough to be touched.
    fn rest(&self, key: &str) {
        while self.run(&["release", key, "--dry-run"]).out.contains("s ago: wait") {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }

    /// Runs claimtop on the other machine.
    fn there(&self, arguments: &[&str]) -> Answer {
        let home = self.world.path("far");
        let mut command = Command::new(env!("CARGO_BIN_EXE_claimtop"));
        command.env_clear().env("HOME", &home).env("PATH", "/usr/bin:/bin").args(arguments);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let code = output.status.code().unwrap_or(-1);
        Answer { code, out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// Returns the key of what the window over there has left.
    fn key(&self) -> String {
        let report = json(&self.run(&["ls", "--json", "--on", "far"]));
        let records = report["records"].as_array().unwrap();
        let keys = records.iter().map(|record| record["key"].as_str().unwrap());
        keys.into_iter().find(|key| key.ends_with("@far")).unwrap_or_else(|| panic!("{report}")).to_owned()
    }

    /// Returns the folder of the windows over there.
    fn registry(&self) -> PathBuf {
        let home = if self.made == Made::Shared { "home" } else { "far" };
        self.world.path(home).join(".claude/sessions")
    }

    /// Returns whether the file of that still lies where it lay.
    fn lies(&self) -> bool {
        std::fs::read_dir(self.registry()).unwrap().count() == 1
    }

    fn journal(&self) -> Vec<Value> {
        json(&self.run(&["journal", "--json"]))["entries"].as_array().unwrap().clone()
    }

    fn journal_there(&self) -> Vec<Value> {
        json(&self.there(&["journal", "--json"]))["entries"].as_array().unwrap().clone()
    }
}

fn wait_for(path: &Path) {
    while !path.exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn what_is_dead_there_is_released_from_here_and_brought_back_and_both_journals_say_so() {
    if !are_possible() {
        return;
    }
    let stage = Stage::new(Made::Namespaces, "operate");
    stage.end();
    let key = stage.key();
    let shown = stage.run(&["release", &key, "--dry-run"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.out.contains("Machine         far") && shown.out.contains("1. put"), "{shown:?}");
    assert!(stage.lies() && stage.journal_there().is_empty());

    let done = stage.settled(&["release", &key, "--yes"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.out.contains("done on far: "), "{done:?}");
    assert!(!stage.lies());
    let (here, there) = (stage.journal(), stage.journal_there());
    assert_eq!(there.len(), 1, "{here:?} {there:?}");
    assert_eq!(here[0]["order"]["id"], there[0]["order"]["id"]);
    assert_eq!(
        (&here[0]["order"]["side"], &here[0]["order"]["machine"]),
        (&"asked-of".into(), &"far".into())
    );
    assert_eq!(there[0]["order"]["side"], "asked-by");
    assert_eq!(here[0]["outcome"]["there"], there[0]["number"]);
    assert_eq!(
        (&here[0]["outcome"]["ended"], &there[0]["outcome"]["ended"]),
        (&"done".into(), &"done".into())
    );

    let undone = stage.run(&["undo", "--yes"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert!(stage.lies());
    let here = stage.journal();
    assert_eq!(here[1]["undone_by"], here[0]["number"], "{here:?}");
    assert_eq!(stage.journal_there()[1]["undone_by"], 2);
}

/// Returns the key of the record here that names this PID.
fn key_here(stage: &Stage, pid: &str) -> String {
    let report = json(&stage.run(&["ls", "--json"]));
    let end = format!("/{pid}.json");
    let is_its =
        |record: &&Value| record["location"]["path"].as_str().is_some_and(|path| path.ends_with(&end));
    let record = report["records"].as_array().unwrap().iter().find(is_its);
    record.unwrap_or_else(|| panic!("{report}"))["key"].as_str().unwrap().to_owned()
}

#[test]
fn who_has_ended_over_there_by_its_own_machine_is_let_go_here() {
    if !are_possible() {
        return;
    }
    let stage = Stage::new(Made::Shared, "observe");
    let pid = std::fs::read_to_string(stage.world.path("begun")).unwrap().trim().to_owned();
    let key = key_here(&stage, &pid);
    let living = stage.settled(&["release", &key, "--on", "far", "--yes"]);
    assert!(living.code == 3 && stage.lies(), "{living:?}");
    stage.end();
    // Every machine of the configuration is asked, also where none is named.
    stage.world.write("begin.sh", "exit 1\n");
    let alone = stage.run(&["release", &key, "--yes"]);
    assert!(alone.code == 4 && stage.lies(), "nobody here can know: {alone:?}");
    assert!(alone.out.contains("may be held on another machine, and far cannot be heard"), "{alone:?}");
    stage.world.write("begin.sh", BEGIN);
    let done = stage.settled(&["release", &key, "--yes"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(!stage.lies());
    let journal = stage.journal();
    assert!(journal[0]["why"].as_str().unwrap().contains("witnessed by far"), "{journal:?}");
    assert!(stage.journal_there().is_empty(), "nothing was asked of it");
    assert_eq!(stage.run(&["undo", "--yes"]).code, 0);
    assert!(stage.lies());
}

#[test]
fn what_a_dead_window_left_here_is_kept_while_its_session_lives_over_there() {
    if !are_possible() {
        return;
    }
    let stage = Stage::new(Made::Namespaces, "observe");
    let mut ended = Command::new("true").spawn().unwrap();
    let pid = ended.id().to_string();
    ended.wait().unwrap();
    let text = format!(
        r#"{{"pid":{pid},"sessionId":"aaaaaaaa-0000-4000-8000-000000000001","cwd":"/x","procStart":"1","startedAt":1,"version":"2.1.330","kind":"interactive","entrypoint":"cli","name":"old","status":"idle"}}"#
    );
    let left = stage.world.write(&format!("home/.claude/sessions/{pid}.json"), &text);
    let key = key_here(&stage, &pid);
    let refused = stage.settled(&["release", &key, "--on", "far", "--yes"]);
    assert!(refused.code == 3 && left.exists(), "{refused:?}");
    assert!(refused.out.contains("alpha@far/old"), "{refused:?}");
    // Nobody has asked who is silent.
    stage.world.write("begin.sh", "exit 1\n");
    let unheard = stage.run(&["release", &key, "--on", "far", "--yes"]);
    assert!(unheard.code == 4 && left.exists(), "{unheard:?}");
    stage.world.write("begin.sh", BEGIN);
    let done = stage.settled(&["release", &key, "--on", "far", "--confirm", "alpha@far/old"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(!left.exists());
}

/// Returns how often something was done there.
fn times_done(stage: &Stage) -> usize {
    stage.journal_there().iter().filter(|entry| entry["outcome"]["ended"] == "done").count()
}

/// Breaks the connection at these lines of an order, and checks that what is said of it is what is so.
#[track_caller]
fn check_cut(stage: &Stage, key: &str, cuts: &[&str]) {
    stage.rest(key);
    stage.cut(cuts);
    let before = times_done(stage);
    let answer = stage.run(&["release", key, "--yes", "--json"]);
    let said = json(&answer);
    let Some(order) = said["orders"].get(0) else {
        assert!(answer.code == 4 && said["refused"][0]["why"].as_str().unwrap().contains("lost"), "{said}");
        return assert!(stage.lies() && times_done(stage) == before, "{cuts:?}");
    };
    let is_done = order["became"]["ended"]["ended"] == "done";
    assert_eq!(answer.code == 0, is_done, "{cuts:?}: {answer:?}");
    assert!(order["became"].get("unknown").is_none(), "{cuts:?}: {said}");
    assert_eq!(stage.lies(), !is_done, "{cuts:?}: {said}");
    assert_eq!(times_done(stage), before + usize::from(is_done), "{cuts:?}");
    let here = stage.journal();
    assert_eq!(here[0]["order"]["id"], order["id"], "{cuts:?}");
    assert_eq!(here[0]["outcome"]["ended"] == "done", is_done, "{cuts:?}: {here:?}");
    let there = stage.journal_there();
    let same = there.iter().find(|entry| entry["order"]["id"] == order["id"]);
    assert_eq!(
        same.map(|entry| entry["outcome"]["ended"] == "done").unwrap_or_default(),
        is_done,
        "{cuts:?}"
    );
    if is_done {
        let undone = stage.run(&["undo", "--yes"]);
        assert_eq!(undone.code, 0, "{cuts:?}: {undone:?}");
        assert!(stage.lies());
    }
}

#[test]
fn wherever_the_connection_breaks_it_is_known_what_was_done_and_nothing_is_done_twice() {
    let stage = Stage::new(Made::Home, "operate");
    stage.end();
    let key = stage.key();
    stage.rest(&key);
    for line in ["up ask", "down plans", "up order", "down receipt"] {
        for when in ["before", "after"] {
            check_cut(&stage, &key, &[&format!("{line} {when}")]);
        }
    }
    for again in ["up settle before", "up settle after", "down receipt before", "down receipt after"] {
        check_cut(&stage, &key, &["up order after", again]);
        check_cut(&stage, &key, &["down receipt before", again, "up settle after"]);
    }
}

#[test]
fn what_has_changed_since_its_plan_was_shown_is_not_done() {
    let stage = Stage::new(Made::Home, "operate");
    stage.end();
    let key = stage.key();
    let shown = stage.settled(&["release", &key, "--dry-run"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    stage
        .world
        .write("cuts.sh", &format!("for file in {}/*; do echo >> $file; done\n", stage.registry().display()));
    stage.cut(&["up order run"]);
    let answer = stage.run(&["release", &key, "--yes"]);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert!(answer.out.contains("changed under you"), "{answer:?}");
    assert!(stage.lies() && times_done(&stage) == 0);
    assert_eq!(stage.journal()[0]["outcome"]["ended"], "changed");
}

#[test]
fn who_is_only_watched_is_asked_for_nothing_and_who_only_observes_does_nothing() {
    let stage = Stage::new(Made::Home, "observe");
    stage.end();
    let key = stage.key();
    let refused = stage.run(&["release", &key, "--yes"]);
    assert!(refused.code == 3 && refused.err.contains("only watched from here"), "{refused:?}");
    // Whatever it is started with there, it is what its owner lets it be.
    stage.world.write("begin.sh", "export HOME=$1/far; exec $2 stream --observe\n");
    stage.configure("operate");
    let refused = stage.run(&["release", &key, "--yes"]);
    assert!(refused.code == 3 && refused.err.contains("takes no orders: it is only observed"), "{refused:?}");
    stage.world.write("begin.sh", BEGIN);
    for (accepts, why) in [("never", "accept_orders"), ("dead-only", "proven dead")] {
        stage.world.write("far/.config/claimtop/config.toml", &format!("accept_orders = '{accepts}'\n"));
        let refused = stage.run(&["stop", &key, "--confirm", "x"]);
        assert!(refused.code >= 3 && (refused.err + &refused.out).contains(why) || accepts == "dead-only");
    }
    let done = stage.settled(&["release", &key, "--yes"]);
    assert_eq!(done.code, 0, "what is proven dead may be let go: {done:?}");
}

#[test]
fn an_order_that_is_forced_upon_who_observes_is_refused() {
    let stage = Stage::new(Made::Home, "observe");
    let mut observer = Command::new(&stage.words[3]);
    observer.args(&stage.words[4..]).args([env!("CARGO_BIN_EXE_claimtop"), "stream", "--observe"]);
    let mut observer = observer.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let from = r#""from":{"host":"h","store":null}"#;
    let order = format!(r#"{{"order":{{"id":"1","to":null,"digest":"d","typed":null,{from}}}}}"#);
    let settle = format!(r#"{{"settle":{{"id":"1","action":"release","title":"t",{from}}}}}"#);
    writeln!(observer.stdin.as_mut().unwrap(), "{order}\n{settle}").unwrap();
    let lines = BufReader::new(observer.stdout.take().unwrap()).lines().map(Result::unwrap);
    let receipts: Vec<String> = lines.filter(|line| line.starts_with(r#"{"receipt""#)).take(2).collect();
    observer.kill().unwrap();
    observer.wait().unwrap();
    assert!(receipts[0].contains("refused") && receipts[1].contains("unknown"), "{receipts:?}");
    assert!(stage.journal_there().is_empty());
}

#[test]
fn a_window_there_is_ended_only_by_its_full_name_and_for_good() {
    let stage = Stage::new(Made::Home, "operate");
    let report = json(&stage.run(&["ls", "--json", "--on", "far"]));
    let windows = report["windows"].as_array().unwrap();
    let is_its =
        |window: &&Value| window["name"] == "alpha" && window["key"].as_str().unwrap().ends_with("@far");
    let window = windows.iter().find(is_its).unwrap_or_else(|| panic!("{report}"));
    let key = window["key"].as_str().unwrap();
    assert!(key.ends_with("@far"), "{window}");
    let asked = stage.run(&["stop", key, "--yes"]);
    assert_eq!(asked.code, 3, "{asked:?}");
    let name = asked
        .out
        .split("--confirm \"")
        .nth(1)
        .unwrap_or_else(|| panic!("{asked:?}"))
        .split('"')
        .next()
        .unwrap()
        .to_owned();
    assert_eq!(stage.run(&["stop", key, "--confirm", "somebody else"]).code, 3);
    assert!(stage.journal_there().is_empty(), "what is not confirmed here is not sent");
    let done = stage.run(&["stop", key, "--confirm", &name]);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(stage.journal_there()[0]["action"], "stop");
    assert_eq!(stage.journal()[0]["can_be_undone"], false);
    assert_eq!(stage.run(&["undo", "--yes"]).code, 3);
}

#[test]
fn of_two_who_ask_at_once_one_is_heard() {
    let stage = Stage::new(Made::Home, "operate");
    stage.end();
    let key = stage.key();
    stage.rest(&key);
    let other = stage.world.path("other");
    let arguments = ["release", &key, "--yes", "--state", other.to_str().unwrap()];
    let (one, two) = std::thread::scope(|scope| {
        let one = scope.spawn(|| stage.run(&arguments[..3]));
        let two = scope.spawn(|| stage.run(&arguments));
        (one.join().unwrap(), two.join().unwrap())
    });
    let answers = [one, two];
    let done = answers.iter().filter(|answer| answer.code == 0).count();
    assert_eq!(done, 1, "{answers:?}");
    assert!(answers.iter().all(|answer| answer.code == 0 || answer.code == 3), "{answers:?}");
    assert_eq!(times_done(&stage), 1);
}

/// Plays a machine that takes orders: `said` is what it answers to the first line of each kind.
const HOSTILE: &str = r##"
import json, sys
def say(thing): print(json.dumps(thing), flush=True)
def plan(**more):
    return {"Ok": {"plan": {"subject": "r-00000000", "record": "r-00000000", "name": "x", "what": "\x1b[2Jdo\x1b]0;it\x07", "why": [],
        "steps": [], "inverse": "none", "refuses_when": [], "confirmation": "yes", **more}, "wanted": None, "digest": "d"}}
key = "r-00000000"
say({"hello": {"schema": "claimtop.stream.v1", "version": "9", "machine": "m", "store": "s", "host": "h", "boot": None,
    "pid_namespace": None, "now": "2026-11-24T00:00:00Z", "takes_orders": True}})
say({"part": {"kind": "broken", "id": key, "is": {"key": key, "path": "/p"}}})
say({"part": {"kind": "finding", "id": "f", "is": {"code": "corrupt-record", "severity": "warning", "subjects": [key],
    "message": "m", "evidence": [], "remedy": "park"}}})
say({"receipt": {"id": "never", "became": {"ended": {"entry": 1, "ended": "done", "detail": ""}}}})
say({"look": {"at": "2026-11-24T00:00:00Z"}})
for line in sys.stdin:
    line = json.loads(line)
    if "ask" in line:
        say({"plans": {"number": 77, "is": [plan()]}})
        say({"plans": {"number": line["ask"]["number"], "is": [SAID]}})
    if "order" in line:
        say({"receipt": {"id": "another", "became": {"ended": {"entry": 1, "ended": "done", "detail": ""}}}})
        say({"receipt": {"id": line["order"]["id"], "became": {"refused": {"kind": "changed", "text": "\x1b[31mno"}}}})
"##;

#[test]
fn a_machine_that_lies_about_plans_and_receipts_misleads_about_itself_alone() {
    let world = World::new();
    let run = |said: &str| {
        let script = world.write("hostile.py", &HOSTILE.replace("SAID", said));
        let config = format!(
            "[[machine]]\nname = 'far'\ncommand = ['python3', {:?}]\nallow = 'operate'\n",
            script.to_str().unwrap()
        );
        world.write("home/.config/claimtop/config.toml", &config);
        let answer = world.run_with(&["park", "r-00000000@far", "--yes"], &[("PATH", "/usr/bin:/bin")]);
        assert!(!(answer.out.clone() + &answer.err).contains('\u{1b}'), "{answer:?}");
        answer
    };
    let honest = run("plan()");
    assert!(honest.code == 3 && honest.out.contains("\\x1B[2Jdo"), "{honest:?}");
    assert!(honest.out.contains("not done on far") && honest.out.contains("\\x1B[31mno"), "{honest:?}");
    let huge = run("plan(why=['x' * 1000] * 1000)");
    assert!(huge.code == 4 && huge.out.contains("too large"), "{huge:?}");
    let odd = run("{'Ok': 7}");
    assert!(odd.code == 4 && odd.out.contains("cannot be understood"), "{odd:?}");
    let more = run("plan(), plan()");
    assert!(more.code == 4 && more.out.contains("does not answer what it was asked"), "{more:?}");
    let journal = json(&world.run(&["journal", "--json"]));
    let entries = journal["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 1, "only one order was sent: {journal}");
    assert_eq!(entries[0]["outcome"]["ended"], "changed");
}

/// Opens the screen.
fn screen(stage: &Stage) -> Screen {
    let folders = ["home", "tmp"].map(|name| stage.world.path(name).to_str().unwrap().to_owned());
    let arguments = ["--home", &folders[0], "--tmp", &folders[1]].map(str::to_owned);
    let mut command = claimtop(&arguments);
    command.env("PATH", "/usr/bin:/bin");
    Screen::start(command, 160, 40)
}

#[test]
fn on_the_screen_a_claim_there_is_released_and_taken_back_and_a_lost_receipt_is_asked_for() {
    let stage = Stage::new(Made::Home, "operate");
    stage.end();
    stage.rest(&stage.key());
    let mut screen = screen(&stage);
    screen.wait_for("1 Now");
    screen.press("4/far");
    screen.wait_for("/far");
    screen.press("\r");
    screen.wait_for("✗ dead");
    screen.press("r");
    screen.wait_for("y does it");
    assert!(screen.shows("Machine") && stage.lies(), "{}", screen.picture());
    screen.press("y");
    screen.wait_for("Finished");
    assert!(screen.shows("Done") && !stage.lies(), "{}", screen.picture());
    screen.press("z");
    screen.wait_for("y does it");
    screen.press("y");
    screen.wait_for("Finished");
    assert!(stage.lies(), "{}", screen.picture());
    screen.press("\u{1b}");
    stage.rest(&stage.key());
    screen.wait_for("✗ dead");
    screen.press("r");
    screen.wait_for("y does it");
    stage.cut(&["down receipt before"]);
    screen.press("y");
    screen.wait_for("Unknown; it is");
    screen.wait_until("what has become of it", |screen| !screen.shows("Unknown; it is"));
    let there = stage.journal_there();
    assert_eq!(there[0]["outcome"]["ended"] == "done", !stage.lies(), "{there:?}");
    assert_eq!(stage.journal()[0]["outcome"]["ended"], there[0]["outcome"]["ended"]);
    screen.end();
}
