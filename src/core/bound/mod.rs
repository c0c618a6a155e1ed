//! Bound sessions: what an agent's own hook told claimtop about who runs a session.
//!
//! Such a note names one process beyond doubt, so it is the strongest evidence there is that a
//! session lives. It says nothing against another process: a session may be resumed elsewhere,
//! and one process may run several, so a note never excludes an owner and a gone process alone
//! never ends a session.

mod index;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::index::Bonds;
use crate::core::context::is_valid_id;
use crate::core::evidence::Evidence;
use crate::core::process::{Process, ProcessId, ProcessTable};
use crate::core::record::{Medium, StatedPid};
use crate::core::report::Reason;
use crate::core::snapshot::Snapshot;
use crate::core::text::Untrusted;
use crate::core::tombstone::Tombstone;
use crate::core::world::{has_booted_since, has_exited, may_live_here};

/// The name of the note's form.
pub const SCHEMA: &str = "claimtop.binding.v1";

/// One note: this session was run by this process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundSession {
    /// Always [`SCHEMA`].
    pub schema: Untrusted,
    /// The agent's session ID.
    pub session_id: Untrusted,
    /// Which agent, such as `claude-code`.
    pub agent: Untrusted,
    /// The host name.
    pub host: Untrusted,
    /// The boot ID.
    pub boot_id: Untrusted,
    /// The inode of the PID namespace that `pid` counts in.
    pub pid_namespace: u64,
    /// The agent's PID.
    pub pid: u32,
    /// Its start in clock ticks since boot.
    pub start_ticks: u64,
    /// The inode of its pidfd, unique for one boot, where the kernel has it.
    pub pidfd_inode: Option<u64>,
    /// The window's context ID.
    pub context_id: Untrusted,
    /// Where the agent worked.
    pub cwd: Option<Untrusted>,
    /// When it was written, by the wall clock.
    pub written_at: Timestamp,
    /// The same in milliseconds since boot: a clock that nobody can set, so of two notes about
    /// one process it tells which is the newer.
    pub since_boot_ms: u64,
}

/// All notes of one look.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Notes {
    /// What could be read.
    pub notes: Vec<Arc<BoundSession>>,
    /// The sessions of notes that are there and make no sense.
    pub unreadable: Vec<Untrusted>,
    /// Why notes may be missing; `None` when all were read.
    pub partial: Option<String>,
    /// What kind of file system they lie on.
    #[serde(default, skip_serializing_if = "Medium::is_local")]
    pub medium: Medium,
}

impl Notes {
    /// Returns whether every note that is there was read and makes sense.
    pub fn is_whole(&self) -> bool {
        self.partial.is_none() && self.unreadable.is_empty()
    }
}

/// What became of the process that a note names.
#[derive(Clone, Copy, Debug)]
pub enum Holder<'a> {
    /// It lives.
    Lives(&'a Process),
    /// It is proven gone.
    Gone(Reason),
    /// It cannot be told from here.
    Unknown(Reason),
}

