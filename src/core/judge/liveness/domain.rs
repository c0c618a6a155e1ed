//! Where a PID in a registry counts: here, elsewhere on this machine, or on another one.

use crate::core::judge::world::World;
use crate::core::model::{Domain, Platform};

/// Where a PID counts, as seen from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// In our own namespace.
    Here,
    /// On this machine, in another namespace.
    OtherNamespace,
    /// On another machine, or in an unknown place.
    Elsewhere,
}

/// Returns where a PID counts whose domain a record states.
pub(crate) fn home_of(domain: &Domain, world: &World<'_>) -> Home {
    let host = &world.snapshot.host;
    let (machine, namespace) = match (domain, host.platform) {
        // A Mac does not name itself: a record on a Mac's own disk is about that one.
        (Domain::Darwin, Platform::MacOs) => return Home::Here,
        (Domain::Linux { machine: Some(machine), namespace: Some(namespace) }, Platform::Linux) => {
            (machine, namespace)
        }
        (Domain::Darwin | Domain::Linux { .. } | Domain::Other, _) => return Home::Elsewhere,
    };
    let is_ours = host.machine_id.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(machine.raw()));
    match (is_ours, host.pid_namespace) {
        (true, Some(own)) if own == *namespace => Home::Here,
        (true, Some(_)) => Home::OtherNamespace,
        (true, None) | (false, _) => Home::Elsewhere,
    }
}
