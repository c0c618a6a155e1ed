//! Reads only the rows that were written since the last read, and proves that nothing else differs.
//!
//! `updated_at` does not show which rows these are: LEO's writers need not set it, and it is the start of a
//! transaction that may commit much later. The server's own marks show it: each version of a row has the number of the
//! transaction that wrote it (`xmin`), and a read knows below which number every transaction had ended. A row written
//! since has that number or a later one. A row that was deleted, or that matters because of another row, has none; so
//! the rows that matter are counted and their keys summed up on the server, and if those differ from what came out
//! here, everything is read again. A mark of two thousand million transactions ago counts as new again, which only
//! costs a read.

use std::collections::HashMap;
use std::sync::Arc;

use tokio_postgres::{Client, Error};

use super::basis::{Basis, ChangedRow, KEPT, Sum};
use super::read::{self, DatabaseReading, Reader};
use super::schema::Schema;
use crate::format::leo::database::{Tables, key_column};
use crate::format::reading::cells::Cells;
use crate::source::os::clock;

/// The most changed rows of one table; with more, everything is read again.
const MOST: usize = 5_000;

/// Reads the rows written since an earlier read of this connection; `None` if everything must be read again.
///
/// # Errors
/// The connection is lost. A query that the server refuses only means to read everything.
pub(crate) async fn read(
    client: &Client,
    schema: &Schema,
    before: &DatabaseReading,
) -> Result<Option<DatabaseReading>, Error> {
    match try_read(client, schema, before).await {
        Err(error) if error.as_db_error().is_some() => {
            tracing::debug!(%error, "changes cannot be read");
            client.batch_execute("ROLLBACK").await.map(|()| None)
        }
        read => read,
    }
}

async fn try_read(
    client: &Client,
    schema: &Schema,
    before: &DatabaseReading,
) -> Result<Option<DatabaseReading>, Error> {
    let Some(known) = &before.basis else { return Ok(None) };
    let began = clock::steady();
    read::begin(client).await?;
    let Some(now) = Basis::ask(client, schema).await? else {
        return client.batch_execute("ROLLBACK").await.map(|()| None);
    };
    let reader = Reader::new(client, schema);
    let mut tables = Tables {
        events: reader.events().await?,
        messages: reader.messages().await?,
        unread: before.tables.unread.clone(),
        ..Tables::default()
    };
    let kept = [
        (&before.tables.sessions, &mut tables.sessions),
        (&before.tables.directives, &mut tables.directives),
        (&before.tables.quick_fixes, &mut tables.quick_fixes),
        (&before.tables.file_locks, &mut tables.file_locks),
    ];
    for (table, (old, new)) in KEPT.into_iter().zip(kept) {
        let (Some(was), Some(is)) = (known.sums.get(table), now.sums.get(table)) else { continue };
        let changed = reader.changed(table, known.ended_below, MOST).await?;
        match merged(table, old, *was, changed) {
            Some((merged, sum)) if sum == *is => *new = merged,
            Some(_) | None => return client.batch_execute("ROLLBACK").await.map(|()| None),
        }
    }
    reader.finish(tables, Some(now), began).await.map(Some)
}

/// Replaces old versions of rows by changed ones; `None` if there are too many rows.
fn merged(
    table: &'static str,
    old: &[Arc<Cells>],
    mut sum: Sum,
    changed: Vec<ChangedRow>,
) -> Option<(Vec<Arc<Cells>>, Sum)> {
    if changed.len() > MOST {
        return None;
    }
    let key = key_column(table);
    let mut new = old.to_vec();
    let mut at: HashMap<String, usize> = HashMap::new();
    if !changed.is_empty() {
        at.extend(new.iter().enumerate().filter_map(|(at, row)| Some((row.text(key)?.to_owned(), at))));
    }
    let mut gone = Vec::new();
    for ChangedRow { cells, hash, matters } in changed {
        let known = at.get(cells.text(key)?).copied();
        let number = i64::from(matters) - i64::from(known.is_some());
        sum = Sum { rows: sum.rows + number, hashes: sum.hashes + number * hash };
        match (known.and_then(|at| Some((at, new.get_mut(at)?))), matters) {
            (Some((_, row)), true) => *row = Arc::new(cells),
            (Some((at, _)), false) => gone.push(at),
            (None, true) => new.push(Arc::new(cells)),
            (None, false) => {}
        }
    }
    gone.sort_unstable();
    for at in gone.into_iter().rev() {
        new.remove(at);
    }
    Some((new, sum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::leo::database::SESSIONS;

    fn row(key: &str, status: &str) -> Cells {
        let cells = [("session_id", key), ("status", status)];
        Cells(cells.into_iter().map(|(name, cell)| (name.to_owned(), cell.to_owned())).collect())
    }

    fn changed(key: &str, status: &str, hash: i64, matters: bool) -> ChangedRow {
        ChangedRow { cells: row(key, status), hash, matters }
    }

    #[track_caller]
    fn check(changes: Vec<ChangedRow>, expected: &[&str], sum: (i64, i64)) {
        let old = ["a", "b", "c"].map(|key| Arc::new(row(key, "old")));
        let (new, found) = merged(SESSIONS, &old, Sum { rows: 3, hashes: 6 }, changes).unwrap();
        let cell = |row: &Arc<Cells>, name| row.text(name).unwrap_or_default().to_owned();
        let told: Vec<String> =
            new.iter().map(|row| format!("{} {}", cell(row, "session_id"), cell(row, "status"))).collect();
        assert_eq!(told, expected);
        assert_eq!(found, Sum { rows: sum.0, hashes: sum.1 });
    }

    #[test]
    fn changed_rows_take_their_places_come_and_go() {
        check(Vec::new(), &["a old", "b old", "c old"], (3, 6));
        check(vec![changed("b", "new", 2, true)], &["a old", "b new", "c old"], (3, 6));
        check(vec![changed("d", "new", 4, true)], &["a old", "b old", "c old", "d new"], (4, 10));
        check(vec![changed("d", "new", 4, false)], &["a old", "b old", "c old"], (3, 6));
        let all = vec![
            changed("c", "gone", 3, false),
            changed("a", "gone", 1, false),
            changed("b", "new", 2, true),
        ];
        check(all, &["b new"], (1, 2));
    }

    #[test]
    fn too_many_changes_are_a_whole_read() {
        let many = (0..=MOST).map(|at| changed(&at.to_string(), "new", 1, true)).collect();
        assert!(merged(SESSIONS, &[], Sum::default(), many).is_none());
    }
}
