//! When to call a person who is looking elsewhere, and with which words.

mod brief;
pub(crate) mod deaths;
pub(crate) mod news;
pub(crate) mod unseen;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::app::attention::unseen::UnseenWindows;
use crate::config::notify::AlertRank;
use crate::config::{Alerts, Switch};
use crate::core::model::text::shown;
use crate::core::model::{Code, Finding, Need, NeedKind, Report, Severity};
use crate::present::machine;
use crate::present::need::sentence;
use crate::present::summary::Summary;

/// How long to be silent after a call; what comes meanwhile is reported with the next one.
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
    /// A person who is away: the names of windows and our own words only.
    Call(String),
}

/// Something new.
#[derive(Clone, Debug)]
struct News {
    /// In a sentence.
    sentence: String,
    /// In a few words for other devices.
    brief: String,
    rank: AlertRank,
}

/// What was reported to the person.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attention {
    /// The look before; `None` before the first.
    known: Option<Arc<Report>>,
    /// What to report when the silence is over.
    untold: Vec<News>,
    called_at: Option<Timestamp>,
    title: String,
}

impl News {
    fn of_need(report: &Report, need: &Need) -> Self {
        let sentence = sentence(report, need, report.taken_at);
        Self { brief: brief::of_need(report, need), sentence, rank: rank_of(need) }
    }
}

impl Attention {
    /// Takes in a look; returns what it is worth.
    pub(crate) fn take(&mut self, report: &Arc<Report>, alerts: Alerts) -> Vec<Alert> {
        let title = format!("claimtop: {}", Summary::from_report(report).parts().join(", "));
        let mut made = Vec::new();
        if alerts.title == Switch::On && title != self.title {
            made.push(Alert::Title(title.clone()));
        }
        self.title = title;
        self.learn(report, alerts.from);
        let is_silent =
            self.called_at.is_some_and(|at| report.taken_at.duration_since(at).abs() < SILENT_FOR);
        if !self.untold.is_empty() && !is_silent {
            self.called_at = Some(report.taken_at);
            made.extend((alerts.bell == Switch::On).then_some(Alert::Bell));
            let untold = std::mem::take(&mut self.untold);
            made.push(Alert::Notification(summary(untold.iter().map(|news| &news.sentence))));
            made.push(Alert::Call(summary(untold.iter().map(|news| &news.brief))));
        }
        made
    }

    /// Notes which troubles are new. What was there at the start is on the screen.
    fn learn(&mut self, report: &Arc<Report>, from: AlertRank) {
        if let Some(before) = self.known.replace(Arc::clone(report)) {
            let known: Vec<&Finding> = urgent(&before).collect();
            let is_new = |finding: &&Finding| {
                known.binary_search_by(|one| one.identity().cmp(&finding.identity())).is_err()
            };
            let new = urgent(report).filter(is_new);
            self.untold.extend(new.map(|finding| News {
                sentence: shown(&machine::problem(finding)),
                brief: brief::of_finding(report, finding),
                rank: if finding.code == Code::DeadHolder { AlertRank::Death } else { AlertRank::Collision },
            }));
            self.untold.extend(new_waits(&before, report));
            let mut unseen = UnseenWindows::default();
            unseen.follow(&before, report);
            let done = unseen
                .needs(report)
                .into_iter()
                .map(|need| Need { kind: NeedKind::Done { asked: None }, ..need });
            self.untold.extend(done.map(|need| News::of_need(report, &need)));
            self.untold.retain(|news| news.rank >= from);
        }
    }
}

/// Ranks a need of a window.
fn rank_of(need: &Need) -> AlertRank {
    match need.kind {
        NeedKind::Waits { .. }
        | NeedKind::Failed { .. }
        | NeedKind::Stuck { .. }
        | NeedKind::Unfinished { .. } => AlertRank::Wait,
        NeedKind::Collision { .. } | NeedKind::Alike { .. } => AlertRank::Collision,
        NeedKind::Died(_) | NeedKind::MoreDied { .. } => AlertRank::Death,
        NeedKind::Done { .. } => AlertRank::Done,
    }
}

/// Says who waits that did not wait before: once for each wait, however long it lasts.
fn new_waits<'a>(before: &Report, report: &'a Report) -> impl Iterator<Item = News> + 'a {
    let is_wait = |need: &&Need| {
        matches!(need.kind, NeedKind::Waits { .. } | NeedKind::Failed { .. } | NeedKind::Stuck { .. })
    };
    let identity = |need: &Need| (need.key.clone(), need.since);
    let known: Vec<_> = before.needs.iter().filter(is_wait).map(identity).collect();
    let new = report.needs.iter().filter(is_wait).filter(move |need| !known.contains(&identity(need)));
    new.map(|need| News::of_need(report, need))
}

