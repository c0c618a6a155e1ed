//! Findings across machines: each machine judges its own world and reports it in the stream's lines, and the
//! collisions between them are found here.

use claimtop::core::assess::assess;
use claimtop::core::model::{
    Cause, Certitude, ClaimStatus, Code, EndedWindow, Finding, Host, MachineState, MachineView, Need,
    NeedKind, Reason, RecordView, Releasable, Report, Snapshot, Tombstone, VerdictState,
};
use claimtop::testing::core::{
    Action, Confirmation, Decoder, Encoder, FarMachine, Hello, Identity, apply_testimony, merged_beside,
    merged_machines as merged, plan_for,
};
use jiff::Timestamp;

use crate::common;
use crate::common::policy;

const SESSION: &str = "95fe798d-3725-4649-974a-0dec79220193";
const OTHER: &str = "db4e04a8-9640-4079-8e03-5ac2d1294846";

/// The properties that distinguish one machine of a test from another.
#[derive(Clone, Copy)]
struct Machine {
    boot: &'static str,
    namespace: u64,
}

const LAPTOP: Machine = Machine { boot: "0b5fb5f8-f561-4d27-8dcc-a78a6f99e24b", namespace: 4_026_531_836 };
const DEVBOX: Machine = Machine { boot: "99999999-f561-4d27-8dcc-a78a6f99e24b", namespace: 4_026_531_836 };
/// A container of the laptop's: its kernel is the same.
const CONTAINER: Machine = Machine { namespace: 4_026_532_999, ..LAPTOP };

fn snapshot(machine: Machine, things: &str) -> Snapshot {
    let Machine { boot, namespace } = machine;
    let text = format!(
        "title = \"one machine\"\n[host]\nboot_id = \"{boot}\"\npid_namespace = {namespace}\n{things}\n[expect]\nfindings = []"
    );
    common::parse(&text, "a world").snapshot()
}

/// A window of Claude Code with an entry in its registry.
fn window(pid: u32, started: &str, session: &str) -> String {
    format!(
        r#"
[[process]]
pid = {pid}
name = "claude"
started = "{started}"
cwd = "/w/pay"
[[file]]
path = "~/.claude/sessions/{pid}.json"
text = '''{{"pid":{pid},"sessionId":"{session}","cwd":"/w/pay","startedAt":0,"procStart":"{{{{tick {started}}}}}","version":"2.1.197","kind":"interactive","entrypoint":"cli","name":"pay-{pid}","status":"idle"}}'''
"#
    )
}

/// A machine as its claimtop reports it, whose clock is ahead by this many seconds.
fn told(name: &str, snapshot: &Snapshot, state: MachineState, ahead: i64) -> FarMachine {
    let mut decoder = Decoder::new(name);
    let Host { boot_id, pid_namespace, .. } = snapshot.host.clone();
    let hello = Hello {
        schema: "claimtop.stream.v1".to_owned(),
        version: "0.1.0".to_owned(),
        identity: Identity { machine: None, store: Some(name.to_owned()) },
        host: name.to_owned(),
        boot: boot_id,
        pid_namespace,
        now: Timestamp::UNIX_EPOCH,
        takes_orders: false,
        no_orders: None,
    };
    let report = assess(snapshot, policy());
    let lines = Encoder::hello(hello).unwrap() + &Encoder::default().look(&report, &[]).unwrap();
    for line in lines.lines() {
        decoder.receive(line.as_bytes()).unwrap();
    }
    let mut view = MachineView::new(name, "any way".to_owned());
    (view.state, view.clock_ahead_seconds) = (state, ahead);
    let (hello, report) = (decoder.hello().cloned(), decoder.report().cloned());
    FarMachine { view, hello, report, tombstones: [].into() }
}

fn live(name: &str, machine: Machine, things: &str) -> FarMachine {
    told(name, &snapshot(machine, things), MachineState::Live, 0)
}

fn here(things: &str) -> Report {
    assess(&snapshot(LAPTOP, things), policy())
}

/// Returns the collisions between machines: those that no machine has reported by itself.
fn between(all: &Report, code: Code) -> Vec<&Finding> {
    let is_between = |finding: &&Finding| {
        let machines: std::collections::BTreeSet<_> =
            finding.subjects.iter().map(|key| key.machine()).collect();
        finding.code == code && machines.len() > 1
    };
    all.findings().filter(is_between).collect()
}

/// Returns the machines of a collision's windows.
fn between_windows(need: &Need) -> Option<Vec<Option<&str>>> {
    let NeedKind::Collision { windows, .. } = &need.kind else { return None };
    Some(windows.iter().map(|key| key.machine()).collect())
}

