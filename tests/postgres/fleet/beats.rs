//! Beats: each report is stored exactly once, and a second witness of one host is detected.

use serde_json::json;

use crate::fleet::login::Login;
use crate::fleet::stage::{Host, fleet, number, stone};

/// Returns the published parts of a host, as read by a viewer that knows nothing, or all up to a sequence.
fn parts(viewer: &Login, host: &Host, known: i64) -> String {
    viewer
        .sql(&format!(
            "SELECT is_whole, kind, id, payload FROM claimtop.parts(ARRAY['{}'::uuid], ARRAY[{known}::bigint])
             ORDER BY kind, id",
            host.id
        ))
        .unwrap()
}

#[test]
fn what_changes_is_told_and_what_has_gone_is_told_once() {
    let database = fleet();
    let (alice, vera) = (Login::of(&database, "alice"), Login::of(&database, "vera"));
    let mut host = Host::begun(&alice, Some("core"));
    host.beat(&alice, Some(&json!([["window", "w:1", {"a": 1}], ["record", "r:1", {"b": 1}]])), None);
    assert_eq!(parts(&vera, &host, 0), "t|record|r:1|{\"b\":1}\nt|window|w:1|{\"a\":1}");
    let known = host.sequence;
    host.beat(&alice, Some(&json!([["window", "w:1", null], ["record", "r:1", {"b": 2}]])), None);
    assert_eq!(parts(&vera, &host, known), "f|record|r:1|{\"b\":2}\nf|window|w:1|-");
    assert_eq!(parts(&vera, &host, 0), "t|record|r:1|{\"b\":2}");
    host.beat(&alice, None, None);
    assert_eq!(parts(&vera, &host, known + 1), "");
    host.beat(&alice, None, Some(&json!([stone(&host.boot, 5)])));
    assert!(parts(&vera, &host, known + 2).starts_with("f|tombstone|5 1005|"));
}

#[test]
fn a_whole_set_takes_the_place_of_all_that_was_told_before() {
    let database = fleet();
    let (alice, vera) = (Login::of(&database, "alice"), Login::of(&database, "vera"));
    let mut host = Host::begun(&alice, Some("core"));
    host.beat(&alice, Some(&json!([["window", "w:1", {}], ["window", "w:2", {}]])), None);
    let known = host.sequence;
    let whole = host_whole(&alice, &host, &json!([["window", "w:2", {}], ["window", "w:3", {}]]));
    assert_eq!(whole["outcome"], "ok");
    assert_eq!(parts(&vera, &host, 0), "t|window|w:2|{}\nt|window|w:3|{}");
    assert_eq!(parts(&vera, &host, known), "f|window|w:1|-\nf|window|w:2|{}\nf|window|w:3|{}");
}

fn host_whole(login: &Login, host: &Host, changes: &serde_json::Value) -> serde_json::Value {
    let [epoch, sequence, mark] = [host.epoch.to_string(), host.sequence.to_string(), number().to_string()];
    login.call(
        "beat($1::uuid,$2,$3::bigint,$4::bigint,$5::bigint,$6::json,true,null)",
        &[
            Some(&host.id),
            Some(&host.secret),
            Some(&epoch),
            Some(&sequence),
            Some(&mark),
            Some(&changes.to_string()),
        ],
    )
}

#[test]
fn whoever_missed_what_has_been_forgotten_since_is_told_all() {
    let database = fleet();
    let (alice, vera) = (Login::of(&database, "alice"), Login::of(&database, "vera"));
    let mut host = Host::begun(&alice, Some("core"));
    host.beat(&alice, Some(&json!([["window", "w:1", {}], ["window", "w:2", {}]])), None);
    let known = host.sequence;
    host.beat(&alice, Some(&json!([["window", "w:1", null]])), None);
    // As many beats as it takes until removed rows are forgotten.
    database.sql(&format!("UPDATE claimtop.host SET sequence = sequence + 1000 WHERE host = '{}'", host.id));
    host.sequence += 1000;
    host.beat(&alice, Some(&json!([["window", "w:2", {"n": 1}]])), None);
    assert_eq!(database.sql("SELECT count(*) FROM claimtop.part WHERE payload IS NULL"), "0");
    assert_eq!(parts(&vera, &host, known), "t|window|w:2|{\"n\":1}");
}

