//! What a new look changes, and what is measured or seen of the things that it shows.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::app::attention::news;
use crate::app::state::{Picture, State};
use crate::core::history::diff::diff;
use crate::core::history::timeline::Past;
use crate::core::model::{Household, Key, Member, ProcessId, Report};
use crate::present::change::news as news_of;
use crate::present::need::alike::merged;
use crate::present::report_index::{Index, keys_of_findings};

/// How long what was measured of a window's processes counts: to measure large ones takes milliseconds.
const MEASURED_FOR: SignedDuration = SignedDuration::from_secs(5);

impl State {
    /// Takes a report over as the shown one.
    pub(crate) fn take(&mut self, report: Arc<Report>) {
        let keys = keys_of_findings(&report);
        // What was shown goes before what is shown is put in order: there can be thousands of each.
        let shown = self.index.take();
        if let Some(shown) = &shown {
            news::follow(&mut self.news, shown, (&report, &keys));
        }
        let mut index = Index::with_keys(report, keys);
        index.members = shown.and_then(|shown| shown.members.clone());
        self.index = Some(Arc::new(index));
        self.show_needs();
        let Some(index) = &self.index else { return };
        // No key may be pressed for days.
        self.news.retain(|key| index.has(key));
    }

    /// Returns whose processes are to be measured: those of the window whose evidence is open, not more often
    /// than every 5 s. What is replayed or frozen is as it was.
    pub(crate) fn due_household(&mut self) -> Option<Household> {
        let key = self.layers.last()?.evidence()?;
        let index = self.index.as_ref()?;
        let is_live = self.picture == Picture::Live && self.options.replayed.is_none();
        let household = index.report.household(index.target(key)).filter(|_| is_live)?;
        let is_recent = |at: Timestamp| self.now.duration_since(at).abs() < MEASURED_FOR;
        let is_other = index.members(&household.key).is_empty();
        if !is_other && self.asked_members_at.is_some_and(is_recent) {
            return None;
        }
        self.asked_members_at = Some(self.now);
        Some(household)
    }

    /// Shows what was measured of the processes of a window.
    pub(crate) fn take_members(&mut self, window: Key, members: Vec<Member>) {
        if let Some(index) = self.index.as_mut().and_then(Arc::get_mut) {
            index.members = Some((window, members));
        }
    }

    /// Shows what needs a person by now, with the deaths and the windows that are done.
    pub(super) fn show_needs(&mut self) {
        let at = match self.picture {
            Picture::Live => Timestamp::MAX,
            Picture::Frozen(at) => at,
        };
        let Some(index) = self.index.as_mut().and_then(Arc::get_mut) else { return };
        index.needs = self.deaths.needs(&index.report, at);
        index.needs.extend(self.unseen.needs(&index.report));
        index.needs = merged(std::mem::take(&mut index.needs));
        index.deaths = self.deaths.reported(at);
    }

    /// Takes note that a person has looked at a window.
    pub(crate) fn see(&mut self, window: &Key) {
        if self.unseen.see(window) {
            self.show_needs();
            self.refresh();
        }
    }

    /// Takes note that a person has seen the selected death, or window that is done.
    pub(crate) fn acknowledge(&mut self) {
        if let Some(key) = self.selected().cloned() {
            let done = self.index.as_ref().and_then(|index| index.need(&key)).filter(|need| need.is_done());
            if let Some(window) = done.map(|need| need.subject.clone()) {
                return self.see(&window);
            }
            let need = self.index.as_ref().and_then(|index| index.need(&key)).cloned();
            self.deaths.acknowledge(&key, need.as_ref());
            self.show_needs();
            self.refresh();
        }
    }

    /// Adds what a report shows to what was observed, also while the picture is frozen, and
    /// returns it. The first report shows what is there and no change, and so does another machine's first report.
    pub(crate) fn observe(&mut self, report: &Arc<Report>) -> Vec<Arc<Past>> {
        // Going back in a recording undoes nothing.
        let is_back =
            |seen: &Arc<Report>| self.options.replayed.is_some() && report.taken_at <= seen.taken_at;
        if self.seen.as_ref().is_some_and(is_back) {
            return Vec::new();
        }
        self.activity.follow(report);
        let before = self.seen.replace(Arc::clone(report));
        let Some(before) = before else { return Vec::new() };
        if self.options.replayed.is_none() {
            self.deaths.follow(&before, report);
            self.unseen.follow(&before, report);
        }
        let known = self.ever_told.follow(&before, report);
        let past: Vec<Arc<Past>> = news_of(&diff(Some(&known), report)).map(Arc::new).collect();
        self.timeline.add(past.iter().cloned());
        past
    }

    /// Shows of a window that its process has exited, before the next look judges what that
    /// means; returns whether there is such a window. A frozen picture stays as it is.
    pub(crate) fn exit(&mut self, id: ProcessId) -> bool {
        let index = self.index.as_mut().filter(|_| self.picture == Picture::Live).and_then(Arc::get_mut);
        let is_shown = index.is_some_and(|index| index.exit(id));
        if is_shown {
            self.fill();
        }
        is_shown
    }
}