/// Returns the events of a finding's story, each as a line, with conclusions marked.
fn story(finding: &Finding) -> Vec<String> {
    let events = &finding.story.as_ref().unwrap().events;
    let line =
        |known, told: &str| format!("{}{told}", if known == Certitude::Inferred { "so: " } else { "" });
    events.iter().map(|event| line(event.known, &event.told)).collect()
}

#[track_caller]
fn tells(finding: &Finding, parts: &[&str]) {
    let story = story(finding);
    let mut events = story.iter();
    for part in parts {
        assert!(events.any(|event| event.contains(part)), "{part}: {story:#?}");
    }
}

#[test]
fn a_command_that_helps_there_is_not_offered_here() {
    let things = common::cases().iter().find(|case| case.path.ends_with("lost-checkpoint.toml")).unwrap();
    let things = things.text.split_once('\n').unwrap().1.split("[expect]").next().unwrap();
    let of = |report: &Report| {
        let mut found = report.findings().filter(|finding| finding.code == Code::LostCheckpoint);
        found.next().map(|finding| finding.command.is_some())
    };
    assert_eq!(of(&here(things)), Some(true));
    let all = merged(&here(""), &[live("devbox", DEVBOX, &things.replace(LAPTOP.boot, DEVBOX.boot))]);
    assert_eq!(of(&all), Some(false));
}

#[test]
fn one_session_that_runs_on_two_machines_is_a_collision_whose_story_names_them() {
    let devbox = live("devbox", DEVBOX, &window(77, "1 hour ago", SESSION));
    let all = merged(&here(&window(5, "3 hours ago", SESSION)), &[devbox]);
    let [finding] = between(&all, Code::SharedSessionId)[..] else { unlike(&all) };
    let message = finding.message.to_string();
    assert!(
        message.contains("pay-5 (PID 5) here and pay-77 (PID 77) on devbox run one session"),
        "{message}"
    );
    tells(
        finding,
        &[
            "pay-5 (PID 5) here started",
            "pay-77 (PID 77) on devbox started",
            &format!("77.json on devbox was last written, naming session {SESSION}"),
            "so: pay-77 (PID 77) on devbox resumed session",
        ],
    );
    let told = finding.story.as_ref().unwrap();
    assert_eq!(told.cause, Cause::ResumedSession);
    assert!(told.advice.starts_with("close pay-77 (PID 77) on devbox"), "{}", told.advice);
    assert!(told.would_change.contains("PID 5 here and PID 77 on devbox gone"), "{}", told.would_change);
    let far = told
        .events
        .iter()
        .flat_map(|event| &event.evidence)
        .filter(|fact| fact.source.raw().ends_with(" on devbox"));
    assert!(far.count() > 1);
    // It needs a person, and the window that came second is to yield.
    let windows: Vec<_> = all.needs.iter().filter_map(between_windows).collect();
    assert_eq!(windows, [vec![None, Some("devbox")]]);
    let status = all.claims.iter().map(|claim| claim.status).collect::<Vec<_>>();
    assert_eq!(status, [ClaimStatus::Contested, ClaimStatus::Contested]);
}

/// An item of work that LEO's row gives to a session, whose window has a marker.
fn item(pid: u32, started: &str, session: &str, item: &str) -> String {
    format!(
        r#"
[[repo]]
root = "/w/shop"
branch = "main"
[[process]]
pid = {pid}
name = "claude"
started = "{started}"
cwd = "/w/shop"
[[file]]
path = "~/.claude-sessions/{session}.json"
written = "2 min ago"
text = '''{{"session_id":"{session}","terminal_id":"{session}","tty":"unknown","pid":{pid},"hostname":"vm","codebase":"shop","sd_key":"{item}","track":null,"claimed_at":"{{{{{started}}}}}","heartbeat_at":"{{{{2 min ago}}}}","created_at":"{{{{{started}}}}}","metadata":{{}}}}'''
[[file]]
path = "/w/shop/.claude/pids/tick-{session}.json"
written = "{started}"
text = '''{{"session_id":"{session}","tick_pid":950,"cc_parent_pid":{pid},"started_at":"{{{{{started}}}}}","hostname":"vm"}}'''
"#
    )
}

