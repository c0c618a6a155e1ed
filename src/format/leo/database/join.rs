//! Session files beside their rows: the row has the claim, so the file need not guess.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use crate::core::model::{
    Code, Format, Location, Problem, Record, RecordKind, StatedClaim, Surface, SurfaceState, Untrusted,
};
use crate::format::leo::database::source::is_session;
use crate::format::leo::work::{MIRROR, surface};

/// Applies the rows of a completely read database to the session files beside them: a file's "unknown" becomes the
/// row's value, and a name in a file that its row lacks is reported.
pub fn join(records: &mut [Arc<Record>]) {
    let rows: HashMap<Untrusted, Vec<Untrusted>> =
        records.iter().filter(|record| is_session(record)).filter_map(named).collect();
    for record in records.iter_mut().filter(|record| is_file(record)) {
        let Some(named) = record.session_id.as_ref().and_then(|session| rows.get(session)) else { continue };
        let claims = record.claims.iter().filter_map(|claim| left(claim, named)).collect();
        let mut joined = Record::clone(record);
        joined.claims = claims;
        // The row has the newer heartbeat, and is reported if it is old.
        joined.expiry = None;
        *record = Arc::new(joined);
    }
}

fn named(row: &Arc<Record>) -> Option<(Untrusted, Vec<Untrusted>)> {
    let keys = row.claims.iter().map(|claim| claim.resource.id.clone()).collect();
    Some((row.session_id.clone()?, keys))
}

fn is_file(record: &Record) -> bool {
    record.format == Format::Leo
        && record.kind == RecordKind::Session
        && matches!(record.location, Location::File(_))
}

/// Returns the remainder of a file's claim beside its session's row.
fn left(claim: &StatedClaim, named: &[Untrusted]) -> Option<StatedClaim> {
    let is_hint = claim.surfaces.iter().any(|surface| surface.state == SurfaceState::Agrees);
    if !is_hint || named.contains(&claim.resource.id) {
        return None;
    }
    let read = |own: &Surface| {
        let state = if own.name == MIRROR { SurfaceState::Missing } else { own.state };
        surface(own.name, state)
    };
    Some(StatedClaim { surfaces: claim.surfaces.iter().map(read).collect(), ..claim.clone() })
}

/// Adds a problem to each session of this machine whose row names a working tree that `is_gone`.
pub fn tell_gone_trees(records: &mut [Arc<Record>], mut is_gone: impl FnMut(&Path) -> bool) {
    for record in records.iter_mut().filter(|record| is_session(record) && !record.has_ended) {
        if let Some(problem) = record.cwd.as_deref().filter(|tree| is_gone(tree)).map(gone) {
            Arc::make_mut(record).problems.push(problem);
        }
    }
}

fn gone(tree: &Path) -> Problem {
    let message = format!(
        "names the working tree {}, which does not exist: a release_session that clears it is \
         refused by the table's own check, and the session's next command fails",
        Untrusted::from_path(tree)
    );
    Problem::new(Code::StaleRecord, message)
}
