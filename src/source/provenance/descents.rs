//! The agents below which each process was seen, by this claimtop or an earlier one: a process that erases its
//! environment still came from there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use crate::core::judge::tombstone::descent::SeenBelowMap;
use crate::core::judge::window::agent::{Role, Signatures};
use crate::core::model::snapshot::process::{Children, ancestry, has_exited};
use crate::core::model::{Descent, Host, Process, ProcessId, ProcessTable, SeenBelow};

/// The observations; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Descents(Arc<Mutex<SeenBelowMap>>);

impl Descents {
    /// Takes over kept descents of processes that live here: not of a process with another start, nor of another boot
    /// or PID namespace.
    pub fn recall(&self, kept: &[Descent], host: &Host, table: &ProcessTable) {
        let mut seen = self.lock();
        for one in kept.iter().filter(|one| one.counts_on(host)) {
            if table.get(one.id.pid).is_some_and(|process| process.id == one.id && !has_exited(process)) {
                let known = seen.entry(one.id).or_default();
                let new = one.below.iter().filter(|new| !known.iter().any(|known| known.id == new.id));
                let new: Vec<SeenBelow> = new.cloned().collect();
                known.extend(new);
            }
        }
    }

    /// Notes the processes that run below living agents now, and forgets exited ones. Returns those that were seen
    /// below an agent and no longer are. A process that started in the very tick in which the look began is noted in
    /// the next look: until then another process may still get the same PID and start.
    pub fn note(
        &self,
        table: &ProcessTable,
        signatures: &Signatures,
        (host, began_at): (&Host, Timestamp),
    ) -> BTreeSet<ProcessId> {
        let mut seen = self.lock();
        seen.retain(|id, _| match table.get(id.pid) {
            Some(process) => process.id == *id,
            None => table.listed.contains(&id.pid),
        });
        let agents: Vec<&Process> =
            table.by_pid.values().filter(|process| agent(process, signatures).is_some()).collect();
        if agents.is_empty() {
            return seen.keys().copied().collect();
        }
        let children = Children::new(table);
        let all = agents.iter().flat_map(|agent| children.descendants(agent.id.pid, |one| !has_exited(one)));
        let all: BTreeMap<ProcessId, &Process> = all.map(|process| (process.id, process)).collect();
        for (id, process) in all.iter().filter(|(id, _)| host.is_past(id.start_ticks, began_at)) {
            let known = seen.entry(*id).or_default();
            let above = ancestry(table, process.parent).into_iter();
            for one in above.filter(|above| agents.iter().any(|agent| agent.id == above.id)) {
                if !known.iter().any(|known| known.id == one.id) {
                    known.extend(agent(one, signatures));
                }
            }
        }
        seen.keys().filter(|id| !all.contains_key(id)).copied().collect()
    }

    /// Returns the agents below which a process was seen, the nearest first.
    pub fn seen_below(&self, id: ProcessId) -> Vec<SeenBelow> {
        self.lock().get(&id).cloned().unwrap_or_default()
    }

