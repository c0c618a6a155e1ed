//! The change inside the transaction: LEO's own function first, then what it does not change, then the signs of life
//! that it has overwritten; finally everything is read back.

use super::session::{Session, trouble};
use crate::act::error::ActionError;
use crate::act::rows::postgres::file_lock;
use crate::act::rows::postgres::row::{is_after, key, name, parameter};
use crate::core::model::snapshot::row::is_in;
use crate::core::model::text::shown;
use crate::core::model::{Columns, RowChange, Value};
use crate::format::leo::database::{DIRECTIVES, FILE_LOCKS, SESSIONS, SIGNS, UPDATED_AT, mirror, text};
use crate::format::reading::json;

/// Changes all rows, which are locked and as they were seen.
///
/// # Errors
/// A function refuses, or a row does not get its new values; the transaction must not be committed.
pub(crate) fn carry_out(session: &Session, changes: &[RowChange]) -> Result<(), ActionError> {
    let (locks, others): (Vec<_>, Vec<_>) = changes.iter().partition(|change| change.table == FILE_LOCKS);
    locks.into_iter().try_for_each(|change| file_lock::carry_out(session, change))?;
    let (rows, items): (Vec<_>, Vec<_>) = others.into_iter().partition(|change| change.table == SESSIONS);
    let signs = rows.iter().map(|change| Signs::read(session, change)).collect::<Result<Vec<_>, _>>()?;
    let mut beside = Vec::new();
    for change in rows.iter().filter(|change| gives_back(change)) {
        may_be_given_back(session, change)?;
        beside.extend(beside_of(session, change, &items)?);
    }
    for change in rows.iter().filter(|change| mirror(&change.after).is_none()) {
        by_function(session, change)?;
        date(session, change)?;
    }
    // A trigger of the sessions writes the items, so the items come last.
    for change in rows.iter().chain(&items) {
        finish(session, &change.table, &change.id, &change.after)?;
    }
    for item in &beside {
        finish(session, DIRECTIVES, &item.0, &item.1)?;
    }
    signs.iter().try_for_each(|signs| signs.keep(session))?;
    changes.iter().try_for_each(|change| check(session, change))
}

/// Makes sure that a row has its new values: in every column if the change is an undo.
fn check(session: &Session, change: &RowChange) -> Result<(), ActionError> {
    let now = session.row(&change.table, &change.id, "")?;
    let is_what_it_should_be = match gives_back(change) {
        true => is_in(now.as_ref(), &change.after),
        false => is_after(&change.table, now.as_ref(), &change.after),
    };
    match is_what_it_should_be {
        true => Ok(()),
        false => Err(ActionError::Refused(format!("{} did not get the intended values", name(change)))),
    }
}

/// Returns whether a change gives back a released claim.
fn gives_back(change: &RowChange) -> bool {
    let holder = |columns| match change.table.as_str() {
        SESSIONS => mirror(columns).is_some(),
        _ => text(columns, "claiming_session_id").is_some(),
    };
    !holder(&change.before) && holder(&change.after)
}

/// Makes sure that no other session works on what a session is given back, and that its heartbeat is its own: an older
/// claimtop left the one that `release_sd` wrote.
fn may_be_given_back(session: &Session, change: &RowChange) -> Result<(), ActionError> {
    let column = if change.after.contains_key("sd_key") { "sd_key" } else { "sd_id" };
    let others = format!(
        "SELECT session_id FROM claude_sessions WHERE {column} = $1 AND session_id <> $2 \
         AND status IN ('active', 'idle')"
    );
    let wanted = mirror(&change.after).map(str::to_owned);
    if let Some(other) =
        session.query(&others, &[wanted, Some(change.id.clone())])?.into_iter().flatten().next()
    {
        return Err(ActionError::Changed(format!("session {} now works on it", shown(&other))));
    }
    let moments = ["heartbeat_at", "released_at"];
    if session.schema.existing_columns(SESSIONS, &moments).len() < moments.len() {
        return Ok(());
    }
    let forged = "SELECT '1' FROM claude_sessions WHERE session_id = $1 AND heartbeat_at = released_at";
    match session.query(forged, &[Some(change.id.clone())])?.is_empty() {
        true => Ok(()),
        false => Err(ActionError::Never(
            "LEO's release_sd has overwritten the heartbeat, and its former value is not known: \
             the session would look alive"
                .to_owned(),
        )),
    }
}

