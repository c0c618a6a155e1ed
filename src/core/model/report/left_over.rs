//! What windows leave running: the traces on processes, and whose each process is by them.

use ::core::net::IpAddr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::text::named::named;
use crate::core::model::{Evidence, Key, ProcessId, Untrusted};

/// What a process itself shows about its origin. Read for processes that may be left over; if they name a window, also
/// for their parents and what runs below them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// The process.
    #[serde(flatten)]
    pub id: ProcessId,
    /// Its process group (field 5 of `/proc/<pid>/stat`).
    pub group: u32,
    /// Its arguments, without the secrets in them.
    pub argv: Vec<Untrusted>,
    /// Its working folder.
    pub cwd: Option<Untrusted>,
    /// The origin according to its environment; `None` if that could not be read.
    pub origin: Option<Origin>,
    /// The sessions whose task output it writes to (descriptors 1 and 2).
    pub tasks: Vec<Untrusted>,
    /// The sessions that have taken over the tasks of its own session; `None` if that could not be read.
    #[serde(default = "nobody", skip_serializing_if = "is_nobody")]
    pub adopted_by: Option<Vec<Untrusted>>,
    /// The agents below which claimtop itself has seen it, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen_below: Vec<SeenBelow>,
    /// Its memory, shared pages counted in part: `Pss` of `/proc/<pid>/smaps_rollup`, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// The CPU time that it has used, in milliseconds (fields 14 and 15 of `/proc/<pid>/stat`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_time: Option<u64>,
    /// The TCP ports that it listens on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<Port>,
    /// The state of the other end of its standard input, if that is a socket or a pipe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<InputEnd>,
    /// The name under which an agent's configuration starts this very command line as a server of the Model
    /// Context Protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Untrusted>,
    /// What it is in the middle of; `None` if that was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hindrance: Option<Hindrance>,
    /// Whether a person may be working with it; `None` if that could not be read, in which case one may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interaction: Option<Interaction>,
}

/// The value that recordings of older versions assume.
fn nobody() -> Option<Vec<Untrusted>> {
    Some(Vec::new())
}

#[expect(clippy::ref_option, reason = "serde asks so")]
fn is_nobody(adopted_by: &Option<Vec<Untrusted>>) -> bool {
    adopted_by.as_ref().is_some_and(Vec::is_empty)
}

/// An agent below which a process was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenBelow {
    /// The agent's process.
    #[serde(flatten)]
    pub id: ProcessId,
    /// Which agent, such as `claude-code`.
    pub agent: Untrusted,
}

/// What a process is in the middle of and must not be ended during.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hindrance {
    /// Nothing of this kind.
    Nothing,
    /// The process with this PID traces it (`TracerPid` of `/proc/<pid>/status`); 0 if that counts in another PID
    /// namespace.
    Traced(u32),
    /// It waits in the kernel (state D of proc(5)): a signal would take effect only once that wait is over.
    Waiting,
    /// It has a lock of a git repository open.
    Locking(Untrusted),
}

/// The resources that a process uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// As [`Trace::memory`].
    pub memory: Option<u64>,
    /// As [`Trace::cpu_time`].
    pub cpu_time: Option<u64>,
}

/// A TCP port that a process listens on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Port {
    /// Its number.
    pub number: u16,
    /// The address that it listens on; `0.0.0.0` and `::` are all addresses.
    pub address: IpAddr,
    /// How many connections to it are open; `None` if that could not be read.
    pub clients: Option<u32>,
}

named! {
    /// What a process has open through which a person may be working with it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Interaction {
        /// Nothing of this kind.
        Nothing = "nothing",
        /// The master side of a terminal (pts(4)), in which something else runs.
        Terminals = "terminals",
        /// A connection to a display server, of X11 or Wayland, or its own socket as one.
        Display = "display",
        /// A connection to the D-Bus of a session, or its own socket as one.
        Bus = "bus",
        /// A virtual machine.
        Machine = "machine",
        /// A keyboard, a mouse or a similar device.
        Devices = "devices",
    }
}

named! {
    /// The other end of a process's standard input.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum InputEnd {
        /// A process has it open.
        Open = "open",
        /// No process has it open: the client is gone.
        Closed = "closed",
    }
}

/// What an environment shows of the process's starter. Nothing else of it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The agent that set the variables, such as `claude-code`.
    pub agent: Option<Untrusted>,
    /// The PID of the agent's process.
    pub pid: Option<u32>,
    /// The agent's session.
    pub session: Option<Untrusted>,
    /// Another program that may have passed the variables on.
    pub multiplexer: Option<Multiplexer>,
    /// Whether systemd states that it started this very process as a unit's main one (`SYSTEMD_EXEC_PID`,
    /// systemd.exec(5)).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unit: bool,
}

/// The terminal multiplexer that an environment names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Multiplexer {
    /// By the PID of its server.
    Server(u32),
    /// Its server is not named.
    Unnamed,
}

