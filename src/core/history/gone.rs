//! The fate of windows that a look does not show any more.

use std::cell::OnceCell;
use std::collections::HashMap;

use crate::core::model::snapshot::is_read_here;
use crate::core::model::{EndedWindow, Key, Report, WindowState, WindowView};

/// The keys of two looks that name one process: a window is shown under the key of the machine that is nearest to it,
/// which comes and goes.
pub(crate) struct Names<'a> {
    others: HashMap<&'a Key, Vec<&'a Key>>,
    ended: HashMap<&'a Key, &'a EndedWindow>,
    now: &'a Report,
    /// The windows that the later look shows: computed when a window has ended.
    shown: OnceCell<HashMap<&'a Key, &'a WindowView>>,
}

impl<'a> Names<'a> {
    /// Records the keys in both looks, and the windows that have ended by the later one.
    pub(crate) fn compare(before: &'a Report, now: &'a Report) -> Self {
        let mut others: HashMap<&Key, Vec<&Key>> = HashMap::new();
        for (one, other) in before.shown_once.iter().chain(&now.shown_once) {
            others.entry(one).or_default().push(other);
            others.entry(other).or_default().push(one);
        }
        let mut ended = HashMap::new();
        now.ended.iter().for_each(|one| {
            ended.entry(&one.window).or_insert(one);
        });
        Self { others, ended, now, shown: OnceCell::new() }
    }

    /// Returns every key of this process, the given one first.
    fn all<'b>(&'b self, key: &'b Key) -> Vec<&'b Key> {
        let mut all = vec![key];
        let mut at = 0;
        while let Some(name) = all.get(at).copied() {
            for other in self.others.get(name).into_iter().flatten() {
                if !all.contains(other) {
                    all.push(other);
                }
            }
            at += 1;
        }
        all
    }

    /// Returns this process as windows show it, under another key.
    pub(crate) fn find<'b>(&self, key: &Key, windows: &'b [WindowView]) -> Option<&'b WindowView> {
        self.others.get(key)?;
        let all = self.all(key);
        windows.iter().find(|window| window.key != *key && all.contains(&&window.key))
    }

    /// Returns the proof that a window of the look before has ended, under any of its keys: `None` if any still
    /// belongs to a running one.
    pub(crate) fn proof(&self, key: &Key) -> Option<&'a EndedWindow> {
        // Usually no window has ended, and none has two keys.
        if !self.ended.contains_key(key) && !self.others.contains_key(key) {
            return None;
        }
        let all = self.all(key);
        let mut proofs = all.iter().filter_map(|key| self.ended.get(key).copied());
        let proof = proofs.find(|ended| is_believed(ended, &all, self.now))?;
        let shown = || self.now.windows.iter().map(|window| (&window.key, window)).collect();
        let shown = self.shown.get_or_init(shown);
        let runs = |window: &WindowView| {
            window.state != WindowState::Zombie && !self.ended.contains_key(&window.key)
        };
        (!all.iter().filter_map(|key| shown.get(key)).any(|window| runs(window))).then_some(proof)
    }
}

/// Returns whether a proof counts. For a process that was seen here, another machine proves nothing while not all
/// processes here were read: it may be among the unread ones.
fn is_believed(ended: &EndedWindow, names: &[&Key], now: &Report) -> bool {
    let was_seen_here = || names.iter().any(|key| key.machine().is_none());
    ended.window.machine().is_none() || !was_seen_here() || is_read_here(&now.sources)
}