#[test]
fn one_item_of_work_that_two_machines_hold_is_contested() {
    let devbox = live("devbox", DEVBOX, &item(901, "1 hour ago", OTHER, "SD-SHOP-006"));
    let ours = here(&item(900, "2 hours ago", SESSION, "SD-SHOP-006"));
    let all = merged(&ours, &[devbox]);
    let [finding] = between(&all, Code::ContestedClaim)[..] else { unlike(&all) };
    let message = finding.message.to_string();
    assert!(message.starts_with("work-item SD-SHOP-006 is held by 2 live windows, "), "{message}");
    assert!(message.contains("(PID 900) here and ") && message.contains("(PID 901) on devbox"), "{message}");
    tells(
        finding,
        &[
            "(PID 900) here started",
            &format!("session {SESSION} claimed work-item SD-SHOP-006, says {SESSION}.json here"),
            "(PID 901) on devbox started",
            &format!("session {OTHER} claimed work-item SD-SHOP-006, says {OTHER}.json on devbox"),
            &format!("so: the later claim was written while session {SESSION} here still held"),
        ],
    );
    let told = finding.story.as_ref().unwrap();
    assert_eq!(told.cause, Cause::DoubleClaim);
    let yields: Vec<_> = told.yields.iter().map(|key| key.machine()).collect();
    assert_eq!(yields, [Some("devbox")]);
    let items = all.claims.iter().filter(|claim| claim.resource.id.raw() == "SD-SHOP-006");
    let statuses: Vec<_> = items.map(|claim| claim.status).collect();
    assert_eq!(statuses, [ClaimStatus::Contested, ClaimStatus::Contested]);
}

#[test]
fn what_only_comes_close_to_a_contested_item_raises_nothing() {
    let ours = here(&item(900, "2 hours ago", SESSION, "SD-SHOP-006"));
    let none = |machine: FarMachine| {
        let all = merged(&ours, &[machine]);
        assert!(between(&all, Code::ContestedClaim).is_empty(), "{:?}", all.findings);
        assert!(all.claims.iter().all(|claim| claim.status != ClaimStatus::Contested));
    };
    none(live("devbox", DEVBOX, &item(901, "1 hour ago", OTHER, "SD-SHOP-007")));
    // The same session resumed there is reported as that, and once.
    none(live("devbox", DEVBOX, &item(901, "1 hour ago", SESSION, "SD-SHOP-006")));
    let theirs = item(901, "1 hour ago", OTHER, "SD-SHOP-006");
    none(told("devbox", &snapshot(DEVBOX, &theirs), MachineState::Silent, 0));
    // Its holder has died there.
    let (before, after) = theirs.split_once("[[process]]").unwrap();
    let rest = after.split_once("[[file]]").unwrap().1;
    none(live("devbox", DEVBOX, &format!("{before}[[file]]{rest}")));
}

/// An entry of entire's live registry by which another repository adopts a session.
fn adoption(session: &str, at: &str) -> String {
    format!(
        r#"
[[file]]
path = "~/.cache/entire/live-sessions/{session}.json"
written = "5 min ago"
text = '''{{"session_id":"{session}","common_dir":"/w/shop/.git","worktree_path":"/w/shop","phase":"active","last_interaction_time":"{{{{5 min ago}}}}","adopt_claim":{{"by_common_dir":"/w/other/.git","at":"{{{{{at}}}}}"}}}}'''
"#
    )
}

#[test]
fn a_session_that_entire_adopts_on_another_machine_is_contested() {
    let devbox = live("devbox", DEVBOX, &adoption(SESSION, "10 min ago"));
    let all = merged(&here(&window(5, "3 hours ago", SESSION)), &[devbox]);
    let [finding] = between(&all, Code::ContestedClaim)[..] else { unlike(&all) };
    tells(
        finding,
        &[
            "pay-5 (PID 5) here started",
            "shop asked to adopt session",
            "so: it was adopted on devbox while pay-5 (PID 5) here",
        ],
    );
    assert_eq!(finding.story.as_ref().unwrap().yields[0].machine(), Some("devbox"));
}

#[test]
fn what_only_comes_close_to_an_adoption_elsewhere_raises_nothing() {
    let ours = window(5, "3 hours ago", SESSION);
    let none = |ours: &str, theirs: &str| {
        let all = merged(&here(ours), &[live("devbox", DEVBOX, theirs)]);
        assert!(between(&all, Code::ContestedClaim).is_empty(), "{:?}", all.findings);
    };
    none(&ours, &adoption(OTHER, "10 min ago"));
    // It is good for an hour.
    none(&ours, &adoption(SESSION, "61 min ago"));
    // A cache that both machines share: it was adopted where it runs.
    none(&(ours.clone() + &adoption(SESSION, "10 min ago")), &adoption(SESSION, "10 min ago"));
    // It runs there as well, which is reported as that.
    none(&ours, &(window(77, "1 hour ago", SESSION) + &adoption(SESSION, "10 min ago")));
}

