//! Declares hosts that do not come back as lost, as a person says.

use crate::source::database::postgres::session::Session;
use crate::source::database::postgres::{Target, run};

const HOSTS: &str = "SELECT host::text, name, epoch::text FROM claimtop.hosts(null)";

const DECLARE: &str = "claimtop.declare_lost($1::uuid,$2::bigint,$3)::json->>'outcome'";

/// A host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Host {
    pub(crate) id: String,
    pub(crate) name: String,
    epoch: String,
}

/// The result of a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossOutcome {
    Kept,
    /// It has beaten within 50 s.
    Seen,
    NotTyped,
    /// It is in another epoch now, or is no longer visible.
    Changed,
}

/// Returns every host that this login can see.
///
/// # Errors
/// The database does not answer, in words.
pub(crate) fn hosts(target: &Target) -> Result<Vec<Host>, String> {
    let rows = run(async { Session::new(target.clone()).query(HOSTS, &[]).await })?;
    let host = |row: &tokio_postgres::Row| {
        Some(Host { id: row.try_get(0).ok()?, name: row.try_get(1).ok()?, epoch: row.try_get(2).ok()? })
    };
    Ok(rows.iter().filter_map(host).collect())
}

/// Declares a host lost, by its name as a person has typed it.
///
/// # Errors
/// The database does not answer or refuses, in words.
pub(crate) fn declare(target: &Target, host: &Host, typed: &str) -> Result<LossOutcome, String> {
    let parameters = [Some(host.id.clone()), Some(host.epoch.clone()), Some(typed.to_owned())];
    let outcome = run(async { Session::new(target.clone()).text(DECLARE, &parameters).await })?;
    Ok(match outcome.as_deref() {
        Some("ok") => LossOutcome::Kept,
        Some("seen") => LossOutcome::Seen,
        Some("not-typed") => LossOutcome::NotTyped,
        Some(_) | None => LossOutcome::Changed,
    })
}
