//! Remembers which machine was reached by which name, so that a different one behind it is noticed.

use std::collections::BTreeMap;
use std::path::Path;

use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::act::error::ActionError;
use crate::act::fs::system::System;
use crate::act::state::bind::put;
use crate::core::fleet::wire::line::Identity;
use crate::source::os::open::plain::small;

const NAME: &str = "machines.json";

/// The most bytes of the file that are read.
const MOST: usize = 1 << 20;

#[derive(Default, Serialize, Deserialize)]
struct MachineFile {
    machines: BTreeMap<String, Identity>,
}

/// Checks that a machine is the one that was reached by its name before, and remembers a new one.
///
/// # Errors
/// It is another one, or its identity is unknown; in words.
pub(crate) fn recognise(state: &Path, name: &str, identity: &Identity) -> Result<(), String> {
    let unread =
        || format!("the machine last reached as {name} cannot be read from {NAME} in the state folder");
    let mut known = read(state).map_err(|_| unread())?;
    match known.machines.get(name) {
        Some(before) if before == identity => return Ok(()),
        Some(_) => {
            return Err(format!(
                "it is not the machine that was reached as {name} before: its ID differs. If that is \
                 right, run `claimtop machines --accept {name}`"
            ));
        }
        None => {}
    }
    known.machines.insert(name.to_owned(), identity.clone());
    // A machine that cannot be recorded is checked anew next time.
    if let Err(error) = write(state, &known) {
        tracing::warn!(%error, name, "a machine is not remembered");
    }
    Ok(())
}

/// Forgets the machine that was reached by a name; returns whether there was one.
///
/// # Errors
/// The file cannot be read or written.
pub(crate) fn forget(state: &Path, name: &str) -> Result<bool, ActionError> {
    let mut known = read(state).map_err(ActionError::failed_at("read", &state.join(NAME)))?;
    let was_known = known.machines.remove(name).is_some();
    if was_known {
        write(state, &known)?;
    }
    Ok(was_known)
}

fn read(state: &Path) -> Result<MachineFile, Errno> {
    match small(&state.join(NAME), MOST) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|_| Errno::ILSEQ),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(MachineFile::default()),
        Err(errno) => Err(errno),
    }
}

fn write(state: &Path, known: &MachineFile) -> Result<(), ActionError> {
    put(&System, (state, NAME.to_owned()), known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_machine_behind_a_name_is_noticed_until_it_is_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let [one, other] = ["one", "other"]
            .map(|store| Identity { machine: Some("m".to_owned()), store: Some(store.to_owned()) });
        assert_eq!(recognise(&state, "devbox", &one), Ok(()));
        assert_eq!(recognise(&state, "devbox", &one), Ok(()));
        assert!(recognise(&state, "devbox", &other).is_err_and(|why| why.contains("--accept devbox")));
        assert_eq!(recognise(&state, "web", &other), Ok(()));
        assert!(forget(&state, "devbox").unwrap() && !forget(&state, "devbox").unwrap());
        assert_eq!(recognise(&state, "devbox", &other), Ok(()));
    }
}
