//! The program itself, as a person calls it, on a real database.

use std::process::{Command, Output};

use crate::cluster::Database;
use crate::leo::stage::surfaces;

fn claimtop(folder: &std::path::Path, database: &Database, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_claimtop"));
    for name in ["home", "tmp"] {
        std::fs::create_dir_all(folder.join(name)).unwrap();
        command.arg(format!("--{name}")).arg(folder.join(name));
    }
    let url = database.url_of("leo:hush", database.cluster.port);
    command.arg("--postgres").arg(url).args(arguments).output().unwrap()
}

#[track_caller]
fn text(output: &Output) -> String {
    let all = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    let text = String::from_utf8_lossy(&all).into_owned();
    assert!(!text.contains("hush"), "a password was told:\n{text}");
    text
}

#[test]
fn an_item_that_names_nobody_there_is_seen_planned_and_released() {
    let database = Database::new();
    database.sql("INSERT INTO quick_fixes VALUES ('QF-20261120-001', 'x', 'in_progress', 'phantom')");
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| claimtop(folder.path(), &database, arguments);

    let claims = text(&run(&["ls", "claims"]));
    assert!(claims.contains("QF-20261120-001"), "{claims}");
    let problems = run(&["doctor"]);
    assert_eq!(problems.status.code(), Some(1));
    assert!(text(&problems).contains("stranded-item"));
    let config = text(&run(&["config"]));
    assert!(config.contains("postgres://leo@127.0.0.1"), "{config}");

    let listed = run(&["ls", "--json"]);
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    let key = listed.pointer("/claims/0/key").and_then(serde_json::Value::as_str).unwrap();
    let plan = run(&["release", key, "--dry-run", "--json"]);
    let plan: serde_json::Value = serde_json::from_slice(&plan.stdout).unwrap();
    let code = plan.pointer("/plans/0/code").and_then(serde_json::Value::as_str).unwrap();
    let wrong = run(&["release", key, "--confirm", "nonsense"]);
    assert_eq!(wrong.status.code(), Some(3), "{}", text(&wrong));
    assert_eq!(surfaces(&database, "QF-20261120-001"), "-|phantom|in_progress");
    let done = run(&["release", key, "--confirm", code]);
    assert!(text(&done).contains("read back: quick_fixes.claiming_session_id of QF-20261120-001 is empty"));
    assert_eq!(surfaces(&database, "QF-20261120-001"), "-|-|open");
    let undone = run(&["undo", "--yes"]);
    assert_eq!(undone.status.code(), Some(0), "{}", text(&undone));
    assert_eq!(surfaces(&database, "QF-20261120-001"), "-|phantom|in_progress");
}
