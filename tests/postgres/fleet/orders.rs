//! Orders: addressed to a host and its epoch, valid for a minute, taken by one.

use std::sync::Barrier;

use serde_json::json;

use crate::fleet::login::Login;
use crate::fleet::stage::{Host, fleet};

#[test]
fn an_order_reaches_its_host_is_taken_and_its_receipt_is_read_back() {
    let database = fleet();
    let (alice, oscar) = (Login::of(&database, "alice"), Login::of(&database, "oscar"));
    let mut host = Host::begun(&alice, Some("core"));
    let number = host.ask(&oscar)["number"].as_i64().unwrap();
    let told = host.beat(&alice, None, None);
    let order = &told["orders"][0];
    assert_eq!(order["number"], number);
    assert_eq!(
        (&order["kind"], &order["asked_by"], &order["is"]),
        (&json!("order"), &json!("oscar"), &json!({"typed": "yes"}))
    );
    assert!(order["expires_in"].as_i64().is_some_and(|left| left > 0 && left <= 60_000), "{order}");
    assert_eq!(host.receipt(&alice, number, "done")["outcome"], "gone", "before it was taken");
    assert_eq!(host.take(&alice, number)["outcome"], "ok");
    assert_eq!(host.take(&alice, number)["outcome"], "gone");
    assert_eq!(host.beat(&alice, None, None).get("orders"), None);
    assert_eq!(host.receipt(&alice, number, "done")["outcome"], "ok");
    assert_eq!(host.receipt(&alice, number, "failed")["outcome"], "gone");
    let read = oscar.sql("SELECT state, result FROM claimtop.\"order\"").unwrap();
    assert_eq!(read, "done|{\"entry\":1}");
}

#[test]
fn of_many_that_take_an_order_at_once_one_gets_it() {
    let database = fleet();
    let (alice, oscar) = (Login::of(&database, "alice"), Login::of(&database, "oscar"));
    let host = Host::begun(&alice, Some("core"));
    for _ in 0..20 {
        let number = host.ask(&oscar)["number"].as_i64().unwrap();
        let barrier = Barrier::new(4);
        let taken: usize = std::thread::scope(|scope| {
            let takers: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        let login = Login::of(&database, "alice");
                        barrier.wait();
                        usize::from(host.take(&login, number)["outcome"] == "ok")
                    })
                })
                .collect();
            takers.into_iter().map(|taker| taker.join().unwrap()).sum()
        });
        assert_eq!(taken, 1);
    }
}

#[test]
fn an_order_that_has_expired_or_is_of_another_epoch_is_not_taken() {
    let database = fleet();
    let (alice, oscar) = (Login::of(&database, "alice"), Login::of(&database, "oscar"));
    let mut host = Host::begun(&alice, Some("core"));
    let number = host.ask(&oscar)["number"].as_i64().unwrap();
    database.sql("UPDATE claimtop.\"order\" SET expires_at = expires_at - interval '61 seconds'");
    assert_eq!(host.beat(&alice, None, None).get("orders"), None);
    assert_eq!(host.take(&alice, number)["outcome"], "gone");
    let number = host.ask(&oscar)["number"].as_i64().unwrap();
    let before = host.clone();
    assert_eq!(host.claim(&alice)["outcome"], "ok");
    assert_eq!(host.beat(&alice, None, None).get("orders"), None);
    assert_eq!(host.take(&alice, number)["outcome"], "gone");
    assert_eq!(before.take(&alice, number)["outcome"], "unknown");
    assert_eq!(before.ask(&oscar), json!({"outcome": "superseded", "epoch": host.epoch}));
}

#[test]
fn a_host_that_takes_none_is_not_asked_and_nobody_fills_its_queue() {
    let database = fleet();
    let (alice, oscar) = (Login::of(&database, "alice"), Login::of(&database, "oscar"));
    let host = Host::begun(&alice, Some("core"));
    for _ in 0..16 {
        assert_eq!(host.ask(&oscar)["outcome"], "ok");
    }
    assert_eq!(host.ask(&oscar)["outcome"], "busy");
    database.sql("UPDATE claimtop.host SET accepts = 'never'");
    assert_eq!(host.ask(&oscar)["outcome"], "never");
}

#[test]
fn an_order_that_is_sent_twice_is_one() {
    let database = fleet();
    let (alice, oscar) = (Login::of(&database, "alice"), Login::of(&database, "oscar"));
    let mut host = Host::begun(&alice, Some("core"));
    let first = host.ask_as(&oscar, "the same");
    assert_eq!(host.ask_as(&oscar, "the same"), first);
    let told = host.beat(&alice, None, None);
    assert_eq!(told["orders"].as_array().map(Vec::len), Some(1));
    assert_eq!(host.take(&alice, first["number"].as_i64().unwrap())["outcome"], "ok");
    assert_eq!(host.ask_as(&oscar, "the same"), first);
    assert_eq!(host.beat(&alice, None, None).get("orders"), None);
}
