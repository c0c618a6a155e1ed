//! The change itself, inside the transaction: LEO's own function first, then what it has left,
//! then both surfaces are read back.

use super::session::{Session, trouble};
use super::{is_after, key, name, parameter};
use crate::act::trouble::Trouble;
use crate::core::row::{Columns, RowChange, Value};
use crate::core::text::shown;
use crate::format::json;
use crate::format::leo::database::{SESSIONS, mirror, text};

/// Changes all rows; they are locked, and as they were seen.
///
/// # Errors
/// A function refuses, or a row does not become what it is to be; the transaction is not to be
/// committed.
pub(super) fn carry_out(session: &Session, changes: &[RowChange]) -> Result<(), Trouble> {
    for change in changes.iter().filter(|change| change.table == SESSIONS) {
        by_function(session, change)?;
    }
    for change in changes {
        finish(session, change)?;
    }
    for change in changes {
        let now = session.row(&change.table, &change.id, "")?;
        if !now.is_some_and(|now| is_after(&change.table, &now, &change.after)) {
            return Err(Trouble::Refused(format!("{} did not become what it was to be", name(change))));
        }
    }
    Ok(())
}

/// Calls LEO's own function for a session's row, where it has one and is the right way.
fn by_function(session: &Session, change: &RowChange) -> Result<(), Trouble> {
    // Its own function would revive a row that is released, so that is changed directly.
    if text(&change.before, "status") == Some("released") || text(&change.after, "status") == Some("released")
    {
        return Ok(());
    }
    match (mirror(&change.before), mirror(&change.after)) {
        (Some(held), None) => release(session, change, held),
        (None, Some(wanted)) => claim(session, change, wanted),
        (Some(_), Some(_)) | (None, None) => Ok(()),
    }
}

fn release(session: &Session, change: &RowChange, held: &str) -> Result<(), Trouble> {
    if session.schema.arguments("release_sd").is_none() {
        return Ok(());
    }
    session.run("SAVEPOINT before_release")?;
    let reason = change.after.get("released_reason").and_then(parameter);
    let called = session.try_query("SELECT release_sd($1, $2)::text", &[Some(change.id.clone()), reason]);
    let answer = match called {
        // An older text forgets the worktree, which a check of the table then refuses.
        Err(failed) if failed.is_check() => return session.run("ROLLBACK TO SAVEPOINT before_release"),
        called => called.map_err(trouble)?,
    };
    let answer = Answer::of(answer);
    match answer.text("released_sd") {
        Some(released) if released == held => date(session, change),
        Some(released) => Err(Trouble::Changed(format!("release_sd let go of {} instead", shown(&released)))),
        None => Err(Trouble::Changed(format!("release_sd let go of nothing: {}", answer.words()))),
    }
}

/// Dates the release, so that the heartbeat which the function sets is known as the release's own:
/// both are the transaction's one moment.
fn date(session: &Session, change: &RowChange) -> Result<(), Trouble> {
    if !session.schema.has(SESSIONS, "released_at") {
        return Ok(());
    }
    let sql = "UPDATE claude_sessions SET released_at = now() WHERE session_id = $1 RETURNING '1'";
    session.query(sql, &[Some(change.id.clone())]).map(drop)
}

/// Claims again what was let go, only if nobody holds it.
fn claim(session: &Session, change: &RowChange, wanted: &str) -> Result<(), Trouble> {
    let arguments = session
        .schema
        .arguments("claim_sd")
        .ok_or_else(|| Trouble::Never("this deployment has no claim_sd to claim it again".to_owned()))?;
    let sql = match arguments {
        0..=3 => "SELECT claim_sd($1, $2, $3)::text",
        _ => "SELECT claim_sd($1, $2, $3, false)::text",
    };
    let track = change.after.get("track").and_then(parameter);
    let answer = Answer::of(session.query(sql, &[Some(wanted.to_owned()), Some(change.id.clone()), track])?);
    match answer.is_success() {
        true => Ok(()),
        false => Err(Trouble::Changed(format!("claim_sd refuses: {}", answer.words()))),
    }
}

/// Gives a row what the function has left, only while the holder is still the one that was seen.
fn finish(session: &Session, change: &RowChange) -> Result<(), Trouble> {
    let now = session.row(&change.table, &change.id, "")?;
    let now = now.ok_or_else(|| Trouble::Changed(format!("{} has gone", name(change))))?;
    let is_own = |column: &str| !is_functions(change, column);
    let left: Vec<(&str, &Value)> = change
        .after
        .iter()
        .filter(|(column, value)| now.get(*column) != Some(value) && is_own(column))
        .map(|(column, value)| (column.as_str(), value))
        .collect();
    if left.is_empty() {
        return Ok(());
    }
    update(session, change, &now, &left)
}

/// Returns whether a column is left to `claim_sd`, which knows its own moments and statuses.
fn is_functions(change: &RowChange, column: &str) -> bool {
    let is_claim = change.table == SESSIONS
        && mirror(&change.before).is_none()
        && text(&change.after, "status") != Some("released");
    is_claim && matches!(column, "claimed_at" | "status" | "released_reason" | "sd_key" | "sd_id")
}

fn update(
    session: &Session,
    change: &RowChange,
    now: &Columns,
    left: &[(&str, &Value)],
) -> Result<(), Trouble> {
    let kind = |column: &str| if column == "claimed_at" { "::timestamptz" } else { "" };
    let sets =
        left.iter().enumerate().map(|(at, (column, _))| format!("{column} = ${}{}", at + 3, kind(column)));
    let mut sets: Vec<String> = sets.collect();
    if session.schema.has(&change.table, "updated_at") {
        sets.push("updated_at = now()".to_owned());
    }
    let holder = match change.table.as_str() {
        SESSIONS if now.contains_key("sd_key") => "sd_key",
        SESSIONS => "sd_id",
        _ => "claiming_session_id",
    };
    let sql = format!(
        "UPDATE {} SET {} WHERE {} = $1 AND {holder} IS NOT DISTINCT FROM $2 RETURNING '1'",
        change.table,
        sets.join(", "),
        key(&change.table)
    );
    let seen = now.get(holder).and_then(parameter);
    let mut parameters = vec![Some(change.id.clone()), seen];
    parameters.extend(left.iter().map(|(_, value)| parameter(value)));
    match session.query(&sql, &parameters)?.len() {
        1 => Ok(()),
        _ => Err(Trouble::Changed(format!("{} was written since", name(change)))),
    }
}

/// What a function of LEO's answers: JSON.
struct Answer(String);

impl Answer {
    fn of(cells: Vec<Option<String>>) -> Self {
        Self(cells.into_iter().flatten().next().unwrap_or_default())
    }

    fn text(&self, field: &str) -> Option<String> {
        let object = json::parse(self.0.as_bytes()).ok()?;
        object.text(field).map(|text| text.raw().to_owned())
    }

    fn is_success(&self) -> bool {
        let object = json::parse(self.0.as_bytes()).ok();
        object.is_some_and(|object| object.get("success").is_some_and(|value| value.to_string() == "true"))
    }

    /// Returns what it says in words.
    fn words(&self) -> String {
        let said = self.text("error").or_else(|| self.text("message"));
        shown(&said.unwrap_or_else(|| "no reason given".to_owned()))
    }
}