    /// Reads all observations.
    pub fn read<T>(&self, read: impl FnOnce(&SeenBelowMap) -> T) -> T {
        read(&self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, SeenBelowMap> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a process as an agent if it is a living one.
fn agent(process: &Process, signatures: &Signatures) -> Option<SeenBelow> {
    let (signature, role) = signatures.classify(process)?;
    let is_one = role == Role::Agent && !has_exited(process);
    is_one.then(|| SeenBelow { id: process.id, agent: signature.name.as_str().into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::{Details, InnerPids, ProcessState};

    fn table(all: &[(u32, u64, u32, &str)]) -> ProcessTable {
        let process = |(pid, start_ticks, parent, comm): &(u32, u64, u32, &str)| Process {
            id: ProcessId { pid: *pid, start_ticks: *start_ticks },
            parent: *parent,
            state: ProcessState::Running,
            comm: (*comm).into(),
            tty: None,
            group: 0,
            session: *pid,
            pidfd_inode: None,
            has_exited: None,
            inner: InnerPids::Read([].into()),
            is_renamed: false,
            details: Some(Details {
                exe: Some(format!("/bin/{comm}").as_str().into()),
                argv: vec![(*comm).into()],
                ..Details::default()
            }),
        };
        let by_pid: BTreeMap<u32, Process> =
            all.iter().map(process).map(|process| (process.id.pid, process)).collect();
        ProcessTable { listed: by_pid.keys().copied().collect(), by_pid, ..ProcessTable::default() }
    }

    const BOOT: i64 = 1_000_000;

    fn host() -> Host {
        let boot_at = Some(Timestamp::from_second(BOOT).unwrap());
        Host { boot_at, ticks_per_second: 100, ..crate::source::os::host::host(Timestamp::UNIX_EPOCH) }
    }

    /// Returns a moment so many ticks after the boot.
    fn at(tick: i64) -> Timestamp {
        Timestamp::from_millisecond(1_000 * BOOT + 10 * tick).unwrap()
    }

    /// An observer that looks repeatedly.
    struct Looker(Descents, Signatures);

    impl Looker {
        fn new() -> Self {
            Self(Descents::default(), Signatures::built_in().unwrap())
        }

        fn note_at(&self, tick: i64, all: &[(u32, u64, u32, &str)]) -> Vec<u32> {
            self.0.note(&table(all), &self.1, (&host(), at(tick))).iter().map(|id| id.pid).collect()
        }

        fn note(&self, all: &[(u32, u64, u32, &str)]) -> Vec<u32> {
            self.note_at(100, all)
        }

        fn of(&self, pid: u32, start_ticks: u64) -> Vec<u32> {
            let seen = self.0.clone().seen_below(ProcessId { pid, start_ticks });
            seen.iter().map(|one| one.id.pid).collect()
        }
    }

    #[test]
    fn whoever_was_seen_below_agents_is_known_for_as_long_as_it_lives() {
        let (looker, other) = (Looker::new(), Looker::new());
        let outer = (10, 1, 1, "codex");
        assert_eq!(
            looker.note(&[
                outer,
                (11, 2, 10, "sh"),
                (12, 3, 11, "codex"),
                (13, 4, 12, "node"),
                (14, 4, 1, "node")
            ]),
            [] as [u32; 0]
        );
        assert_eq!(looker.note(&[outer, (13, 4, 1, "node"), (14, 4, 1, "node")]), [13]);
        assert_eq!((looker.of(13, 4), looker.of(14, 4)), (vec![12, 10], vec![]));
        assert_eq!(looker.note(&[(13, 4, 1, "node")]), [13]);
        assert_eq!(looker.of(13, 4), [12, 10]);
        assert_eq!(looker.note(&[(13, 5, 1, "node")]), [] as [u32; 0], "another has its PID");
        assert!(looker.of(13, 4).is_empty() && other.of(13, 4).is_empty());
    }

    /// Within one tick a PID can be given twice, and the second process is a stranger.
    #[test]
    fn nobody_is_noted_while_another_may_still_get_its_pid_and_start() {
        let looker = Looker::new();
        let child = [(10, 1, 1, "codex"), (13, 50, 10, "node")];
        let orphan = [(13, 50, 1, "node")];
        for tick in [50, 51] {
            looker.note_at(tick, &child);
            assert_eq!(looker.note_at(tick + 1, &orphan), [] as [u32; 0], "at tick {tick}");
        }
        looker.note_at(52, &child);
        assert_eq!(looker.note_at(53, &orphan), [13]);
    }

    #[test]
    fn what_is_kept_counts_for_that_very_process_in_its_boot_and_namespaces() {
        let host = host();
        let kept = Descent {
            id: ProcessId { pid: 13, start_ticks: 4 },
            host: host.name.as_str().into(),
            boot_id: host.boot_id.as_deref().unwrap_or_default().into(),
            pid_namespace: host.pid_namespace.unwrap(),
            time_namespace: host.time_namespace.unwrap(),
            below: vec![
                SeenBelow { id: ProcessId { pid: 12, start_ticks: 3 }, agent: "codex".into() },
                SeenBelow { id: ProcessId { pid: 10, start_ticks: 1 }, agent: "codex".into() },
            ],
            kept_at: at(60),
        };
        let orphan = [(13, 4, 1, "node"), (14, 4, 1, "node")];
        let recalled = |kept: Descent, all: &[(u32, u64, u32, &str)]| {
            let looker = Looker::new();
            looker.0.recall(&[kept], &host, &table(all));
            (looker.note(all), looker.of(13, 4))
        };
        assert_eq!(recalled(kept.clone(), &orphan), (vec![13], vec![12, 10]));
        let other_start = [(13, 5, 1, "node")];
        assert_eq!(recalled(kept.clone(), &other_start), (vec![], vec![]));
        for elsewhere in [
            Descent { boot_id: "another".into(), ..kept.clone() },
            Descent { pid_namespace: 1, ..kept.clone() },
            Descent { time_namespace: 1, ..kept.clone() },
            Descent { host: "another".into(), ..kept.clone() },
        ] {
            assert_eq!(recalled(elsewhere, &orphan), (vec![], vec![]));
        }
    }
}
