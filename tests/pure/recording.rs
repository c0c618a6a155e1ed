//! Recordings: the observations come back whole and with the same verdicts, on any machine.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use claimtop::core::assess::{Policy, assess};
use claimtop::core::history::recording::Header;
use claimtop::core::history::recording::{Encoder, Recording, Unreadable, VERSION};
use claimtop::core::judge::window::agent::Signatures;
use claimtop::core::model::{ClaudeCode, RecordDetail, Report, Snapshot, Untrusted};
use claimtop::testing::core::Redactor;
use claimtop::testing::run::{Tape, TapeOutcome, Wish};
use claimtop::testing::source::make_pipe;

use crate::common;
use crate::common::policy;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn worlds() -> Vec<Snapshot> {
    let mut worlds: Vec<Snapshot> = common::cases().iter().map(|case| case.snapshot().clone()).collect();
    worlds.push(common::load(&root().join("assets/demo.toml")).snapshot());
    worlds
}

fn header() -> Header {
    Header {
        recording: VERSION,
        claimtop: "0.0.0".to_owned(),
        began_at: jiff::Timestamp::UNIX_EPOCH,
        redacted: false,
        signatures: Signatures::built_in().unwrap(),
    }
}

fn recorded(looks: &[Snapshot]) -> String {
    let mut encoder = Encoder::default();
    let lines = looks.iter().map(|look| encoder.look(look, true).unwrap());
    Encoder::header(&header()).unwrap() + &lines.collect::<String>()
}

fn judged(look: &Snapshot) -> Report {
    assess(look, policy())
}

#[test]
fn every_world_comes_back_whole_from_what_differs_from_the_one_before() {
    let worlds = worlds();
    let recording = Recording::open(recorded(&worlds)).unwrap();
    assert_eq!(recording.marks().len(), worlds.len());
    // Backwards, so that nothing remains of the look before.
    for (number, world) in worlds.iter().enumerate().rev() {
        let look = recording.look(number).unwrap();
        let world = without_prompts(world);
        assert_eq!(format!("{look:#?}"), format!("{world:#?}"), "look {number}");
        assert_eq!(judged(&look), judged(&world));
    }
}

/// Removes persons' prompts, which no recording contains.
fn without_prompts(world: &Snapshot) -> Snapshot {
    let mut world = world.clone();
    for work in &mut world.work {
        let work = Arc::make_mut(work);
        work.doing.prompt = None;
        work.agents.iter_mut().for_each(|agent| agent.task = None);
    }
    world
}

#[test]
fn no_recording_has_a_prompt() {
    let world = common::load(&root().join("assets/demo.toml")).snapshot();
    let prompts: Vec<_> = world.work.iter().filter_map(|work| work.doing.prompt.clone()).collect();
    let text = recorded(&[world]);
    assert!(prompts.len() > 3 && !prompts.iter().any(|prompt| text.contains(prompt.text.raw())));
}

#[test]
fn a_record_of_an_earlier_version_gets_the_detail_that_is_read_today() {
    for world in worlds() {
        let mut earlier = world.clone();
        earlier.records.iter_mut().for_each(|record| Arc::make_mut(record).detail = RecordDetail::None);
        let look = Recording::open(recorded(&[earlier])).unwrap().look(0).unwrap();
        for (read, record) in look.records.iter().zip(&world.records) {
            assert_eq!(read.detail, as_far_as_known_then(&record.detail), "{record:#?}");
        }
    }
}

/// Removes from a detail the facts that earlier versions have not read.
fn as_far_as_known_then(detail: &RecordDetail) -> RecordDetail {
    if let RecordDetail::ClaudeCode(ClaudeCode::Roster { .. }) = detail {
        return RecordDetail::None;
    }
    let mut then = detail.clone();
    if let RecordDetail::ClaudeCode(ClaudeCode::Session(status)) = &mut then {
        status.is_background = false;
    }
    then
}

#[test]
fn a_look_that_changes_little_takes_little() {
    let world = common::load(&root().join("assets/demo.toml")).snapshot();
    let one = recorded(std::slice::from_ref(&world)).len();
    let ten = recorded(&vec![world; 10]).len();
    assert!(ten - one < 9 * 120, "nine looks at the same take {} bytes", ten - one);
}

