//! What an action would do, as pure data: shown before anything is touched.

use serde::Serialize;

use super::key::Key;
use super::text::Untrusted;

/// A shown plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// What would be acted on.
    pub subject: Key,
    /// What would be done, in one sentence.
    pub what: String,
    /// Why it may or may not be done.
    pub why: Vec<String>,
    /// The steps in order.
    pub steps: Vec<Step>,
    /// How it would be undone.
    pub inverse: String,
    /// What would make it refuse.
    pub refuses_when: Vec<&'static str>,
    /// What a person must give before it is done.
    pub confirmation: Confirmation,
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "step")]
pub enum Step {
    /// Put the file aside, whole.
    Park {
        /// The file.
        path: Untrusted,
    },
    /// Write a new file where none is.
    WriteNew {
        /// The file.
        path: Untrusted,
    },
    /// Exchange a file's content under its system's own lock.
    Exchange {
        /// The file.
        path: Untrusted,
        /// Which fields change, and to what.
        change: String,
    },
}

/// What a person must give before a plan is carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confirmation {
    /// The holder is proven dead: `y`.
    Yes,
    /// It cannot be told: a short code.
    Code,
    /// The holder lives: the full name of the resource.
    FullName,
    /// It is never done.
    Refused,
}