/// A machine that has sent its identity.
fn known_as(name: &str, machine: Machine, id: &str, store: &str) -> FarMachine {
    let mut told = live(name, machine, "");
    let identity = Identity { machine: Some(id.to_owned()), store: Some(store.to_owned()) };
    told.hello = told.hello.map(|hello| Hello { identity, ..hello });
    told
}

/// Returns the doubts about machines that cannot be distinguished.
fn doubts(machines: &[FarMachine]) -> Vec<String> {
    let all = merged(&here(""), machines);
    let doubts = all.findings().filter(|finding| finding.code == Code::ClonedMachine);
    doubts.map(|finding| finding.message.to_string()).collect()
}

#[test]
fn clones_and_two_witnesses_of_one_machine_are_told() {
    const THIRD: Machine = Machine { boot: "33333333-f561-4d27-8dcc-a78a6f99e24b", ..DEVBOX };
    let clones = doubts(&[known_as("a", DEVBOX, "m", "s"), known_as("b", THIRD, "m", "t")]);
    assert!(
        clones.len() == 1 && clones[0].starts_with("a and b share one machine ID but run separately"),
        "{clones:?}"
    );
    let twice = doubts(&[known_as("a", DEVBOX, "m", "s"), known_as("b", DEVBOX, "m", "t")]);
    assert!(twice.len() == 1 && twice[0].starts_with("a and b report as one machine"), "{twice:?}");
    let mut refused = known_as("b", DEVBOX, "m", "s");
    (refused.view.state, refused.view.same_as) = (MachineState::Unreached, Some("a".to_owned()));
    let told = doubts(&[known_as("a", DEVBOX, "m", "s"), refused]);
    assert!(told.len() == 1 && told[0].starts_with("b answers as the machine shown as a"), "{told:?}");
}

/// A session of a window that this machine saw end, in a folder on this medium.
fn ended(medium: &str) -> String {
    format!(
        r#"
[[file]]
path = "~/.claude/sessions/900.json"
written = "3 hours ago"
medium = "{medium}"
text = '''{{"pid":900,"sessionId":"{SESSION}","cwd":"/w/pay","startedAt":0,"procStart":"{{{{tick 20 hours ago}}}}","version":"2.1.330","kind":"interactive","name":"pay-900"}}'''
[[tombstone]]
pid = 900
started = "20 hours ago"
session = "{SESSION}"
"#
    )
}

#[test]
fn whom_this_machine_saw_end_may_live_on_a_clone_of_it_that_writes_to_the_same_disk() {
    let verdict = |medium: &str, own: &str, others: &str| {
        let own = Identity { machine: Some(own.to_owned()), store: None };
        let all =
            merged_beside(Some(&own), &here(&ended(medium)), &[known_as("devbox", DEVBOX, others, "s")]);
        let verdict = &all.records[0].verdict;
        let is_told = all.findings().any(|finding| finding.code == Code::DeadHolder);
        (verdict.state, verdict.evidence[0].value.to_string(), is_told)
    };
    let (state, why, is_told) = verdict("shared", "m", "m");
    assert_eq!((state, is_told), (VerdictState::Unknown, false));
    assert_eq!(why, "devbox has the same ID, so the holder may be there");
    for (medium, others) in [("shared", "n"), ("local", "m")] {
        let (state, _, is_told) = verdict(medium, "m", others);
        assert_eq!((state, is_told), (VerdictState::Dead, true), "{medium}, {others}");
    }
}

#[test]
fn machines_that_share_less_than_an_id_are_no_clones() {
    const POD: Machine = Machine { namespace: 4_026_532_111, ..DEVBOX };
    const THIRD: Machine = Machine { boot: "33333333-f561-4d27-8dcc-a78a6f99e24b", ..DEVBOX };
    let none = |one: FarMachine, two: FarMachine| assert_eq!(doubts(&[one, two]), [""; 0]);
    none(known_as("a", DEVBOX, "m", "s"), known_as("b", THIRD, "n", "t"));
    // Two containers of one host, with the machine ID of one image.
    none(known_as("a", DEVBOX, "m", "s"), known_as("b", POD, "m", "t"));
    // A home that two machines share has one state folder.
    none(known_as("a", DEVBOX, "m", "s"), known_as("b", THIRD, "n", "s"));
    // Nothing is heard from the one that it may have been before.
    let mut before = known_as("a", DEVBOX, "m", "s");
    before.view.state = MachineState::Silent;
    none(before, known_as("b", THIRD, "m", "s"));
}

