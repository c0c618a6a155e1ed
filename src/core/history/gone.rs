//! What became of windows that a look does not show any more.

use crate::core::model::snapshot::is_read_here;
use crate::core::model::{EndedWindow, Key, Report, WindowState, WindowView};

/// The keys of two looks that name one process: a window is shown under the key of the machine that is nearest to it,
/// which comes and goes.
pub(crate) struct Names<'a>(Vec<(&'a Key, &'a Key)>);

impl<'a> Names<'a> {
    /// Takes down what either look says of it.
    pub(crate) fn of(before: &'a Report, now: &'a Report) -> Self {
        Self(before.shown_once.iter().chain(&now.shown_once).map(|(one, other)| (one, other)).collect())
    }

    /// Returns every key of this process, the given one first.
    pub(crate) fn all(&self, key: &'a Key) -> Vec<&'a Key> {
        let mut all = vec![key];
        let mut at = 0;
        while let Some(name) = all.get(at).copied() {
            let pairs = self.0.iter().filter(|(one, other)| *one == name || *other == name);
            for other in pairs.flat_map(|(one, other)| [*one, *other]) {
                if !all.contains(&other) {
                    all.push(other);
                }
            }
            at += 1;
        }
        all
    }

    /// Returns this process as windows show it, under whichever key.
    pub(crate) fn find(&self, key: &'a Key, windows: &'a [WindowView]) -> Option<&'a WindowView> {
        // Mostly no window has two keys, and whoever asks has looked for this one.
        let others = self.all(key);
        let others = others.get(1..).filter(|others| !others.is_empty())?;
        windows.iter().find(|window| others.contains(&&window.key))
    }

    /// Returns what proves that a window of the look before has ended, under whichever of its keys: nothing where any
    /// is still that of one which runs.
    pub(crate) fn proof(&self, key: &'a Key, now: &'a Report) -> Option<&'a EndedWindow> {
        let all = self.all(key);
        let counts = |ended: &&EndedWindow| all.contains(&&ended.window) && is_believed(ended, &all, now);
        let proof = now.ended.iter().find(counts)?;
        let is_ended = |key: &Key| now.ended.iter().any(|ended| ended.window == *key);
        let runs = |window: &WindowView| window.state != WindowState::Zombie && !is_ended(&window.key);
        let mut shown = now.windows.iter().filter(|window| all.contains(&&window.key));
        (!shown.any(runs)).then_some(proof)
    }
}

/// Returns whether a proof counts. Of a process that was seen here, another machine proves nothing while not all
/// processes here were read: it may be among those that were not.
fn is_believed(ended: &EndedWindow, names: &[&Key], now: &Report) -> bool {
    let was_seen_here = || names.iter().any(|key| key.machine().is_none());
    ended.window.machine().is_none() || !was_seen_here() || is_read_here(&now.sources)
}
