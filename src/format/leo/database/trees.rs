//! Sessions whose working tree has gone from this machine.

use std::path::Path;
use std::sync::Arc;

use crate::core::model::{Code, Problem, Record, Untrusted};
use crate::format::leo::database::source::is_session;

/// Tells of each session of this machine whose row names a working tree that `is_gone`.
pub fn tell_gone_trees(records: &mut [Arc<Record>], mut is_gone: impl FnMut(&Path) -> bool) {
    for record in records.iter_mut().filter(|record| is_session(record) && !record.has_ended) {
        if let Some(problem) = record.cwd.as_deref().filter(|tree| is_gone(tree)).map(gone) {
            Arc::make_mut(record).problems.push(problem);
        }
    }
}

fn gone(tree: &Path) -> Problem {
    let message = format!(
        "names the working tree {}, and there is no such folder: a release_session that forgets it is \
         refused by the table's own check, and the session's next command fails",
        Untrusted::from_path(tree)
    );
    Problem::new(Code::StaleRecord, message)
}
