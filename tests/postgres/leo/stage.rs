//! A claimtop of the test's own beside a database: the test determines the processes that it sees.

use std::collections::BTreeSet;
use std::path::PathBuf;

use claimtop::core::assess::{Policy, assess};
use claimtop::core::judge::window::agent::Signatures;
use claimtop::core::model::{Format, Location, RecordView, Report, Snapshot};
use claimtop::source::database::postgres::Target;
use claimtop::source::places::Places;
use claimtop::testing::act::{
    ActionError, Answer, CompletedAction, Look, Patience, Postgres, Preview, Receipt, Rules, StateFolder,
    System, follow_up,
};
use claimtop::testing::core::{Action, INITIAL_PID_NAMESPACE, Request, RestoreTo};
use claimtop::testing::observe::Collector;
use claimtop::testing::source::clock;
use jiff::{SignedDuration, Timestamp};

use crate::cluster::Database;

/// The host of the test's sessions, and of claimtop as it believes.
pub(crate) const HOST: &str = "desk";

/// Looks at the database, on a machine where no process lives.
pub(crate) struct Eyes {
    collector: Collector,
    policy: Policy,
    folder: tempfile::TempDir,
}

impl Eyes {
    pub(crate) fn new(target: Target) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let signatures = Signatures::built_in().unwrap();
        let places = Places {
            tmp: folder.path().join("tmp"),
            home: folder.path().join("home"),
            bindings: folder.path().join("home/notes"),
            copies: folder.path().join("home/copies"),
            roots: vec![folder.path().join("shop")],
            confined: true,
            follows_homes: false,
            here: None,
            programs: Vec::new(),
            leo_database: Some(target),
            ..Places::default()
        };
        let collector = Collector::new(places, signatures.clone());
        Self { collector, policy: Policy { signatures }, folder }
    }

    /// Writes a file of the home or of the repository `shop`.
    pub(crate) fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn report(&mut self) -> Report {
        let snapshot = self.look();
        assess(&snapshot, &self.policy)
    }
}

impl Look for Eyes {
    fn look(&mut self) -> Snapshot {
        let mut snapshot = self.collector.look();
        snapshot.processes.by_pid.clear();
        snapshot.processes.listed = BTreeSet::new();
        snapshot.processes.partial = None;
        snapshot.seen_agents.clear();
        snapshot.host.name = HOST.to_owned();
        // Whenever this machine has started, the test's sessions are of this boot.
        snapshot.host.boot_at = snapshot.taken_at.checked_sub(SignedDuration::from_hours(24)).ok();
        snapshot.host.pid_namespace = Some(INITIAL_PID_NAMESPACE);
        snapshot
    }

    fn policy(&self) -> &Policy {
        &self.policy
    }

    fn now(&self) -> Timestamp {
        clock::now()
    }
}

/// One claimtop.
pub(crate) struct Claimtop {
    pub(crate) state: StateFolder<System>,
    pub(crate) eyes: Eyes,
    rules: Rules,
    folder: tempfile::TempDir,
}

impl Claimtop {
    pub(crate) fn new(database: &Database) -> Self {
        Self::with(database.target(), database.target())
    }

