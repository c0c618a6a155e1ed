//! When the window of a left-over was last known to live, and when it was proven dead.

use jiff::{SignedDuration, Timestamp};

use super::case::Case;
use crate::core::judge::left_over::taken_over::CLAUDE;
use crate::core::model::{Record, Snapshot, Tombstone, Untrusted};

/// How long a window must have been dead before its processes count as left over: 120 s, in which another may take
/// them over.
const SETTLED: SignedDuration = SignedDuration::from_secs(120);

impl Case<'_> {
    /// Returns the PID of a window that runs a session, or may do so because its own is not known.
    pub(super) fn runs_on(&self, session: &Untrusted) -> Option<u32> {
        let world = self.world;
        let started = world.started_with(session.raw()).iter().map(|process| process.id.pid);
        let certain = world.pids_of_session(session).chain(started).next();
        let is_unknown =
            |pid: &u32| !world.sessions.contains_key(pid) && world.bindings.newest_of(*pid).is_none();
        let mut windows = world.windows.iter().filter(|window| window.agent == CLAUDE);
        certain.or_else(|| windows.find_map(|window| Some(window.process.id.pid).filter(is_unknown)))
    }

    /// Returns when its window was last known to live.
    pub(super) fn last_sign(&self) -> Option<Timestamp> {
        let work = self.world.snapshot.work.iter();
        let work = work.filter(|work| Some(&work.session) == self.origin.session.as_ref());
        self.signs().chain(work.map(|work| work.written_at)).max()
    }

    /// Returns when exactly this process of its window was known to live. Another may continue its session, so writes
    /// there prove nothing; nor does another machine's clock, or a file that is dated ahead.
    pub(super) fn signs(&self) -> impl Iterator<Item = Timestamp> {
        self.entries().map(|record| record.written_at).chain(self.seen_alive())
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &Record> {
        self.world.registered(self.window_pid).iter().copied().filter(|record| {
            let start = record.holder.as_ref().and_then(|holder| holder.start_ticks);
            let is_ours = record.medium().is_this_machines();
            is_ours
                && record.written_at <= self.world.snapshot.taken_at
                && start.is_some_and(|start| self.was_there_at(start))
        })
    }

    pub(super) fn seen_alive(&self) -> impl Iterator<Item = Timestamp> {
        let seen = self.world.seen(self.window_pid).iter();
        let seen = seen.filter(|seen| self.was_there_at(seen.id.start_ticks)).map(|seen| seen.last_seen_at);
        // Proves nothing if the clock was set back since.
        let is_sound = |stone: &&Tombstone| stone.seen_alive_at.is_some_and(|at| at <= stone.proven_at);
        seen.chain(self.stones().filter(is_sound).filter_map(|stone| stone.seen_alive_at))
    }

    /// Returns when its window was proven dead: the process that had that number when the left-over began. If a
    /// process that began later is known to have had it, an earlier one was dead.
    pub(super) fn deaths(&self) -> impl Iterator<Item = Timestamp> {
        self.own_stones().map(|stone| stone.proven_at)
    }

    fn own_stones(&self) -> impl Iterator<Item = &Tombstone> {
        let seen = self.world.seen(self.window_pid).iter().map(|seen| seen.id.start_ticks);
        let newest = seen.filter(|start| self.was_there_at(*start)).max().unwrap_or_default();
        self.stones().filter(move |stone| stone.id.start_ticks >= newest)
    }

    fn stones(&self) -> impl Iterator<Item = &Tombstone> {
        self.world.snapshot.tombstones.iter().filter(|stone| {
            stone.id.pid == self.window_pid
                && self.was_there_at(stone.id.start_ticks)
                && stone.counts_on(&self.world.snapshot.host)
        })
    }

    /// Returns those of them that are long past, however the clock was set since.
    pub(super) fn settled(&self) -> impl Iterator<Item = Timestamp> {
        let Snapshot { host, taken_at, .. } = self.world.snapshot;
        let settled = SETTLED.saturating_add(host.clock_doubt);
        let those = self.own_stones().filter(move |stone| stone.dead_for(host, *taken_at) >= settled);
        those.map(|stone| stone.proven_at)
    }

    /// Returns whether its window may have lived at a moment, and have ended soon after.
    pub(super) fn may_have_ended_after(&self, moment: Timestamp) -> bool {
        let soon = moment.checked_add(SETTLED).unwrap_or(Timestamp::MAX);
        !self.deaths().any(|dead| self.world.is_after(moment, dead))
            && !self.signs().any(|sign| self.world.is_after(sign, soon))
    }

    /// Returns whether it had begun by this tick.
    pub(super) fn was_there_at(&self, start_ticks: u64) -> bool {
        start_ticks <= self.process.id.start_ticks
    }
}