impl BoundSession {
    /// Reads a note; `None` for anything that is not one.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        // A JSON list would also be taken for a struct.
        let is_object = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
        let note: Self = serde_json::from_slice(bytes).ok().filter(|_| is_object)?;
        let is_sound = note.schema.raw() == SCHEMA
            && is_valid_id(note.session_id.raw())
            && StatedPid::from_number(note.pid.into()).valid().is_some();
        is_sound.then_some(note)
    }

    /// Returns the name of its file: one for each session and process, so that two windows never
    /// write one file.
    pub fn file_name(&self) -> String {
        format!("{}.{}.json", self.session_id.raw(), self.pid)
    }

    /// Returns the process as its own namespace counts it.
    pub fn process(&self) -> ProcessId {
        ProcessId { pid: self.pid, start_ticks: self.start_ticks }
    }

    /// Returns the note as evidence.
    pub fn evidence(&self) -> Evidence {
        let value =
            format!("session {} is run by PID {}, as its own hook told", self.session_id.raw(), self.pid);
        Evidence::new(Untrusted::fixed("binding"), value, self.source()).at(self.written_at)
    }

    /// Returns where the note stands, within claimtop's own folder.
    pub fn source(&self) -> Untrusted {
        format!("bindings/{}", self.file_name()).into()
    }

    /// Decides what became of the process.
    pub fn holder<'a>(&self, snapshot: &'a Snapshot) -> Holder<'a> {
        let holder = self
            .elsewhere(snapshot)
            .or_else(|| self.by_pidfd(&snapshot.processes))
            .unwrap_or_else(|| self.by_pid(snapshot));
        match self.tombstone(snapshot) {
            Some(stone) => self.buried(stone, holder, snapshot),
            None => holder,
        }
    }

    fn tombstone<'a>(&self, snapshot: &'a Snapshot) -> Option<&'a Tombstone> {
        let is_ours = snapshot.host.pid_namespace == Some(self.pid_namespace)
            && snapshot.host.boot_id.as_deref() == Some(self.boot_id.raw());
        snapshot.tombstone(self.process()).filter(|_| is_ours)
    }

    /// Judges by an earlier proof of death, however little this look can see; where the process seems
    /// to live after all, nothing is certain.
    fn buried<'a>(&self, stone: &Tombstone, holder: Holder<'a>, snapshot: &Snapshot) -> Holder<'a> {
        match holder {
            Holder::Lives(_) => Holder::Unknown(Reason::ProcessPresent),
            Holder::Unknown(_) if !snapshot.processes.listed.contains(&self.pid) => {
                Holder::Gone(stone.reason)
            }
            Holder::Unknown(_) | Holder::Gone(_) => holder,
        }
    }

    /// Judges machine and boot. A folder can be shared with another machine, whose boot differs
    /// as well: so another boot proves something of this machine's own notes only.
    /// And it proves nothing of a note that was written since this machine booted, or whose process
    /// lives here: containers can have a boot ID of their own.
    fn elsewhere<'a>(&self, snapshot: &Snapshot) -> Option<Holder<'a>> {
        let host = &snapshot.host;
        match host.boot_id.as_deref() {
            None => Some(Holder::Unknown(Reason::Unreadable)),
            Some(boot) if boot == self.boot_id.raw() => None,
            Some(_) if !host.name.eq_ignore_ascii_case(self.host.raw()) => {
                Some(Holder::Unknown(Reason::OtherHost))
            }
            Some(_) if may_live_here(&snapshot.processes, self.pid, self.start_ticks) => {
                Some(Holder::Unknown(Reason::OtherNamespace))
            }
            Some(_) if has_booted_since(host, self.written_at, snapshot.bound.medium) => {
                Some(Holder::Gone(Reason::OtherBoot))
            }
            Some(_) => Some(Holder::Unknown(Reason::OtherHost)),
        }
    }

    /// Finds the process by what names it in every namespace of this boot.
    fn by_pidfd<'a>(&self, table: &'a ProcessTable) -> Option<Holder<'a>> {
        let inode = self.pidfd_inode?;
        let process = table.by_pid.values().find(|process| process.pidfd_inode == Some(inode))?;
        Some(living(process))
    }

    fn by_pid<'a>(&self, snapshot: &'a Snapshot) -> Holder<'a> {
        if snapshot.host.pid_namespace != Some(self.pid_namespace) {
            return Holder::Unknown(Reason::OtherNamespace);
        }
        let table = &snapshot.processes;
        match table.get(self.pid) {
            Some(process) if self.is(process) => living(process),
            Some(process) if process.has_start(self.start_ticks).is_none() => {
                Holder::Unknown(Reason::OtherNamespace)
            }
            // The PID was another's before the noted one began, so it counts elsewhere.
            Some(process) if process.id.start_ticks < self.start_ticks => {
                Holder::Unknown(Reason::OtherNamespace)
            }
            Some(_) => Holder::Gone(Reason::OtherProcess),
            None if table.listed.contains(&self.pid) => Holder::Unknown(Reason::NoPermission),
            None if table.partial.is_some() => Holder::Unknown(Reason::PartialScan),
            None => Holder::Gone(Reason::NoProcess),
        }
    }

    /// Returns whether this is the process: start and, where both are known, pidfd inode agree.
    fn is(&self, process: &Process) -> bool {
        let inodes = self.pidfd_inode.zip(process.pidfd_inode);
        process.id == self.process() && inodes.is_none_or(|(own, found)| own == found)
    }
}

fn living(process: &Process) -> Holder<'_> {
    if has_exited(process) { Holder::Gone(Reason::Exited) } else { Holder::Lives(process) }
}
