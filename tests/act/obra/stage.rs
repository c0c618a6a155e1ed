//! A home with Obra's database, in which the run of one task was interrupted.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use claimtop::core::assess::{Policy, assess};
use claimtop::core::judge::window::agent::Signatures;
use claimtop::core::model::{Location, RecordView, Report};
use claimtop::observe::{Observer, Options};
use claimtop::source::places::Places;
use claimtop::testing::act::{
    ActionError, Answer, Disk, Lock, Look, Patience, Preview, Receipt, Rules, StateFolder, System,
};
use claimtop::testing::core::{Action, Confirmation, Request, RestoreTo, Step, plan_for};
use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;
use tempfile::TempDir;

/// The relevant columns of Obra's tables, as its own code makes them.
const SCHEMA: &str = "
    CREATE TABLE project_state (id INTEGER PRIMARY KEY, project_name VARCHAR(255), working_directory TEXT);
    CREATE TABLE task (id INTEGER PRIMARY KEY, project_id INTEGER, title TEXT, status VARCHAR(9),
        task_type VARCHAR(7), retry_count INTEGER, started_at DATETIME, completed_at DATETIME,
        created_at DATETIME, updated_at DATETIME, is_deleted BOOLEAN);
    CREATE TABLE session_record (id INTEGER PRIMARY KEY, session_id VARCHAR(64) UNIQUE, project_id INTEGER,
        milestone_id INTEGER, task_id INTEGER, started_at DATETIME, ended_at DATETIME, summary TEXT,
        status VARCHAR(20), total_tokens INTEGER, total_turns INTEGER, total_cost_usd FLOAT,
        created_at DATETIME, updated_at DATETIME);
    CREATE TABLE ballast (bytes BLOB);
    INSERT INTO project_state VALUES (1, 'shop', '/gone/shop');
    INSERT INTO task VALUES (2, 1, 'Add tests', 'RUNNING', 'task', 0, '2026-11-20 10:00:00.000000', NULL,
        '2026-11-20 09:00:00', '2026-11-20 10:00:00', 0);
    INSERT INTO session_record VALUES (5, '00000005-58d1-4670-8596-5f6c1be150db', 1, NULL, NULL,
        '2026-11-20 10:00:00.000000', NULL, NULL, 'active', 0, 0, 0.1, '2026-11-20 10:00:00', '2026-11-20 10:00:00');
    INSERT INTO session_record VALUES (6, '00000006-58d1-4670-8596-5f6c1be150db', 1, NULL, 2,
        '2026-11-20 10:00:00.500000', NULL, 'half way', 'active', 7, 2, 0.30000000000000004,
        '2026-11-20 10:00:00', '2026-11-20 10:00:00');";

/// The row that a test releases: the iteration of the interrupted run.
pub(crate) const ITERATION: &str = "6";

/// Any process of Obra prevents changes to every database, including those of other tests here.
static ALONE: Mutex<()> = Mutex::new(());

