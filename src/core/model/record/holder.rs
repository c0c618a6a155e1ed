//! What a record states about the process that owns it.

use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

use crate::core::model::{Domain, Untrusted};

/// Which process a stored PID is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The agent itself: its death is the window's death.
    Agent,
    /// A shell between the agent and the writer.
    Shell,
    /// A hook or another short-lived helper.
    Hook,
    /// A daemon that outlives or trails the agent.
    Daemon,
    /// The format does not fix it.
    Unknown,
}

impl Role {
    /// Returns the PID's role in words for people.
    pub(crate) fn whose(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Shell => "shell",
            Self::Hook => "helper",
            Self::Daemon => "daemon",
            Self::Unknown => "the format does not say whose",
        }
    }
}

/// A PID as stated in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StatedPid {
    /// A number that can be a process of a user: above 1 and at most 4,194,304, the kernel's
    /// `PID_MAX_LIMIT` (proc(5), `pid_max`).
    Valid(u32),
    /// 0, 1, negative, too large or not a number, as it was written.
    Bad(Untrusted),
}

impl StatedPid {
    /// Checks a number from a file.
    pub(crate) fn from_number(number: i128) -> Self {
        match u32::try_from(number) {
            Ok(pid) if (2..=4_194_304).contains(&pid) => Self::Valid(pid),
            _ => Self::Bad(Untrusted::new(number.to_string())),
        }
    }

    /// Returns the PID if it can be one.
    pub fn valid(&self) -> Option<u32> {
        match self {
            Self::Valid(pid) => Some(*pid),
            Self::Bad(_) => None,
        }
    }
}

/// How strongly a stored PID ties a session to a process; later is stronger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Binding {
    /// A kernel lock on the file that is held at this moment: usually by the process that took it, but a child may
    /// have inherited it and its parent be gone.
    Lock,
    /// A session file's PID, often a helper's.
    File,
    /// The PID of a session's row in a database: the one that a writer determined last.
    Row,
    /// A terminal ID that ends in a PID.
    TerminalSuffix,
    /// A marker that a hook wrote for its parent.
    Marker,
    /// The parent that a liveness daemon watches.
    Tick,
    /// PID, start and boot of the owner.
    Owner,
    /// The agent's own registry with PID and start.
    Registry,
}

/// What a record states about the process that owns it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "HolderParts", into = "HolderParts")]
pub struct Holder {
    /// The PID, if one is stored.
    pub pid: Option<StatedPid>,
    /// Which process the PID is.
    pub role: Role,
    /// How strongly it ties.
    pub binding: Binding,
    /// The start in clock ticks, if stored, or if a start in local time is that of one process.
    pub start_ticks: Option<u64>,
    /// The names beside the PID, if any is stored.
    pub names: Option<Box<HolderNames>>,
}

/// What identifies a process beside its PID. Most records store nothing of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HolderNames {
    /// The boot ID, if stored.
    pub boot_id: Option<Untrusted>,
    /// The host name, if stored.
    pub host: Option<Untrusted>,
    /// LEO's machine ID (`sha256("hostname-platform-arch")`, first 16 hex digits), if stored.
    pub machine_id: Option<Untrusted>,
    /// The name of the process, if stored.
    pub name: Option<Untrusted>,
    /// Where the PID counts, if stored.
    pub domain: Option<Domain>,
    /// The start in local time, to the second, if it is stored so (`ps -o lstart=` of macOS). Its time zone is not
    /// stored.
    pub local_start: Option<DateTime>,
}

impl HolderNames {
    /// Returns them as a holder stores them: `None` if all are empty.
    pub(crate) fn kept(self) -> Option<Box<Self>> {
        (self != Self::default()).then(|| self.into())
    }
}

/// The serialized form of a holder: with its names beside the rest.
#[derive(Serialize, Deserialize)]
struct HolderParts {
    pid: Option<StatedPid>,
    role: Role,
    binding: Binding,
    start_ticks: Option<u64>,
    boot_id: Option<Untrusted>,
    host: Option<Untrusted>,
    machine_id: Option<Untrusted>,
    name: Option<Untrusted>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    domain: Option<Domain>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    local_start: Option<DateTime>,
}

impl From<HolderParts> for Holder {
    fn from(parts: HolderParts) -> Self {
        let HolderParts {
            pid,
            role,
            binding,
            start_ticks,
            boot_id,
            host,
            machine_id,
            name,
            domain,
            local_start,
        } = parts;
        let names = HolderNames { boot_id, host, machine_id, name, domain, local_start }.kept();
        Self { pid, role, binding, start_ticks, names }
    }
}

impl From<Holder> for HolderParts {
    fn from(holder: Holder) -> Self {
        let Holder { pid, role, binding, start_ticks, names } = holder;
        let HolderNames { boot_id, host, machine_id, name, domain, local_start } =
            names.map_or_else(Default::default, |names| *names);
        Self { pid, role, binding, start_ticks, boot_id, host, machine_id, name, domain, local_start }
    }
}

/// Parses the start of a process in ticks, as in `/proc/<pid>/stat` (proc(5)).
pub(crate) fn stated_start(text: &str) -> Option<u64> {
    text.parse().ok().filter(is_start)
}

/// Returns whether a process can have started at a tick. Linux emulators may report 0 to each program as its own
/// start, at which no process started: it means nothing.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "it filters options")]
pub(crate) fn is_start(ticks: &u64) -> bool {
    *ticks != 0
}

impl Holder {
    /// Returns a holder of which only PID, role and binding are stored.
    pub fn new(pid: StatedPid, role: Role, binding: Binding) -> Self {
        Self { pid: Some(pid), role, binding, start_ticks: None, names: None }
    }

    /// Returns the holder of a lock that is held according to the kernel; 0 means an unknown holder.
    pub(crate) fn of_lock(pid: u32, role: Role) -> Self {
        let pid = (pid != 0).then(|| StatedPid::from_number(pid.into()));
        Self { pid, role, binding: Binding::Lock, start_ticks: None, names: None }
    }

    /// Returns the boot ID, if stored.
    pub fn boot_id(&self) -> Option<&Untrusted> {
        self.names.as_ref()?.boot_id.as_ref()
    }

    /// Returns the host name, if stored.
    pub fn host(&self) -> Option<&Untrusted> {
        self.names.as_ref()?.host.as_ref()
    }

    /// Returns LEO's machine ID, if stored.
    pub fn machine_id(&self) -> Option<&Untrusted> {
        self.names.as_ref()?.machine_id.as_ref()
    }

    /// Returns where the PID counts, if stored.
    pub fn domain(&self) -> Option<&Domain> {
        self.names.as_ref()?.domain.as_ref()
    }

    /// Returns the start in local time, if stored.
    pub fn local_start(&self) -> Option<DateTime> {
        self.names.as_ref()?.local_start
    }

    /// Returns the name of the process, if stored.
    pub fn name(&self) -> Option<&Untrusted> {
        self.names.as_ref()?.name.as_ref()
    }
}
