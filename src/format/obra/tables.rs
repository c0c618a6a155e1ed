//! Tables of Obra's database.

use crate::format::reading::cells::Cells;

pub(crate) const SESSION: &str = "session_record";

pub(crate) const TASK: &str = "task";

/// The rows that were read: active sessions and those with problems, unfinished tasks and those that sessions name,
/// all projects, and interactions of sessions without a row; and facts about them from elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// Of `session_record`.
    pub sessions: Vec<Cells>,
    /// Of `session_record` too: the newest of all, whatever their state.
    pub newest: Vec<Cells>,
    /// Whether there are more sessions than those.
    pub has_older: bool,
    /// Of `task`.
    pub tasks: Vec<Cells>,
    /// Of `project_state`.
    pub projects: Vec<Cells>,
    /// Of `interaction`.
    pub interactions: Vec<Cells>,
    /// The session IDs, or their prefixes, that a log calls abandoned.
    pub abandoned: Vec<String>,
    /// Whether the agents run on another host, by ssh, as the configuration says.
    pub is_remote: bool,
}

impl Tables {
    pub(super) fn task(&self, id: i64) -> Option<&Cells> {
        self.tasks.iter().find(|task| task.number("id") == Some(id))
    }

    /// Returns the working directory of a project.
    pub(super) fn project(&self, id: Option<i64>) -> Option<&Cells> {
        self.projects.iter().find(|project| id.is_some() && project.number("id") == id)
    }
}

/// Returns whether a session is marked active.
pub(super) fn is_active(row: &Cells) -> bool {
    row.text("status") == Some("active")
}