/// A state of entire's that lies in a home that several machines share, and names its owner's boot.
fn shared_state(boot: &str, pid: u32, session: &str) -> String {
    format!(
        r#"
[[repo]]
root = "/w/shop"
branch = "main"
[[file]]
path = "/w/shop/.git/entire-sessions/{session}.json"
written = "30 min ago"
text = '''{{"session_id":"{session}","base_commit":"3397a23560d2f07f1d894e0049da6c8fb7a9553b","worktree_path":"/w/shop","started_at":"{{{{1 hour ago}}}}","last_interaction_time":"{{{{30 min ago}}}}","checkpoint_count":0,"files_touched":[],"phase":"active","first_prompt":"Add login","owner":{{"pid":{pid},"start":"{{{{tick 1 hour ago}}}}","boot":"{boot}","host":"far","name":"claude"}}}}'''
"#
    )
}

/// Returns the verdict and reason for the record here with this end of its path.
fn verdict(all: &Report, path: &str) -> (VerdictState, Reason) {
    let here = |record: &&RecordView| record.key.machine().is_none() && record.path().raw().ends_with(path);
    let record = all.records().find(here).unwrap();
    (record.verdict.state, record.verdict.reason)
}

#[test]
fn a_holder_elsewhere_lives_by_the_session_that_its_machine_sees_run() {
    let ours = here(&shared_state(DEVBOX.boot, 77, SESSION));
    let path = format!("{SESSION}.json");
    let alone = verdict(&merged(&ours, &[]), &path);
    assert_eq!(alone, (VerdictState::Unknown, Reason::OtherHost));
    let seen = |state, things: &str| {
        let devbox = told("devbox", &snapshot(DEVBOX, things), state, 0);
        verdict(&merged(&ours, &[devbox]), &path)
    };
    let alive = (VerdictState::Alive, Reason::Witnessed);
    assert_eq!(seen(MachineState::Live, &window(77, "1 hour ago", SESSION)), alive);
    // Resumed there under another PID.
    assert_eq!(seen(MachineState::Live, &window(78, "10 min ago", SESSION)), alive);
    assert_eq!(seen(MachineState::Live, &window(77, "1 hour ago", OTHER)), alone);
    assert_eq!(seen(MachineState::Live, ""), alone, "that there is none says nothing");
    assert_eq!(seen(MachineState::Silent, &window(77, "1 hour ago", SESSION)), alone);
}

#[test]
fn what_the_dead_hold_here_is_held_while_their_session_runs_elsewhere() {
    let (_, left) = window(5, "3 hours ago", SESSION)
        .split_once("[[file]]")
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .unwrap();
    let ours = here(&format!("[[file]]{left}"));
    let claims = |machines: &[FarMachine]| {
        let all = merged(&ours, machines);
        let ours: Vec<_> = all.claims.iter().filter(|claim| claim.key.machine().is_none()).collect();
        let died = all.needs.iter().any(|need| matches!(need.kind, NeedKind::Died(_)));
        assert!(all.findings().any(|finding| finding.code == Code::WrongPid) != died);
        (ours[0].status, ours[0].window.as_ref().and_then(|key| key.machine().map(str::to_owned)))
    };
    assert_eq!(claims(&[]), (ClaimStatus::Dead, None));
    let resumed = live("devbox", DEVBOX, &window(77, "1 hour ago", SESSION));
    assert_eq!(claims(&[resumed]), (ClaimStatus::Held, Some("devbox".to_owned())));
    let other = live("devbox", DEVBOX, &window(77, "1 hour ago", OTHER));
    assert_eq!(claims(&[other]), (ClaimStatus::Dead, None));
}

/// Returns the confirmation that a release of the record here with this end of its path requires, and the text that
/// must be typed.
fn asked(ours: &Report, machines: &[FarMachine], path: &str) -> (Confirmation, String) {
    let mut heard = ours.clone();
    apply_testimony(&mut heard, machines);
    let record = heard.records().find(|record| record.path().raw().ends_with(path)).unwrap();
    // The plan is made from the merged report of all machines.
    let all = merged(ours, machines);
    let shown = all.records().find(|other| other.key == record.key).unwrap();
    assert_eq!((&shown.verdict, &shown.lives_on), (&record.verdict, &record.lives_on));
    for claim in all.claims.iter().filter(|claim| claim.record.key == record.key) {
        let way = match plan_for(&heard, &claim.key, Action::Release).confirmation {
            Confirmation::Yes => Releasable::Yes,
            Confirmation::Code | Confirmation::FullName => Releasable::Confirm,
            Confirmation::Refused => Releasable::No,
        };
        assert_eq!(claim.releasable, way);
    }
    let plan = plan_for(&heard, &record.key, Action::Release);
    (plan.confirmation, plan.name)
}

