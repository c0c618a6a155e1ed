//! Rows of `file_claim_locks`, which are deleted and restored whole: LEO's sweep deletes one 600 s after its last
//! heartbeat, and so does claimtop, if it can restore the very same row.

use std::collections::BTreeMap;

use super::session::{Session, quoted};
use crate::act::error::ActionError;
use crate::act::rows::postgres::row::{name, parameter};
use crate::core::model::snapshot::row::is_in;
use crate::core::model::text::json;
use crate::core::model::{Columns, RowChange};
use crate::format::leo::database::{FILE_LOCKS, REAPED_AFTER};

/// Deletes a row that is locked and as it was seen, or puts it back.
///
/// # Errors
/// It is not as it was seen, it could not be restored exactly, or another session has the file now.
pub(crate) fn carry_out(session: &Session, change: &RowChange) -> Result<(), ActionError> {
    if change.before.is_empty() {
        return put_back(session, change, &change.after);
    }
    session.run("SAVEPOINT before_trial")?;
    delete(session, change)?;
    put_back(session, change, &change.before)?;
    session.run("ROLLBACK TO SAVEPOINT before_trial")?;
    delete(session, change)
}

/// Deletes a row by the rule of LEO's sweep and the server's clock, only if it has no values beyond the known ones.
fn delete(session: &Session, change: &RowChange) -> Result<(), ActionError> {
    let sql = format!(
        "DELETE FROM {FILE_LOCKS} AS held WHERE file_path = $1 \
         AND heartbeat_at < now() - interval '{REAPED_AFTER} seconds' \
         AND to_jsonb(held) = to_jsonb(jsonb_populate_record(NULL::{FILE_LOCKS}, $2::jsonb)) RETURNING '1'"
    );
    let known = Some(object(&change.before)?);
    match session.query(&sql, &[Some(change.id.clone()), known])?.len() {
        1 => Ok(()),
        _ => Err(ActionError::Changed(format!(
            "{} was written since, its heartbeat is younger than {REAPED_AFTER} s, or not all of it can be read",
            name(change)
        ))),
    }
}

/// Restores a row with every value that it had, its heartbeat too: no change by claimtop is a sign of life.
fn put_back(session: &Session, change: &RowChange, row: &Columns) -> Result<(), ActionError> {
    let names = row.keys().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    let sql = format!(
        "INSERT INTO {FILE_LOCKS} ({names}) SELECT {names} \
         FROM jsonb_populate_record(NULL::{FILE_LOCKS}, $1::jsonb)"
    );
    session.query(&sql, &[Some(object(row)?)])?;
    let now = session.row(FILE_LOCKS, &change.id, "")?;
    match is_in(now.as_ref(), row) {
        true => Ok(()),
        false => Err(ActionError::Never(format!("the database does not accept {} as it was", name(change)))),
    }
}

/// Returns a row as a JSON object of texts.
fn object(row: &Columns) -> Result<String, ActionError> {
    let texts: BTreeMap<_, _> = row.iter().map(|(name, value)| (name, parameter(value))).collect();
    json::to_line(&texts).map_err(|error| ActionError::Never(error.to_string()))
}
