//! The command that calls a person who is away from the terminal, and when it does not.

use jiff::civil::Time;
use serde::Deserialize;

use crate::core::model::text::named::named;

/// A command of a person's own that says what is new.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NotifyCommand {
    /// The program and its first arguments; the text is the last one. Empty if there is none.
    pub(crate) command: Vec<String>,
    /// When it is not called.
    pub(crate) quiet: Option<QuietHours>,
}

named! {
    /// What a person is called for, the least first; each includes those after it, as the screen ranks them.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
    pub(crate) enum AlertRank {
        /// A finished turn.
        #[default]
        Done = "done",
        /// A window that died with something left.
        Death = "death",
        /// A collision of windows.
        Collision = "collision",
        /// A window that waits for a person, has failed or is stuck.
        Wait = "wait",
    }
}

impl AlertRank {
    /// All of them, the least first.
    pub(crate) const ALL: [Self; 4] = [Self::Done, Self::Death, Self::Collision, Self::Wait];
}

/// A part of the day on a person's own clock, also one over midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct QuietHours {
    from: Time,
    to: Time,
}

impl TryFrom<String> for QuietHours {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let time = |text: &str| Time::strptime("%H:%M", text.trim()).ok();
        let hours = text.split_once('-').and_then(|(from, to)| Some((time(from)?, time(to)?)));
        match hours {
            Some((from, to)) if from != to => Ok(Self { from, to }),
            _ => Err(format!("{text:?} is no part of a day, such as \"22:00-07:00\"")),
        }
    }
}

impl QuietHours {
    /// Returns whether a time of the day is among them; their end is not.
    pub(crate) fn has(self, time: Time) -> bool {
        if self.from < self.to {
            self.from <= time && time < self.to
        } else {
            self.from <= time || time < self.to
        }
    }

    /// Returns them as the configuration file has them.
    pub(crate) fn text(self) -> String {
        format!("{}-{}", self.from.strftime("%H:%M"), self.to.strftime("%H:%M"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(hours: &str, quiet: &[&str], loud: &[&str]) {
        let hours = QuietHours::try_from(hours.to_owned()).unwrap();
        let is_quiet = |time: &&str| hours.has(Time::strptime("%H:%M", *time).unwrap());
        assert!(quiet.iter().all(is_quiet) && !loud.iter().any(is_quiet), "{hours:?}");
    }

    #[test]
    fn hours_may_go_over_midnight() {
        check("22:00-07:00", &["22:00", "23:59", "00:00", "06:59"], &["07:00", "12:00", "21:59"]);
        check("12:30-13:00", &["12:30", "12:59"], &["13:00", "12:29", "00:00"]);
        assert_eq!(QuietHours::try_from("9:00 - 9:30".to_owned()).unwrap().text(), "09:00-09:30");
        for nonsense in ["", "22:00", "22:00-22:00", "25:00-07:00", "22-7", "a-b"] {
            assert!(QuietHours::try_from(nonsense.to_owned()).is_err(), "{nonsense}");
        }
    }
}
