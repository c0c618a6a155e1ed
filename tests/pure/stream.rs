//! A witness' report of its machine arrives as it was judged there.

use claimtop::core::assess::assess;
use claimtop::core::model::{
    ClaimStatus, Code, Key, MachineState, MachineView, Reason, Report, SeenAgent, Snapshot, Tombstone,
    Untrusted, VerdictState,
};
use claimtop::testing::core::{
    Decoder, Encoder, FarMachine, Hello, Identity, Message, TombstoneKeeper, hashed,
    merged_machines as merged,
};
use jiff::Timestamp;
use serde_json::Value;

use crate::common;
use crate::common::policy;

/// The machine's name here: no world uses it.
const MACHINE: &str = "the-far-side";

fn hello() -> Hello {
    Hello {
        schema: "claimtop.stream.v1".to_owned(),
        version: "0.1.0".to_owned(),
        identity: Identity { machine: None, store: None },
        host: "far".to_owned(),
        boot: None,
        pid_namespace: None,
        now: Timestamp::UNIX_EPOCH,
        takes_orders: false,
        no_orders: None,
    }
}

fn hear(decoder: &mut Decoder, lines: &str) -> Vec<Message> {
    lines.lines().map(|line| decoder.receive(line.as_bytes()).unwrap()).collect()
}

fn greeted() -> Decoder {
    let mut decoder = Decoder::new(MACHINE);
    assert_eq!(hear(&mut decoder, &Encoder::hello(hello()).unwrap()), [Message::Hello]);
    decoder
}