#[test]
fn what_the_dead_left_here_takes_the_full_name_while_their_session_runs_elsewhere() {
    let whole = item(900, "2 hours ago", SESSION, "SD-SHOP-006");
    let (before, after) = whole.split_once("[[process]]").unwrap();
    let ours = here(&format!("{before}[[file]]{}", after.split_once("[[file]]").unwrap().1));
    let path = format!(".claude-sessions/{SESSION}.json");
    let asked = |machines: &[FarMachine]| asked(&ours, machines, &path);
    let (alone, name) = asked(&[]);
    assert_eq!(alone, Confirmation::Yes);
    let theirs = snapshot(DEVBOX, &window(77, "1 hour ago", SESSION));
    let told = |state| told("devbox", &theirs, state, 0);
    let full = (Confirmation::FullName, format!("pay-77@devbox/{name}"));
    assert_eq!(asked(&[told(MachineState::Live)]), full);
    for state in [MachineState::Silent, MachineState::Unreached, MachineState::Connecting] {
        assert_eq!(asked(&[told(state)]), (Confirmation::Code, name.clone()), "{state:?}");
    }
    // A connected machine counts more than one that is silent.
    let other = live("gpu", DEVBOX, &window(78, "1 hour ago", SESSION));
    assert_eq!(asked(&[told(MachineState::Silent), other]).0, Confirmation::FullName);
    let another = live("devbox", DEVBOX, &window(77, "1 hour ago", OTHER));
    assert_eq!(asked(&[another]), (Confirmation::Yes, name.clone()));
    // It has ended there as well.
    assert_eq!(asked(&[live("devbox", DEVBOX, "")]), (Confirmation::Yes, name));
}

#[test]
fn what_a_silent_machine_ran_last_is_held_by_nobody_who_is_known() {
    let (_, left) = window(5, "3 hours ago", SESSION)
        .split_once("[[file]]")
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .unwrap();
    let ours = here(&format!("[[file]]{left}"));
    let theirs = snapshot(DEVBOX, &window(77, "1 hour ago", SESSION));
    let all = merged(&ours, &[told("devbox", &theirs, MachineState::Silent, 0)]);
    let claim = all.claims.iter().find(|claim| claim.key.machine().is_none()).unwrap();
    assert_eq!((claim.status, &claim.window), (ClaimStatus::Unproven, &None));
    let is_told =
        |finding: &Finding| finding.message.to_string().contains("the session was last seen running in");
    assert!(all.findings().any(is_told));
}

#[test]
fn a_holder_elsewhere_is_let_go_by_a_plain_yes_only_once_its_own_machine_has_seen_it_end() {
    let path = format!("{SESSION}.json");
    let ours = here(&shared_state(DEVBOX.boot, 77, SESSION));
    let asked = |machine: FarMachine| asked(&ours, &[machine], &path);
    let living = snapshot(DEVBOX, &window(77, "1 hour ago", SESSION));
    let ended = snapshot(DEVBOX, "");
    let process = living.processes.get(77).unwrap();
    let stone = Tombstone {
        id: process.id,
        pidfd_inode: None,
        host: "far".into(),
        boot_id: DEVBOX.boot.into(),
        pid_namespace: DEVBOX.namespace,
        time_namespace: 4_026_531_834,
        session_id: Some(SESSION.into()),
        name: None,
        seen_alive_at: Some(ended.taken_at),
        proven_at: ended.taken_at,
        proven_tick: None,
        reason: Reason::NoProcess,
    };
    let alive = asked(told("devbox", &living, MachineState::Live, 0));
    assert_eq!(alive.0, Confirmation::FullName);
    assert!(alive.1.starts_with("PID 77@devbox/"), "{}", alive.1);
    assert_eq!(asked(told("devbox", &living, MachineState::Silent, 0)).0, Confirmation::Code);
    assert_eq!(asked(told("devbox", &ended, MachineState::Live, 0)).0, Confirmation::Code);
    let buried = |stone: &Tombstone, state| FarMachine {
        tombstones: [stone.clone()].into(),
        ..told("devbox", &ended, state, 0)
    };
    for state in [MachineState::Live, MachineState::Silent] {
        assert_eq!(asked(buried(&stone, state)).0, Confirmation::Yes, "a death is for ever");
        let others = [
            Tombstone { boot_id: LAPTOP.boot.into(), ..stone.clone() },
            Tombstone { pid_namespace: CONTAINER.namespace, ..stone.clone() },
            Tombstone { seen_alive_at: None, ..stone.clone() },
            Tombstone { session_id: Some(OTHER.into()), ..stone.clone() },
        ];
        for other in others {
            assert_eq!(asked(buried(&other, state)).0, Confirmation::Code, "{other:?}");
        }
    }
    // Of two that speak for one machine neither is believed.
    let mut heard = ours.clone();
    let twin = FarMachine { tombstones: [].into(), ..told("twin", &ended, MachineState::Live, 0) };
    apply_testimony(&mut heard, &[buried(&stone, MachineState::Live), twin]);
    assert_eq!(verdict(&heard, &path).0, VerdictState::Unknown);
    // Its session continues here now.
    let resumed = shared_state(DEVBOX.boot, 77, SESSION) + &window(5, "1 min ago", SESSION);
    let mut heard = here(&resumed);
    apply_testimony(&mut heard, &[buried(&stone, MachineState::Live)]);
    let record = heard.records().find(|one| one.path().raw().contains("entire-sessions")).unwrap();
    assert_ne!(plan_for(&heard, &record.key, Action::Release).confirmation, Confirmation::Yes);
}

