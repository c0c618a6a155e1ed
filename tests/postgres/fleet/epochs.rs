//! Epochs: restarts, reboots, clones, and databases that are behind.

use serde_json::json;

use crate::cluster::Database;
use crate::fleet::login::Login;
use crate::fleet::stage::{Host, fleet, number, stone};

/// Moves a host's past actions back in time, as if this many seconds had gone by.
fn age(database: &Database, host: &Host, seconds: u32) {
    let by = format!("interval '{seconds} seconds'");
    database.sql(&format!(
        "UPDATE claimtop.host SET beat_at = beat_at - {by}, claim_at = claim_at - {by},
         claim_seen_at = claim_seen_at - {by} WHERE host = '{}'",
        host.id
    ));
}

#[test]
fn a_witness_that_starts_again_claims_at_once_and_its_last_one_is_superseded() {
    let database = fleet();
    let alice = Login::of(&database, "alice");
    let mut last = Host::begun(&alice, None);
    let mut next = last.clone();
    next.epoch = 0;
    assert_eq!(next.claim(&alice)["outcome"], "moved");
    assert_eq!(next.claim(&alice)["outcome"], "ok");
    assert_eq!(next.epoch, last.epoch + 1);
    assert_eq!(next.beat(&alice, None, None)["outcome"], "ok");
    // A late message of the last one changes nothing, not even the host's owner.
    assert_eq!(last.beat(&alice, None, None)["outcome"], "superseded");
    assert_eq!(next.beat(&alice, None, None)["outcome"], "ok");
    // Only if it lives, which it shows by asking again, are there two.
    assert_eq!(last.contest(&alice, number())["outcome"], "fork?");
}

#[test]
fn a_claim_that_comes_twice_counts_once() {
    let database = fleet();
    let alice = Login::of(&database, "alice");
    let mut host = Host::begun(&alice, None);
    let mut late = host.clone();
    late.epoch = 0;
    assert_eq!(late.claim(&alice)["outcome"], "moved");
    assert_eq!(host.beat(&alice, None, None)["outcome"], "ok");
}

#[test]
fn a_reboot_is_followed_once_the_last_boot_was_silent_for_half_a_minute() {
    let database = fleet();
    let (alice, vera) = (Login::of(&database, "alice"), Login::of(&database, "vera"));
    let mut host = Host::begun(&alice, Some("core"));
    host.beat(&alice, Some(&json!([["window", "w:1", {}]])), Some(&json!([stone(&host.boot, 5)])));
    let before = host.boot.clone();
    host.boot = "another boot".to_owned();
    assert_eq!(host.claim(&alice)["outcome"], "wait");
    assert_eq!(vera.sql("SELECT is_claimed FROM claimtop.hosts(null)").unwrap(), "t");
    assert_eq!(host.claim(&alice)["outcome"], "wait");
    age(&database, &host, 31);
    let epoch = host.epoch;
    assert_eq!(host.claim(&alice)["outcome"], "ok");
    assert_eq!(host.epoch, epoch + 1);
    // It buries no process, and nothing that was buried comes back.
    assert_eq!(database.sql("SELECT boot FROM claimtop.tombstone"), before);
    assert_eq!(database.sql("SELECT count(*) FROM claimtop.part WHERE payload IS NOT NULL"), "1");
}

#[test]
fn a_clone_is_told_so_while_the_first_one_beats_and_nothing_of_it_changes() {
    let database = fleet();
    let (alice, oscar) = (Login::of(&database, "alice"), Login::of(&database, "oscar"));
    let mut first = Host::begun(&alice, Some("core"));
    let mut clone = first.clone();
    clone.boot = "of the clone".to_owned();
    assert_eq!(clone.claim(&alice)["outcome"], "wait");
    // Both are flagged until it is known which is which.
    assert_eq!(first.ask(&oscar)["outcome"], "fork?");
    assert_eq!(first.beat(&alice, None, None)["outcome"], "ok");
    assert_eq!(clone.claim(&alice)["outcome"], "clone");
    assert_eq!(first.ask(&oscar)["outcome"], "ok");
    assert_eq!(first.beat(&alice, None, None)["outcome"], "ok");
    let mut own = Host::new();
    own.boot.clone_from(&clone.boot);
    let enrolled = alice.call(
        "enrol($1::uuid,$2,$3,$4::uuid)",
        &[Some(&own.id), Some(&own.secret), Some("core"), Some(&clone.id)],
    );
    assert_eq!(enrolled["outcome"], "ok");
    assert_eq!(own.claim(&alice)["outcome"], "ok");
}

#[test]
fn the_first_one_that_was_away_when_a_clone_took_its_place_is_found_out() {
    let database = fleet();
    let alice = Login::of(&database, "alice");
    let mut first = Host::begun(&alice, None);
    let mut clone = first.clone();
    clone.boot = "of the clone".to_owned();
    assert_eq!(clone.claim(&alice)["outcome"], "wait");
    age(&database, &clone, 31);
    assert_eq!(clone.claim(&alice)["outcome"], "ok");
    assert_eq!(first.beat(&alice, None, None)["outcome"], "superseded");
    assert_eq!(first.contest(&alice, number())["outcome"], "fork?");
    assert_eq!(clone.beat(&alice, None, None)["outcome"], "fork?");
}

