//! The tables that matter, and the cells of a row.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::format::time;

/// The table of sessions.
pub const SESSION: &str = "session_record";

/// The table of tasks.
pub const TASK: &str = "task";

/// The rows that were read: active sessions and those that are wrong, unfinished tasks and those
/// that sessions name, all projects, and interactions of sessions that are nowhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// Of `session_record`.
    pub sessions: Vec<Cells>,
    /// Of `task`.
    pub tasks: Vec<Cells>,
    /// Of `project_state`.
    pub projects: Vec<Cells>,
    /// Of `interaction`.
    pub interactions: Vec<Cells>,
    /// The session IDs that the log calls abandoned.
    pub abandoned: Vec<String>,
}

/// The cells of one row as text, by column; a null or a missing column has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cells(pub BTreeMap<String, String>);

impl Cells {
    /// Returns a cell.
    pub fn text(&self, column: &str) -> Option<&str> {
        self.0.get(column).map(String::as_str)
    }

    /// Returns a cell that is a number.
    pub fn number(&self, column: &str) -> Option<i64> {
        self.text(column)?.parse().ok()
    }

    /// Returns a cell that is a time: SQLAlchemy writes naive UTC.
    pub fn time(&self, column: &str) -> Option<Timestamp> {
        time::naive(self.text(column)?, &TimeZone::UTC)
    }

    /// Returns the newest of some cells that are times.
    pub fn newest(&self, columns: &[&str]) -> Option<Timestamp> {
        columns.iter().filter_map(|column| self.time(column)).max()
    }

    /// Returns whether a session stands as active.
    pub fn is_active(&self) -> bool {
        self.text("status") == Some("active")
    }
}

impl Tables {
    /// Returns a task.
    pub(super) fn task(&self, id: i64) -> Option<&Cells> {
        self.tasks.iter().find(|task| task.number("id") == Some(id))
    }

    /// Returns the working directory of a project.
    pub(super) fn project(&self, id: Option<i64>) -> Option<&Cells> {
        self.projects.iter().find(|project| id.is_some() && project.number("id") == id)
    }
}
