//! Acting on another machine from here: its own plan, confirmed here, done and journalled there, at most once.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::apart::screen;
use super::far::{are_possible, json};
use super::stage::{BEGIN, Made, Stage};
use super::world::{Answer, World};

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
    assert!(shown.out.contains("Machine         far") && shown.out.contains("1. park "), "{shown:?}");
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
    // Every machine of the configuration is queried, even if none is named.
    stage.world.write("begin.sh", "exit 1\n");
    let alone = stage.run(&["release", &key, "--yes"]);
    assert!(alone.code == 4 && stage.lies(), "nobody here can know: {alone:?}");
    assert!(alone.out.contains("may be held on another machine, and far does not answer"), "{alone:?}");
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
        r#"{{"pid":{pid},"sessionId":"{}","cwd":"/x","procStart":"1","startedAt":1,"version":"2.1.330","kind":"interactive","entrypoint":"cli","name":"old","status":"idle"}}"#,
        stage.session
    );
    let left = stage.world.write(&format!("home/.claude/sessions/{pid}.json"), &text);
    let key = key_here(&stage, &pid);
    let refused = stage.settled(&["release", &key, "--on", "far", "--yes"]);
    assert!(refused.code == 3 && left.exists(), "{refused:?}");
    let wanted = format!("{}@far/old", stage.name);
    assert!(refused.out.contains(&wanted), "{refused:?}");
    // The silent machine was not queried.
    stage.world.write("begin.sh", "exit 1\n");
    let unheard = stage.run(&["release", &key, "--on", "far", "--yes"]);
    assert!(unheard.code == 4 && left.exists(), "{unheard:?}");
    stage.world.write("begin.sh", BEGIN);
    let done = stage.settled(&["release", &key, "--on", "far", "--confirm", &wanted]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(!left.exists());
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
    assert!(stage.lies() && stage.times_done() == 0);
    assert_eq!(stage.journal()[0]["outcome"]["ended"], "changed");
}

#[test]
fn who_is_only_watched_is_asked_for_nothing_and_who_only_observes_does_nothing() {
    let stage = Stage::new(Made::Home, "observe");
    stage.end();
    let key = stage.key();
    let refused = stage.run(&["release", &key, "--yes"]);
    assert!(refused.code == 3 && refused.err.contains("only watched from here"), "{refused:?}");
    // However it is started there, its owner's settings limit it.
    stage.world.write("begin.sh", "export HOME=$1/far; exec $2 stream --observe\n");
    stage.configure("operate");
    let refused = stage.run(&["release", &key, "--yes"]);
    assert!(
        refused.code == 3 && refused.err.contains("accepts no orders: it is only observed"),
        "{refused:?}"
    );
    stage.world.write("begin.sh", BEGIN);
    stage.world.write("far/.config/claimtop/config.toml", "accept_orders = 'never'\n");
    let refused = stage.run(&["release", &key, "--yes"]);
    assert!(refused.code == 3 && refused.err.contains("accept_orders"), "{refused:?}");
    assert!(stage.lies() && stage.journal_there().is_empty());
}

