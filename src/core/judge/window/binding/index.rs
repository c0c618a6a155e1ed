//! The notes of one look, sorted by what they prove.

use std::collections::{BTreeMap, HashMap};

use crate::core::judge::window::binding::holder::Holder;
use crate::core::model::{
    BoundSession, Evidence, NotedWait, Process, ProcessId, Reason, Record, Snapshot, Untrusted,
};

/// What the notes prove, by session.
#[derive(Default)]
pub(crate) struct Bindings<'a> {
    running: HashMap<&'a Untrusted, Vec<(&'a BoundSession, &'a Process)>>,
    gone: HashMap<&'a Untrusted, (&'a BoundSession, Reason)>,
    open: HashMap<&'a Untrusted, Reason>,
    by_pid: BTreeMap<u32, &'a BoundSession>,
    /// The waits that living processes have noted.
    waits: HashMap<&'a Untrusted, Vec<(&'a NotedWait, &'a Process)>>,
    /// The notes of this boot about processes that are gone, by their PIDs.
    gone_pids: BTreeMap<u32, Vec<&'a BoundSession>>,
    /// The sessions that living processes have run, by their notes.
    has_run: HashMap<&'a Untrusted, Vec<u32>>,
    partial: bool,
}

impl<'a> Bindings<'a> {
    /// Sorts the notes of a snapshot. Of several about one living process only the newest shows what it runs: the
    /// others are of sessions that it has left. So is the newest, if the process's own entry in its agent's registry
    /// was written later and names another session.
    /// agent's registry was written later and names another session.
    pub(crate) fn new(snapshot: &'a Snapshot, entries: &[(u32, &Record)]) -> Self {
        let mut all = Self { partial: snapshot.bound.partial.is_some(), ..Self::default() };
        let mut newest: BTreeMap<ProcessId, (&BoundSession, &Process)> = BTreeMap::new();
        for note in &snapshot.bound.notes {
            match note.holder(snapshot) {
                Holder::Lives(process) => {
                    all.has_run.entry(&note.session_id).or_default().push(process.id.pid);
                    let known = newest.entry(process.id).or_insert((note, process));
                    if known.0.since_boot_ms < note.since_boot_ms {
                        *known = (note, process);
                    }
                }
                Holder::Gone(reason) => {
                    all.gone.insert(&note.session_id, (note, reason));
                    if reason != Reason::OtherBoot {
                        all.gone_pids.entry(note.pid).or_default().push(note);
                    }
                }
                Holder::Unknown(reason) => drop(all.open.insert(&note.session_id, reason)),
            }
        }
        for wait in &snapshot.bound.waits {
            if let Holder::Lives(process) = wait.by.holder(snapshot) {
                all.waits.entry(&wait.by.session_id).or_default().push((wait, process));
            }
        }
        for session in &snapshot.bound.unreadable {
            all.open.insert(session, Reason::Unreadable);
        }
        let is_left = |note: &BoundSession, process: &Process| {
            let is_other = |session: &Untrusted| *session != note.session_id;
            entries.iter().any(|(pid, entry)| {
                let names_another = entry.session_id.as_ref().is_some_and(is_other);
                *pid == process.id.pid && names_another && entry.written_at > note.written_at
            })
        };
        for (note, process) in newest.into_values() {
            if is_left(note, process) {
                // Both are exact, and the entry may lag behind: this proves no death.
                all.open.entry(&note.session_id).or_insert(Reason::NoPid);
                continue;
            }
            all.running.entry(&note.session_id).or_default().push((note, process));
            all.by_pid.insert(process.id.pid, note);
        }
        all
    }

    /// Returns every living process that runs a session, with the note that states it.
    pub(crate) fn running(&self, session: &Untrusted) -> &[(&'a BoundSession, &'a Process)] {
        self.running.get(session).map_or(&[], Vec::as_slice)
    }

    /// Returns whether a living process has run a session according to a note, whatever it runs now.
    pub(crate) fn has_run(&self, pid: u32, session: &Untrusted) -> bool {
        self.who_ran(session).contains(&pid)
    }

    /// Returns the living processes that have run a session according to notes, whatever they run now.
    pub(crate) fn who_ran(&self, session: &Untrusted) -> &[u32] {
        self.has_run.get(session).map_or(&[], Vec::as_slice)
    }

    /// Returns every living process that runs a session, as evidence.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&'a Untrusted, u32, Evidence)> {
        self.by_pid.iter().map(|(pid, note)| (&note.session_id, *pid, note.evidence()))
    }

    /// Returns a note whose process is proven gone, and how.
    pub(crate) fn gone(&self, session: &Untrusted) -> Option<(&'a BoundSession, Reason)> {
        self.gone.get(session).copied()
    }

    /// Returns the notes of this boot about processes that had this PID and are proven gone.
    pub(crate) fn gone_with(&self, pid: u32) -> &[&'a BoundSession] {
        self.gone_pids.get(&pid).map_or(&[], Vec::as_slice)
    }

    /// Returns why a session may well run out of sight of this look.
    pub(crate) fn open(&self, session: &Untrusted) -> Option<Reason> {
        let unread = self.partial.then_some(Reason::Unreadable);
        self.open.get(session).copied().or(unread)
    }

    /// Returns the waits of a session that living processes have noted, each with its process.
    pub(crate) fn waits_of(&self, session: &Untrusted) -> &[(&'a NotedWait, &'a Process)] {
        self.waits.get(session).map_or(&[], Vec::as_slice)
    }

    /// Returns all waits that living processes have noted, by session.
    pub(crate) fn all_waits(&self) -> impl Iterator<Item = (&'a Untrusted, &[(&'a NotedWait, &'a Process)])> {
        self.waits.iter().map(|(session, waits)| (*session, waits.as_slice()))
    }

    /// Returns the newest note about the living process with this PID.
    pub(crate) fn newest_of(&self, pid: u32) -> Option<&'a BoundSession> {
        self.by_pid.get(&pid).copied()
    }
}
