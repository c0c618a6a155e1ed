//! The state folder's own ID: machines cloned from one another share it, and others never do.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::act::error::ActionError;
use crate::act::fs::system::System;
use crate::act::state::bind::put;
use crate::source::os::open::plain::small;

const NAME: &str = "store.json";

/// The most bytes of the file that are read.
const MOST: usize = 1_024;

#[derive(Serialize, Deserialize)]
struct Store {
    id: String,
}

/// Returns the ID of a state folder, if it has one.
pub(crate) fn known(state: &Path) -> Option<String> {
    let bytes = small(&state.join(NAME), MOST).ok()?;
    serde_json::from_slice::<Store>(&bytes).ok().map(|store| store.id).filter(|id| is_id(id))
}

/// Returns the ID of a state folder, which gets one if it has none.
///
/// # Errors
/// It has none, and its file cannot be written.
pub(crate) fn own(state: &Path) -> Result<String, ActionError> {
    if let Some(id) = known(state) {
        return Ok(id);
    }
    let id = random();
    put(&System, (state, NAME.to_owned()), &Store { id: id.clone() })?;
    // Another claimtop may have written its own in between.
    Ok(known(state).unwrap_or(id))
}

/// Returns a unique ID. It is not secret; the system makes these keys at random.
pub(crate) fn random() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}

fn is_id(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_keeps_its_id_and_another_has_another() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [one, other] = folders.each_ref().map(|folder| own(folder.path()).unwrap());
        assert!(is_id(&one) && one != other);
        assert_eq!(own(folders[0].path()).unwrap(), one);
        assert_eq!(known(folders[0].path()), Some(one));
    }
}