#[test]
fn where_only_the_dead_are_let_go_whoever_lives_is_not_touched_by_any_name() {
    let stage = Stage::new(Made::Home, "operate");
    let (window, name) = living(&stage);
    stage.world.write("far/.config/claimtop/config.toml", "accept_orders = 'dead-only'\n");
    let refused = stage.run(&["stop", &window, "--confirm", &name]);
    assert!(refused.code == 3 && refused.out.contains("only for what is proven dead"), "{refused:?}");
    assert!(stage.lies() && stage.journal_there().is_empty());
    assert!(!stage.world.path("ended").exists());
    stage.end();
    let done = stage.settled(&["release", &stage.key(), "--yes"]);
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
    let too_long = format!("{}{settle}", "x".repeat(64 << 10));
    writeln!(observer.stdin.as_mut().unwrap(), "{too_long}\n{order}\n{settle}").unwrap();
    let lines = BufReader::new(observer.stdout.take().unwrap()).lines().map(Result::unwrap);
    let receipts: Vec<String> = lines.filter(|line| line.starts_with(r#"{"receipt""#)).take(2).collect();
    observer.kill().unwrap();
    observer.wait().unwrap();
    assert!(receipts[0].contains("refused") && receipts[1].contains("unknown"), "{receipts:?}");
    assert!(stage.journal_there().is_empty());
}

/// Returns the key of the window over there, and the text that must be typed to end it.
fn living(stage: &Stage) -> (String, String) {
    let report = json(&stage.run(&["ls", "--json", "--on", "far"]));
    let windows = report["windows"].as_array().unwrap();
    let is_its =
        |window: &&Value| window["name"] == *stage.name && window["key"].as_str().unwrap().ends_with("@far");
    let window = windows.iter().find(is_its).unwrap_or_else(|| panic!("{report}"));
    let key = window["key"].as_str().unwrap().to_owned();
    let asked = stage.run(&["stop", &key, "--yes"]);
    assert_eq!(asked.code, 3, "{asked:?}");
    let name = asked.out.split("--confirm \"").nth(1).and_then(|rest| rest.split('"').next());
    (key, name.unwrap_or_else(|| panic!("{asked:?}")).to_owned())
}

#[test]
fn a_window_there_is_ended_only_by_its_full_name_and_for_good() {
    let stage = Stage::new(Made::Home, "operate");
    let (key, name) = living(&stage);
    let key = key.as_str();
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
    // On a busy machine the later one may look when the other has already released it.
    let is_gone = |answer: &Answer| answer.code == 2 && answer.err.contains("nothing here is called");
    assert!(answers.iter().all(|answer| matches!(answer.code, 0 | 3) || is_gone(answer)), "{answers:?}");
    assert_eq!(stage.times_done(), 1);
}

/// Plays a machine that takes orders: `said` is its answer to the first line of each kind.
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
    assert!(more.code == 4 && more.out.contains("did not answer the question"), "{more:?}");
    let journal = json(&world.run(&["journal", "--json"]));
    let entries = journal["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 1, "only one order was sent: {journal}");
    assert_eq!(entries[0]["outcome"]["ended"], "changed");
}

#[test]
fn on_the_screen_a_claim_there_is_released_and_taken_back_and_a_lost_receipt_is_asked_for() {
    let stage = Stage::new(Made::Home, "operate");
    stage.end();
    stage.rest(&stage.key());
    let mut screen = screen(&stage.world);
    screen.press(&format!("4/{}", stage.name));
    screen.wait_for(&format!("/{}", stage.name));
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

#[test]
fn an_order_that_is_under_way_when_its_permission_is_withdrawn_is_not_carried_out() {
    if !are_possible() {
        return;
    }
    for (says, told) in
        [("accept_orders = 'never'", "does not accept orders"), ("read_only = true", "is read-only")]
    {
        let stage = Stage::new(Made::Home, "operate");
        stage.end();
        let key = stage.key();
        stage.rest(&key);
        let folder = stage.world.path("far/.config/claimtop");
        let config = folder.join("config.toml");
        let script = format!("mkdir -p '{}'; echo \"{says}\" > '{}'", folder.display(), config.display());
        stage.world.write("cuts.sh", &script);
        stage.cut(&["up order run"]);
        let refused = stage.run(&["release", &key, "--yes"]);
        assert!(refused.code == 3 && format!("{refused:?}").contains(told), "{refused:?}");
        assert!(config.exists() && stage.lies() && stage.times_done() == 0);
        let report = stage.run(&["report"]);
        assert!(report.out.contains("(refused: ") && report.out.contains(told), "{report:?}");
        let journal = stage.run(&["journal"]);
        assert!(journal.out.contains("refused"), "{journal:?}");
    }
}

#[test]
fn an_order_of_which_nothing_was_heard_is_unknown_in_the_report_until_its_machine_is_seen() {
    let stage = Stage::new(Made::Home, "operate");
    stage.end();
    let key = stage.key();
    stage.rest(&key);
    let pid = stage.world.path("pid");
    stage.world.write("cuts.sh", &format!("kill -KILL $(cat {})\n", pid.display()));
    stage.cut(&["up order run"]);
    let own = stage.world.command(&["release", &key, "--yes"]);
    let mut asks = Command::new("sh");
    asks.args(["-c", "echo $$ > $0; exec \"$@\""]).arg(&pid).arg(own.get_program()).args(own.get_args());
    let ended = asks.env("PATH", "/usr/bin:/bin").stdin(Stdio::null()).output().unwrap();
    assert_eq!(ended.status.code(), None, "it was ended amid its order: {ended:?}");
    let report = stage.run(&["report"]);
    assert!(report.out.contains("(unknown until far is seen)"), "{report:?}");
    let page = stage.run(&["report", "--html", "-"]);
    assert!(page.out.contains("(unknown until far is seen)"), "{page:?}");
    assert!(stage.run(&["journal"]).out.contains("unknown"));
    let settled = stage.run(&["journal", "--on", "far"]);
    assert!(settled.code == 0 && !settled.out.contains("unknown"), "{settled:?}");
    let report = stage.run(&["report"]).out;
    assert_eq!(report.contains("it was cancelled)"), stage.times_done() == 0, "{report}");
    assert!(!report.contains("(unknown"), "{report}");
}
