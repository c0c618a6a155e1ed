//! How a viewer interprets the rows that it reads.

use super::*;
use crate::core::fleet::database::host_name::is_longer_name;

fn row(host: &str, changed: i64) -> HostRow {
    HostRow {
        host: host.to_owned(),
        epoch: 1,
        sequence: changed,
        changed,
        state: "ok".to_owned(),
        accepts: "never".to_owned(),
        is_claimed: false,
        lost_by: None,
        beat_at: 1_000_000,
        name: "devbox".to_owned(),
        release: None,
        machine: Some("m".to_owned()),
        store: None,
        boot: Some(host.to_owned()),
        pid_namespace: Some(7),
    }
}

fn part<'a>(host: &'a str, kind: &'a str, payload: Option<&'a str>, sequence: i64) -> PartRow<'a> {
    PartRow { host, is_whole: false, kind, id: "a", sequence, payload }
}

fn at(steady: u64, server: i64) -> ReadAt {
    ReadAt { steady: Duration::from_secs(steady), server, started: 0, may_ask: true }
}

/// Returns the name and the state of each machine at a moment.
fn machines(roster: &Roster, steady: u64) -> Vec<(String, MachineState, String)> {
    let all = roster.machines(Duration::from_secs(steady), Timestamp::UNIX_EPOCH);
    all.into_iter()
        .map(|machine| (machine.view.name, machine.view.state, machine.view.detail.raw().to_owned()))
        .collect()
}

const SOURCE: &str = r#"{"id":"a","state":"ok","detail":""}"#;

