//! Descriptions and their results: the examples that ship, every mistake, any bytes.

use jiff::tz::TimeZone;

use super::{Root, read};
use crate::core::model::{
    Definition, DescribedFormat, LetGo, LineError, OwnPlace, Record, RecordKind, Syntax,
};
use crate::format::reading::{FileContents, Reading};
use crate::format::testing;

const GASTOWN: &str = include_str!("../../../assets/formats/gastown.toml");
const PID_FILE: &str = include_str!("../../../assets/formats/pid-file.toml");

/// A description with every key.
const WHOLE: &str = "name = 'watch'\ntitle = 'Watch'\nfiles = ['~/.watch/*/*.lock', '{tmp}/watch-*']\n\
    read = 'key-value'\nzone = '+02:00'\nrole = 'agent'\nttl = '15 min'\nclaim = 'work-item'\n\
    park = 'when-dead'\n[fields]\npid = 'pid'\nstart_ticks = 'start'\nboot_id = 'boot'\nhost = 'host'\n\
    session = 'session'\ncontext = 'context'\ntitle = 'what'\nstarted_at = 'since'\n\
    heartbeat_at = 'seen'\ncwd = 'folder'\nclaim = 'item'\n";

/// Has one zone, without querying the system.
fn zones(name: &str) -> Option<TimeZone> {
    (name == "Europe/Berlin").then(|| TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap())
}

fn parse(text: &str) -> Result<Definition, LineError> {
    super::parse(text, &zones)
}

fn own(text: &str) -> DescribedFormat {
    DescribedFormat::new(parse(text).unwrap_or_else(|error| panic!("{error}")))
}

fn record(own: DescribedFormat, text: &str) -> Record {
    let file = testing::image("x.lock", text.as_bytes(), 60);
    testing::record(testing::read(|reading| read(own, &file, reading)))
}

#[test]
fn the_examples_read_what_they_are_for() {
    let text = r#"{"pid":4711,"acquired_at":"2026-11-20T21:40:00","session_id":"gt-max","hostname":"desk"}"#;
    let lock = record(own(GASTOWN), text);
    assert_eq!(lock.context_id, Some("gt-max".into()));
    assert_eq!(lock.started_at.map(|at| at.to_string()).as_deref(), Some("2026-11-20T21:40:00Z"));
    let summary = testing::summary(&FileContents::Record(lock.into()));
    assert_eq!(summary, "Lock Current 'agent lock' context gt-max session - holder 4711/Unknown []");

    let pid_file = own(PID_FILE);
    assert_eq!(pid_file.definition().let_go, LetGo::OnlyDead);
    let summary = testing::summary(&FileContents::Record(record(pid_file, "4711\n").into()));
    assert_eq!(summary, "Lock Current 'PID file' context - session - holder 4711/Agent []");
    assert_eq!(record(pid_file, "").holder, None);
}

#[test]
fn every_key_is_read() {
    let watch = own(WHOLE);
    let places = [
        OwnPlace { root: Root::Home, folder: ".watch/*".to_owned(), name: "*.lock".to_owned() },
        OwnPlace { root: Root::Tmp, folder: String::new(), name: "watch-*".to_owned() },
    ];
    assert_eq!(
        (watch.definition().places.as_slice(), watch.definition().reading),
        (&places[..], Syntax::KeyValue)
    );
    let text = "# a comment: no\npid = 4711\nstart = 686753\nboot: 0b5fb5f8\nhost=desk\nsession = s-1\n\
                context=c\nwhat = 'Nightly'\nsince = 1795210496\nseen = 2026-11-20T23:40:00\n\
                folder = /src/shop\nitem = \"NIGHT-7\"\n";
    let read = record(watch, text);
    let holder = read.holder.clone().unwrap();
    assert_eq!((holder.start_ticks, holder.boot_id()), (Some(686_753), Some(&"0b5fb5f8".into())));
    assert_eq!(read.heartbeat_at.map(|at| at.to_string()).as_deref(), Some("2026-11-20T21:40:00Z"));
    assert_eq!(
        read.expiry.map(|expiry| (expiry.at.to_string(), expiry.rule)).unwrap().0,
        "2026-11-20T21:55:00Z"
    );
    assert_eq!(read.started_at.map(|at| at.as_second()), Some(1_795_210_496));
    let claim = read.claims.first().map(|claim| (claim.resource.kind.name(), claim.resource.id.raw()));
    assert_eq!(
        (read.kind, read.title.raw(), claim),
        (RecordKind::Session, "Nightly", Some(("work-item", "NIGHT-7")))
    );
    assert_eq!(*read.problems, []);
}

