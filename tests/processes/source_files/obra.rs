//! Agents started by a process of Obra, and the rows of its real database.

use std::io::Write;
use std::process::{Child, Command, Stdio};

use claimtop::core::assess::{Policy, assess};
use claimtop::core::judge::window::agent::Signatures;
use claimtop::core::model::{Code, Report, Snapshot};
use jiff::SignedDuration;
use rusqlite::Connection;

use super::World;

/// The relevant columns of Obra's tables, as its own code makes them.
const SCHEMA: &str = "
    CREATE TABLE project_state (id INTEGER PRIMARY KEY, project_name VARCHAR(255), working_directory TEXT);
    CREATE TABLE task (id INTEGER PRIMARY KEY, project_id INTEGER, title TEXT, status VARCHAR(9), is_deleted BOOLEAN);
    CREATE TABLE session_record (id INTEGER PRIMARY KEY, session_id VARCHAR(64) UNIQUE, project_id INTEGER,
        milestone_id INTEGER, task_id INTEGER, started_at DATETIME, ended_at DATETIME, summary TEXT,
        status VARCHAR(20), created_at DATETIME, updated_at DATETIME);
    INSERT INTO project_state VALUES (1, 'shop', '/gone/shop');
    INSERT INTO task VALUES (2, 1, 'Add tests', 'PENDING', 0);";

const SESSION: &str = "00000006-58d1-4670-8596-5f6c1be150db";

/// A process that looks like Obra and has its database open, with one below it that looks like Claude Code. Both end with
/// their standard input.
struct Run {
    world: World,
    orchestrator: Child,
}

impl Run {
    fn new() -> Self {
        let world = World::new();
        let home = world.path("home");
        let agent = world.folder("bin/@anthropic-ai/claude-code").join("claude");
        let obra = world.path("bin/obra");
        for program in [&agent, &obra] {
            crate::program::copy("/bin/sh", program);
        }
        let database = home.join("orchestrator.db");
        Connection::open(&database).unwrap().execute_batch(SCHEMA).unwrap();
        let mut command = Command::new(&obra);
        // The agent reports that it runs: before that its arguments are its parent's.
        let script = r#"exec 9<"$1"; exec 8<&0; "$2" -c 'echo; read line' --session-id "$3" <&8 & wait"#;
        command.args(["-c", script, "obra"]).arg(&database).arg(&agent).arg(SESSION);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .current_dir(&home)
            .env_clear()
            .env("HOME", &home);
        let mut orchestrator = crate::program::spawn(&mut command);
        let mut said = [0];
        std::io::Read::read_exact(orchestrator.stdout.as_mut().unwrap(), &mut said).unwrap();
        Self { world, orchestrator }
    }

    fn sql(&self, statement: &str) {
        let connection = Connection::open(self.world.path("home/orchestrator.db")).unwrap();
        connection.execute_batch(statement).unwrap();
    }

    /// Looks, and judges the result as if it were two minutes old: processes that have just begun are not reported.
    fn report(&self) -> Report {
        let look = self.world.collector().look();
        let taken_at = look.taken_at + SignedDuration::from_mins(2);
        assess(&Snapshot { taken_at, ..look }, &Policy { signatures: Signatures::built_in().unwrap() })
    }

    /// Returns the finding about the agent.
    fn found(&self) -> Option<(Code, String)> {
        let report = self.report();
        let of_agent = [Code::UnknownSession, Code::DeadIdentityServed];
        let found = report.findings.iter().find(|finding| of_agent.contains(&finding.code))?;
        assert!(found.message.to_string().contains(SESSION), "{}", found.message);
        Some((found.code, found.message.to_string()))
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let ended = self.orchestrator.stdin.take().map(|mut input| input.write_all(b"\n"));
        drop(ended);
        self.orchestrator.wait().unwrap();
    }
}

#[test]
fn an_agent_under_an_id_without_a_row_or_in_an_ended_session_is_found_by_tree_and_arguments() {
    let run = Run::new();
    let (code, told) = run.found().expect("no row has its ID");
    assert_eq!(code, Code::UnknownSession);
    let by = format!("which Obra (PID {}) started", run.orchestrator.id());
    assert!(told.contains(&by) && told.contains("has no row"), "{told}");

    run.sql(&format!(
        "INSERT INTO session_record VALUES (6, '{SESSION}', 1, NULL, 2, datetime('now'), NULL, NULL, 'active', \
         datetime('now'), datetime('now'))"
    ));
    assert_eq!(run.found(), None);

    run.sql("UPDATE session_record SET status = 'completed', ended_at = datetime('now'), updated_at = datetime('now')");
    let (code, told) = run.found().expect("its session is over");
    assert_eq!(code, Code::DeadIdentityServed);
    assert!(told.contains("is completed"), "{told}");
}

#[test]
fn what_a_transaction_that_is_open_may_hold_is_not_missed() {
    let run = Run::new();
    let writer = Connection::open(run.world.path("home/orchestrator.db")).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE; UPDATE task SET title = 'x'").unwrap();
    assert!(run.world.path("home/orchestrator.db-journal").exists());
    assert_eq!(run.found(), None);
    writer.execute_batch("COMMIT").unwrap();
    assert!(run.found().is_some());
}