#[test]
fn a_beat_whose_answer_was_lost_is_answered_again_and_counts_once() {
    let database = fleet();
    let alice = Login::of(&database, "alice");
    let mut host = Host::begun(&alice, None);
    let (mark, before) = (number(), host.clone());
    let first = host.beat_marked(&alice, mark, Some(&json!([["window", "w:1", {}]])), None);
    let again = before.beat_marked(&alice, mark, Some(&json!([["window", "w:1", {}]])), None);
    assert_eq!((&again["outcome"], &again["sequence"]), (&first["outcome"], &first["sequence"]));
    host.sequence += 1;
    assert_eq!(host.beat(&alice, None, None)["outcome"], "ok");
    // A beat that arrives after others have been accepted does nothing.
    let late = before.beat_marked(&alice, mark, Some(&json!([["window", "w:1", null]])), None);
    assert_eq!(late["outcome"], "ahead");
    assert_eq!(database.sql("SELECT count(*) FROM claimtop.part WHERE payload IS NOT NULL"), "1");
    assert_eq!(database.sql("SELECT state FROM claimtop.host"), "ok");
}

#[test]
fn a_snapshot_that_was_resumed_twice_is_a_fork_and_takes_no_orders() {
    let database = fleet();
    let (alice, oscar) = (Login::of(&database, "alice"), Login::of(&database, "oscar"));
    let mut one = Host::begun(&alice, Some("core"));
    let mut other = one.clone();
    assert_eq!(one.beat(&alice, None, None)["outcome"], "ok");
    let mark = number();
    assert_eq!(other.beat_marked(&alice, mark, None, None)["outcome"], "ahead");
    let asked = one.ask(&oscar);
    assert_eq!(other.contest(&alice, mark)["outcome"], "fork?");
    for host in [&mut one, &mut other] {
        assert_eq!(host.beat(&alice, None, None)["outcome"], "fork?");
        assert_eq!(host.claim(&alice)["outcome"], "fork?");
        assert_eq!(host.take(&alice, asked["number"].as_i64().unwrap())["outcome"], "unknown");
    }
    assert_eq!(one.ask(&oscar)["outcome"], "fork?");
}

#[test]
fn a_contest_without_a_reason_changes_nothing() {
    let database = fleet();
    let alice = Login::of(&database, "alice");
    let mut host = Host::begun(&alice, None);
    let (mark, before) = (number(), host.clone());
    assert_eq!(host.contest(&alice, mark)["outcome"], "ok");
    host.beat_marked(&alice, mark, None, None);
    // Its own beat, whose answer it has not read yet.
    assert_eq!(before.contest(&alice, mark)["outcome"], "ok");
    host.sequence += 1;
    assert_eq!(host.beat(&alice, None, None)["outcome"], "ok");
}

#[test]
fn a_beat_does_not_wait_for_the_disk_and_a_tombstone_does() {
    let database = fleet();
    let alice = Login::of(&database, "alice");
    let mut host = Host::begun(&alice, None);
    let setting = |body: &str| {
        let sql = format!("BEGIN; {body}; SHOW synchronous_commit");
        let told = alice.sql(&sql).unwrap();
        alice.sql("COMMIT").unwrap();
        told.lines().last().unwrap_or_default().to_owned()
    };
    let beat = |host: &Host, stones: &str| {
        format!(
            "SELECT claimtop.beat('{}','{}',{},{},{},null,false,{stones})",
            host.id,
            host.secret,
            host.epoch,
            host.sequence,
            number()
        )
    };
    assert_eq!(setting(&beat(&host, "null")), "off");
    assert_eq!(alice.sql("SHOW synchronous_commit").unwrap(), "on", "it ends with its transaction");
    host.sequence += 1;
    assert_eq!(setting(&beat(&host, "'[]'")), "on");
    // Also if the login does not care.
    host.sequence += 1;
    alice.sql("SET synchronous_commit = off").unwrap();
    assert_eq!(setting(&beat(&host, "'[]'")), "on");
}

