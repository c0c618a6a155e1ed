//! Changes rows of LEO's PostgreSQL database: by LEO's own functions, under the locks that they also take, and only if
//! every row is as it was seen.

mod change;
mod file_lock;
pub(crate) mod row;
mod session;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::Runtime;

use self::session::Session;
use crate::act::error::ActionError;
use crate::act::rows::postgres::row::{is_after, is_before, name};
use crate::act::rows::store::{Rows, RowsState};
use crate::core::model::snapshot::row::is_in;
use crate::core::model::text::shown;
use crate::core::model::{Columns, RowChange};
use crate::format::leo::database::{FILE_LOCKS, SESSIONS, text};
use crate::source::database::postgres::Target;

/// LEO's database.
pub struct Postgres {
    target: Target,
    /// Drives one connection at a time.
    runtime: Arc<Runtime>,
    /// A connection that the last operation has left in order.
    kept: Mutex<Option<Session>>,
}

impl Postgres {
    /// Prepares to change a database; connects to nothing yet.
    ///
    /// # Errors
    /// The system has no room for a runtime.
    pub fn new(target: Target) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { target, runtime: Arc::new(runtime), kept: Mutex::default() })
    }

    /// Runs an operation in a transaction, which is rolled back unless it was committed. A kept connection that has
    /// ended meanwhile fails before anything is begun, and is replaced.
    fn within<T>(
        &self,
        database: &str,
        act: impl FnOnce(&Session) -> Result<T, ActionError>,
    ) -> Result<T, ActionError> {
        if self.target.name.raw() != database {
            let why = format!("{} is not the database that is set up", shown(database));
            return Err(ActionError::Refused(why));
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).take();
        let session = match kept.filter(|session| session.begin().is_ok()) {
            Some(session) => session,
            None => {
                let session = Session::open(&self.runtime, &self.target)?;
                session.begin()?;
                session
            }
        };
        let done = act(&session)?;
        if session.run("ROLLBACK").is_ok() {
            *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(session);
        }
        Ok(done)
    }
}

impl Rows for Postgres {
    fn row(&self, database: &str, table: &str, id: &str) -> Result<Option<Columns>, ActionError> {
        self.within(database, |session| session.row(table, id, ""))
    }

    fn back_up(&self, database: &str, _to: &Path) -> Result<(), ActionError> {
        Err(ActionError::Never(format!("{} is on a server, which makes its own backups", shown(database))))
    }

    fn apply(
        &self,
        database: &str,
        changes: &[RowChange],
        agrees: &mut dyn FnMut() -> Result<(), ActionError>,
    ) -> Result<(), ActionError> {
        self.within(database, |session| {
            session.lock(changes)?;
            for change in changes {
                let now = session.row(&change.table, &change.id, "FOR UPDATE")?;
                if !is_in(now.as_ref(), &change.before) {
                    return Err(ActionError::Changed(format!("{} was written since", name(change))));
                }
            }
            agrees()?;
            change::carry_out(session, changes)?;
            session.commit()
        })
    }

    fn state(&self, database: &str, changes: &[RowChange]) -> RowsState {
        match self.within(database, |session| stand(session, changes)) {
            Ok(state) => state,
            Err(error) => RowsState::Unknown(error.to_string()),
        }
    }

    fn after_text(&self, database: &str, changes: &[RowChange]) -> String {
        let read = self.within(database, |session| {
            let description = |change: &RowChange| {
                let description = describe_row(change, session.row(&change.table, &change.id, "")?);
                Ok(if change::is_by_function(session, change) { description + TOUCHED } else { description })
            };
            changes.iter().map(description).collect::<Result<Vec<_>, ActionError>>()
        });
        match read {
            Ok(rows) => format!("read back: {}", rows.join(", ")),
            Err(error) => format!("done, but it could not be read back: {error}"),
        }
    }
}

/// Reads back how rows stand once the session that changed them is done: it held the same locks.
fn stand(session: &Session, changes: &[RowChange]) -> Result<RowsState, ActionError> {
    session.lock(changes)?;
    let mut state = None;
    for change in changes {
        let now = session.row(&change.table, &change.id, "")?;
        let one = match now.as_ref() {
            now if is_before(&change.table, now, &change.before) => RowsState::Before,
            now if is_after(&change.table, now, &change.after) => RowsState::After,
            _ => return Ok(RowsState::Other(name(change))),
        };
        if state.get_or_insert_with(|| one.clone()) != &one {
            return Ok(RowsState::Other(name(change)));
        }
    }
    Ok(state.unwrap_or(RowsState::Before))
}

/// Describes the current state of a row.
fn describe_row(change: &RowChange, now: Option<Columns>) -> String {
    let Some(now) = now else { return format!("{} is gone", name(change)) };
    let column = match change.table.as_str() {
        SESSIONS => mirror_column(&now),
        FILE_LOCKS => "holder_session_id",
        _ => "claiming_session_id",
    };
    let says = match text(&now, column) {
        Some(says) => format!("names {}", shown(says)),
        None => "is empty".to_owned(),
    };
    format!("{}.{column} of {} {says}", change.table, shown(&change.id))
}

/// Describes a session's row that LEO's own function has released.
const TOUCHED: &str =
    " (LEO's own release_sd writes to this row: it is idle now, and its heartbeat was put back as it was)";

fn mirror_column(columns: &Columns) -> &'static str {
    if columns.contains_key("sd_key") { "sd_key" } else { "sd_id" }
}
