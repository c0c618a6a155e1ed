//! Which dead windows a person can bring back.

use super::State;
use crate::app::layer::Layer;
use crate::core::model::{Key, Untrusted, VerdictState};

impl State {
    /// Returns the sessions of the dead windows that are marked, else of the one that is open or selected.
    pub(crate) fn dead_sessions(&self, top: Option<&Layer>) -> Vec<Untrusted> {
        let marked = self.marks.iter().filter(|_| top.is_none());
        let chosen: Vec<&Key> = match self.marks.is_empty() || top.is_some() {
            true => {
                self.selected().filter(|_| top.is_none()).or_else(|| self.subject()).into_iter().collect()
            }
            false => marked.collect(),
        };
        let mut sessions: Vec<Untrusted> =
            chosen.into_iter().filter_map(|key| self.dead_session(key)).collect();
        sessions.dedup();
        sessions
    }

    fn dead_session(&self, key: &Key) -> Option<Untrusted> {
        let index = self.index.as_deref().filter(|_| key.machine().is_none())?;
        let of_death = index.death(key).and_then(|death| death.session());
        let of_need = || index.need(key)?.left()?.session.as_ref();
        let record = || {
            let key = index.target(key);
            let claim = || index.claim(key).map(|claim| &*claim.record);
            let record = index.record(key).or_else(claim)?;
            record.session_id.as_ref().filter(|_| record.verdict.state == VerdictState::Dead)
        };
        let stash = || index.left_stash(key).map(|stash| &stash.session);
        of_death.or_else(of_need).or_else(record).or_else(stash).cloned()
    }

    /// Returns the sessions whose windows the open page can bring back now.
    pub(crate) fn to_bring_back(&self) -> Vec<Untrusted> {
        let Some(Layer::BringBack { sessions, .. }) = self.layers.last() else { return Vec::new() };
        if self.bring_back.is_confirmed || self.options.access.is_read_only() {
            return Vec::new();
        }
        let found = self.bring_back.windows_of(sessions).unwrap_or_default();
        found.into_iter().filter(|one| one.refusal.is_none()).map(|one| one.session.clone()).collect()
    }
}
