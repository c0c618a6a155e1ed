//! The starting point of a later read: which rows matter, and how many.

use std::collections::BTreeMap;

use tokio_postgres::{Client, Error};

use super::filters::filter;
use super::schema::{Schema, rows};
use crate::format::leo::database::{DIRECTIVES, FILE_LOCKS, QUICK_FIXES, SESSIONS, key_column};
use crate::format::reading::cells::Cells;

/// The tables whose rows are kept.
pub(crate) const KEPT: [&str; 4] = [SESSIONS, DIRECTIVES, QUICK_FIXES, FILE_LOCKS];

/// The starting point of a later read.
#[derive(Clone, Debug)]
pub(crate) struct Basis {
    /// Every transaction with a lower number had ended.
    pub(crate) ended_below: u64,
    pub(crate) sums: BTreeMap<&'static str, Sum>,
}

/// How many rows of a table matter, and which: the sum of their keys' hashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) rows: i64,
    pub(crate) hashes: i64,
}

impl Basis {
    /// Queries the server within the transaction of a read; `None` if a table is not its own, or its marks may not be
    /// read.
    ///
    /// # Errors
    /// A query failed.
    pub(crate) async fn ask(client: &Client, schema: &Schema) -> Result<Option<Self>, Error> {
        let there: Vec<&'static str> =
            KEPT.into_iter().filter(|table| schema.has(table, key_column(table))).collect();
        if !there.iter().all(|table| schema.has(table, "xmin")) {
            return Ok(None);
        }
        let sums = there.iter().map(|table| {
            let (key, filter) = (key_column(table), filter(table, schema));
            format!(
                "SELECT '{table}', count(*)::text, coalesce(sum(hashtext({key}::text)), 0)::text \
                 FROM {table} WHERE {filter}"
            )
        });
        let below = "SELECT '', txid_snapshot_xmin(txid_current_snapshot())::text, '0'".to_owned();
        let sql = std::iter::once(below).chain(sums).collect::<Vec<_>>().join(" UNION ALL ");
        Ok(Self::of(&rows(client, &sql).await?))
    }

    fn of(rows: &[Vec<Option<String>>]) -> Option<Self> {
        let mut basis = Self { ended_below: 0, sums: BTreeMap::new() };
        for row in rows {
            let [Some(table), Some(number), Some(hashes)] = row.as_slice() else { return None };
            match KEPT.into_iter().find(|kept| kept == table) {
                Some(table) => {
                    let sum = Sum { rows: number.parse().ok()?, hashes: hashes.parse().ok()? };
                    basis.sums.insert(table, sum);
                }
                None => basis.ended_below = number.parse().ok()?,
            }
        }
        Some(basis)
    }
}

/// A row that was written since.
pub(crate) struct ChangedRow {
    pub(crate) cells: Cells,
    /// The hash of its key.
    pub(crate) hash: i64,
    pub(crate) matters: bool,
}