#[test]
fn updates_of_hosts_and_parts_are_hot() {
    let database = fleet();
    let alice = Login::of(&database, "alice");
    let mut host = Host::begun(&alice, None);
    for n in 0..200 {
        host.beat(&alice, Some(&json!([["window", "w:1", {"n": n}]])), None);
    }
    drop(alice);
    let counts = || {
        database.sql(
            "SELECT bool_and(n_tup_upd >= 199 AND n_tup_hot_upd >= 0.95 * n_tup_upd) FROM pg_stat_user_tables
             WHERE schemaname = 'claimtop' AND relname IN ('host', 'part')",
        )
    };
    // The server notices the end of a session with a delay.
    for _ in 0..600 {
        if counts() == "t" {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("{}", database.sql("SELECT relname, n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables"));
}

#[test]
fn text_of_every_kind_comes_back_as_it_was() {
    let database = fleet();
    let (alice, vera) = (Login::of(&database, "alice"), Login::of(&database, "vera"));
    let hostile = [
        "'; drop schema claimtop cascade; --",
        "$$ $1 \\ \\\\ \" \u{1b}[31m \u{202e} \u{feff} \r\n",
        "\u{10ffff}\u{7f}\t%s {} NULL",
        "\\u0000 but no NUL",
    ];
    for text in hostile {
        let mut host = Host::new();
        host.name = text.to_owned();
        host.boot = text.to_owned();
        assert_eq!(host.enrol(&alice, Some("core"))["outcome"], "ok");
        assert_eq!(host.claim(&alice)["outcome"], "ok");
        let told = host.beat(
            &alice,
            Some(&json!([["window", text, {"text": text}]])),
            Some(&json!([stone(text, 5)])),
        );
        assert_eq!(told["outcome"], "ok");
        let row = format!("WHERE host = '{}'", host.id);
        let read = vera
            .sql(&format!("SELECT to_json(id) || '|' || to_json(payload->>'text') FROM claimtop.part {row}"));
        let expected = serde_json::to_string(text).unwrap();
        assert_eq!(read.unwrap(), format!("{expected}|{expected}"));
        let name = vera.sql(&format!("SELECT to_json(name) FROM claimtop.host {row}"));
        assert_eq!(name.unwrap(), expected);
        let boot = vera.sql(&format!("SELECT to_json(boot) FROM claimtop.tombstone {row}"));
        assert_eq!(boot.unwrap(), expected);
    }
    // A text that is not JSON, or is longer than anything valid, changes nothing; and a wrong type affects only the
    // sender.
    let mut host = Host::begun(&alice, Some("core"));
    for changes in ["[[", "{}", "[[\"window\"]]", "[[\"window\",\"w\\u0000\",{}]]"] {
        let [epoch, sequence] = [host.epoch.to_string(), host.sequence.to_string()];
        let refused = alice.try_call(
            "beat($1::uuid,$2,$3::bigint,$4::bigint,1,$5::json,false,null)",
            &[Some(&host.id), Some(&host.secret), Some(&epoch), Some(&sequence), Some(changes)],
        );
        assert!(refused.is_err(), "{changes}: {refused:?}");
    }
    let long = json!([["window", "x".repeat(3000), {}]]);
    let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        host.clone().beat(&alice, Some(&long), None)
    }));
    assert!(refused.is_err());
    assert_eq!(host.beat(&alice, None, None)["outcome"], "ok");
}
