//! Rights: what each role may do, and that there is no way around them.

use serde_json::json;

use crate::fleet::login::Login;
use crate::fleet::stage::{Host, fleet, stone};

const TABLES: [&str; 7] = ["version", "member", "host", "part", "tombstone", "\"order\"", "declaration"];

/// Checks that SQL is refused for lack of a right, or touches no row.
#[track_caller]
fn refused(login: &Login, sql: &str) {
    let answer = login.sql(sql);
    let is_refused = answer.as_ref().is_err_and(|why| why.contains("(42501)"));
    assert!(is_refused, "{sql}: {answer:?}");
}

#[test]
fn a_witness_reads_and_writes_no_table() {
    let database = fleet();
    let alice = Login::of(&database, "alice");
    let host = Host::begun(&alice, Some("core"));
    for table in TABLES {
        refused(&alice, &format!("SELECT * FROM claimtop.{table}"));
        refused(&alice, &format!("DELETE FROM claimtop.{table}"));
        refused(&alice, &format!("TRUNCATE claimtop.{table}"));
        refused(&alice, &format!("INSERT INTO claimtop.{table} DEFAULT VALUES"));
        refused(&alice, &format!("COPY claimtop.{table} TO STDOUT"));
    }
    refused(&alice, &format!("UPDATE claimtop.host SET owner = 'alice' WHERE host = '{}'", host.id));
    for call in [
        "hosts(null)",
        "parts('{}','{}')",
        "look_closely(null)",
        "declare_lost(null,1,'')",
        "may_see('a','b')",
        "ask(null,1,'order','','{}',null)",
        "withdraw(null,1)",
        "prune('1 day')",
        "durably()",
        "refuse_update()",
    ] {
        refused(&alice, &format!("SELECT claimtop.{call}"));
    }
    refused(&alice, "CREATE TABLE claimtop.own (a int)");
    refused(&alice, "CREATE FUNCTION claimtop.clock() RETURNS timestamptz LANGUAGE sql AS 'select now()'");
    refused(&alice, "ALTER TABLE claimtop.host DISABLE ROW LEVEL SECURITY");
    refused(&alice, "DROP SCHEMA claimtop CASCADE");
}

#[test]
fn nobody_speaks_for_the_host_of_another_login_or_without_its_secret() {
    let database = fleet();
    let (alice, bob) = (Login::of(&database, "alice"), Login::of(&database, "bob"));
    let mut host = Host::begun(&alice, None);
    let mut without = host.clone();
    without.secret = "0".repeat(32);
    let before = database.sql("SELECT * FROM claimtop.host");
    let stones = json!([stone(&host.boot, 5)]);
    for (login, forged) in [(&bob, &mut host.clone()), (&alice, &mut without)] {
        assert_eq!(forged.enrol(login, None)["outcome"], "unknown");
        assert_eq!(forged.claim(login)["outcome"], "unknown");
        assert_eq!(
            forged.beat(login, Some(&json!([["window", "w", {}]])), Some(&stones))["outcome"],
            "unknown"
        );
        assert_eq!(forged.take(login, 1)["outcome"], "unknown");
        assert_eq!(forged.receipt(login, 1, "done")["outcome"], "gone");
        assert_eq!(forged.contest(login, 1)["outcome"], "unknown");
    }
    assert_eq!(database.sql("SELECT * FROM claimtop.host"), before);
    assert_eq!(database.sql("SELECT count(*) FROM claimtop.tombstone"), "0");
    // Nor does setting another role, or a search path of its own, help it.
    for sql in [
        "SET ROLE alice",
        "SET SESSION AUTHORIZATION alice",
        "SET ROLE claimtop_view",
        "RESET ROLE; SET ROLE leo",
    ] {
        refused(&bob, sql);
    }
    bob.sql("SET search_path = public; CREATE TEMPORARY TABLE host AS SELECT 1 AS host").unwrap();
    assert_eq!(host.clone().beat(&bob, None, None)["outcome"], "unknown");
    assert_eq!(host.beat(&alice, None, None)["outcome"], "ok");
}

