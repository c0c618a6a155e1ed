//! Which agents each process was seen below, for as long as this program runs: whoever erases its
//! environment still came from there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use crate::core::judge::agent::{Role, Signatures};
use crate::core::model::process::{Children, ancestry, has_exited};
use crate::core::model::{Process, ProcessId, ProcessTable, SeenBelow};

/// What was seen; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Descents(Arc<Mutex<BTreeMap<ProcessId, Vec<SeenBelow>>>>);

impl Descents {
    /// Notes who runs below living agents now, and forgets who has exited. Returns who was seen below one
    /// and is so no more.
    pub fn note(&self, table: &ProcessTable, signatures: &Signatures) -> BTreeSet<ProcessId> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
        let all = agents.iter().flat_map(|agent| children.below(agent.id.pid, |one| !has_exited(one)));
        let all: BTreeMap<ProcessId, &Process> = all.map(|process| (process.id, process)).collect();
        for (id, process) in &all {
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
    pub fn of(&self, id: ProcessId) -> Vec<SeenBelow> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned().unwrap_or_default()
    }
}

/// Returns a process as an agent that lives.
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
            session: *pid,
            pidfd_inode: None,
            has_exited: None,
            inner: InnerPids::Read([].into()),
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

    #[test]
    fn whoever_was_seen_below_agents_is_known_for_as_long_as_it_lives() {
        let signatures = Signatures::built_in().unwrap();
        let (descents, other) = <(Descents, Descents)>::default();
        let note = |all: &[(u32, u64, u32, &str)]| {
            descents.note(&table(all), &signatures).iter().map(|id| id.pid).collect::<Vec<u32>>()
        };
        let of = |pid, start_ticks| {
            let seen = descents.clone().of(ProcessId { pid, start_ticks });
            seen.iter().map(|one| one.id.pid).collect::<Vec<u32>>()
        };
        let outer = (10, 1, 1, "codex");
        assert_eq!(
            note(&[outer, (11, 2, 10, "sh"), (12, 3, 11, "codex"), (13, 4, 12, "node"), (14, 4, 1, "node")]),
            [] as [u32; 0]
        );
        assert_eq!(note(&[outer, (13, 4, 1, "node"), (14, 4, 1, "node")]), [13]);
        assert_eq!((of(13, 4), of(14, 4)), (vec![12, 10], vec![]));
        assert_eq!(note(&[(13, 4, 1, "node")]), [13]);
        assert_eq!(of(13, 4), [12, 10]);
        assert_eq!(note(&[(13, 5, 1, "node")]), [] as [u32; 0], "another has its PID");
        assert!(of(13, 4).is_empty() && other.of(ProcessId { pid: 13, start_ticks: 4 }).is_empty());
    }
}