pub(crate) struct Stage {
    root: PathBuf,
    _alone: Option<MutexGuard<'static, ()>>,
    /// Removes everything at the end; `None` for a stage of another process.
    _folder: Option<TempDir>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let stage = Self { root, _alone: Some(alone), _folder: Some(folder) };
        std::fs::create_dir_all(stage.root.join("home")).unwrap();
        stage.connect().execute_batch(SCHEMA).unwrap();
        stage
    }

    /// Returns a stage that another process has made.
    pub(crate) fn at(root: &Path) -> Self {
        Self { root: root.to_path_buf(), _alone: None, _folder: None }
    }

    /// Makes a stage in a folder of the caller's, which is used only there.
    pub(crate) fn made_at(root: &Path) -> Self {
        let stage = Self::at(root);
        std::fs::create_dir_all(root.join("home")).unwrap();
        stage.connect().execute_batch(SCHEMA).unwrap();
        stage
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.root.join("home/orchestrator.db")
    }

    pub(crate) fn connect(&self) -> Connection {
        Connection::open(self.database()).unwrap()
    }

    /// Returns all rows of both tables, every value with its type.
    pub(crate) fn rows(&self) -> Vec<String> {
        rows(&self.connect())
    }

    pub(crate) fn parked(&self) -> Vec<PathBuf> {
        let folder = std::fs::read_dir(self.root.join("state/parked")).unwrap();
        folder.map(|entry| entry.unwrap().path()).collect()
    }

    pub(crate) fn eyes(&self) -> Observer {
        // If agents run on this machine, one of them could run the session.
        let signatures = Signatures::default();
        let home = self.root.join("home");
        let places = Places {
            tmp: self.root.join("tmp"),
            claude_config: home.join(".claude"),
            cache: home.join(".cache"),
            bindings: self.root.join("state/bindings"),
            copies: self.root.join("state/copies"),
            home,
            roots: Vec::new(),
            obra_databases: vec![self.database()],
            leo_database: None,
            confined: true,
            follows_homes: false,
            here: None,
            programs: Vec::new(),
        };
        Observer::new(Options { places, policy: Policy { signatures }, ..Options::default() })
    }

    pub(crate) fn state<D: Disk>(&self, disk: D) -> StateFolder<D> {
        self.try_state(disk).unwrap()
    }

    pub(crate) fn try_state<D: Disk>(&self, disk: D) -> Result<StateFolder<D>, ActionError> {
        StateFolder::open(disk, &self.root.join("state"))
    }

    /// Releases the interrupted run, with the answer that it requires.
    pub(crate) fn release<D: Disk>(&self, state: &StateFolder<D>) -> Result<Receipt, ActionError> {
        self.release_by(state, &mut self.eyes())
    }

    pub(crate) fn release_by<D: Disk>(
        &self,
        state: &StateFolder<D>,
        observer: &mut impl Look,
    ) -> Result<Receipt, ActionError> {
        let report = report(&mut self.eyes());
        let key = row(&report, ITERATION).key.clone();
        self.act(state, observer, Request::Act { key, action: Action::Release })
    }

    pub(crate) fn undo<D: Disk>(&self, state: &StateFolder<D>, entry: u64) -> Result<Receipt, ActionError> {
        self.undo_by(state, entry, &mut self.eyes())
    }

    pub(crate) fn undo_by<D: Disk>(
        &self,
        state: &StateFolder<D>,
        entry: u64,
        observer: &mut impl Look,
    ) -> Result<Receipt, ActionError> {
        self.act(state, observer, Request::Undo { entry, to: RestoreTo::Origin })
    }

    fn act<D: Disk>(
        &self,
        state: &StateFolder<D>,
        observer: &mut impl Look,
        request: Request,
    ) -> Result<Receipt, ActionError> {
        let now = observer.now();
        let mut lock = state.lock(Patience::Wait, now)?;
        let seen = self.see(&lock, request, now)?;
        let answer = match seen.plan.confirmation {
            Confirmation::Yes => Answer::Yes,
            Confirmation::Code => Answer::Typed(seen.code()),
            asked @ (Confirmation::FullName | Confirmation::Refused) => panic!("asks for {asked:?}"),
        };
        seen.confirm(&answer)?.verify(&mut lock, observer)?.execute(observer)
    }

    fn see<D: Disk>(
        &self,
        lock: &Lock<'_, D>,
        request: Request,
        now: Timestamp,
    ) -> Result<Preview, ActionError> {
        let report = report(&mut self.eyes());
        let uid = rustix::process::geteuid().as_raw();
        let rules = Rules {
            home: self.root.join("home"),
            uid,
            programs: Vec::new(),
            settled_for: SignedDuration::from_secs(-1),
        };
        Preview::look(lock, &report, request, &rules, now)
    }

    /// Returns the changes of an undo, row by row.
    pub(crate) fn undo_words<D: Disk>(&self, state: &StateFolder<D>, entry: u64) -> Vec<String> {
        let now = self.eyes().now();
        let lock = state.lock(Patience::Wait, now).unwrap();
        let seen = self.see(&lock, Request::Undo { entry, to: RestoreTo::Origin }, now).unwrap();
        let words = |step: &Step| match step {
            Step::Row { table, id, change, .. } => format!("{table} {id}: {change}"),
            Step::Park { .. }
            | Step::Move { .. }
            | Step::Restore { .. }
            | Step::BringBack { .. }
            | Step::Merge { .. }
            | Step::Settings { .. }
            | Step::EndEntireSession { .. }
            | Step::Stop { .. } => {
                panic!("{step:?}")
            }
        };
        seen.plan.steps.iter().map(words).collect()
    }

    /// Returns the journal after a recovery.
    pub(crate) fn recovered(&self) -> claimtop::testing::core::History {
        self.state(System).lock(Patience::Wait, self.eyes().now()).unwrap().history.clone()
    }
}

/// Returns all rows of both tables of a database.
pub(crate) fn rows(connection: &Connection) -> Vec<String> {
    ["session_record", "task"].iter().flat_map(|table| rows_of(connection, table)).collect()
}

fn rows_of(connection: &Connection, table: &str) -> Vec<String> {
    let mut statement = connection.prepare(&format!("SELECT * FROM {table} ORDER BY id")).unwrap();
    let columns = statement.column_count();
    let read = |row: &rusqlite::Row<'_>| {
        let cells: Vec<String> = (0..columns).map(|at| format!("{:?}", row.get_ref(at).unwrap())).collect();
        Ok(cells.join(" "))
    };
    statement.query_map([], read).unwrap().map(Result::unwrap).collect()
}

pub(crate) fn report(eyes: &mut Observer) -> Report {
    let snapshot = eyes.look();
    assess(&snapshot, eyes.policy())
}

/// Returns the record of a session's row.
pub(crate) fn row<'a>(report: &'a Report, id: &str) -> &'a RecordView {
    let is_it = |record: &&RecordView| match &record.location {
        Location::Row(row) => row.table == "session_record" && row.id.raw() == id,
        Location::File(_) => false,
    };
    report.records().find(is_it).unwrap_or_else(|| panic!("no session_record {id}"))
}

/// Returns how the release of the row would be confirmed, and why it is never allowed.
pub(crate) fn planned(report: &Report) -> (Confirmation, String) {
    let plan = plan_for(report, &row(report, ITERATION).key, Action::Release);
    (plan.confirmation, plan.what)
}