/// Makes every text safe to show, as the receiver does.
fn shown(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(Untrusted::from(text).shown()),
        Value::Array(values) => Value::Array(values.into_iter().map(shown).collect()),
        Value::Object(members) => {
            let member = |(name, value)| (Untrusted::from(name).shown(), shown(value));
            Value::Object(members.into_iter().map(member).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

/// Removes where the PID counts: only a hash of the machine's ID is sent.
fn without_machine_id(mut record: Value) -> Value {
    if let Some(holder) = record.pointer_mut("/record/holder").and_then(Value::as_object_mut) {
        holder.remove("domain");
    }
    record
}

/// Returns all things of a report, each as its own JSON, with their names on their own machine.
fn things(report: &Report) -> Vec<(&'static str, Vec<String>)> {
    let text = |value: Value| shown(value).to_string().replace(&format!("@{MACHINE}"), "");
    let all = |values: Vec<Value>| values.into_iter().map(text).collect::<Vec<String>>();
    let sorted = |values: Vec<Value>| {
        let mut all = all(values);
        all.sort();
        all
    };
    fn json<T: serde::Serialize>(things: &[T]) -> Vec<Value> {
        things.iter().map(|thing| serde_json::to_value(thing).unwrap()).collect()
    }
    vec![
        ("sources", sorted(json(&report.sources))),
        ("windows", all(json(&report.windows))),
        ("records", sorted(json(&report.records).into_iter().map(without_machine_id).collect())),
        ("claims", sorted(json(&report.claims))),
        ("findings", sorted(json(&report.findings))),
        ("needs", all(json(&report.needs))),
        ("left-overs", all(json(&report.left_overs))),
        ("left trees", sorted(json(&report.left_trees))),
        (
            "broken",
            sorted(report.broken.iter().map(|one| serde_json::to_value(&one.path).unwrap()).collect()),
        ),
    ]
}

#[track_caller]
fn check(decoder: &Decoder, report: &Report, tombstones: &[Tombstone], world: &str) {
    let told = decoder.report().unwrap();
    for ((what, expected), (_, found)) in things(report).into_iter().zip(things(told)) {
        assert_eq!(found, expected, "{what} of {world}");
    }
    assert_eq!(decoder.tombstones().count(), tombstones.len(), "{world}");
    assert_eq!(decoder.not_understood(), 0, "{world}");
}

#[test]
fn every_world_arrives_as_it_was_judged_also_as_what_differs_from_another() {
    let (mut encoder, mut decoder) = (Encoder::default(), greeted());
    let mut windows = 0;
    for case in common::cases() {
        let (path, snapshot, report) = (&case.path, case.snapshot(), case.report());
        windows += report.windows.len();
        let world = path.display().to_string();
        let (stones, alone) = (&snapshot.tombstones, &mut greeted());
        // It receives each world first, so that its own allowance covers the texts of all of them.
        hear(&mut decoder, &encoder.look(report, stones).unwrap());
        check(&decoder, report, stones, &world);
        assert_eq!(
            hear(alone, &Encoder::default().look(report, stones).unwrap()).last(),
            Some(&Message::Look),
            "{world}"
        );
        check(alone, report, stones, &world);
        assert_eq!(encoder.look(report, stones).unwrap(), "", "{world}: nothing is new");
    }
    assert!(windows > 100, "only {windows} windows in all worlds");
}

/// A file in a home that two machines share: it names a process of the other one.
const SHARED: &str = r#"
title = "a home that a container shares"
PROCESSES
[host]
pid_namespace = NAMESPACE
machine_id = "MACHINE"
[[file]]
path = "~/.claude/sessions/5.json"
written = "30 min ago"
text = '''{"pid":5,"sessionId":"95fe798d-3725-4649-974a-0dec79220193","cwd":"/w","startedAt":{{ms 20 hours ago}},"procStart":"{{tick 20 hours ago}}","pidDomain":"linux:cafe:pid:[4026532999]","version":"2.1.330","kind":"interactive","entrypoint":"cli","name":"alpha","status":"idle"}'''
[expect]
findings = []
"#;

const AGENT: &str = "[[process]]\npid = 5\nname = \"claude\"\nstarted = \"20 hours ago\"\n";

fn shared(processes: &str, (machine, namespace): (&str, u64)) -> Snapshot {
    let text = SHARED.replace("PROCESSES", processes).replace("NAMESPACE", &namespace.to_string());
    let text = text.replace("MACHINE", machine);
    common::parse(&text, "a world").snapshot()
}

/// Returns the report of the witness in the container, in this state.
fn witness(
    snapshot: &Snapshot,
    tombstones: &[Tombstone],
    (machine, namespace): (&str, u64),
    state: MachineState,
) -> FarMachine {
    let report = assess(snapshot, policy());
    let mut decoder = Decoder::new(MACHINE);
    let hello = Hello {
        identity: Identity { machine: Some(hashed(machine)), store: None },
        pid_namespace: Some(namespace),
        boot: snapshot.host.boot_id.clone(),
        ..hello()
    };
    hear(&mut decoder, &Encoder::hello(hello).unwrap());
    let lines = Encoder::default().look(&report, tombstones).unwrap();
    assert!(!lines.contains("cafe"), "a machine ID is nobody's business");
    hear(&mut decoder, &lines);
    let mut view = MachineView::new(MACHINE, "any way".to_owned());
    view.state = state;
    let tombstones = decoder.tombstones().cloned().collect();
    FarMachine { view, hello: decoder.hello().cloned(), report: decoder.report().cloned(), tombstones }
}

/// Returns the verdict about the record here, and the status of its claim.
fn judged(told: FarMachine) -> (VerdictState, Reason, ClaimStatus) {
    judged_by(&[told])
}

fn judged_by(told: &[FarMachine]) -> (VerdictState, Reason, ClaimStatus) {
    let here = shared("", ("f00d", 4_026_531_836));
    let local = assess(&here, policy());
    let all = merged(&local, told);
    let is_here = |key: &Key| key.machine().is_none();
    let record = all.records().find(|record| is_here(&record.key)).unwrap();
    let claim = all.claims.iter().find(|claim| is_here(&claim.key)).unwrap();
    let is_told = all
        .findings()
        .any(|finding| finding.code == Code::DeadHolder && finding.subjects.iter().any(is_here));
    assert_eq!(is_told, record.verdict.state == VerdictState::Dead);
    (record.verdict.state, record.verdict.reason, claim.status)
}

/// Returns the snapshot after the window has ended, and its tombstone.
fn ended(inside: &Snapshot, its: (&str, u64)) -> (Snapshot, Vec<Tombstone>) {
    let empty = shared("", its);
    let seen = SeenAgent {
        id: inside.processes.get(5).unwrap().id,
        last_seen_at: empty.taken_at,
        registered_at: None,
    };
    let look = Snapshot { seen_agents: vec![seen], ..empty.clone() };
    let seen = TombstoneKeeper::default().learn(&look, &assess(&look, policy())).learnt;
    assert_eq!(seen.len(), 1);
    (empty, seen)
}

#[test]
fn of_two_machines_with_one_id_neither_buries_anybody_here() {
    let its = ("cafe", 4_026_532_999);
    let (empty, seen) = ended(&shared(AGENT, its), its);
    let told = witness(&empty, &seen, its, MachineState::Live);
    assert_eq!(judged(told.clone()).0, VerdictState::Dead);
    for state in [MachineState::Live, MachineState::Silent] {
        let mut clone = told.clone();
        clone.view = MachineView::new("clone", "any way".to_owned());
        clone.view.state = state;
        clone.hello.as_mut().unwrap().boot = Some("another boot".to_owned());
        (clone.report, clone.tombstones) = (None, std::sync::Arc::default());
        for both in [[told.clone(), clone.clone()], [clone, told.clone()]] {
            assert_eq!(
                judged_by(&both),
                (VerdictState::Unknown, Reason::OtherHost, ClaimStatus::Unproven),
                "{state:?}"
            );
        }
    }
}

#[test]
fn a_record_of_another_machines_window_is_judged_by_its_witness_and_by_nobody_else() {
    let its = ("cafe", 4_026_532_999);
    let inside = shared(AGENT, its);
    let unknown = (VerdictState::Unknown, Reason::OtherHost, ClaimStatus::Unproven);
    let alive = (VerdictState::Alive, Reason::Witnessed, ClaimStatus::Held);
    let dead = (VerdictState::Dead, Reason::Witnessed, ClaimStatus::Dead);
    assert_eq!(judged(witness(&inside, &[], its, MachineState::Live)), alive);
    for others in [("cafe", 4_026_532_998), ("beef", 4_026_532_999)] {
        assert_eq!(judged(witness(&inside, &[], others, MachineState::Live)), unknown, "{others:?}");
    }
    assert_eq!(judged(witness(&inside, &[], its, MachineState::Silent)), unknown, "silence is nothing");
    let (empty, seen) = ended(&inside, its);
    let unseen: Vec<_> =
        seen.iter().map(|stone| Tombstone { seen_alive_at: None, ..stone.clone() }).collect();
    // It was seen before this one began: after a reboot another process can have this PID and start.
    let before = Some(Timestamp::UNIX_EPOCH);
    let earlier: Vec<_> =
        seen.iter().map(|stone| Tombstone { seen_alive_at: before, ..stone.clone() }).collect();
    for state in [MachineState::Live, MachineState::Silent] {
        assert_eq!(judged(witness(&empty, &seen, its, state)), dead, "a death is for ever");
        assert_eq!(judged(witness(&empty, &earlier, its, state)), unknown, "another process");
        assert_eq!(judged(witness(&empty, &unseen, its, state)), unknown, "it has never seen it live");
        assert_eq!(judged(witness(&empty, &seen, ("beef", its.1), state)), unknown);
    }
}