    /// Looks through one target and acts through another.
    pub(crate) fn with(looks: Target, acts: Target) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut state = StateFolder::open(System, &folder.path().join("state")).unwrap();
        state.stores.insert(Format::Leo, Box::new(Postgres::new(acts).unwrap()));
        let uid = rustix::process::geteuid().as_raw();
        let rules = Rules {
            home: folder.path().join("home"),
            uid,
            programs: Vec::new(),
            settled_for: SignedDuration::ZERO,
        };
        Self { state, eyes: Eyes::new(looks), rules, folder }
    }

    /// Switches to another target for acting.
    pub(crate) fn act_by(&mut self, acts: Target) {
        self.state.stores.insert(Format::Leo, Box::new(Postgres::new(acts).unwrap()));
    }

    /// Previews the plan for a row, as a person would.
    pub(crate) fn see(&mut self, id: &str) -> Result<Preview, ActionError> {
        let now = self.eyes.now();
        let report = self.eyes.report();
        let key = row(&report, id).key.clone();
        let lock = self.state.lock(Patience::Wait, now)?;
        Preview::look(&lock, &report, Request::Act { key, action: Action::Release }, &self.rules, now)
    }

    /// Previews the plan for everything that a row's window has left.
    pub(crate) fn see_left(&mut self, id: &str) -> Result<Preview, ActionError> {
        let now = self.eyes.now();
        let report = self.eyes.report();
        let of = row(&report, id).key.clone();
        let lock = self.state.lock(Patience::Wait, now)?;
        Preview::look(&lock, &report, Request::Left { of }, &self.rules, now)
    }

    /// Carries out a preview, with the answer that it requires.
    pub(crate) fn carry_out(&mut self, seen: Preview) -> Result<Receipt, ActionError> {
        self.carry_out_all(seen).map(|carried| carried.receipt)
    }

    /// Carries out a preview, and its follow-ups.
    pub(crate) fn carry_out_all(&mut self, seen: Preview) -> Result<CompletedAction, ActionError> {
        let answer = seen.wanted().map_or(Answer::Yes, Answer::Typed);
        follow_up::carry_out(&self.state, seen, &answer, &mut self.eyes)
    }

    pub(crate) fn release(&mut self, id: &str) -> Result<Receipt, ActionError> {
        let seen = self.see(id)?;
        self.carry_out(seen)
    }

    pub(crate) fn undo(&mut self, entry: u64) -> Result<Receipt, ActionError> {
        self.undo_all(entry).map(|carried| carried.receipt)
    }

    /// Undoes an entry and its follow-ups.
    pub(crate) fn undo_all(&mut self, entry: u64) -> Result<CompletedAction, ActionError> {
        let seen = self.see_undo(entry)?;
        self.carry_out_all(seen)
    }

    /// Forgets the outcome of the first entry, as if it had been interrupted before that was journalled.
    pub(crate) fn forget_end(&self) {
        let journal = self.folder.path().join("state/journal.jsonl");
        let lines = std::fs::read_to_string(&journal).unwrap();
        std::fs::write(&journal, lines.lines().next().unwrap().to_owned() + "\n").unwrap();
    }

    /// Previews an undo.
    pub(crate) fn see_undo(&mut self, entry: u64) -> Result<Preview, ActionError> {
        let now = self.eyes.now();
        let report = self.eyes.report();
        let lock = self.state.lock(Patience::Wait, now)?;
        Preview::look(&lock, &report, Request::Undo { entry, to: RestoreTo::Origin }, &self.rules, now)
    }
}

/// Returns the record of a row.
#[track_caller]
pub(crate) fn row<'a>(report: &'a Report, id: &str) -> &'a RecordView {
    let is_it = |record: &&RecordView| match &record.location {
        Location::Row(row) => row.id.raw() == id,
        Location::File(_) => false,
    };
    report.records().find(is_it).unwrap_or_else(|| panic!("no row {id}"))
}

/// Fills a database with one dead session that holds one item.
pub(crate) fn dead_claim(database: &Database, session: &str, item: &str) {
    let kind = match item.starts_with("QF-") {
        true => format!("INSERT INTO quick_fixes (id, title) VALUES ('{item}', 'x') ON CONFLICT DO NOTHING"),
        false => format!(
            "INSERT INTO strategic_directives_v2 (sd_key, title, status) VALUES ('{item}', 'x', 'in_progress') \
             ON CONFLICT DO NOTHING"
        ),
    };
    database.sql(&format!(
        "{kind}; SELECT create_or_replace_session('{session}', null, '{session}', null, 4242, '{HOST}', 'EHG');
         SELECT claim_sd('{item}', '{session}', 'A');
         UPDATE claude_sessions SET heartbeat_at = now() - interval '1 hour', updated_at = now() - interval '1 hour',
           claimed_at = now() - interval '2 hours', created_at = now() - interval '2 hours'
           WHERE session_id = '{session}'"
    ));
}

/// Returns the contents of both surfaces of an item: mirror, owner and status.
pub(crate) fn surfaces(database: &Database, item: &str) -> String {
    let (table, key) =
        if item.starts_with("QF-") { ("quick_fixes", "id") } else { ("strategic_directives_v2", "sd_key") };
    database.sql(&format!(
        "SELECT coalesce((SELECT string_agg(session_id, ',') FROM claude_sessions WHERE sd_key = '{item}'), '-'), \
         coalesce(claiming_session_id, '-'), status FROM {table} WHERE {key} = '{item}'"
    ))
}
