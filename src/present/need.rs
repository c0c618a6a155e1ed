//! What needs a person, each in one line: a sign, who, what it is, and the key that helps.

use jiff::Timestamp;

use crate::core::model::snapshot::unread;
use crate::core::model::{Left, Need, NeedKind, Report, Topic};
use crate::present::age;
use crate::present::doing::{folder, question};
use crate::present::lookup::window_name;
use crate::present::summary::Number;
use crate::present::text::{count, outside, safe};
use crate::present::tone::{Mark, Tone};

/// One need in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    /// Its sign.
    pub(crate) mark: Mark,
    /// How bad that is.
    pub(crate) tone: Tone,
    /// Who; empty where the sentence says so itself.
    pub(crate) who: String,
    /// What.
    pub(crate) what: String,
    /// The keys that help, each with what it does.
    pub(crate) keys: Vec<(&'static str, &'static str)>,
}

/// Says a need of a report.
pub(crate) fn said(report: &Report, need: &Need, now: Timestamp) -> Said {
    let window = || report.windows.iter().find(|window| window.key == need.subject);
    let ago = |since: Option<Timestamp>| since.map(|at| age::between(now, at));
    match &need.kind {
        NeedKind::Waits { waiting } => {
            let window = window();
            let asks = question(waiting, window.and_then(folder));
            let since = ago(need.since).map_or_else(|| "waits".to_owned(), |age| format!("waits {age}"));
            Said {
                mark: Mark::Waiting,
                tone: Tone::Notice,
                who: window.map(window_name).unwrap_or_default(),
                what: format!("{since}: {asks}"),
                keys: vec![("J", "go there")],
            }
        }
        NeedKind::Collision { code: _, message, subjects: _ } => Said {
            mark: Mark::Collision,
            tone: Tone::Bad,
            who: String::new(),
            what: safe(&message.brief()),
            keys: vec![("Enter", "story")],
        },
        NeedKind::Died(left) => Said {
            mark: Mark::Dead,
            tone: Tone::Warning,
            who: outside(Some(&left.name)),
            what: died(left, ago(need.since)),
            keys: keys_of(left),
        },
        NeedKind::MoreDied { windows, claims } => Said {
            mark: Mark::Dead,
            tone: Tone::Warning,
            who: String::new(),
            what: format!("{} more died: they left {}", count(*windows, "window"), count(*claims, "claim")),
            keys: Vec::new(),
        },
    }
}

fn died(left: &Left, ago: Option<String>) -> String {
    let when = ago.map_or(String::new(), |age| format!(" {age} ago"));
    let claims = (!left.claims.is_empty()).then(|| count(left.claims.len(), "claim"));
    let files = (left.uncommitted > 0).then(|| count(left.uncommitted, "uncommitted file"));
    let things: Vec<String> = claims.into_iter().chain(files).collect();
    format!("died{when}: left {}", things.join(", "))
}

fn keys_of(left: &Left) -> Vec<(&'static str, &'static str)> {
    let release = (!left.claims.is_empty()).then_some(("r", "release all"));
    let resume = left.resume().map(|_| ("y", "resume command"));
    release.into_iter().chain(resume).collect()
}

/// Returns a need as one sentence: who, what, and for whoever has no screen nothing of keys.
pub(crate) fn sentence(said: &Said) -> String {
    if said.who.is_empty() { said.what.clone() } else { format!("{} {}", said.who, said.what) }
}

/// Says that nothing needs a person, and not for certain where something could not be read.
pub(crate) fn calm(report: &Report) -> (Mark, Tone, String) {
    let windows = Number::new(report.windows.len(), &report.sources, Topic::Windows).words("window");
    match unread(&report.sources, Topic::All).next() {
        None => (Mark::Alive, Tone::Good, format!("{windows}: nothing needs you")),
        Some(_) => {
            let says = format!("{windows}: nothing that was read needs you, and not everything was");
            (Mark::Unknown, Tone::Notice, says)
        }
    }
}

/// Says everything that needs a person.
pub fn sentences(report: &Report) -> Vec<String> {
    report.needs.iter().map(|need| sentence(&said(report, need, report.taken_at))).collect()
}
