//! The windows whose turn ended while this screen was open, until a person has looked at them.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::core::model::{Key, KeyKind, Need, NeedKind, Report, WindowDoing, WindowView};

/// The windows that are done and not yet seen by a person, and since when they are done.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnseenWindows(BTreeMap<Key, Timestamp>);

impl UnseenWindows {
    /// Takes in a look that follows another.
    pub(crate) fn follow(&mut self, before: &Report, now: &Report) {
        let was_busy: BTreeSet<&Key> =
            before.windows.iter().filter(|window| is_busy(window)).map(|window| &window.key).collect();
        for window in &now.windows {
            if !is_done(window) {
                self.0.remove(&window.key);
            } else if was_busy.contains(&window.key) {
                self.0.insert(window.key.clone(), window.doing_since.unwrap_or(now.taken_at));
            }
        }
        let known: BTreeSet<&Key> = now.windows.iter().map(|window| &window.key).collect();
        self.0.retain(|key, _| known.contains(key));
    }

    /// Notes that a person has looked at a window; returns whether that is news.
    pub(crate) fn see(&mut self, window: &Key) -> bool {
        self.0.remove(window).is_some()
    }

    /// Returns what they need, the oldest first.
    pub(crate) fn needs(&self, report: &Report) -> Vec<Need> {
        let windows = report.windows.iter().filter(|window| is_done(window));
        let mut needs: Vec<Need> = windows
            .filter_map(|window| {
                let since = *self.0.get(&window.key)?;
                let asked = window.work.as_ref().and_then(|work| work.doing.prompt.as_ref());
                let kind = NeedKind::Done { asked: asked.map(|prompt| prompt.text.clone()) };
                let key = Key::derive(KeyKind::Need, &["done", window.key.as_str()]);
                Some(Need { key, subject: window.key.clone(), kind, since: Some(since) })
            })
            .collect();
        needs.sort_by_key(|need| need.since);
        needs
    }
}

/// Returns whether the turn of a window is not over.
fn is_busy(window: &WindowView) -> bool {
    matches!(
        window.doing,
        Some(WindowDoing::Working | WindowDoing::Quiet | WindowDoing::Asks | WindowDoing::Stuck)
    )
}

fn is_done(window: &WindowView) -> bool {
    window.doing == Some(WindowDoing::YourTurn)
}