/// Returns the directive that a session mirrors without owning it, unchanged: LEO's trigger would name the session
/// there.
fn beside_of(
    session: &Session,
    change: &RowChange,
    items: &[&RowChange],
) -> Result<Option<(String, Columns)>, ActionError> {
    let Some(key) = mirror(&change.after).filter(|key| items.iter().all(|item| item.id != *key)) else {
        return Ok(None);
    };
    Ok(session.row(DIRECTIVES, key, "FOR UPDATE")?.map(|row| (key.to_owned(), row)))
}

/// A row's signs of life of its session. LEO's functions and triggers renew them whenever they write the row, and no
/// change by claimtop is a sign of life.
struct Signs<'a> {
    change: &'a RowChange,
    before: Columns,
}

impl<'a> Signs<'a> {
    fn read(session: &Session, change: &'a RowChange) -> Result<Self, ActionError> {
        let before = session.columns(SESSIONS, &change.id, SIGNS, "")?.unwrap_or_default();
        Ok(Self { change, before })
    }

    /// Restores the signs of life that were overwritten.
    fn keep(&self, session: &Session) -> Result<(), ActionError> {
        let now = || session.columns(SESSIONS, &self.change.id, SIGNS, "");
        let written = self.written(now()?);
        if written.is_empty() {
            return Ok(());
        }
        let row = session.row(SESSIONS, &self.change.id, "")?.unwrap_or_default();
        update(session, SESSIONS, &self.change.id, &row, &written)?;
        // A trigger may set when a row was last written again; that is not a sign of life.
        match self.written(now()?).into_iter().find(|(column, _)| *column != UPDATED_AT) {
            None => Ok(()),
            Some((column, _)) => Err(ActionError::Never(format!(
                "the database renews {column} of {} whenever the row is written: \
                 the session would look alive",
                name(self.change)
            ))),
        }
    }

    /// Returns the former values of the columns that have changed.
    fn written(&self, now: Option<Columns>) -> Vec<(&str, &Value)> {
        let now = now.unwrap_or_default();
        let differs = |(column, value): &(&String, &Value)| now.get(*column) != Some(*value);
        self.before.iter().filter(differs).map(|(column, value)| (column.as_str(), value)).collect()
    }
}

/// Returns whether this row is released by LEO's own function.
pub(crate) fn is_by_function(session: &Session, change: &RowChange) -> bool {
    // It would call a session idle that is stale or released now.
    let is_open = matches!(text(&change.before, "status"), Some("active" | "idle"));
    let is_release = mirror(&change.before).is_some() && mirror(&change.after).is_none();
    change.table == SESSIONS && is_open && is_release && session.schema.arguments("release_sd").is_some()
}

/// Calls LEO's own function for a session's row, if it has the right one. A released claim is not claimed anew by
/// `claim_sd`, which would write a new heartbeat and both surfaces.
fn by_function(session: &Session, change: &RowChange) -> Result<(), ActionError> {
    let Some(held) = mirror(&change.before).filter(|_| is_by_function(session, change)) else {
        return Ok(());
    };
    session.run("SAVEPOINT before_release")?;
    let reason = change.after.get("released_reason").and_then(parameter);
    let called = session.try_query("SELECT release_sd($1, $2)::text", &[Some(change.id.clone()), reason]);
    let answer = match called {
        // An older version of it forgets the worktree, which a check of the table then refuses.
        Err(failed) if failed.is_check() => return session.run("ROLLBACK TO SAVEPOINT before_release"),
        called => called.map_err(trouble)?,
    };
    let answer = Answer::of(answer);
    match answer.text("released_sd") {
        Some(released) if released == held => Ok(()),
        Some(released) => {
            Err(ActionError::Changed(format!("release_sd released {} instead", shown(&released))))
        }
        None => Err(ActionError::Changed(format!("release_sd released nothing: {}", answer.words()))),
    }
}

