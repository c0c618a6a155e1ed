//! The connection is cut at every step of a release, or the server ends: the outcome is done, not done, or unknown
//! until it can be read back, and the journal records which.
//!
//! With `CLAIMTOP_CUTS` set, every write is cut in every way.

use claimtop::source::database::postgres::{ConnectionDefaults, Target};
use claimtop::testing::act::{ActionError, Patience};
use claimtop::testing::core::EndResult;
use claimtop::testing::source::clock;

use crate::cluster::{Cluster, Database};
use crate::leo::proxy::{Cut, Proxy, Way};
use crate::leo::stage::{Claimtop, dead_claim, surfaces};

const SESSION: &str = "11111111-2222-4333-8444-555555555555";
const ITEM: &str = "SD-ONE-001";

/// A claimtop that looks directly and acts through a proxy.
struct Stage {
    database: Database,
    proxy: Proxy,
    claimtop: Claimtop,
}

impl Stage {
    fn new() -> Self {
        Self::over(Database::new())
    }

    fn over(database: Database) -> Self {
        let proxy = Proxy::start(database.cluster.port);
        let acts = through(&database, &proxy);
        let claimtop = Claimtop::with(database.target(), acts);
        dead_claim(&database, SESSION, ITEM);
        Self { database, proxy, claimtop }
    }

    /// Releases with a cut to come, and checks that the report is true.
    fn round(&mut self, cut: Option<Cut>) -> &'static str {
        self.database.sql("DELETE FROM claude_sessions; DELETE FROM session_lifecycle_events");
        dead_claim(&self.database, SESSION, ITEM);
        self.proxy.prepare(None);
        let seen = self.claimtop.see(SESSION).unwrap();
        self.claimtop.act_by(through(&self.database, &self.proxy));
        self.proxy.prepare(cut);
        let end = self.claimtop.carry_out(seen);
        let told = match &end {
            Ok(receipt) => Ok(receipt.outcome.ended),
            Err(trouble) => Err(trouble.clone()),
        };
        match told {
            Ok(EndResult::Done) => self.check("done", true, cut),
            Ok(EndResult::Failed | EndResult::Changed) => self.check("not done", false, cut),
            Ok(EndResult::Unknown) => self.resolve(cut),
            Ok(EndResult::Stuck | EndResult::Partly) => panic!("{cut:?}: {end:?}"),
            Err(ActionError::Refused(_) | ActionError::Changed(_)) => self.check("not begun", false, cut),
            Err(trouble) => panic!("{cut:?}: {trouble}"),
        }
    }

    #[track_caller]
    fn check(&self, told: &'static str, is_released: bool, cut: Option<Cut>) -> &'static str {
        assert_eq!(surfaces(&self.database, ITEM), expected(is_released), "{cut:?}: {told}");
        told
    }

    /// Reads back once the wire is whole again, and checks that the journal is true.
    fn resolve(&mut self, cut: Option<Cut>) -> &'static str {
        self.proxy.prepare(None);
        let lock = self.claimtop.state.lock(Patience::Wait, clock::now()).unwrap();
        let outcome = lock.history.entries.last().unwrap().outcome.clone().unwrap();
        drop(lock);
        match outcome.ended {
            EndResult::Done => self.check("unknown, then done", true, cut),
            EndResult::Failed => self.check("unknown, then not done", false, cut),
            EndResult::Changed | EndResult::Stuck | EndResult::Unknown | EndResult::Partly => {
                panic!("{cut:?}: {outcome:?}")
            }
        }
    }
}

fn through(database: &Database, proxy: &Proxy) -> Target {
    let url = database.url_of("leo", proxy.port);
    let mut target = Target::parse(&url, ConnectionDefaults::default()).unwrap();
    target.name = database.target().name;
    target
}

fn expected(is_released: bool) -> String {
    match is_released {
        true => "-|-|in_progress".to_owned(),
        false => format!("{SESSION}|{SESSION}|in_progress"),
    }
}

