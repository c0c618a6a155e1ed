//! What a person sets on the screen, with its effect at once.

use crate::config::notify::AlertRank;
use crate::config::{Alerts, Notify, Switch, Theme};

/// What can be set on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preference {
    Theme,
    Mouse,
    Title,
    Bell,
    Notify,
    NotifyFrom,
}

/// How it is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preferences {
    pub(crate) theme: Theme,
    pub(crate) mouse: Switch,
    pub(crate) alerts: Alerts,
}

impl Preference {
    /// Everything that can be set, in the order of the page.
    pub(crate) const ALL: [Self; 6] =
        [Self::Theme, Self::Mouse, Self::Title, Self::Bell, Self::Notify, Self::NotifyFrom];

    /// Returns its key in the configuration file.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Theme => "theme",
            Self::Mouse => "mouse",
            Self::Title => "title",
            Self::Bell => "bell",
            Self::Notify => "notify",
            Self::NotifyFrom => "notify_from",
        }
    }

    /// Says what it does.
    pub(crate) fn summary(self) -> &'static str {
        match self {
            Self::Theme => "the colours of the screen",
            Self::Mouse => {
                "clicks choose rows, tabs and keys; the terminal then selects text with Shift held"
            }
            Self::Title => "the terminal's title shows the most severe problems",
            Self::Bell => "the terminal's bell rings at a new problem or question",
            Self::NotifyFrom => "the least that rings, notifies or calls: done, death, collision, wait",
            Self::Notify => "the terminal asks the desktop for a notification, by the sequence that it knows",
        }
    }
}

impl Preferences {
    /// Returns the name of the present value, as the configuration file has it.
    pub(crate) fn value(&self, of: Preference) -> &'static str {
        let truth = |switch: Switch| if switch.is_on() { "true" } else { "false" };
        match of {
            Preference::Theme => self.theme.name(),
            Preference::Mouse => truth(self.mouse),
            Preference::Title => truth(self.alerts.title),
            Preference::Bell => truth(self.alerts.bell),
            Preference::Notify => self.alerts.notify.name(),
            Preference::NotifyFrom => self.alerts.from.name(),
        }
    }

    /// Returns the present value as TOML has it.
    pub(crate) fn literal(&self, of: Preference) -> String {
        match of {
            Preference::Mouse | Preference::Title | Preference::Bell => self.value(of).to_owned(),
            Preference::Theme | Preference::Notify | Preference::NotifyFrom => {
                format!("\"{}\"", self.value(of))
            }
        }
    }

    /// Changes one of them to its next value, or the first after the last.
    pub(crate) fn turn(&mut self, which: Preference) {
        let flipped = |switch: Switch| Switch::from_truth(!switch.is_on());
        match which {
            Preference::Theme => self.theme = after(&Theme::ALL, self.theme),
            Preference::Mouse => self.mouse = flipped(self.mouse),
            Preference::Title => self.alerts.title = flipped(self.alerts.title),
            Preference::Bell => self.alerts.bell = flipped(self.alerts.bell),
            Preference::Notify => {
                let all = [Notify::Off, Notify::Osc9, Notify::Osc777];
                self.alerts.notify = after(&all, self.alerts.notify);
            }
            Preference::NotifyFrom => self.alerts.from = after(&AlertRank::ALL, self.alerts.from),
        }
    }
}

/// Returns the value after one of a list.
fn after<T: Copy + PartialEq>(all: &[T], value: T) -> T {
    let at = all.iter().position(|one| *one == value).map_or(0, |at| at + 1);
    all.get(at).or(all.first()).copied().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_comes_back_to_its_value_after_all_others() {
        for which in Preference::ALL {
            let mut preferences = Preferences::default();
            let first = preferences.value(which);
            let mut seen = vec![first];
            loop {
                preferences.turn(which);
                if preferences.value(which) == first {
                    break;
                }
                seen.push(preferences.value(which));
            }
            let expected = match which {
                Preference::Theme => Theme::ALL.len(),
                Preference::Notify => 3,
                Preference::NotifyFrom => AlertRank::ALL.len(),
                Preference::Mouse | Preference::Title | Preference::Bell => 2,
            };
            seen.dedup();
            assert_eq!(seen.len(), expected, "{which:?}");
        }
    }
}
