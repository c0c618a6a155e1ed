//! Rows of Obra's database in a world, read through the real format.

use std::collections::BTreeMap;

use claimtop::core::model::{
    Database, DatabaseFile, Format, Medium, NamedSessions, Ownership, Snapshot, Untrusted,
};
use claimtop::testing::format::obra::{self, Tables};
use claimtop::testing::format::{Cells, Reading, Source};
use serde::Deserialize;

use super::{WorldFile, absolute};

/// The place of a world's rows unless specified otherwise.
fn usual() -> String {
    "~/obra-runtime/data/orchestrator.db".to_owned()
}

/// One row.
#[derive(Debug, Deserialize)]
pub(super) struct RowSpec {
    #[serde(default = "usual")]
    pub(super) database: String,
    /// `session_record`, `task`, `project_state` or `interaction`; LEO's, beads' and mcp_agent_mail's have other
    /// names.
    pub(super) table: String,
    #[serde(flatten)]
    cells: BTreeMap<String, toml::Value>,
}

/// Further facts about a database; one that is not named is complete, and no process has it open.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DatabaseSpec {
    #[serde(default = "usual")]
    path: String,
    #[serde(default)]
    opened_by: Vec<u32>,
    /// Whether the processes that have it open can be determined.
    #[serde(default)]
    hidden: bool,
    #[serde(default)]
    incomplete: bool,
    #[serde(default)]
    runners: Vec<u32>,
    #[serde(default)]
    journal_since: Option<String>,
    #[serde(default)]
    written_by: Option<u32>,
    #[serde(default)]
    remote: bool,
    /// It has more sessions than were searched.
    #[serde(default)]
    has_older: bool,
    #[serde(default)]
    medium: Medium,
    /// The sessions that the log calls abandoned.
    #[serde(default)]
    abandoned: Vec<String>,
}

/// Adds the records of all rows, and their databases.
pub(super) fn read(world: &WorldFile, snapshot: &mut Snapshot) {
    let rows = world.row.iter().filter(|row| !super::leo::is_leos(row) && !super::stores::is_of_one(row));
    let named = world.database.iter().map(|spec| &spec.path).chain(rows.map(|row| &row.database));
    let paths: std::collections::BTreeSet<&String> = named.collect();
    for path in paths {
        let spec = world.database.iter().find(|spec| spec.path == *path);
        let name = Untrusted::from_path(&absolute(path));
        let medium = spec.map(|spec| spec.medium).unwrap_or_default();
        let ownership = Ownership { medium, ..Ownership::new(snapshot.host.uid, 0o644) };
        let source = Source { database: name.clone(), ownership };
        let reading = Reading { host: &snapshot.host, now: snapshot.taken_at };
        let mut tables = tables(world, path);
        tables.is_remote = spec.is_some_and(|spec| spec.remote);
        tables.abandoned = spec.map(|spec| spec.abandoned.clone()).unwrap_or_default();
        snapshot.records.extend(obra::read(&source, &tables, &reading));
        let named = obra::named(&tables, &snapshot.processes);
        snapshot.databases.push(database(world, spec, name, named));
    }
}

fn database(
    world: &WorldFile,
    spec: Option<&DatabaseSpec>,
    name: Untrusted,
    named: NamedSessions,
) -> Database {
    Database {
        format: Format::Obra,
        name,
        is_complete: !spec.is_some_and(|spec| spec.incomplete),
        opened_by: match spec {
            Some(spec) if spec.hidden => None,
            Some(spec) => Some(spec.opened_by.clone()),
            None => Some(Vec::new()),
        },
        work: <_>::default(),
        file: Some(DatabaseFile {
            runners: spec.map(|spec| spec.runners.clone()).unwrap_or_default(),
            journal_since: spec.and_then(|spec| Some(world.at(spec.journal_since.as_ref()?))),
            written_by: spec.and_then(|spec| spec.written_by),
            named,
        }),
    }
}

fn tables(world: &WorldFile, path: &str) -> Tables {
    let of = |table: &str| {
        let rows = world.row.iter().filter(|row| row.table == table && row.database == path);
        rows.map(|row| cells(world, row)).collect()
    };
    let older = world.database.iter().any(|spec| spec.path == path && spec.has_older);
    Tables {
        sessions: of("session_record"),
        newest: of("session_record"),
        has_older: older,
        tasks: of("task"),
        projects: of("project_state"),
        interactions: of("interaction"),
        abandoned: Vec::new(),
        is_remote: false,
    }
}

pub(super) fn cells(world: &WorldFile, row: &RowSpec) -> Cells {
    let text = |value: &toml::Value| match value.as_str() {
        Some(text) => world.filled(text),
        None => value.to_string(),
    };
    Cells(row.cells.iter().map(|(name, value)| (name.clone(), text(value))).collect())
}