#[test]
fn a_host_joins_only_the_teams_of_its_login_and_is_seen_by_nobody_else() {
    let database = fleet();
    let [alice, bob, vera] = ["alice", "bob", "vera"].map(|user| Login::of(&database, user));
    assert_eq!(Host::new().enrol(&bob, Some("core"))["outcome"], "no-team");
    let mut shared = Host::begun(&alice, Some("core"));
    let mut hidden = Host::begun(&bob, None);
    for (host, login) in [(&mut shared, &alice), (&mut hidden, &bob)] {
        let told =
            host.beat(login, Some(&json!([["window", "w", {}]])), Some(&json!([stone(&host.boot, 5)])));
        assert_eq!(told["outcome"], "ok");
    }
    let seen = |table: &str| vera.sql(&format!("SELECT DISTINCT host FROM claimtop.{table}")).unwrap();
    for table in ["host", "part", "tombstone", "hosts(null)"] {
        assert_eq!(seen(table), shared.id, "{table}");
    }
    let ids = format!("ARRAY['{}','{}']::uuid[], ARRAY[0,0]::bigint[]", shared.id, hidden.id);
    assert_eq!(seen(&format!("parts({ids})")), shared.id);
    assert_eq!(vera.sql("SELECT login FROM claimtop.member").unwrap(), "vera");
    refused(&vera, "SELECT secret FROM claimtop.host");
    refused(&vera, "SELECT * FROM claimtop.host");
    vera.sql(&format!(
        "SELECT claimtop.look_closely('{}'), claimtop.look_closely('{}')",
        shared.id, hidden.id
    ))
    .unwrap();
    assert_eq!(database.sql("SELECT host FROM claimtop.host WHERE hot_until IS NOT NULL"), shared.id);
}

#[test]
fn a_viewer_writes_nothing_and_an_operator_only_asks() {
    let database = fleet();
    let [alice, vera, oscar, nobody] =
        ["alice", "vera", "oscar", "nobody"].map(|user| Login::of(&database, user));
    let mut host = Host::begun(&alice, Some("core"));
    host.beat(&alice, None, Some(&json!([stone(&host.boot, 5)])));
    host.ask(&oscar);
    for login in [&vera, &oscar, &nobody] {
        for table in TABLES {
            refused(login, &format!("DELETE FROM claimtop.{table}"));
            refused(login, &format!("INSERT INTO claimtop.{table} DEFAULT VALUES"));
            refused(login, &format!("TRUNCATE claimtop.{table}"));
        }
        refused(login, "UPDATE claimtop.host SET state = 'ok'");
        refused(login, "UPDATE claimtop.\"order\" SET state = 'done'");
        refused(login, "UPDATE claimtop.tombstone SET pid = 1");
        refused(login, "SELECT claimtop.beat(null,'',1,1,1,null,false,null)");
        refused(login, "SELECT claimtop.enrol(null,'',null,null)");
        refused(login, "SELECT claimtop.take(null,'',1,1)");
    }
    refused(&vera, "SELECT claimtop.ask(null,1,'order','','{}',null)");
    refused(&vera, "SELECT claimtop.declare_lost(null,1,'')");
    refused(&nobody, "SELECT * FROM claimtop.hosts(null)");
    let hidden = Host::begun(&Login::of(&database, "bob"), None);
    assert_eq!(hidden.ask(&oscar)["outcome"], "unknown");
    let verb = oscar.try_call(
        "ask($1::uuid,$2::bigint,'delete-all','i','{}',null)",
        &[Some(&host.id), Some(&host.epoch.to_string())],
    );
    assert!(verb.is_err_and(|why| why.contains("(23514)")));
}

#[test]
fn a_tombstone_is_changed_by_nobody_not_even_by_its_own_witness() {
    let database = fleet();
    let alice = Login::of(&database, "alice");
    let mut host = Host::begun(&alice, None);
    host.beat(&alice, None, Some(&json!([stone(&host.boot, 5)])));
    let before = database.sql("SELECT payload FROM claimtop.tombstone");
    let mut other = stone(&host.boot, 5);
    other["reason"] = json!("something else");
    assert_eq!(host.beat(&alice, None, Some(&json!([other])))["outcome"], "ok");
    assert_eq!(database.sql("SELECT payload FROM claimtop.tombstone"), before);
    let owner = Login::of(&database, "leo");
    let changed = owner.sql("UPDATE claimtop.tombstone SET pid = 1");
    assert!(changed.is_err_and(|why| why.contains("only ever added")));
    // It goes with its boot, when the owner of the schema prunes.
    assert_eq!(owner.sql("SELECT claimtop.prune('0 seconds')").unwrap(), "0");
    database.sql("UPDATE claimtop.host SET boot = 'another'");
    assert_eq!(owner.sql("SELECT claimtop.prune('1 day')").unwrap(), "0");
    assert_eq!(owner.sql("SELECT claimtop.prune('0 seconds')").unwrap(), "1");
}
