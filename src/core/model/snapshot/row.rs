//! Rows of databases as an action needs them: the exact values, before and after.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One value exactly as a database holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Value {
    /// Nothing.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number with a fraction, in the fewest digits that restore the same bits.
    Real(String),
    /// Text.
    Text(String),
}

impl Value {
    /// Returns the value as text for people.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Self::Null => "nothing".to_owned(),
            Self::Integer(number) => number.to_string(),
            Self::Real(number) => number.clone(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// The columns of one row that an action relies on or changes.
pub type Columns = BTreeMap<String, Value>;

/// One row that changes. A column named on one side only is not part of the change there; a side without columns means
/// that the row does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowChange {
    /// The table.
    pub(crate) table: String,
    /// The primary key as text.
    pub(crate) id: String,
    /// The values that the row must have for the change to be made.
    pub before: Columns,
    /// The values afterwards.
    pub(crate) after: Columns,
}

impl RowChange {
    /// Returns the change that reverts this one.
    pub(crate) fn reversed(&self) -> Self {
        Self { before: self.after.clone(), after: self.before.clone(), ..self.clone() }
    }

    /// Returns the columns that differ, with their values before and after.
    pub(crate) fn differences(&self) -> impl Iterator<Item = (&str, &Value, &Value)> {
        differences(&self.before, &self.after)
    }

    /// Returns the change in words: `session_record 6: status active -> abandoned`.
    pub(crate) fn to_text(&self) -> String {
        format!("{} {}: {}", self.table, self.id, difference_text(&self.before, &self.after))
    }
}

/// Returns the columns that differ between two states of a row.
fn differences<'a>(
    before: &'a Columns,
    after: &'a Columns,
) -> impl Iterator<Item = (&'a str, &'a Value, &'a Value)> {
    before.iter().filter_map(|(name, before)| {
        let after = after.get(name).filter(|after| *after != before)?;
        Some((name.as_str(), before, after))
    })
}

/// Returns whether a row has all values of a state, which need not name every column.
pub(crate) fn agrees(row: &Columns, state: &Columns) -> bool {
    state.iter().all(|(name, value)| row.get(name) == Some(value))
}

/// Returns whether a row is in a state, or is missing if the state is that there is none.
pub(crate) fn is_in(row: Option<&Columns>, state: &Columns) -> bool {
    match row {
        Some(row) => !state.is_empty() && agrees(row, state),
        None => state.is_empty(),
    }
}

/// Returns the differences between two states of a row as text.
pub(crate) fn difference_text(before: &Columns, after: &Columns) -> String {
    if after.is_empty() {
        return format!("deleted, with {}", all(before));
    }
    if before.is_empty() {
        return format!("put back, with {}", all(after));
    }
    let changes = differences(before, after)
        .map(|(name, before, after)| format!("{name} {} -> {}", before.to_text(), after.to_text()));
    changes.collect::<Vec<_>>().join(", ")
}

fn all(columns: &Columns) -> String {
    columns.iter().map(|(name, value)| format!("{name} {}", value.to_text())).collect::<Vec<_>>().join(", ")
}