#[test]
fn two_clones_that_claim_at_once_wait_for_each_other_and_one_is_followed() {
    let database = fleet();
    let alice = Login::of(&database, "alice");
    let first = Host::begun(&alice, None);
    let (mut one, mut other) = (first.clone(), first.clone());
    one.boot = "one".to_owned();
    other.boot = "other".to_owned();
    assert_eq!(one.claim(&alice)["outcome"], "wait");
    assert_eq!(other.claim(&alice)["outcome"], "wait");
    age(&database, &one, 10);
    assert_eq!(one.claim(&alice)["outcome"], "wait");
    age(&database, &one, 10);
    assert_eq!(other.claim(&alice)["outcome"], "wait");
    assert_eq!(one.claim(&alice)["outcome"], "wait");
    age(&database, &one, 10);
    assert_eq!(one.claim(&alice)["outcome"], "ok");
    assert_eq!(one.beat(&alice, None, None)["outcome"], "ok");
    assert_eq!(other.claim(&alice)["outcome"], "moved");
    assert_eq!(other.claim(&alice)["outcome"], "wait");
    assert_eq!(one.beat(&alice, None, None)["outcome"], "ok");
    assert_eq!(other.claim(&alice)["outcome"], "clone");
}

#[test]
fn a_database_that_was_restored_is_behind_and_is_told_all_anew() {
    let database = fleet();
    let (alice, oscar) = (Login::of(&database, "alice"), Login::of(&database, "oscar"));
    let mut host = Host::begun(&alice, Some("core"));
    host.beat(&alice, Some(&json!([["window", "w:1", {}]])), None);
    // The backup.
    let tables = ["host", "part", "tombstone", "\"order\""];
    for table in tables {
        database.sql(&format!(
            "CREATE TABLE public.copy_of_{0} AS TABLE claimtop.{table}",
            table.replace('"', "")
        ));
    }
    host.beat(&alice, None, Some(&json!([stone(&host.boot, 5)])));
    let asked = host.ask(&oscar)["number"].as_i64().unwrap();
    assert_eq!(host.take(&alice, asked)["outcome"], "ok");
    database.sql("DELETE FROM claimtop.host");
    for table in tables {
        database.sql(&format!(
            "INSERT INTO claimtop.{table} SELECT * FROM public.copy_of_{}",
            table.replace('"', "")
        ));
    }
    assert_eq!(host.beat(&alice, None, None)["outcome"], "behind");
    let before = host.epoch;
    let facts = json!({"boot": host.boot, "name": host.name, "accepts": "typed"}).to_string();
    let epoch = host.epoch.to_string();
    let claimed = alice.call(
        "claim($1::uuid,$2,$3::bigint,$4::bigint,$5::bigint,$6::json)",
        &[
            Some(&host.id),
            Some(&host.secret),
            Some(&epoch),
            Some("7"),
            Some(&asked.to_string()),
            Some(&facts),
        ],
    );
    assert_eq!(claimed["outcome"], "ok");
    assert!(claimed["epoch"].as_i64().unwrap() > 7.max(before), "{claimed}");
    host.epoch = claimed["epoch"].as_i64().unwrap();
    host.sequence = claimed["sequence"].as_i64().unwrap();
    assert_eq!(host.beat(&alice, None, Some(&json!([stone(&host.boot, 5)])))["outcome"], "ok");
    assert_eq!(database.sql("SELECT count(*) FROM claimtop.tombstone"), "1");
    // No number is given twice, so an order from before the restore is not taken for a new one.
    assert!(host.ask(&oscar)["number"].as_i64().unwrap() > asked);
}

#[test]
fn a_person_declares_lost_what_is_not_seen_and_a_beat_ends_it() {
    let database = fleet();
    let (alice, oscar) = (Login::of(&database, "alice"), Login::of(&database, "oscar"));
    let mut host = Host::begun(&alice, Some("core"));
    let declare = |typed: &str| {
        let epoch = host.epoch.to_string();
        oscar.call("declare_lost($1::uuid,$2::bigint,$3)", &[Some(&host.id), Some(&epoch), Some(typed)])
    };
    assert_eq!(declare(&host.name)["outcome"], "seen");
    age(&database, &host, 60);
    assert_eq!(declare("something else")["outcome"], "not-typed");
    assert_eq!(declare(&host.name)["outcome"], "ok");
    let lost = || oscar.sql("SELECT lost_by FROM claimtop.hosts(null)").unwrap();
    assert_eq!(lost(), "oscar");
    assert_eq!(database.sql("SELECT count(*) FROM claimtop.tombstone"), "0");
    host.beat(&alice, None, None);
    assert_eq!(lost(), "-");
}