fn beat(roster: &mut Roster, host: &str, sequence: i64) {
    let wanted = roster.wanted();
    roster.parts(
        &wanted,
        vec![
            part(host, "source", Some(SOURCE), sequence),
            part(host, LOOK, Some(r#"{"at":"2026-11-20T10:00:00Z"}"#), sequence),
        ],
    );
}

#[test]
fn what_hosts_tell_is_read_once_and_silence_is_no_death() {
    let mut roster = Roster::default();
    roster.hosts(vec![row("h1", 3)], true, at(10, 1_000_000));
    assert_eq!(roster.wanted(), [("h1".to_owned(), 0)]);
    beat(&mut roster, "h1", 3);
    assert_eq!(roster.wanted(), []);
    let state = |roster: &Roster, steady| machines(roster, steady).remove(0);
    assert_eq!(state(&roster, 10).1, MachineState::Live);
    roster.hosts(vec![], false, at(40, 1_030_000));
    assert_eq!(
        state(&roster, 40),
        ("devbox".to_owned(), MachineState::Late, "no contact for over 25 s".to_owned())
    );
    roster.hosts(vec![], false, at(250, 1_240_000));
    assert_eq!(state(&roster, 250).2, "no contact for over 50 s");
    let lost = HostRow { lost_by: Some("oscar".to_owned()), ..row("h1", 3) };
    let mut new = Roster::default();
    new.hosts(vec![lost], true, ReadAt { started: 1_030_000, ..at(80, 1_070_000) });
    beat(&mut new, "h1", 3);
    assert_eq!(state(&new, 80).2, "declared lost by oscar, which proves nothing");
    // The database was not read for long, which is not the host's silence.
    roster.hosts(vec![HostRow { beat_at: 1_240_000, ..row("h1", 3) }], false, at(252, 1_242_000));
    assert_eq!(state(&roster, 253).1, MachineState::Live);
    assert_eq!(state(&roster, 300).2, "the fleet's database does not answer");
    roster.reached_again(Duration::from_secs(400));
    roster.hosts(vec![], false, at(400, 1_390_000));
    assert_eq!(state(&roster, 400).1, MachineState::Live);
    roster.hosts(vec![], false, at(451, 1_441_000));
    assert_eq!(state(&roster, 451).2, "no contact for over 50 s");
}

#[test]
fn what_cannot_be_read_leaves_what_was_told_before_and_nothing_of_it_alive() {
    let mut roster = Roster::default();
    roster.hosts(vec![row("h1", 3)], true, at(10, 1_000_000));
    beat(&mut roster, "h1", 3);
    let broken = |roster: &mut Roster, changed: i64, is_whole: bool| {
        roster.hosts(vec![row("h1", changed)], false, at(12, 1_002_000));
        let garbage = PartRow { is_whole, ..part("h1", LOOK, Some("{\"at\":5}"), changed) };
        roster.parts(&roster.wanted(), vec![garbage]);
    };
    let sources = |roster: &Roster| {
        let all = roster.machines(Duration::from_secs(12), Timestamp::UNIX_EPOCH);
        all[0].report.as_ref().unwrap().sources.len()
    };
    for (changed, is_whole) in [(4, true), (24, false)] {
        broken(&mut roster, changed, is_whole);
        let why = "the last line of its scan is garbled".to_owned();
        assert_eq!(machines(&roster, 12), [("devbox".to_owned(), MachineState::Unreached, why)]);
        assert_eq!((sources(&roster), roster.wanted()), (1, vec![]));
        // It sends something else, and until that is read nothing it sent before is known to be still true.
        roster.hosts(vec![row("h1", changed + 10)], false, at(12, 1_002_000));
        assert_eq!(machines(&roster, 12)[0].1, MachineState::Unreached);
        assert_eq!(roster.wanted(), [("h1".to_owned(), 0)]);
        beat(&mut roster, "h1", changed + 10);
        assert_eq!((machines(&roster, 12)[0].1, sources(&roster)), (MachineState::Live, 1));
    }
}

#[test]
fn a_host_that_fails_who_reads_it_takes_no_other_away() {
    let mut roster = Roster::beside(vec!["devbox".to_owned()]);
    roster.hosts(vec![named("h1", "web"), named("h2", "devbox")], true, at(10, 1_000_000));
    let tell = |roster: &mut Roster, sequence: i64| {
        roster.wanted().iter().for_each(|(host, _)| beat(roster, host, sequence));
    };
    tell(&mut roster, 1);
    let states = |roster: &Roster| machines(roster, 10).into_iter().map(|(name, state, _)| (name, state));
    let before: Vec<_> = states(&roster).collect();
    assert!(before.iter().all(|(_, state)| *state == MachineState::Live), "{before:?}");
    roster.hosts.get_mut("h1").unwrap().forget();
    assert_eq!(roster.wanted(), []);
    let names = || before.iter().map(|(name, _)| name.clone());
    let expected = [MachineState::Unreached, MachineState::Live];
    assert_eq!(states(&roster).collect::<Vec<_>>(), names().zip(expected).collect::<Vec<_>>());
    // It sends something else.
    roster.hosts(vec![HostRow { changed: 2, ..named("h1", "web") }], false, at(10, 1_000_000));
    assert_eq!(roster.wanted(), [("h1".to_owned(), 0)]);
    tell(&mut roster, 2);
    assert_eq!(states(&roster).collect::<Vec<_>>(), before);
}

#[test]
fn that_a_host_stays_silent_is_no_news() {
    let mut roster = Roster::default();
    roster.hosts(vec![row("h1", 3)], true, at(10, 1_000_000));
    beat(&mut roster, "h1", 3);
    let silent = [100, 1_000, 10_000].map(|steady| {
        roster.hosts(vec![], false, at(steady, 990_000 + i64::try_from(steady).unwrap() * 1_000));
        machines(&roster, steady)
    });
    assert_eq!(silent[0][0].1, MachineState::Silent);
    assert!(silent.windows(2).all(|pair| pair[0] == pair[1]), "{silent:?}");
}

#[test]
fn hosts_of_one_name_are_told_apart_and_who_say_that_they_are_one_testify_to_nothing() {
    let mut roster = Roster::default();
    let twin = HostRow { boot: Some("h1".to_owned()), ..row("h2", 3) };
    roster.hosts(vec![row("h1", 3), twin], true, at(10, 1_000_000));
    for host in ["h1", "h2"] {
        let wanted = roster.wanted();
        let of: Vec<_> = wanted.into_iter().filter(|(name, _)| name == host).collect();
        roster.parts(&of, vec![part(host, "source", Some(SOURCE), 3)]);
    }
    let names: Vec<String> = machines(&roster, 10).into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names, ["devbox-h1", "devbox-h2"]);
    let all = roster.machines(Duration::from_secs(10), Timestamp::UNIX_EPOCH);
    assert!(all.iter().all(|machine| machine.hello.is_none()));
    roster.hosts(vec![row("h1", 3)], true, at(12, 1_002_000));
    let all = roster.machines(Duration::from_secs(12), Timestamp::UNIX_EPOCH);
    assert!(all.iter().all(|machine| machine.hello.is_some()) && all.len() == 1);
}

fn named(host: &str, name: &str) -> HostRow {
    HostRow { name: name.to_owned(), ..row(host, 1) }
}

/// Checks the names of these hosts, which appear at once, in any order.
#[track_caller]
fn check_names(hosts: &[(&str, &str, &str)]) {
    for turn in 0..hosts.len() {
        let mut rows: Vec<HostRow> = hosts.iter().map(|(host, name, _)| named(host, name)).collect();
        rows.rotate_left(turn);
        let mut roster = Roster::beside(vec!["ssh".to_owned()]);
        roster.hosts(rows, true, at(10, 1_000_000));
        for (host, _, called) in hosts {
            assert_eq!(roster.address(called).map(|(host, _)| host).as_deref(), Some(*host), "{called}");
        }
    }
}

const A: &str = "1a2b3c4d-0000-4000-8000-000000000001";
const B: &str = "99887766-0000-4000-8000-000000000002";

#[test]
fn of_hosts_that_share_a_name_none_has_it_alone_whoever_comes_first() {
    check_names(&[(A, "web", "web"), (B, "db", "db")]);
    check_names(&[(A, "web", "web-1a2b3c4d"), (B, "web", "web-99887766")]);
    let alike = "1a2b3c4d-1111-4000-8000-000000000003";
    check_names(&[
        (A, "web", "web-1a2b3c4d-0000"),
        (alike, "web", "web-1a2b3c4d-1111"),
        (B, "web", "web-99887766"),
    ]);
    // A host with the name that another one was given here takes nothing from it.
    check_names(&[
        (A, "web", "web-1a2b3c4d-0000"),
        (B, "web", "web-99887766"),
        ("00000000-0000-4000-8000-000000000004", "web-1a2b3c4d", "web-1a2b3c4d-00000000"),
    ]);
    check_names(&[(A, "ssh", "ssh-1a2b3c4d")]);
    assert!(is_longer_name("web-1a2b3c4d", "web") && !is_longer_name("web2-1a2b3c4d", "web"));
}

#[test]
fn a_name_that_was_given_stays_and_is_never_anothers() {
    let mut roster = Roster::default();
    let called = |roster: &Roster, name: &str| roster.address(name).map(|(host, _)| host);
    roster.hosts(vec![named(A, "web")], true, at(10, 1_000_000));
    roster.hosts(vec![named(B, "web")], false, at(12, 1_002_000));
    for _ in 0..2 {
        assert_eq!(called(&roster, "web").as_deref(), Some(A));
        assert_eq!(called(&roster, "web-99887766").as_deref(), Some(B));
        // A host that is seen again keeps its name, whatever other hosts there are.
        roster.hosts(vec![named(B, "web")], true, at(14, 1_004_000));
        assert_eq!(called(&roster, "web"), None);
        roster.hosts(vec![], true, at(16, 1_006_000));
        roster.hosts(vec![named(B, "web"), named(A, "other")], true, at(18, 1_008_000));
    }
}

#[test]
fn a_fork_a_claim_and_a_database_that_is_behind_are_told_as_what_they_are() {
    let mut roster = Roster::default();
    roster.hosts(vec![row("h1", 3)], true, at(10, 1_000_000));
    beat(&mut roster, "h1", 3);
    roster.hosts(vec![HostRow { is_claimed: true, ..row("h1", 3) }], false, at(12, 1_002_000));
    assert_eq!(machines(&roster, 12).remove(0).1, MachineState::Silent);
    roster.hosts(vec![HostRow { state: "fork?".to_owned(), ..row("h1", 3) }], false, at(14, 1_004_000));
    assert_eq!(machines(&roster, 14).remove(0).1, MachineState::Silent);
    roster.hosts(vec![row("h1", 2)], false, at(16, 1_006_000));
    assert_eq!(roster.wanted(), [("h1".to_owned(), 0)]);
}
