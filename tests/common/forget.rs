//! Worlds of which something is not known.

use std::collections::BTreeMap;
use std::sync::Arc;

use claimtop::core::assess::{Policy, assess};
use claimtop::core::judge::agent::Signatures;
use claimtop::core::model::{Details, InnerPids, Key, Medium, Others, ProcessState, Snapshot, VerdictState};

/// Returns every record's verdict by key.
pub(crate) fn verdicts(snapshot: &Snapshot) -> BTreeMap<Key, VerdictState> {
    let signatures = Signatures::built_in().expect("signatures");
    let report = assess(snapshot, &Policy { signatures });
    report.records().map(|record| (record.key.clone(), record.verdict.state)).collect()
}

/// Forgets some facts of a snapshot, chosen by `seed`: processes, their parts, records, agents
/// seen earlier, facts of the host. What is not forgotten stays true.
pub(crate) fn forget(full: &Snapshot, seed: u64) -> Snapshot {
    let mut dice = Dice(seed | 1);
    let mut snapshot = full.clone();
    let chance = 2 + dice.roll(6);
    snapshot.processes.by_pid.retain(|_, _| dice.roll(chance) != 0);
    for process in snapshot.processes.by_pid.values_mut() {
        if dice.roll(chance) == 0 {
            process.details = None;
        }
        if dice.roll(chance) == 0 {
            process.inner = InnerPids::Unread;
        }
        if process.state != ProcessState::Zombie && dice.roll(chance) == 0 {
            process.has_exited = None;
        }
        if let Some(details) = process.details.as_mut() {
            forget_details(details, &mut dice, chance);
        }
    }
    snapshot.processes.threads.retain(|_, _| dice.roll(chance) != 0);
    snapshot.records.retain(|_| dice.roll(chance) != 0);
    for record in &mut snapshot.records {
        if dice.roll(chance) == 0 {
            Arc::make_mut(record).ownership.medium = Medium::Unknown;
        }
    }
    snapshot.seen_agents.retain(|_| dice.roll(chance) != 0);
    let known = snapshot.bound.notes.len();
    snapshot.bound.notes.retain(|_| dice.roll(chance) != 0);
    snapshot.bound.waits.retain(|_| dice.roll(chance) != 0);
    snapshot.bound.contexts.retain(|_, _| dice.roll(chance) != 0);
    if dice.roll(chance) == 0 {
        snapshot.bound.medium = Medium::Unknown;
    }
    if snapshot.bound.notes.len() < known {
        snapshot.bound.partial = Some("forgotten".to_owned());
    }
    snapshot.homes.retain(|_| dice.roll(chance) != 0);
    snapshot.work.retain(|_| dice.roll(chance) != 0);
    snapshot.session_files.retain(|_| dice.roll(chance) != 0);
    for file in &mut snapshot.session_files {
        if dice.roll(chance) == 0 {
            (file.medium, file.others) = (Medium::Unknown, Others::Unknown);
        }
    }
    let stones = snapshot.tombstones.iter().filter(|_| dice.roll(chance) != 0);
    snapshot.tombstones = stones.cloned().collect();
    snapshot.databases.retain(|_| dice.roll(chance) != 0);
    for database in &mut snapshot.databases {
        database.is_complete &= dice.roll(chance) != 0;
        database.opened_by = database.opened_by.take().filter(|_| dice.roll(chance) != 0);
        database.file = database.file.take().filter(|_| dice.roll(chance) != 0);
    }
    for repo in &mut snapshot.repos {
        repo.users = repo.users.take().filter(|_| dice.roll(chance) != 0);
    }
    let host = &mut snapshot.host;
    host.boot_id = host.boot_id.take().filter(|_| dice.roll(chance) != 0);
    host.boot_at = host.boot_at.take().filter(|_| dice.roll(chance) != 0);
    host.machine_id = host.machine_id.take().filter(|_| dice.roll(chance) != 0);
    host.time_namespace = host.time_namespace.take().filter(|_| dice.roll(chance) != 0);
    host.pid_namespace = host.pid_namespace.take().filter(|_| dice.roll(chance) != 0);
    if dice.roll(chance) == 0 {
        snapshot.processes.partial = Some("forgotten".to_owned());
    }
    snapshot
}

fn forget_details(details: &mut Details, dice: &mut Dice, chance: u64) {
    details.uid = details.uid.filter(|_| dice.roll(chance) != 0);
    details.exe = details.exe.take().filter(|_| dice.roll(chance) != 0);
    details.cwd = details.cwd.take().filter(|_| dice.roll(chance) != 0);
    details.homes = details.homes.take().filter(|_| dice.roll(chance) != 0);
    details.has_certain_homes &= dice.roll(chance) != 0;
    details.is_kernels &= dice.roll(chance) != 0;
    if dice.roll(chance) == 0 {
        details.argv.clear();
    }
    if dice.roll(chance) == 0 {
        details.env.clear();
    }
}

/// A small generator (xorshift), so that a seed replays.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) % sides
    }
}
