//! How busy each window was in the last ten minutes, as far as the screen was open.

use std::collections::{BTreeMap, VecDeque};

use jiff::SignedDuration;

use crate::core::model::{Key, Report, WindowDoing, WindowView};

/// The length of one part of the line.
const PART: SignedDuration = SignedDuration::from_secs(30);
/// How many parts a line has: ten minutes.
const PARTS: usize = 20;
/// The most windows that are followed; the others have no line.
const MOST: usize = 1_000;

/// How busy the windows were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Activity {
    /// The newest part, counted from 1970.
    newest: i64,
    /// Of each window its levels, the oldest first; nothing where it was not seen.
    windows: BTreeMap<Key, VecDeque<Option<u8>>>,
}

impl Activity {
    /// Takes in a look.
    pub(crate) fn follow(&mut self, report: &Report) {
        let part = report.taken_at.as_second().div_euclid(PART.as_secs());
        self.go_to(part);
        for window in &report.windows {
            if self.windows.len() >= MOST && !self.windows.contains_key(&window.key) {
                continue;
            }
            let levels = self.windows.entry(window.key.clone()).or_insert_with(|| vec![None; PARTS].into());
            if let Some(level) = levels.back_mut() {
                *level = (*level).max(Some(level_of(window)));
            }
        }
    }

    /// Begins another part; windows that were not seen for ten minutes are forgotten.
    fn go_to(&mut self, part: i64) {
        let passed = usize::try_from(part - self.newest).unwrap_or(0).min(PARTS);
        self.newest = part;
        for levels in self.windows.values_mut() {
            levels.drain(..passed.min(levels.len()));
            levels.resize(PARTS, None);
        }
        self.windows.retain(|_, levels| levels.iter().any(Option::is_some));
    }

    /// Draws the line of a window, two parts in each character; empty for one that was not seen.
    pub(crate) fn line(&self, window: &Key) -> String {
        let Some(levels) = self.windows.get(window) else { return String::new() };
        let levels: Vec<u8> = levels.iter().map(|level| level.unwrap_or(0)).collect();
        levels.chunks(2).map(|pair| braille(pair.first().copied(), pair.get(1).copied())).collect()
    }
}

/// Returns how busy a window is, from 1 to 4: whether it works, and how much of a processor it takes.
fn level_of(window: &WindowView) -> u8 {
    let of_cpu = match window.cpu_percent {
        Some(percent) if percent >= 80.0 => 4,
        Some(percent) if percent >= 30.0 => 3,
        Some(percent) if percent >= 5.0 => 2,
        Some(_) | None => 0,
    };
    of_cpu.max(u8::from(window.doing == Some(WindowDoing::Working)))
}

/// Returns two columns of dots, each as high as its level (Unicode, braille patterns).
fn braille(left: Option<u8>, right: Option<u8>) -> char {
    let dots = |level: Option<u8>, dots: [u32; 4]| {
        dots.into_iter().take(usize::from(level.unwrap_or(0))).fold(0, |all, dot| all | dot)
    };
    let all = dots(left, [0x40, 0x04, 0x02, 0x01]) | dots(right, [0x80, 0x20, 0x10, 0x08]);
    char::from_u32(0x2800 + all).unwrap_or(' ')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing;

    #[test]
    fn a_line_has_ten_minutes_and_what_was_not_seen_is_empty() {
        let mut report = testing::busy();
        let key = report.windows[0].key.clone();
        report.windows[0].doing = Some(WindowDoing::YourTurn);
        report.windows[0].cpu_percent = Some(100.0);
        let mut activity = Activity::default();
        activity.follow(&report);
        let at = report.taken_at;
        report.windows[0].cpu_percent = Some(0.0);
        report.windows[0].doing = Some(WindowDoing::Working);
        report.taken_at = at + PART;
        activity.follow(&report);
        assert_eq!(activity.line(&key).chars().count(), 10);
        assert_eq!(activity.line(&key).chars().last(), Some('⣇'), "busy, then at work");
        report.taken_at = at + SignedDuration::from_mins(11);
        report.windows.remove(0);
        activity.follow(&report);
        assert_eq!(activity.line(&key), "");
    }
}
