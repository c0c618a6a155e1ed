//! The lock that the entire CLI requires of every program that writes its session states.

use std::path::Path;

use rustix::io::Errno;

use crate::act::error::ActionError;
use crate::act::fs::disk::{Disk, Patience};
use crate::act::fs::files::Files;
use crate::format::entire::end;

/// Returns whether a file is one of the CLI's session states.
pub(crate) fn is_state(path: &Path) -> bool {
    end::lock_of(path).is_some()
}

/// Takes the CLI's lock for the first of these paths that is a session state.
pub(crate) fn lock_of_any<'a, D: Disk>(
    files: &Files<'_, D>,
    mut paths: impl Iterator<Item = &'a Path>,
) -> Result<Option<D::Lock>, ActionError> {
    match paths.find_map(end::lock_of) {
        Some(path) => take_lock(files, &path),
        None => Ok(None),
    }
}

/// Takes the lock of a session state. Older versions of the CLI have no lock folder, and then no lock is taken.
fn take_lock<D: Disk>(files: &Files<'_, D>, path: &Path) -> Result<Option<D::Lock>, ActionError> {
    let at = match files.entry(path) {
        Err(ActionError::Failed { errno: Errno::NOENT, .. }) => return Ok(None),
        at => at?,
    };
    match files.disk.lock(at.spot(), Patience::None) {
        Ok(lock) => Ok(Some(lock)),
        Err(Errno::WOULDBLOCK) => {
            Err(ActionError::Changed("the entire CLI is at work on this session; try again".to_owned()))
        }
        Err(errno) => Err(ActionError::failed_at("lock", path)(errno)),
    }
}