named! {
    /// How certain the owner of a process is, and that it is no longer needed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum Certainty {
        /// Its window is proven dead, and two independent facts prove that it came from that window.
        Exact = "exact",
        /// The same with one fact, or something is not known that an exact answer needs.
        Strong = "strong",
        /// It may just as well be a person's own.
        Guess = "guess",
        /// It is not known.
        Unknown = "unknown",
        /// Its owner lives.
        Held = "held",
    }
}

named! {
    /// The sort of process, as far as visible.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum LeftSort {
        /// A server of the Model Context Protocol, which its window had asked for.
        McpServer = "mcp-server",
        /// It listens on a port.
        Server = "server",
        /// A shell that an agent's tool has started.
        Shell = "shell",
        /// Anything else.
        Process = "process",
    }
}

/// One process of a left-over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// The process.
    #[serde(flatten)]
    pub id: ProcessId,
    /// The PID of its parent.
    pub parent: u32,
    /// Its start by the wall clock.
    pub started_at: Option<Timestamp>,
    /// What it runs, without secrets.
    pub command: Untrusted,
    /// Its working folder.
    pub folder: Option<Untrusted>,
    /// Its memory in bytes, shared pages counted in part.
    pub memory: Option<u64>,
    /// The CPU time that it has used, in milliseconds.
    pub cpu_time: Option<u64>,
    /// The TCP ports that it listens on.
    pub ports: Vec<Port>,
}

/// A process that a window has started and that outlives it, with all that it has started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LeftOver {
    /// Stable for as long as the process lives.
    pub key: Key,
    /// The topmost process.
    pub pid: u32,
    /// Its start in clock ticks since boot.
    pub start_ticks: u64,
    /// Its start by the wall clock.
    pub started_at: Option<Timestamp>,
    /// The process and all that it has started in turn, parents before their children.
    pub tree: Vec<Member>,
    /// The sort of process.
    pub sort: LeftSort,
    /// Its name in its agent's configuration.
    pub name: Option<Untrusted>,
    /// What it runs, without secrets.
    pub command: Untrusted,
    /// Its working folder.
    pub folder: Option<Untrusted>,
    /// Which agent started it, such as `claude-code`.
    pub agent: Option<Untrusted>,
    /// The PID of the window that started it.
    pub window_pid: Option<u32>,
    /// The current or last name of that window.
    pub window_name: Option<Untrusted>,
    /// When it ended: when it was proven dead, or else the last time in its record.
    pub window_ended_at: Option<Timestamp>,
    /// That window's session at that time.
    pub session: Option<Untrusted>,
    /// How certain all this is.
    pub certainty: Certainty,
    /// Why it is not more certain, or who holds it; empty if it is exact.
    pub why: String,
    /// Why it is never ended from here, regardless of what is known of it.
    pub refused: Option<String>,
    /// Its evidence.
    pub evidence: Vec<Evidence>,
}

impl Trace {
    /// Creates the trace of a process of which only what any user may read can be read.
    pub(crate) fn unread(id: ProcessId, argv: Vec<Untrusted>) -> Self {
        Self {
            id,
            group: 0,
            argv,
            cwd: None,
            origin: None,
            tasks: Vec::new(),
            adopted_by: None,
            seen_below: Vec::new(),
            memory: None,
            cpu_time: None,
            ports: Vec::new(),
            input: None,
            server: None,
            hindrance: None,
            interaction: None,
        }
    }

    /// Returns whether its environment names a window, or it was seen below one.
    pub(crate) fn names_window(&self) -> bool {
        self.window_pid().is_some()
    }

    /// Returns the PID of the window that it comes from: what was seen takes precedence over the environment.
    pub(crate) fn window_pid(&self) -> Option<u32> {
        self.seen_below.first().map(|seen| seen.id.pid).or_else(|| self.origin.as_ref()?.pid)
    }
}

impl LeftOver {
    /// Returns whether it belongs to its dead window beyond reasonable doubt.
    pub fn is_left(&self) -> bool {
        self.certainty <= Certainty::Strong
    }

    /// Returns whether it may be ended from here.
    pub fn may_be_ended(&self) -> bool {
        self.is_left() && self.refused.is_none()
    }

    /// Returns the processes below the topmost one.
    pub fn descendants(&self) -> &[Member] {
        self.tree.get(1..).unwrap_or_default()
    }

    /// Returns the memory of all its processes in bytes, as far as it was read.
    pub fn memory(&self) -> Option<u64> {
        memory(&self.tree)
    }

    /// Returns all ports that its processes listen on, each once.
    pub fn ports(&self) -> Vec<&Port> {
        let mut ports: Vec<&Port> = self.tree.iter().flat_map(|member| &member.ports).collect();
        ports.sort();
        ports.dedup_by_key(|port| port.number);
        ports
    }
}

/// Returns the memory of some processes in bytes, as far as it was read.
pub(crate) fn memory(of: &[Member]) -> Option<u64> {
    of.iter().filter_map(|member| member.memory).reduce(|sum, more| sum.saturating_add(more))
}
