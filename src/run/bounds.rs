//! All bounds in one list, for people.

use super::{log, tape};
use crate::core::history::timeline;
use crate::core::model::Limit;
use crate::core::model::snapshot::file;
use crate::observe::{bounds as source, watch};

/// Returns every bound that a person could meet.
pub(crate) fn bounds() -> Vec<Limit> {
    let bound = |what, most: String| Limit { what, most };
    vec![
        bound("watched folders", watch::MAX_FOLDERS.to_string()),
        bound("watched PIDs", watch::MAX_PROCESSES.to_string()),
        bound("repositories", source::REPOS.to_string()),
        bound("files kept", source::KEPT_FILES.to_string()),
        bound("a record's file", size(file::MAX_BYTES)),
        bound("hook notes", source::NOTES.to_string()),
        bound("rows of a table", source::ROWS.to_string()),
        bound("changes kept", timeline::MOST.to_string()),
        bound("a recording", size(tape::LIMIT)),
        bound("the log", size(log::LIMIT)),
    ]
}

fn size(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}
