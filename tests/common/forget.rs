//! Worlds with missing facts.

use std::collections::BTreeMap;
use std::sync::Arc;

use claimtop::core::model::{
    Certainty, ClaudeCode, ClockHistory, Details, InnerPids, Key, Medium, Others, ProcessId, ProcessState,
    RecordDetail, Report, Snapshot, VerdictState,
};

/// The highest certainty of each left-over process, and whether it may be ended.
pub(crate) type LeftOvers = BTreeMap<ProcessId, (Certainty, bool)>;

/// The verdict on each record.
pub(crate) type Verdicts = BTreeMap<Key, VerdictState>;

/// The highest certainty of each left-over working tree.
pub(crate) type LeftTrees = BTreeMap<Key, Certainty>;

/// Returns every record's verdict by key.
pub(crate) fn verdicts(report: &Report) -> Verdicts {
    report.records().map(|record| (record.key.clone(), record.verdict.state)).collect()
}

/// Returns the highest certainty of every left-over's topmost process and of those below it, and whether each may be
/// ended.
pub(crate) fn left_overs(report: &Report) -> LeftOvers {
    let mut all = LeftOvers::new();
    for (one, member) in report.left_overs.iter().flat_map(|one| one.tree.iter().map(move |id| (one, id))) {
        let known = all.entry(member.id).or_insert((one.certainty, false));
        *known = (known.0.min(one.certainty), known.1 || one.may_be_ended());
    }
    all
}

/// Returns the certainty of every left-over working tree, by key.
pub(crate) fn left_trees(report: &Report) -> LeftTrees {
    report.left_trees.iter().map(|one| (one.key.clone(), one.certainty)).collect()
}

/// Forgets some facts of a snapshot, chosen by `seed`: processes, their parts, records, agents seen earlier, facts of
/// the host. The remaining facts stay true.
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
    let known = snapshot.records.len();
    snapshot.records.retain(|_| dice.roll(chance) != 0);
    if snapshot.records.len() < known {
        // A row that was not read leaves its database incomplete.
        snapshot.databases.iter_mut().for_each(|database| database.is_complete = false);
    }
    for record in &mut snapshot.records {
        if dice.roll(chance) == 0 {
            Arc::make_mut(record).ownership.medium = Medium::Unknown;
        }
        if dice.roll(chance) == 0
            && let RecordDetail::ClaudeCode(ClaudeCode::Session(status)) = &mut Arc::make_mut(record).detail
        {
            status.follows_turns = false;
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
    snapshot.traces.retain(|_| dice.roll(chance) != 0);
    for trace in &mut snapshot.traces {
        if dice.roll(chance) == 0 {
            trace.origin = None;
        }
        trace.tasks.retain(|_| dice.roll(chance) != 0);
        trace.adopted_by = trace.adopted_by.take().filter(|_| dice.roll(chance) != 0);
        if dice.roll(chance) == 0 {
            // A live outer window needs it, and only the observed descent shows that.
            trace
                .seen_below
                .retain(|seen| full.processes.get(seen.id.pid).is_some_and(|one| one.id == seen.id));
        }
        if dice.roll(chance) == 0 {
            trace.argv.clear();
        }
        if let Some(origin) = trace.origin.as_mut() {
            origin.session = origin.session.take().filter(|_| dice.roll(chance) != 0);
        }
        trace.hindrance = trace.hindrance.take().filter(|_| dice.roll(chance) != 0);
        trace.interaction = trace.interaction.take().filter(|_| dice.roll(chance) != 0);
        trace.input = trace.input.take().filter(|_| dice.roll(chance) != 0);
        trace.server = trace.server.take().filter(|_| dice.roll(chance) != 0);
        trace.memory = trace.memory.take().filter(|_| dice.roll(chance) != 0);
        trace.cpu_time = trace.cpu_time.take().filter(|_| dice.roll(chance) != 0);
        trace.ports.retain(|_| dice.roll(chance) != 0);
        for port in &mut trace.ports {
            port.clients = port.clients.take().filter(|_| dice.roll(chance) != 0);
        }
    }
    snapshot.unfinished.retain(|_| dice.roll(chance) != 0);
    snapshot.git_commands.retain(|_| dice.roll(chance) != 0);
    snapshot.call_waits.retain(|_| dice.roll(chance) != 0);
    snapshot.forecasts.retain(|_| dice.roll(chance) != 0);
    for command in &mut snapshot.git_commands {
        command.caller = command.caller.take().filter(|_| dice.roll(chance) != 0);
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
        if let Some(file) = &mut database.file {
            file.named.is_whole &= dice.roll(chance) != 0;
            file.named.rows.retain(|_| dice.roll(chance) != 0);
        }
    }
    for repo in &mut snapshot.repos {
        repo.users = repo.users.take().filter(|_| dice.roll(chance) != 0);
        for tree in &mut repo.worktrees {
            tree.is_gone &= dice.roll(chance) != 0;
            if let Some(made) = &mut tree.made {
                made.users = made.users.take().filter(|_| dice.roll(chance) != 0);
            }
        }
    }
    let host = &mut snapshot.host;
    host.boot_id = host.boot_id.take().filter(|_| dice.roll(chance) != 0);
    if dice.roll(chance) == 0 {
        host.clock = ClockHistory::default();
    }
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
    details.credentials = details.credentials.take().filter(|_| dice.roll(chance) != 0);
    details.exe = details.exe.take().filter(|_| dice.roll(chance) != 0);
    details.cwd = details.cwd.take().filter(|_| dice.roll(chance) != 0);
    details.homes = details.homes.take().filter(|_| dice.roll(chance) != 0);
    details.has_certain_homes &= dice.roll(chance) != 0;
    details.is_cwd_gone &= dice.roll(chance) != 0;
    details.is_cwd_elsewhere &= dice.roll(chance) != 0;
    details.cwd_here = details.cwd_here.take().filter(|_| dice.roll(chance) != 0);
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