#[track_caller]
fn check_refused(text: String, expected: &str) {
    let error = Recording::open(text).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn what_is_no_recording_is_refused_and_a_torn_end_is_left_out() {
    let whole = recorded(&worlds()[..3]);
    check_refused(String::new(), "not a claimtop recording");
    check_refused("{\"schema\":\"claimtop.snapshot.v1\"}\n".to_owned(), "not a claimtop recording");
    let newer = whole.replacen("\"recording\":1", "\"recording\":9", 1).replacen("0.0.0", "\\u001b[31m9", 1);
    check_refused(newer, "later version (format 9");
    check_refused(whole.lines().next().unwrap().to_owned() + "\n", "no snapshot");
    check_refused(whole.replacen("\"parts\"", "\"parts", 1), "line 2 is damaged");
    let torn = whole[..whole.len() - 40].to_owned();
    assert_eq!(Recording::open(torn).unwrap().marks().len(), 2);
}

#[test]
fn a_recording_of_every_version_still_opens() {
    for version in 1..=VERSION {
        let path = root().join(format!("tests/recordings/v{version}.jsonl"));
        let recording = Recording::open(std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(recording.header.recording, version);
        let policy = Policy { signatures: recording.header.signatures.clone() };
        let report = assess(&recording.look(recording.marks().len() - 1).unwrap(), &policy);
        let mut found: Vec<&str> = report.findings.iter().map(|finding| finding.code.name()).collect();
        found.sort_unstable();
        // As the demo of that version defined it, except for births: it did not record whether the clock was set.
        let expected = std::fs::read_to_string(path.with_extension("findings.txt")).unwrap();
        let expected: Vec<&str> = expected.lines().collect();
        assert_eq!(found, expected, "version {version}");
    }
}

/// Returns the results of verdicts and findings, without any name.
fn meaning(report: &Report) -> Vec<String> {
    let records = report
        .records
        .iter()
        .map(|record| format!("{:?} {:?} {:?}", record.format, record.verdict.state, record.verdict.reason));
    let claims = report.claims.iter().map(|claim| format!("{:?} {:?}", claim.resource.kind, claim.status));
    let windows = report.windows.iter().map(|window| format!("{} {}", window.pid, window.agent));
    let findings = report.findings.iter().map(|finding| {
        let cause = finding.story.as_ref().map(|story| story.cause.name());
        format!("{} {} {cause:?}", finding.code.name(), finding.subjects.len())
    });
    let mut all: Vec<String> = records.chain(claims).chain(windows).chain(findings).collect();
    all.sort_unstable();
    all
}

#[test]
fn redaction_takes_every_name_and_no_verdict() {
    for case in common::cases() {
        let (path, world) = (&case.path, case.snapshot());
        let mut redactor = Redactor::new(&Signatures::built_in().unwrap());
        let look = redactor.look(world);
        assert_eq!(meaning(&judged(&look)), meaning(case.report()), "{}", path.display());
        // A folder is identified by its device, which is not a person's name.
        let text = recorded(&[look]).replace("\"dev\":", "");
        let words: std::collections::BTreeSet<&str> =
            text.lines().nth(1).unwrap().split(|c: char| !c.is_alphabetic()).collect();
        for name in ["dev", "shop", "Shop", "anna", "ledger"] {
            assert!(!words.contains(name), "{}: {name} is still there", path.display());
        }
    }
}

/// Texts that identify a person or a machine, and are not words.
const PLANTED: [&str; 9] = [
    "anna.lee@shop.example",
    "+49 170 1234567",
    "4111 1111 1111 1111",
    "4111-1111-1111-1112",
    "10.20.30.40",
    "fe80::aa:bb",
    "7f3c9a51-0000-4111-8222-933344445555",
    "123456789012",
    "9f86d081884c7d659a2feaa0c55ad015",
];

/// Arguments that identify a person or a machine.
const ARGUMENTS: [&str; 8] = [
    "--born=1984-05-12",
    "12.05.1984",
    "5/12/1984",
    "--since=2019-03-04T07:08:09.5+01:00",
    "-h10.20.30.41",
    "ip-10-20-30-42.example",
    "10.20.30.43/24",
    "-hfe80::aa:cc",
];

#[test]
fn redaction_leaves_no_address_no_date_of_an_argument_no_id_and_no_long_number() {
    let mut world = common::load(&root().join("assets/demo.toml")).snapshot();
    let sentence = PLANTED.join(", ");
    for (number, record) in world.records.iter_mut().enumerate() {
        let record = std::sync::Arc::make_mut(record);
        record.title = format!("{}: {sentence}", record.title.raw()).into();
        let status = PLANTED[number % PLANTED.len()];
        record.facts = [("query", sentence.as_str().into()), ("status", status.into())].into();
    }
    for details in world.processes.by_pid.values_mut().filter_map(|process| process.details.as_mut()) {
        details.argv.push(sentence.as_str().into());
        details.argv.extend(ARGUMENTS.map(Untrusted::from));
        details.env.insert("SSH_CONNECTION".to_owned(), "10.20.30.40 51234 fe80::aa:bb 22".into());
    }
    world.host.boot_id = Some("7f3c9a51-0000-4111-8222-933344445555".to_owned());
    world.host.zone = jiff::tz::TimeZone::get("Pacific/Auckland").unwrap();
    for repo in &mut world.repos {
        repo.entire_refs.push(format!("entire/{}", PLANTED[8]));
    }
    let before = recorded(std::slice::from_ref(&world));
    let mut redactor = Redactor::new(&Signatures::built_in().unwrap());
    let look = redactor.look(&world);
    assert_eq!(meaning(&judged(&look)), meaning(&judged(&world)));
    let after = recorded(&[look]);
    for planted in PLANTED.iter().chain(&["Auckland", "123 4567", "1234567", "lee"]) {
        assert!(before.contains(planted) || *planted == "123 4567", "{planted} was not planted");
        let told = after.lines().nth(1).unwrap();
        assert!(!told.contains(planted), "{planted} is still there");
    }
    for part in ["1984", "05-12", "12.05", "5/12", "2019-03", "07:08", "10.20.30", "10-20-30", "fe80"] {
        assert!(before.contains(part), "{part} was not planted");
        assert!(!after.lines().nth(1).unwrap().contains(part), "{part} is still there");
    }
    let ids = |text: &str| -> std::collections::BTreeSet<String> {
        let starts = text.char_indices().filter_map(|(at, _)| text.get(at..at + 36));
        let is_id = |id: &&str| {
            id.split('-').map(str::len).eq([8, 4, 4, 4, 12])
                && id.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
        };
        starts.filter(is_id).map(str::to_lowercase).collect()
    };
    let (old, new) = (ids(&before), ids(&after));
    assert_eq!(old.len(), new.len(), "each is another one, and none are taken for the same");
    assert!(old.is_disjoint(&new));
    let told = redactor.fresh();
    assert!(told.kept.iter().any(|kept| kept == "claude"), "what is kept is listed: {:?}", told.kept);
    let is_listed = |planted: &str| told.replaced.iter().any(|(name, _)| name == planted);
    assert!(is_listed("anna.lee@shop.example") && is_listed("10.20.30.40") && is_listed(PLANTED[6]));
}

#[test]
fn a_secret_in_arguments_never_gets_into_a_recording() {
    let world = tempfile::tempdir().unwrap();
    // A shell with the name and place of Claude Code.
    let program = world.path().join("claude/versions/claude");
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    std::fs::copy("/bin/sh", &program).unwrap();
    let secrets = ["hush-hush", "ghp_0123456789abcdefABCD", "mum-is-the-word"];
    let header = format!("{{\"Authorization\":\"Bearer {}\"}}", secrets[2]);
    let mut window = Command::new(&program)
        .args(["-c", "read end", "x", "--api-key", secrets[0], "--mcp", &header, secrets[1]])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let file = world.path().join("kept.jsonl");
    let tmp = world.path().to_str().unwrap();
    claimtop(world.path(), &["record", file.to_str().unwrap(), "--once", "--home", tmp, "--tmp", tmp]);
    drop(window.stdin.take());
    window.wait().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains(&format!("\"p:{}\"", window.id())), "the window was seen");
    assert!(text.contains("\"--api-key\",\"***\""), "its arguments were");
    for secret in secrets {
        assert!(!text.contains(secret), "{secret} was recorded");
    }
}

#[test]
fn a_tape_ends_whole_when_it_is_full_and_takes_no_name_that_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    let world = common::load(&root().join("assets/demo.toml")).snapshot();
    let tape = Tape::new(Signatures::built_in().unwrap());
    let wish = |limit| Wish { path: path.clone(), began_at: world.taken_at, limit, redact: None };
    assert!(matches!(tape.keep(&world, true), TapeOutcome::Off));
    let size = recorded(std::slice::from_ref(&world)).len() as u64;
    tape.begin(wish(size + 400)).unwrap();
    assert!(tape.begin(wish(size)).is_err());
    let kept: Vec<TapeOutcome> = (0..9).map(|_| tape.keep(&world, false)).collect();
    assert!(matches!(kept.first(), Some(TapeOutcome::Written)));
    assert!(kept.iter().any(|kept| matches!(kept, TapeOutcome::Full)), "{kept:?}");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.len() as u64 <= size + 400);
    assert!(text.ends_with('\n') && Recording::open(text).is_ok());
    assert_eq!(std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&path).unwrap()) & 0o777, 0o600);
}