/// Returns what a person must know now, in the order of a report.
fn urgent(report: &Report) -> impl Iterator<Item = &Finding> {
    report.findings().filter(|finding| is_urgent(finding))
}

/// Returns whether a person must know of a trouble now.
fn is_urgent(finding: &Finding) -> bool {
    finding.severity == Severity::Collision || finding.code == Code::DeadHolder
}

fn summary<'a>(mut untold: impl Iterator<Item = &'a String>) -> String {
    let first: String = untold.next().map_or_else(String::new, |text| text.chars().take(LONGEST).collect());
    match untold.count() {
        0 => first,
        more => format!("{first} (and {more} more)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::{Key, Waiting, Wants};
    use crate::core::testing::{busy, quiet};

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
            matches!(made.as_slice(), [Alert::Title(_), Alert::Bell, Alert::Notification(_), Alert::Call(_)]),
            "{made:?}"
        );
        assert_eq!(attention.take(&at(busy(), 60), ALL), []);
    }

    #[test]
    fn each_wait_calls_once() {
        let waits = |second: i64, since: i64| {
            let mut report = quiet();
            let waiting =
                Waiting { wants: Wants::Answer, call: None, since: Timestamp::from_second(since).ok() };
            let subject = Key::typed("w-1");
            let kind = NeedKind::Waits { waiting: waiting.clone(), among: Vec::new() };
            report.needs = vec![Need { key: Key::typed("n-1"), subject, kind, since: waiting.since }];
            at(report, second)
        };
        let calls = |alerts: &[Alert]| alerts.iter().filter(|alert| **alert == Alert::Bell).count();
        let mut attention = Attention::default();
        assert_eq!(calls(&attention.take(&waits(0, 1), ALL)), 0);
        assert_eq!(calls(&attention.take(&waits(60, 1), ALL)), 0);
        let made = attention.take(&waits(120, 2), ALL);
        assert_eq!(calls(&made), 1, "{made:?}");
        assert!(
            made.iter().any(|alert| matches!(alert, Alert::Notification(text) if text.contains("asks you"))),
            "{made:?}"
        );
        assert_eq!(calls(&attention.take(&waits(180, 2), ALL)), 0);
        assert_eq!(calls(&attention.take(&at(quiet(), 240), ALL)), 0);
        assert_eq!(calls(&attention.take(&waits(300, 2), ALL)), 1);
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
        assert!(
            matches!(later.as_slice(), [Alert::Bell, Alert::Notification(_), Alert::Call(_)]),
            "{later:?}"
        );
    }

    #[test]
    fn what_ranks_below_the_threshold_calls_nobody() {
        let called = |from: AlertRank| {
            let alerts = Alerts { from, ..ALL };
            let mut attention = Attention::default();
            attention.take(&at(quiet(), 0), alerts);
            let made = attention.take(&at(busy(), 1), alerts);
            made.into_iter().find_map(|alert| match alert {
                Alert::Notification(text) => Some(text),
                Alert::Title(_) | Alert::Bell | Alert::Call(_) => None,
            })
        };
        let number = |from| {
            let text = called(from)?;
            let more = text.rsplit_once("(and ").and_then(|(_, more)| more.split(' ').next());
            Some(more.map_or(1, |more| 1 + more.parse::<usize>().unwrap()))
        };
        let [done, death, collision, wait] = AlertRank::ALL.map(number);
        assert!(
            done >= death && death > collision && collision > wait,
            "{done:?} {death:?} {collision:?} {wait:?}"
        );
        assert!(collision.is_some());
    }

    #[test]
    fn nothing_is_sent_that_is_off() {
        let mut attention = Attention::default();
        let off = Alerts { title: Switch::Off, bell: Switch::Off, ..Alerts::DEFAULT };
        attention.take(&at(quiet(), 0), off);
        let made = attention.take(&at(busy(), 1), off);
        assert!(matches!(made.as_slice(), [Alert::Notification(_), Alert::Call(_)]), "{made:?}");
    }

    #[test]
    fn a_call_names_windows_and_nothing_that_they_wrote() {
        let mut attention = Attention::default();
        attention.take(&at(quiet(), 0), ALL);
        let report = at(busy(), 1);
        let made = attention.take(&report, ALL);
        let Some(Alert::Call(text)) = made.last() else { panic!("{made:?}") };
        assert!(report.windows.iter().any(|window| text.contains(&window.title())), "{text}");
        assert!(!text.contains('/') && !text.contains('`'), "{text}");
    }
}