fn unlike(all: &Report) -> ! {
    let findings: Vec<_> = all.findings().map(|one| (one.code, one.message.to_string())).collect();
    panic!("{findings:#?}")
}

#[test]
fn what_only_comes_close_to_one_session_on_two_machines_raises_nothing() {
    let ours = here(&window(5, "3 hours ago", SESSION));
    let none = |machines: &[FarMachine]| {
        let all = merged(&ours, machines);
        assert!(between(&all, Code::SharedSessionId).is_empty(), "{machines:#?}");
        assert_eq!(all.needs.iter().find_map(between_windows), None);
    };
    // Another session.
    none(&[live("devbox", DEVBOX, &window(77, "1 hour ago", OTHER))]);
    // Nothing is heard from that machine.
    let silent = snapshot(DEVBOX, &window(77, "1 hour ago", SESSION));
    for state in [MachineState::Silent, MachineState::Unreached, MachineState::Connecting] {
        none(&[told("devbox", &silent, state, 0)]);
    }
    // A container's own view of a process that is visible from here too, and one where that is unknown.
    for numbers in ["[5, 9]", "[]"] {
        let all = merged(
            &here(&numbered(5, numbers)),
            &[live("web", CONTAINER, &window(9, "3 hours ago", SESSION))],
        );
        assert!(between(&all, Code::SharedSessionId).is_empty(), "{numbers}");
    }
    // The window there has gone, and only its entry is left.
    let left = window(77, "1 hour ago", SESSION).split("[[file]]").nth(1).unwrap().to_owned();
    none(&[live("devbox", DEVBOX, &format!("[[file]]{left}"))]);
}

/// A window that began three hours ago, with its numbers in its PID namespaces from here inwards.
fn numbered(pid: u32, numbers: &str) -> String {
    let pid_line = format!("pid = {pid}\n");
    window(pid, "3 hours ago", SESSION).replacen(&pid_line, &format!("{pid_line}ns_pids = {numbers}\n"), 1)
}

#[test]
fn two_windows_of_one_kernel_that_began_in_one_tick_are_two_where_their_numbers_say_so() {
    let began = |pid| window(pid, "3 hours ago", SESSION);
    let other = Machine { namespace: 4_026_533_111, ..CONTAINER };
    for (ours, machines) in [
        (began(5), vec![live("web", CONTAINER, &began(5))]),
        (numbered(5, "[5, 8]"), vec![live("web", CONTAINER, &began(9))]),
        (String::new(), vec![live("web", CONTAINER, &began(5)), live("api", other, &began(5))]),
    ] {
        let all = merged(&here(&ours), &machines);
        assert_eq!(between(&all, Code::SharedSessionId).len(), 1, "{ours}");
    }
}