/// Runs claimtop with a temporary folder of its own.
fn claimtop(tmp: &Path, arguments: &[&str]) -> Output {
    let output = run(tmp, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn run(tmp: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_claimtop"))
        .args(arguments)
        .env("TMPDIR", tmp)
        .env("HOME", tmp)
        .output()
        .unwrap()
}

#[test]
fn a_recording_tells_who_has_died_only_where_its_looks_prove_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kept.jsonl");
    let before = common::load(&root().join("assets/demo.toml")).snapshot();
    let window = judged(&before).windows[0].clone();
    let mut after = before.clone();
    after.taken_at += jiff::SignedDuration::from_secs(5);
    after.processes.by_pid.remove(&window.pid);
    after.processes.listed.remove(&window.pid);
    let mut unproven = after.clone();
    unproven.processes.partial = Some("not all of them may be read".to_owned());
    for (after, told) in [(after, "died"), (unproven, "is no longer seen")] {
        std::fs::write(&file, recorded(&[before.clone(), after])).unwrap();
        let report = claimtop(folder.path(), &["report", "--from", file.to_str().unwrap()]);
        let report = String::from_utf8(report.stdout).unwrap();
        assert!(report.contains(&format!("{} {told}", window.title())), "{report}");
    }
}

#[test]
fn a_recording_of_the_live_demo_replays_to_the_same_frames() {
    let (tmp, kept) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = kept.path().join("demo.jsonl");
    let file = file.to_str().unwrap();
    // Every view, evidence, help, the filter, and the story of each collision.
    let keys = "3jj4j\n\u{1b}5j\n\u{1b}jjj\n\u{1b}jjjj\n\u{1b}6t\u{1b}?\u{1b}2/shop\n";
    let live = claimtop(tmp.path(), &["demo", "--once", "--record", file, "--frames", keys]);
    let again = claimtop(tmp.path(), &["replay", file, "--frames", keys]);
    assert!(live.stdout.len() > 100_000, "{} bytes of frames", live.stdout.len());
    assert!(live.stdout == again.stdout, "a frame differs");
    let redacted = kept.path().join("sent.jsonl");
    let redact = ["record", redacted.to_str().unwrap(), "--from", file, "--redact"];
    let refused = run(tmp.path(), &redact);
    assert_eq!((refused.status.code(), redacted.exists()), (Some(3), false), "nobody could be asked");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("becomes"), "what would be replaced is listed");
    let sent = claimtop(tmp.path(), &[&redact[..], &["--yes"]].concat());
    let listed = String::from_utf8(sent.stderr).unwrap();
    assert!(listed.contains("shop becomes wd"), "{listed}");
    let text = std::fs::read_to_string(&redacted).unwrap();
    assert!(!text.contains("shop") && text.contains("\"redacted\":true"));
    let report = |file: &str| -> serde_json::Value {
        serde_json::from_slice(&claimtop(tmp.path(), &["replay", file, "--once", "--json"]).stdout).unwrap()
    };
    let codes = |report: serde_json::Value| -> Vec<String> {
        let findings = report.get("findings").unwrap().as_array().unwrap().clone();
        findings.iter().map(|finding| finding.get("code").unwrap().to_string()).collect()
    };
    assert_eq!(codes(report(file)), codes(report(redacted.to_str().unwrap())));
}

