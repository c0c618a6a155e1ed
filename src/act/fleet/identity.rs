//! The host ID that this state folder publishes under in each database, and the lock that allows only one witness.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::act::error::ActionError;
use crate::act::fs::system::System;
use crate::act::state::bind::put;
use crate::core::fleet::database::publisher::HostId;
use crate::core::model::text::hex;
use crate::source::os::open::plain::small;

const NAME: &str = "witness.json";
const LOCK: &str = "witness.lock";

/// The most bytes of the file that are read.
const MOST: usize = 1 << 20;

/// One secret per database, so that no database learns what proves this host to another.
#[derive(Default, Serialize, Deserialize)]
struct HostSecrets {
    hosts: BTreeMap<String, Host>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Host {
    host: String,
    secret: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    clone_of: Option<String>,
    /// The highest order number that was taken.
    #[serde(default)]
    orders: i64,
}

/// Held for as long as this process is the witness.
pub(crate) struct Lock(#[expect(dead_code, reason = "it is held, not read")] OwnedFd);

/// Makes this process the one witness of a state folder.
///
/// # Errors
/// Another process is the witness already, or the folder cannot be written.
pub(crate) fn lock(state: &Path) -> Result<Lock, ActionError> {
    crate::act::state::bind::open(&System, state)?;
    let path = state.join(LOCK);
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = open(&path, flags, Mode::RUSR | Mode::WUSR).map_err(ActionError::failed_at("open", &path))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Lock(file)),
        Err(Errno::WOULDBLOCK) => {
            Err(ActionError::Busy("another witness of this machine is running".to_owned()))
        }
        Err(errno) => Err(ActionError::failed_at("lock", &path)(errno)),
    }
}

/// Returns the host ID for a database, minting one if there is none, and the highest order number that it has taken.
///
/// # Errors
/// It cannot be read or written.
pub(crate) fn own(state: &Path, database: &str) -> Result<(HostId, i64), ActionError> {
    match read(state)?.hosts.remove(database) {
        Some(Host { host, secret, clone_of, orders }) => Ok((HostId { host, secret, clone_of }, orders)),
        None => Ok((mint(state, database, None)?, 0)),
    }
}

/// Remembers the number of an order before it is begun.
///
/// # Errors
/// It cannot be written.
pub(crate) fn took(state: &Path, database: &str, order: i64) -> Result<(), ActionError> {
    let mut known = read(state)?;
    if let Some(host) = known.hosts.get_mut(database) {
        host.orders = host.orders.max(order);
    }
    put(&System, (state, NAME.to_owned()), &known)
}

/// Mints another host ID for a database after this machine was found to be a clone.
///
/// # Errors
/// As [`own`].
pub(crate) fn mint(state: &Path, database: &str, clone_of: Option<String>) -> Result<HostId, ActionError> {
    let mut known = read(state)?;
    let (host, secret) = (uuid()?, hex(&random::<16>()?));
    let made = Host { host: host.clone(), secret: secret.clone(), clone_of: clone_of.clone(), orders: 0 };
    known.hosts.insert(database.to_owned(), made);
    put(&System, (state, NAME.to_owned()), &known)?;
    Ok(HostId { host, secret, clone_of })
}

/// Draws a beat's random mark from the system, so that two machines resumed from one snapshot get different marks.
///
/// # Errors
/// The system has no random numbers.
pub(crate) fn mark() -> Result<i64, ActionError> {
    Ok(i64::from_ne_bytes(random::<8>()?))
}

fn read(state: &Path) -> Result<HostSecrets, ActionError> {
    let path = state.join(NAME);
    match small(&path, MOST) {
        // A host that can no longer read its ID must not publish under another one.
        Ok(bytes) => {
            serde_json::from_slice(&bytes).map_err(|_| ActionError::failed_at("read", &path)(Errno::ILSEQ))
        }
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(HostSecrets::default()),
        Err(errno) => Err(ActionError::failed_at("read", &path)(errno)),
    }
}

/// Makes a random UUID (RFC 9562, version 4).
fn uuid() -> Result<String, ActionError> {
    let bits = u128::from_be_bytes(random::<16>()?);
    let bits = bits & !(0xf << 76) & !(0x3 << 62) | (4 << 76) | (2 << 62);
    let text = format!("{bits:032x}");
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32];
    Ok(parts.map(|part| text.get(part).unwrap_or_default().to_owned()).join("-"))
}

fn random<const SIZE: usize>() -> Result<[u8; SIZE], ActionError> {
    let mut bytes = [0; SIZE];
    let failed = |error: getrandom::Error| {
        let errno = error.raw_os_error().map_or(Errno::AGAIN, Errno::from_raw_os_error);
        ActionError::Failed { what: "make a random number".to_owned(), errno }
    };
    getrandom::fill(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_folder_keeps_its_id_of_each_database_until_it_turns_out_to_be_a_clone() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let (id, orders) = own(&state, "postgres://a/b").unwrap();
        assert_eq!(orders, 0);
        for order in [7, 3] {
            took(&state, "postgres://a/b", order).unwrap();
        }
        assert!(crate::core::model::text::is_uuid(&id.host) && id.secret.len() == 32);
        assert_eq!(own(&state, "postgres://a/b").unwrap(), (id.clone(), 7));
        assert_ne!(own(&state, "postgres://c/d").unwrap().0.secret, id.secret);
        let next = mint(&state, "postgres://a/b", Some(id.host.clone())).unwrap();
        assert_eq!(own(&state, "postgres://a/b").unwrap(), (next.clone(), 0));
        assert_eq!((next.clone_of.as_deref(), next.host == id.host), (Some(id.host.as_str()), false));
        let mode = std::fs::metadata(state.join(NAME)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_folder_has_one_witness_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let first = lock(folder.path()).unwrap();
        assert!(lock(folder.path()).is_err());
        drop(first);
        // A program that another test starts has the lock between its fork and its exec.
        while let Err(error) = lock(folder.path()) {
            assert!(matches!(error, ActionError::Busy(_)), "{error}");
            std::thread::yield_now();
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test writes a broken file")]
    fn an_id_that_cannot_be_read_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(NAME), "{").unwrap();
        assert!(own(folder.path(), "postgres://a/b").is_err());
        assert!(mint(folder.path(), "postgres://a/b", None).is_err());
    }
}