#[test]
fn a_wire_that_is_cut_anywhere_leaves_nothing_half_done_and_nothing_untold() {
    let mut stage = Stage::new();
    assert_eq!(stage.round(None), "done");
    let steps = stage.proxy.steps();
    // Each write is cut short of its last byte, and right after it.
    let places = steps.iter().flat_map(|(way, after)| [(*way, after - 1), (*way, *after)]);
    let cuts = places.flat_map(|(way, after)| [false, true].map(|heals| Cut { way, after, heals }));
    // There are some two hundred of them; usually a third will do, another one of each step.
    let every = if std::env::var_os("CLAIMTOP_CUTS").is_some() { 1 } else { 3 };
    let mut seen = std::collections::BTreeMap::new();
    for cut in cuts.step_by(every) {
        *seen.entry(stage.round(Some(cut))).or_insert(0) += 1;
    }
    println!("{} writes: {seen:?}", steps.len());
    assert!(seen.contains_key("done") && seen.contains_key("not done"), "{seen:?}");
    // The commit has left, and its answer never comes: the outcome is unknown before it is read back. The moments in a
    // row are some bytes longer or shorter from round to round, so a cut may miss it.
    let is_unknown = (0..10).any(|_| {
        assert_eq!(stage.round(None), "done");
        let (_, after) = stage.proxy.commit().unwrap();
        stage.round(Some(Cut { way: Way::Up, after, heals: false })).starts_with("unknown")
    });
    assert!(is_unknown, "no cut came between the commit and its answer");
}

#[test]
fn a_server_that_becomes_read_only_changes_nothing() {
    let mut stage = Stage::new();
    let seen = stage.claimtop.see(SESSION).unwrap();
    stage.claimtop.act_by(through(&stage.database, &stage.proxy));
    let name = &stage.database.name;
    stage.database.sql(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on"));
    let receipt = stage.claimtop.carry_out(seen).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Failed);
    assert!(receipt.outcome.detail.contains("read-only transaction"), "{}", receipt.outcome.detail);
    assert_eq!(surfaces(&stage.database, ITEM), expected(false));
}

#[test]
fn a_server_that_crashes_at_the_commit_is_read_back_when_it_is_there_again() {
    let cluster: &'static Cluster = Box::leak(Box::new(Cluster::start()));
    cluster.psql("postgres", "CREATE DATABASE leo");
    cluster.psql("leo", include_str!("schema.sql"));
    let mut stage = Stage::over(Database { cluster, name: "leo".to_owned() });
    assert_eq!(stage.round(None), "done");
    let (begins, ends) = stage.proxy.commit().unwrap();
    for after in [begins, ends] {
        stage.database.sql("DELETE FROM claude_sessions; DELETE FROM session_lifecycle_events");
        dead_claim(&stage.database, SESSION, ITEM);
        stage.proxy.prepare(None);
        let seen = stage.claimtop.see(SESSION).unwrap();
        stage.claimtop.act_by(through(&stage.database, &stage.proxy));
        let cut = Cut { way: Way::Up, after, heals: false };
        stage.proxy.prepare(Some(cut));
        stage.proxy.at_cut(|| cluster.stop());
        let end = stage.claimtop.carry_out(seen);
        stage.proxy.wait_for_cut();
        cluster.restart();
        match end.unwrap().outcome.ended {
            EndResult::Done => stage.check("done", true, Some(cut)),
            EndResult::Failed => stage.check("not done", false, Some(cut)),
            EndResult::Unknown => stage.resolve(Some(cut)),
            ended @ (EndResult::Changed | EndResult::Stuck | EndResult::Partly) => {
                panic!("{cut:?}: {ended:?}")
            }
        };
    }
    cluster.end();
}

/// Releases on a server that refuses at some moment, and compares what is reported.
#[track_caller]
fn check_refusal(when: &str) {
    let mut stage = Stage::new();
    stage.database.sql(&format!(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$; {when}"
    ));
    let receipt = stage.claimtop.release(SESSION).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Failed, "{}", receipt.outcome.detail);
    assert!(receipt.outcome.detail.contains("No space left on device"), "{}", receipt.outcome.detail);
    assert_eq!(surfaces(&stage.database, ITEM), expected(false));
}

#[test]
fn a_full_disk_leaves_both_surfaces_as_they_were() {
    check_refusal(
        "CREATE TRIGGER filled BEFORE UPDATE ON claude_sessions FOR EACH ROW EXECUTE FUNCTION refuse()",
    );
    check_refusal(
        "CREATE TRIGGER filled BEFORE UPDATE ON strategic_directives_v2 FOR EACH ROW EXECUTE FUNCTION refuse()",
    );
    // Only the commit itself fails.
    check_refusal(
        "CREATE CONSTRAINT TRIGGER filled AFTER UPDATE ON claude_sessions DEFERRABLE INITIALLY DEFERRED \
         FOR EACH ROW EXECUTE FUNCTION refuse()",
    );
}