#[test]
fn a_pointer_leads_through_objects_and_lists() {
    let text = "name = 'p'\nfiles = ['~/p']\nread = 'json'\nrole = 'agent'\n[fields]\npid = '/a~1b/0/~0pid'\ntitle = '/a~1b'\n";
    let read = record(own(text), r#"{"a/b":[{"~pid":77}]}"#);
    assert_eq!(read.holder.and_then(|holder| holder.pid.and_then(|pid| pid.valid())), Some(77));
    assert_eq!(read.title.raw(), "x.lock");
}

#[test]
fn what_is_no_time_and_no_pid_is_told() {
    let text = "name = 'p'\nfiles = ['~/p']\nread = 'lines'\nrole = 'hook'\n[fields]\npid = '1'\nstarted_at = '2'\nheartbeat_at = '3'\n";
    let summary =
        testing::summary(&FileContents::Record(record(own(text), "seven\nsoon\n4102444800\n").into()));
    assert_eq!(
        summary,
        "Session Current 'p' context - session - holder bad/Hook [bad-timestamp bad-timestamp]"
    );
}

/// Checks how a sign of life in Berlin is read at a moment, and whether a note says that it is ambiguous.
#[track_caller]
fn check_local(text: &str, now: &str, expected: &str, is_noted: bool) {
    let description = "name = 'p'\nfiles = ['~/p']\nread = 'lines'\nzone = 'Europe/Berlin'\nttl = '30 min'\n[fields]\nheartbeat_at = '1'\n";
    let file = testing::image("p", text.as_bytes(), 60);
    let host = testing::host(0);
    let now = now.parse().unwrap();
    let record = testing::record(read(own(description), &file, &Reading { host: &host, now }));
    assert_eq!(record.heartbeat_at.map(|at| at.to_string()).as_deref(), Some(expected));
    assert_eq!(record.facts.iter().any(|(name, _)| *name == "ambiguous time"), is_noted);
    assert_eq!(*record.problems, []);
}

#[test]
fn a_time_that_was_there_twice_is_taken_as_late_as_it_can_be() {
    check_local("2026-07-01T12:00:00", "2026-07-01T11:00:00Z", "2026-07-01T10:00:00Z", false);
    check_local("2026-12-01T12:00:00", "2026-12-01T12:00:00Z", "2026-12-01T11:00:00Z", false);
    // The clocks were set back from 03:00 to 02:00, at 01:00Z: half past two was at 00:30Z and 01:30Z.
    check_local("2026-10-25T02:30:00", "2026-10-25T02:00:00Z", "2026-10-25T01:30:00Z", true);
    check_local("2026-10-25T02:30:00", "2026-10-25T00:40:00Z", "2026-10-25T00:30:00Z", true);
    // They were set forward from 02:00 to 03:00, at 01:00Z: half past two was never.
    check_local("2026-03-29T02:30:00", "2026-03-29T12:00:00Z", "2026-03-29T01:30:00Z", true);
    check_local("2026-10-25T02:30:00+01:00", "2026-10-25T02:00:00Z", "2026-10-25T01:30:00Z", false);
}

/// Checks the error for a whole description with one part replaced.
#[track_caller]
fn check_error(part: &str, by: &str, expected: &str) {
    assert!(WHOLE.contains(part), "{part}");
    let error = parse(&WHOLE.replacen(part, by, 1)).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[test]
fn an_error_names_line_and_key() {
    check_error("'watch'", "'Watch'", "line 1, key `name`: a name has 1 to 32 of a-z, 0-9 and -");
    check_error("'watch'", "'maia'", "line 1, key `name`: claimtop has a built-in format of this name");
    check_error(
        "'~/.watch/*/*.lock'",
        "'/etc/x'",
        "line 3, key `files`: a file starts with ~/, {tmp}/ or {repo}/",
    );
    check_error(
        "watch-*",
        "../x",
        "line 3, key `files`: a file is a plain path: no empty part, no . and no ..",
    );
    let star = "line 3, key `files`: a folder is a name or a whole *; only the file's name may have * within";
    check_error(".watch/*/", ".w*/", star);
    check_error(
        "['~/.watch/*/*.lock', '{tmp}/watch-*']",
        "[]",
        "line 3, key `files`: at least one file is needed",
    );
    let zone = "line 5, key `zone`: this system knows no time zone of this name; local, UTC and offsets such as +02:00 always work";
    check_error("+02:00", "Europe/Atlantis", zone);
    let zone =
        "line 5, key `zone`: a zone is local, UTC, an offset such as +02:00, or a name such as Europe/Berlin";
    check_error("+02:00", "+2:00", zone);
    check_error("+02:00", "../../etc/localtime", zone);
    check_error("+02:00", "", zone);
    let ttl = "line 7, key `ttl`: a time to live is a span such as 15 min, at most a year (in hours)";
    check_error("15 min", "soon", ttl);
    check_error("15 min", "-5 min", ttl);
    let role =
        "line 11, key `pid`: a PID needs a role: whose process is it (agent, shell, hook, daemon, unknown)";
    check_error("role = 'agent'", "", role);
    check_error("pid = 'pid'\n", "", "line 6, key `role`: a role needs a PID in [fields]");
    check_error("claim = 'work-item'", "", "line 21, key `claim`: set `claim` to the kind of thing it is");
    check_error("pid = 'pid'", "pid = 'a=b'", "line 11, key `pid`: a field is a key, without = and :");
    check_error(
        "'key-value'",
        "'json'",
        "line 11, key `pid`: in JSON a field is a pointer such as /owner/pid",
    );
    check_error("'key-value'", "'lines'", "line 11, key `pid`: a field is the number of a line, from \"1\"");
    let park =
        parse("name = 'p'\nfiles = ['~/p']\nread = 'lines'\npark = 'when-dead'\n[fields]\n").unwrap_err();
    let why = "without a PID or a session in [fields] nothing is ever proven dead";
    assert_eq!(park.to_string(), format!("line 4, key `park`: {why}"));
    assert_eq!(parse("name = 'p'\nfile = 1\n").unwrap_err().line, 2);
}

proptest::proptest! {
    #[test]
    fn reading_is_total(bytes: Vec<u8>) {
        static OWN: std::sync::OnceLock<[DescribedFormat; 3]> = std::sync::OnceLock::new();
        let file = testing::image("x.lock", &bytes, 60);
        for own in *OWN.get_or_init(|| [GASTOWN, PID_FILE, WHOLE].map(own)) {
            testing::read(|reading| read(own, &file, reading));
        }
    }

    #[test]
    fn describing_is_total(text: String) {
        let _ = parse(&text);
    }
}