#[test]
fn a_moment_between_two_looks_shows_the_one_before() {
    let mut first = common::load(&root().join("assets/demo.toml")).snapshot();
    let mut looks = Vec::new();
    for minutes in 0..5 {
        first.taken_at += jiff::SignedDuration::from_mins(minutes);
        looks.push(first.clone());
    }
    let recording = Recording::open(recorded(&looks)).unwrap();
    let at = |number: usize| recording.marks().get(number).unwrap().at;
    assert_eq!(recording.index_at(at(3) + jiff::SignedDuration::from_secs(1)), 3);
    assert_eq!(recording.index_at(jiff::Timestamp::UNIX_EPOCH), 0);
    assert_eq!(recording.index_at(jiff::Timestamp::MAX), 4);
    assert!(matches!(recording.look(5), Err(Unreadable::Empty)));
}

/// Replays and copies files that are not recordings, and compares the messages.
#[track_caller]
fn check_no_recording(path: &Path, expected: &str) {
    let tmp = tempfile::tempdir().unwrap();
    let copy = tmp.path().join("copy.jsonl");
    let (path, copy) = (path.to_str().unwrap(), copy.to_str().unwrap());
    for arguments in
        [&["replay", path, "--once"][..], &["record", copy, "--from", path], &["report", "--from", path]]
    {
        let output = run(tmp.path(), arguments);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(4), "{arguments:?}: {told}");
        assert!(told.contains(expected), "{arguments:?}: {told}");
    }
    assert!(!Path::new(copy).exists());
}

#[test]
fn what_has_no_end_or_never_begins_is_no_recording() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    make_pipe(&at("fifo")).unwrap();
    std::fs::File::create(at("huge")).unwrap().set_len(10 << 30).unwrap();
    check_no_recording(Path::new("/dev/zero"), "it is not a plain file");
    check_no_recording(&at("fifo"), "it is not a plain file");
    check_no_recording(folder.path(), "it is not a plain file");
    check_no_recording(&at("huge"), "it has more than 67108864 bytes");
    check_no_recording(&at("nowhere"), "there is no such file");
}
