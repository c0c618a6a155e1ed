//! Rows of LEO's database in a world, read through the real format.

use std::path::PathBuf;
use std::sync::Arc;

use claimtop::core::model::{Database, Format, Snapshot, Untrusted};
use claimtop::testing::format::database::{
    self, DIRECTIVES, EVENTS, FILE_LOCKS, MESSAGES, QUICK_FIXES, SESSIONS, Source, Tables,
};
use claimtop::testing::format::{Cells, Reading};
use serde::Deserialize;

use super::WorldFile;
use super::rows::{RowSpec, cells};

/// The read state of a world's LEO rows; whole and current unless specified otherwise.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PostgresSpec {
    /// The read was interrupted, or the connection is lost.
    incomplete: bool,
    /// How far this machine's clock is ahead of the server's.
    ahead: Option<String>,
    /// The tables that could not be read.
    unread: Vec<String>,
    /// The working trees that rows name and that do not exist.
    gone: Vec<PathBuf>,
}

/// Returns whether a row is of LEO's database.
pub(super) fn is_leos(row: &RowSpec) -> bool {
    [SESSIONS, DIRECTIVES, QUICK_FIXES, FILE_LOCKS, EVENTS, MESSAGES].contains(&row.table.as_str())
}

/// Adds the records of all rows, and their database.
pub(super) fn read(world: &WorldFile, snapshot: &mut Snapshot) {
    if !world.row.iter().any(is_leos) {
        return;
    }
    let spec = &world.postgres;
    let source = Source {
        database: Untrusted::from("postgres://leo@db.example:5432/leo"),
        ahead: spec.ahead.as_deref().unwrap_or("0 s").parse().expect("a span"),
        uid: snapshot.host.uid,
    };
    let reading = Reading { host: &snapshot.host, now: snapshot.taken_at };
    let mut rows = database::read(&source, &tables(world), &reading);
    database::tell_gone_trees(&mut rows.records, |tree| spec.gone.iter().any(|gone| gone == tree));
    snapshot.records.extend(rows.records);
    snapshot.databases.push(Database {
        format: Format::Leo,
        name: source.database,
        is_complete: !spec.incomplete,
        opened_by: None,
        file: None,
        work: rows.work,
    });
    if !spec.incomplete {
        database::join(&mut snapshot.records);
    }
}

fn tables(world: &WorldFile) -> Tables {
    let rows = |table: &str| -> Vec<Cells> {
        world.row.iter().filter(|row| row.table == table).map(|row| cells(world, row)).collect()
    };
    let of = |table: &str| rows(table).into_iter().map(Arc::new).collect();
    let unread = |table: &&&str| world.postgres.unread.iter().any(|unread| unread == **table);
    Tables {
        sessions: of(SESSIONS),
        directives: of(DIRECTIVES),
        quick_fixes: of(QUICK_FIXES),
        file_locks: of(FILE_LOCKS),
        events: rows(EVENTS),
        messages: rows(MESSAGES),
        unread: [SESSIONS, DIRECTIVES, QUICK_FIXES].iter().filter(unread).copied().collect(),
    }
}
