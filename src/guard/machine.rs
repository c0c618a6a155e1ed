//! Who asks, and when.

use jiff::Timestamp;

use crate::core::judge::window::agent::{Role, Signatures};
use crate::core::judge::window::context::{server_above, up_to_daemon};
use crate::core::model::{ProcessId, Untrusted};
use crate::source::os::{clock, host, processes};
use crate::source::own::ledger::{Here, Processes};

/// Who asks and when, from the system or a recording.
pub(crate) struct Machine {
    pub(crate) now: Timestamp,
    /// The agent's process; a daemon serves several windows, so it is none.
    pub(crate) process: Option<ProcessId>,
    pub(crate) agent: Untrusted,
    /// The processes above the hook's.
    pub(crate) above: Vec<ProcessId>,
    pub(crate) here: Here,
}

impl Machine {
    /// Asks the system who runs this.
    pub(crate) fn of_system(signatures: Signatures, now: Timestamp) -> Self {
        let candidates = signatures.candidates();
        let pid = processes::own::own_pid();
        let table = processes::chain(pid, &candidates);
        let server = server_above(&table, &signatures, pid);
        Self {
            now,
            process: server.filter(|(_, _, role)| *role == Role::Agent).map(|(process, _, _)| process.id),
            agent: server.map_or_else(|| Untrusted::fixed(""), |(_, agent, _)| agent.into()),
            above: up_to_daemon(&table, &signatures, pid).map(|process| process.id).collect(),
            here: Here {
                host: host::name().into(),
                boot_id: host::boot_id().map(Untrusted::from),
                pid_namespace: host::pid_namespace(),
                processes: Processes::System { candidates, signatures },
            },
        }
    }

    /// Returns when a reported edit was done.
    pub(crate) fn by_now(&self) -> Timestamp {
        match self.here.processes {
            Processes::System { .. } => clock::now(),
            Processes::Recorded(_) => self.now,
        }
    }
}
