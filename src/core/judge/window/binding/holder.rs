//! The fate of the process that a note names.

use crate::core::judge::clock::has_booted_since;
use crate::core::model::snapshot::process::has_exited;
use crate::core::model::{Absence, BoundSession, Process, ProcessTable, Reason, Snapshot, Tombstone};

/// The fate of the process that a note names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Holder<'a> {
    Lives(&'a Process),
    /// It is proven gone.
    Gone(Reason),
    /// It cannot be determined from here.
    Unknown(Reason),
}

impl BoundSession {
    /// Decides what became of the process.
    pub(crate) fn holder<'a>(&self, snapshot: &'a Snapshot) -> Holder<'a> {
        let holder = self
            .elsewhere(snapshot)
            .or_else(|| self.by_pidfd(&snapshot.processes))
            .unwrap_or_else(|| self.by_pid(snapshot));
        match self.tombstone(snapshot) {
            Some(stone) => self.with_tombstone(stone, holder, snapshot),
            None => holder,
        }
    }

    fn tombstone<'a>(&self, snapshot: &'a Snapshot) -> Option<&'a Tombstone> {
        let is_ours = snapshot.host.pid_namespace == Some(self.pid_namespace)
            && snapshot.host.boot_id.as_deref() == Some(self.boot_id.raw());
        snapshot.tombstone(self.process()).filter(|_| is_ours)
    }

    /// Judges by an earlier proof of death, however little this look can see; if the process seems
    /// to live after all, nothing is certain.
    fn with_tombstone<'a>(&self, stone: &Tombstone, holder: Holder<'a>, snapshot: &Snapshot) -> Holder<'a> {
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
            Some(_) if snapshot.processes.may_have(self.process()) => {
                Some(Holder::Unknown(Reason::OtherNamespace))
            }
            Some(_) if has_booted_since(host, self.written_at, snapshot.bound.medium) => {
                Some(Holder::Gone(Reason::OtherBoot))
            }
            Some(_) => Some(Holder::Unknown(Reason::OtherHost)),
        }
    }

    /// Finds the process by the identifiers that hold in every namespace of this boot.
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
            // The PID belonged to another process before the noted one began, so it counts elsewhere.
            Some(process) if process.id.start_ticks < self.start_ticks => {
                Holder::Unknown(Reason::OtherNamespace)
            }
            Some(_) => Holder::Gone(Reason::OtherProcess),
            None => match table.absence(self.pid) {
                Absence::Unreadable => Holder::Unknown(Reason::NoPermission),
                Absence::Unproven(_) => Holder::Unknown(Reason::PartialScan),
                Absence::Proven => Holder::Gone(Reason::NoProcess),
            },
        }
    }

    /// Returns whether this is the process: start and, if both are known, pidfd inode agree.
    fn is(&self, process: &Process) -> bool {
        let inodes = self.pidfd_inode.zip(process.pidfd_inode);
        process.id == self.process() && inodes.is_none_or(|(own, found)| own == found)
    }
}

fn living(process: &Process) -> Holder<'_> {
    if has_exited(process) { Holder::Gone(Reason::Exited) } else { Holder::Lives(process) }
}