#[test]
fn a_container_that_is_reached_and_seen_from_its_host_is_shown_once() {
    let host = live("devbox", DEVBOX, &numbered(77, "[77, 9]"));
    let inside = snapshot(Machine { namespace: 4_026_532_999, ..DEVBOX }, &window(9, "3 hours ago", SESSION));
    let shown = |state| {
        let all = merged(&here(""), &[host.clone(), told("web", &inside, state, 0)]);
        assert!(between(&all, Code::SharedSessionId).is_empty());
        all.windows.iter().map(|window| window.key.machine().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(shown(MachineState::Live), ["web"]);
    assert_eq!(shown(MachineState::Silent), ["devbox"]);
}

#[test]
fn a_window_that_is_shown_once_is_known_by_the_key_that_is_not_shown() {
    let ours = here(&numbered(77, "[77, 9]"));
    let inside = snapshot(CONTAINER, &window(9, "3 hours ago", SESSION));
    for (state, is_ours) in [(MachineState::Live, false), (MachineState::Silent, true)] {
        let web = told("web", &inside, state, 0);
        let there = web.report.as_ref().unwrap().windows[0].key.clone();
        let all = merged(&ours, &[web]);
        let [shown] = &all.windows[..] else { panic!("{:?}", all.windows) };
        let pair = (ours.windows[0].key.clone(), there);
        assert_eq!(shown.key, if is_ours { pair.0.clone() } else { pair.1.clone() });
        let pairs = if is_ours { [(pair.1, pair.0)] } else { [pair] };
        assert_eq!(all.shown_once, pairs, "{state:?}");
    }
}

#[test]
fn whose_process_is_seen_here_has_not_ended_whoever_says_so() {
    // Without an entry of its own, and so as another user's claimtop reports it.
    let bare = |text: String| text.split("[[file]]").next().unwrap().to_owned();
    for (ours, machine, theirs) in
        [("[5]", LAPTOP, bare(numbered(5, "[5]"))), ("[77, 9]", CONTAINER, window(9, "3 hours ago", SESSION))]
    {
        let pid = if machine.namespace == LAPTOP.namespace { 5 } else { 77 };
        let ours = here(&bare(numbered(pid, ours)));
        let mut twin = live("twin", machine, &theirs);
        let report = std::sync::Arc::make_mut(twin.report.as_mut().unwrap());
        let there = report.windows[0].key.clone();
        report.ended = vec![EndedWindow { window: there.clone(), reason: Reason::NoProcess }];
        let all = merged(&ours, &[twin.clone()]);
        assert_eq!(all.windows.iter().map(|window| &window.key).collect::<Vec<_>>(), [&there]);
        assert_eq!(all.ended, []);
        let all = merged(&here(""), &[twin]);
        assert_eq!(all.ended.len(), 1, "nothing here speaks against it");
    }
}

#[test]
fn two_windows_of_a_host_are_two_where_one_container_tells_of_either() {
    let (one, two) = (numbered(77, "[77, 9]"), numbered(78, "[78, 9]"));
    let host = live("devbox", DEVBOX, &(one + &two));
    let inside = Machine { namespace: 4_026_532_999, ..DEVBOX };
    let all = merged(&here(""), &[host, live("web", inside, &window(9, "3 hours ago", SESSION))]);
    assert_eq!(all.windows.len(), 3);
}

/// Two containers can use the same number in the same tick.
#[test]
fn windows_of_two_containers_with_one_number_and_start_are_told_apart_by_their_folders() {
    let named = |text: String, folder: &str| text.replace("/w/pay", folder);
    let ours = here(&(named(numbered(77, "[77, 9]"), "/srv/a") + &named(numbered(78, "[78, 9]"), "/srv/b")));
    let inside = |name: &str, namespace: u64, folder: &str| {
        let window = named(window(9, "3 hours ago", SESSION), folder);
        live(name, Machine { namespace, ..LAPTOP }, &window)
    };
    let shown = |machines: &[FarMachine]| {
        let all = merged(&ours, machines);
        let of =
            |window: &claimtop::core::model::WindowView| window.key.machine().unwrap_or("here").to_owned();
        all.windows.iter().map(of).collect::<Vec<_>>()
    };
    let web = inside("web", 4_026_532_997, "/srv/a");
    assert_eq!(shown(&[web.clone(), inside("db", 4_026_532_998, "/srv/b")]), ["web", "db"]);
    assert_eq!(shown(&[web.clone(), inside("db", 4_026_532_998, "/srv/a")]).len(), 4);
    assert_eq!(shown(std::slice::from_ref(&web)), ["here", "web"]);
}

#[test]
fn two_windows_of_one_kernel_are_two_where_they_began_at_different_times() {
    let all = merged(
        &here(&window(5, "3 hours ago", SESSION)),
        &[live("web", CONTAINER, &window(5, "1 hour ago", SESSION))],
    );
    assert_eq!(between(&all, Code::SharedSessionId).len(), 1);
}

#[test]
fn a_clock_that_is_ahead_makes_nobody_the_later_one() {
    // By its own clock it began an hour ago, and that clock is four hours ahead.
    let devbox = snapshot(DEVBOX, &window(77, "1 hour ago", SESSION));
    let devbox = told("devbox", &devbox, MachineState::Live, 4 * 3_600);
    let all = merged(&here(&window(5, "3 hours ago", SESSION)), &[devbox]);
    let [finding] = between(&all, Code::SharedSessionId)[..] else { unlike(&all) };
    tells(finding, &["PID 77) on devbox started", "PID 5) here started"]);
    assert!(finding.story.as_ref().unwrap().advice.starts_with("close pay-5 (PID 5) here"));
}
