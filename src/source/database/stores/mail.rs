//! mcp_agent_mail's database: one for all projects.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::core::model::{Record, Snapshot, SourceHealth};
use crate::format::agent_mail::{self, DATABASES};
use crate::format::{Base, Reading};
use crate::source::database::sqlite::copies::Copies;
use crate::source::database::sqlite::tables::{Query, Rows};
use crate::source::database::sqlite::{Database, ReadError, tables};
use crate::source::database::stores::kept::{Keeper, Store};
use crate::source::interface::{Hints, Scope, Source};

/// The most reservations that are read: the held ones, and the newest others.
const MOST: usize = 2_000;

/// A table with more columns about a reservation.
struct JoinTable {
    table: &'static str,
    /// Its column that is equal to `own_key` of the reservation.
    key: &'static str,
    own_key: &'static str,
    /// The names of its cells, and their columns.
    cells: &'static [(&'static str, &'static str)],
}

const JOINED: [JoinTable; 3] = [
    JoinTable { table: "agents", key: "id", own_key: "agent_id", cells: &[("agent", "name")] },
    JoinTable {
        table: "projects",
        key: "id",
        own_key: "project_id",
        cells: &[("slug", "slug"), ("human_key", "human_key")],
    },
    JoinTable {
        table: "file_reservation_releases",
        key: "reservation_id",
        own_key: "id",
        cells: &[("released_too", "released_ts")],
    },
];

/// Looks at the database again and again: one for each home.
pub(crate) struct Reader {
    keeper: Keeper,
    stores: Vec<Store>,
}

impl Reader {
    /// Creates a reader that keeps its database copies with `copies`.
    pub(crate) fn new(copies: &Copies) -> Self {
        Self { keeper: Keeper::new(copies), stores: Vec::new() }
    }
}

impl Source for Reader {
    /// Reads the databases in the usual places.
    fn look(&mut self, scope: &Scope, reading: &Reading<'_>) {
        let fence = &scope.fence;
        let below = |home: &Path| DATABASES.map(|below| fence.resolve(&home.join(below)));
        let homes = scope.homes.folders_of(Base::Home);
        let mut paths: Vec<PathBuf> = homes.flat_map(|home| below(&home.path)).collect();
        paths.retain(|path| fence.allows(path));
        paths.sort();
        paths.dedup();
        self.keeper.retain(&paths);
        let read = |path: PathBuf| {
            let kept = self.keeper.read(&path, reading.now, reservations)?;
            Some(Store::new(path, kept, |source, rows| agent_mail::rows(source, rows, reading)))
        };
        self.stores = paths.into_iter().filter_map(read).collect();
    }

    /// Returns the folders of all reservations: those of other projects may name repositories that are not known yet.
    fn folders(&self) -> Vec<PathBuf> {
        let records = self.stores.iter().flat_map(|store| &store.records);
        records.filter_map(|record| Some(record.cwd.as_deref()?.to_path_buf())).collect()
    }

    fn look_further(&mut self, scope: &Scope, reading: &Reading<'_>) -> bool {
        self.look(scope, reading);
        self.stores.iter().any(|store| !store.records.is_empty())
    }

    /// Adds the rows, and removes records of archive files that only copy them.
    fn add_to(&mut self, snapshot: &mut Snapshot, _scope: &Scope, _reading: &Reading<'_>) {
        let is_copied =
            |record: &Record| self.stores.iter().any(|store| agent_mail::is_copied(record, &store.kept.rows));
        snapshot.records.retain(|record| !is_copied(record));
        snapshot.records.extend(self.stores.iter().flat_map(|store| store.records.iter().cloned()));
    }

    fn health(&self, _now: Timestamp) -> Vec<SourceHealth> {
        self.stores.iter().map(|store| store.health("agent-mail")).collect()
    }

    fn hints(&self, _scope: &Scope, hints: &mut Hints) {
        self.stores.iter().for_each(|store| store.hints(hints));
    }
}

/// Reads reservations with the names of their agents and projects, which may be missing.
fn reservations(database: &Database) -> Result<Option<Rows>, ReadError> {
    let own = tables::columns(database, "file_reservations")?;
    if !["id", "path_pattern", "expires_ts"].iter().all(|name| own.contains(*name)) {
        return Ok(None);
    }
    let optional = ["agent_id", "exclusive", "reason", "created_ts", "released_ts"];
    let columns = ["id", "path_pattern", "expires_ts"].into_iter();
    let columns = columns.chain(optional.into_iter().filter(|name| own.contains(*name)));
    let mut cells: Vec<_> = columns.map(|name| (name, format!("r.{name}"))).collect();
    let mut from = "file_reservations r".to_owned();
    for joined in JOINED {
        let there = tables::columns(database, joined.table)?;
        if there.contains(joined.key) && own.contains(joined.own_key) {
            let JoinTable { table, key, own_key, cells: named } = joined;
            from += &format!(" LEFT JOIN {table} ON {table}.{key} = r.{own_key}");
            let named = named.iter().filter(|(_, column)| there.contains(*column));
            cells.extend(named.map(|(name, column)| (*name, format!("{table}.{column}"))));
        }
    }
    let is_held = if own.contains("released_ts") { "r.released_ts IS NULL DESC, " } else { "" };
    let from = format!("{from} ORDER BY {is_held}r.id DESC");
    let cells = cells.iter().map(|(name, cell)| (*name, cell.as_str())).collect();
    let mut rows = tables::rows(database, &Query { cells, from: &from, values: &[], most: MOST })?;
    // Missing reservations only matter if they were not released.
    rows.is_cut &= rows.rows.last().is_some_and(|row| row.text("released_ts").is_none());
    Ok(Some(rows))
}
