//! What needs a person, each in one line: a sign, who, what it is, and the key that helps.

use jiff::Timestamp;

use crate::core::model::snapshot::unread;
use crate::core::model::{Left, Need, NeedKind, Report, Topic, TurnState, WindowView};
use crate::present::doing::{folder, question};
use crate::present::lookup::window_name;
use crate::present::summary::Number;
use crate::present::text::{count, outside};
use crate::present::tone::{Mark, Tone};
use crate::present::{age, between};

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
    /// The way out, where no key is one.
    pub(crate) way: String,
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
                way: String::new(),
                keys: vec![("J", "go there")],
            }
        }
        NeedKind::Collision { .. } => collision(report, &need.kind),
        NeedKind::Died(left) => Said {
            mark: Mark::Dead,
            tone: Tone::Warning,
            who: outside(Some(&left.name)),
            what: died(left, ago(need.since)),
            way: String::new(),
            keys: keys_of(left),
        },
        NeedKind::MoreDied { windows, claims } => Said {
            mark: Mark::Dead,
            tone: Tone::Warning,
            who: String::new(),
            what: format!("{} more died: they left {}", count(*windows, "window"), count(*claims, "claim")),
            way: String::new(),
            keys: Vec::new(),
        },
    }
}

fn collision(report: &Report, kind: &NeedKind) -> Said {
    let said = between::words(report, kind);
    let (who, what, way) = said.map_or_else(Default::default, |said| (said.who, said.what, said.way));
    Said {
        mark: Mark::Collision,
        tone: Tone::Bad,
        who: if who.is_empty() { String::new() } else { format!("{}:", who.join(" ↔ ")) },
        what,
        way,
        keys: vec![("Enter", "story")],
    }
}

fn died(left: &Left, ago: Option<String>) -> String {
    let when = ago.map_or(String::new(), |age| format!(" {age} ago"));
    format!("died{when}: left {}", left_words(left))
}

/// Says what a dead window has left.
pub(crate) fn left_words(left: &Left) -> String {
    let some = |number: usize, noun: &str| (number > 0).then(|| count(number, noun));
    let claims = some(left.claims.len(), "claim");
    let unproven = some(left.unproven, "claim").map(|claims| format!("{claims} not proven dead"));
    let files = some(left.uncommitted, "uncommitted file");
    let things: Vec<String> = claims.into_iter().chain(unproven).chain(files).collect();
    if things.is_empty() { "nothing".to_owned() } else { things.join(", ") }
}

fn keys_of(left: &Left) -> Vec<(&'static str, &'static str)> {
    let release = (!left.claims.is_empty()).then_some(("r", "release all"));
    let resume = left.resume().map(|_| ("y", "resume command"));
    release.into_iter().chain(resume).collect()
}

/// Returns a need as one sentence: who, what, and for whoever has no screen nothing of keys.
pub(crate) fn sentence(said: &Said) -> String {
    let what = if said.who.is_empty() { said.what.clone() } else { format!("{} {}", said.who, said.what) };
    if said.way.is_empty() { what } else { format!("{what}: {}", said.way) }
}

/// Says that nothing needs a person, and not for certain where something could not be read.
pub(crate) fn calm(report: &Report) -> (Mark, Tone, String) {
    let number = Number::new(report.windows.len(), &report.sources, Topic::Windows);
    let windows = number.words("window");
    let at_work = match report.windows.iter().filter(|window| works(window)).count() {
        0 => "",
        some if some == number.seen && number.seen == 1 => " works",
        some if some == number.seen => " work",
        1 => ", 1 works",
        some => &format!(", {some} work"),
    };
    match unread(&report.sources, Topic::All).next() {
        None => (Mark::Alive, Tone::Good, format!("{windows}{at_work}, nothing needs you")),
        Some(_) => {
            let says = format!("{windows}: nothing that was read needs you, and not everything was");
            (Mark::Unknown, Tone::Notice, says)
        }
    }
}

/// Returns whether a window is in the middle of a turn.
fn works(window: &WindowView) -> bool {
    let is_in_turn = window.work.as_ref().is_some_and(|work| work.doing.turn.state == TurnState::Working);
    is_in_turn || window.activity.as_ref().is_some_and(|activity| activity.raw() == "busy")
}

/// Says everything that needs a person.
pub fn sentences(report: &Report) -> Vec<String> {
    report.needs.iter().map(|need| sentence(&said(report, need, report.taken_at))).collect()
}
