//! The windows of a world, and the briefs of each session.

use std::collections::{BTreeMap, BTreeSet};

/// How long a call that was held up may be repeated, and how long two calls without a transcript count as one.
const OVERRIDE_WITHIN: u64 = 600_000;
const AT_ONCE: u64 = 2_000;

pub(crate) struct Window {
    pub(crate) name: String,
    pub(crate) session: usize,
    pub(crate) agent: &'static str,
    /// `None` if a daemon runs its hooks.
    pub(crate) pid: Option<u32>,
    pub(crate) is_alive: bool,
    pub(crate) tree: usize,
    /// Its folder below the tree.
    pub(crate) below: &'static str,
}

#[derive(Default)]
pub(crate) struct Session {
    pub(crate) name: String,
    /// The windows that ran it, the last one last.
    pub(crate) windows: Vec<usize>,
    /// The window that has run it.
    pub(crate) parent: Option<usize>,
    /// The holds that were reported to it at a prompt, by working tree.
    pub(crate) told: BTreeMap<usize, BTreeSet<(usize, String)>>,
    pub(crate) held_up: Vec<HeldUp>,
    /// When it last edited a file with its own tools.
    pub(crate) edited: BTreeMap<(usize, String), Touched>,
    /// The working trees in which its last window was seen.
    pub(crate) shown: BTreeSet<usize>,
}

/// An edit: its number, and when.
#[derive(Clone, Copy)]
pub(crate) struct Touched {
    pub(crate) number: u64,
    pub(crate) at: u64,
}

/// A call that was held up.
#[derive(Clone)]
pub(crate) struct HeldUp {
    pub(crate) tree: usize,
    /// The files that it would have reached, with their owners.
    pub(crate) about: BTreeSet<(usize, String)>,
    /// Their fate: 0 in their place or in a commit, 1 put aside, 2 lost.
    pub(crate) harm: u8,
    pub(crate) at: u64,
    pub(crate) call: String,
    /// Whether a sub-agent made it, and not the session itself.
    pub(crate) is_sub_agents: bool,
    /// The model's answer that contained it.
    pub(crate) answer: u64,
    /// The number of the last edit in its way.
    pub(crate) newest: u64,
    /// The number of the last edit of all when such a call went through because of it.
    pub(crate) went_through: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    Alive,
    Dead,
    Unknown,
}

/// Returns whether a call with this name is made by a sub-agent of Claude Code.
pub(crate) fn is_of_sub_agent(call: &str) -> bool {
    call.ends_with('7')
}

impl Session {
    /// Returns whether a call passes, because a similar one was held up before and the model has read that.
    ///
    /// Once one has passed, that opens no edit made since then.
    pub(crate) fn has_heard(&mut self, now: &HeldUp, has_transcript: bool, edits: u64) -> bool {
        let is_twin = |past: &HeldUp| match has_transcript && !is_of_sub_agent(&past.call) {
            true => past.answer == now.answer,
            false => now.at - past.at < AT_ONCE,
        };
        let is_like = |past: &&HeldUp| {
            past.tree == now.tree
                && now.at - past.at <= OVERRIDE_WITHIN
                && now.about.is_subset(&past.about)
                && past.harm >= now.harm
                && past.is_sub_agents == now.is_sub_agents
                && past.went_through.is_none_or(|edits| now.newest <= edits)
        };
        let has_heard = self.held_up.iter().filter(is_like).any(|past| !is_twin(past));
        if has_heard {
            let concerns = |past: &&mut HeldUp| past.tree == now.tree && !past.about.is_disjoint(&now.about);
            self.held_up.iter_mut().filter(concerns).for_each(|past| past.went_through = Some(edits));
        }
        has_heard
    }
}