/// Dates the release by the server's clock: a younger heartbeat is the session's own.
fn date(session: &Session, change: &RowChange) -> Result<(), ActionError> {
    let is_released = text(&change.before, "status") == Some("released");
    if is_released || !session.schema.has(SESSIONS, "released_at") {
        return Ok(());
    }
    let sql = "UPDATE claude_sessions SET released_at = now() WHERE session_id = $1 RETURNING '1'";
    session.query(sql, &[Some(change.id.clone())]).map(drop)
}

/// Updates the columns of a row that still differ, only while the holder is still the one that was seen.
fn finish(session: &Session, table: &str, id: &str, after: &Columns) -> Result<(), ActionError> {
    let now = session.row(table, id, "")?;
    let now = now.ok_or_else(|| ActionError::Changed(format!("{table} {} is gone", shown(id))))?;
    let lacks = |(column, value): &(&String, &Value)| now.get(*column) != Some(*value);
    let left: Vec<_> = after.iter().filter(lacks).map(|(column, value)| (column.as_str(), value)).collect();
    if left.is_empty() { Ok(()) } else { update(session, table, id, &now, &left) }
}

fn update(
    session: &Session,
    table: &str,
    id: &str,
    now: &Columns,
    left: &[(&str, &Value)],
) -> Result<(), ActionError> {
    let sets =
        left.iter().enumerate().map(|(at, (column, _))| format!("{column} = ${}{}", at + 3, kind(column)));
    let mut sets: Vec<String> = sets.collect();
    let is_dated = left.iter().any(|(column, _)| *column == UPDATED_AT);
    if table != SESSIONS && !is_dated && session.schema.has(table, UPDATED_AT) {
        sets.push("updated_at = now()".to_owned());
    }
    let holder = match table {
        SESSIONS if now.contains_key("sd_key") => "sd_key",
        SESSIONS => "sd_id",
        _ => "claiming_session_id",
    };
    let sql = format!(
        "UPDATE {table} SET {} WHERE {} = $1 AND {holder} IS NOT DISTINCT FROM $2 RETURNING '1'",
        sets.join(", "),
        key(table)
    );
    let seen = now.get(holder).and_then(parameter);
    let mut parameters = vec![Some(id.to_owned()), seen];
    parameters.extend(left.iter().map(|(_, value)| parameter(value)));
    match session.query(&sql, &parameters)?.len() {
        1 => Ok(()),
        _ => Err(ActionError::Changed(format!("{table} {} was written since", shown(id)))),
    }
}

/// Returns the SQL cast from text for a column.
fn kind(column: &str) -> &'static str {
    match column {
        "is_working_on" | "is_alive" => "::boolean",
        "expected_silence_until" => "::timestamptz",
        column if column.ends_with("_at") => "::timestamptz",
        _ => "",
    }
}

/// The JSON answer of one of LEO's functions.
struct Answer(String);

impl Answer {
    fn of(cells: Vec<Option<String>>) -> Self {
        Self(cells.into_iter().flatten().next().unwrap_or_default())
    }

    fn text(&self, field: &str) -> Option<String> {
        let object = json::parse(self.0.as_bytes()).ok()?;
        object.text(field).map(|text| text.raw().to_owned())
    }

    fn words(&self) -> String {
        let reason = self.text("error").or_else(|| self.text("message"));
        shown(&reason.unwrap_or_else(|| "no reason given".to_owned()))
    }
}
