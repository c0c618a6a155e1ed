//! When to call a person who is looking elsewhere, and with which words.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::config::{Alerts, Switch};
use crate::core::model::text::shown;
use crate::core::model::{Code, Finding, Report, Severity};
use crate::present::summary::Summary;

/// How long to be silent after a call; what comes meanwhile is told with the next one.
const SILENT_FOR: SignedDuration = SignedDuration::from_secs(30);
/// The most characters of a notification.
const LONGEST: usize = 160;

/// What reaches a person who is looking elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Alert {
    /// The terminal's title.
    Title(String),
    Bell,
    /// A notification of the desktop.
    Notification(String),
}

/// What a person has been told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attention {
    /// The look before; `None` before the first.
    known: Option<Arc<Report>>,
    /// What is to be told when the silence is over.
    untold: Vec<String>,
    called_at: Option<Timestamp>,
    title: String,
}

impl Attention {
    /// Takes in a look; returns what it is worth.
    pub(crate) fn take(&mut self, report: &Arc<Report>, alerts: Alerts) -> Vec<Alert> {
        let title = format!("claimtop: {}", Summary::of(report).words().join(", "));
        let mut made = Vec::new();
        if alerts.title == Switch::On && title != self.title {
            made.push(Alert::Title(title.clone()));
        }
        self.title = title;
        self.learn(report);
        let is_silent =
            self.called_at.is_some_and(|at| report.taken_at.duration_since(at).abs() < SILENT_FOR);
        if !self.untold.is_empty() && !is_silent {
            self.called_at = Some(report.taken_at);
            made.extend((alerts.bell == Switch::On).then_some(Alert::Bell));
            made.push(Alert::Notification(told(&std::mem::take(&mut self.untold))));
        }
        made
    }

    /// Notes which troubles are new. What was there at the start is on the screen.
    fn learn(&mut self, report: &Arc<Report>) {
        if let Some(known) = self.known.replace(Arc::clone(report)) {
            let known: Vec<&Finding> = urgent(&known).collect();
            let is_new = |finding: &&Finding| {
                known.binary_search_by(|one| one.identity().cmp(&finding.identity())).is_err()
            };
            let new = urgent(report).filter(is_new);
            self.untold.extend(new.map(|finding| shown(&finding.message.to_string())));
        }
    }
}

/// Returns what somebody must know of now, in the order of a report.
fn urgent(report: &Report) -> impl Iterator<Item = &Finding> {
    report.findings().filter(|finding| is_urgent(finding))
}

/// Returns whether somebody must know of a trouble now.
fn is_urgent(finding: &Finding) -> bool {
    finding.severity == Severity::Collision || finding.code == Code::DeadHolder
}

fn told(untold: &[String]) -> String {
    let first: String = untold.first().map_or_else(String::new, |text| text.chars().take(LONGEST).collect());
    match untold.len() {
        0 | 1 => first,
        many => format!("{first} (and {} more)", many - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::{busy, quiet};

    const ALL: Alerts = Alerts { title: Switch::On, bell: Switch::On, ..Alerts::DEFAULT };

    fn at(mut report: Report, seconds: i64) -> Arc<Report> {
        report.taken_at += SignedDuration::from_secs(seconds);
        Arc::new(report)
    }

    #[test]
    fn what_was_there_at_the_start_calls_nobody() {
        let made = Attention::default().take(&at(busy(), 0), ALL);
        assert!(matches!(made.as_slice(), [Alert::Title(_)]), "{made:?}");
    }

    #[test]
    fn a_new_trouble_calls_once() {
        let mut attention = Attention::default();
        attention.take(&at(quiet(), 0), ALL);
        let made = attention.take(&at(busy(), 1), ALL);
        assert!(
            matches!(made.as_slice(), [Alert::Title(_), Alert::Bell, Alert::Notification(_)]),
            "{made:?}"
        );
        assert_eq!(attention.take(&at(busy(), 60), ALL), []);
    }

    #[test]
    fn trouble_after_a_call_waits_and_is_not_lost() {
        let mut attention = Attention::default();
        attention.take(&at(quiet(), 0), ALL);
        attention.take(&at(busy(), 1), ALL);
        attention.take(&at(quiet(), 2), ALL);
        let silent = attention.take(&at(busy(), 3), ALL);
        assert!(matches!(silent.as_slice(), [Alert::Title(_)]), "{silent:?}");
        let later = attention.take(&at(busy(), 40), ALL);
        assert!(matches!(later.as_slice(), [Alert::Bell, Alert::Notification(_)]), "{later:?}");
    }

    #[test]
    fn nothing_is_sent_that_is_off() {
        let mut attention = Attention::default();
        let off = Alerts { title: Switch::Off, bell: Switch::Off, ..Alerts::DEFAULT };
        attention.take(&at(quiet(), 0), off);
        let made = attention.take(&at(busy(), 1), off);
        assert!(matches!(made.as_slice(), [Alert::Notification(_)]), "{made:?}");
    }
}
