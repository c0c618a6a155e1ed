//! mcp_agent_mail's database: one for all projects.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::core::model::record::Record;
use crate::core::model::record::ownership::Ownership;
use crate::core::model::text::Untrusted;
use crate::format::agent_mail::{self, DATABASES};
use crate::format::{Base, Reading, Source};
use crate::source::homes::Homes;
use crate::source::os::fence::Fence;
use crate::source::os::open::medium::medium_at;
use crate::source::sqlite::tables::{Query, Rows};
use crate::source::sqlite::{Database, ReadError, tables};
use crate::source::stores::found::Found;
use crate::source::stores::{Keeper, Kept};

/// The most reservations that are read: those that are held, and the newest others.
const MOST: usize = 2_000;

/// A table that says more of a reservation.
struct Joined {
    table: &'static str,
    /// Its column that is equal to `own_key` of the reservation.
    key: &'static str,
    own_key: &'static str,
    /// The names of its cells, and their columns.
    cells: &'static [(&'static str, &'static str)],
}

const JOINED: [Joined; 3] = [
    Joined { table: "agents", key: "id", own_key: "agent_id", cells: &[("agent", "name")] },
    Joined {
        table: "projects",
        key: "id",
        own_key: "project_id",
        cells: &[("slug", "slug"), ("human_key", "human_key")],
    },
    Joined {
        table: "file_reservation_releases",
        key: "reservation_id",
        own_key: "id",
        cells: &[("released_too", "released_ts")],
    },
];

/// A database that was read.
pub(crate) struct Seen {
    kept: Arc<Kept>,
}

impl Seen {
    /// Returns whether a file of the archive copies one of its rows.
    pub(crate) fn has(&self, record: &Record) -> bool {
        agent_mail::is_copied(record, &self.kept.rows)
    }
}

/// Reads the databases in the usual places.
pub(crate) fn read(
    keeper: &mut Keeper,
    homes: &Homes,
    fence: &Fence,
    reading: &Reading<'_>,
    found: &mut Found,
) {
    let below = |home: &Path| DATABASES.map(|below| fence.resolve(&home.join(below)));
    let mut paths: Vec<PathBuf> = homes.of(Base::Home).flat_map(|home| below(&home.path)).collect();
    paths.retain(|path| fence.allows(path));
    paths.sort();
    paths.dedup();
    keeper.retain(&paths);
    for path in paths {
        let Some(kept) = keeper.read(&path, reading.now, reservations) else { continue };
        let source = Source {
            database: Untrusted::from_path(&path),
            ownership: Ownership { medium: medium_at(&path), ..kept.files.database.ownership },
        };
        let records = agent_mail::rows(&source, &kept.rows, reading);
        found.note("agent-mail", &path, &kept, records.len());
        found.records.extend(records);
        found.mail.push(Seen { kept });
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
            let Joined { table, key, own_key, cells: named } = joined;
            from += &format!(" LEFT JOIN {table} ON {table}.{key} = r.{own_key}");
            let named = named.iter().filter(|(_, column)| there.contains(*column));
            cells.extend(named.map(|(name, column)| (*name, format!("{table}.{column}"))));
        }
    }
    let is_held = if own.contains("released_ts") { "r.released_ts IS NULL DESC, " } else { "" };
    let from = format!("{from} ORDER BY {is_held}r.id DESC");
    let cells = cells.iter().map(|(name, cell)| (*name, cell.as_str())).collect();
    let mut rows = tables::rows(database, &Query { cells, from: &from, values: &[], most: MOST })?;
    // What was released long ago is not missed.
    rows.is_cut &= rows.rows.last().is_some_and(|row| row.text("released_ts").is_none());
    Ok(Some(rows))
}
