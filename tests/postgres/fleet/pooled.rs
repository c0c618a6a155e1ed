//! A pooler in transaction mode in between, where two connections serve all clients.

use serde_json::json;

use crate::bouncer::Pooler;
use crate::fleet::login::Login;
use crate::fleet::stage::{Host, fleet, stone};

#[test]
fn witnesses_and_viewers_work_through_a_pooler_and_leave_no_setting_behind() {
    let database = fleet();
    let pooler = Pooler::start(database.cluster, &["alice", "vera", "oscar"]);
    let login = |user: &str| Login::at(&database.url_of(user, pooler.port));
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let alice = login("alice");
                let mut host = Host::begun(&alice, Some("core"));
                for n in 0..30 {
                    let stones = json!([stone(&host.boot, n)]);
                    let changes = json!([["window", "w", {"n": n}]]);
                    let stones = (n % 3 == 0).then_some(&stones);
                    assert_eq!(host.beat(&alice, Some(&changes), stones)["outcome"], "ok");
                }
            });
        }
    });
    let (alice, vera, oscar) = (login("alice"), login("vera"), login("oscar"));
    let told = vera.sql("SELECT count(*) FROM claimtop.hosts(null)").unwrap();
    assert_eq!(told, "6");
    assert_eq!(database.sql("SELECT count(*) FROM claimtop.tombstone"), "60");
    let mut host = Host::begun(&alice, Some("core"));
    let number = host.ask(&oscar)["number"].as_i64().unwrap();
    assert_eq!(host.beat(&alice, None, None)["orders"][0]["number"], number);
    assert_eq!(host.take(&alice, number)["outcome"], "ok");
    assert_eq!(alice.sql("SHOW synchronous_commit").unwrap(), "on");
    assert_eq!(alice.sql("SELECT count(*) FROM pg_prepared_statements").unwrap(), "0");
}
