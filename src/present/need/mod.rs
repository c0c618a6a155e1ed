//! What needs a person, each in one line: a sign, who, what it is, and the key that helps.

pub(crate) mod alike;
pub(crate) mod between;
pub(crate) mod doing;
pub(crate) mod stuck;
pub(crate) mod unfinished;

use jiff::Timestamp;

use crate::core::model::report::claim::is_uuid_only;
use crate::core::model::snapshot::unread;
use crate::core::model::{Code, Key, Need, NeedKind, Remains, Report, Topic, WindowDoing, WindowView};
use crate::core::model::{LeftOver, Releasable};
use crate::present::left_over;
use crate::present::machine::{only_machine, unseen_for};
use crate::present::need::doing::{folder, question};
use crate::present::report_index::window_name;
use crate::present::sources::source_name;
use crate::present::summary::Number;
use crate::present::text::age;
use crate::present::text::tone::{Mark, Tone};
use crate::present::text::{count, file_name, outside, safe};

/// One need in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NeedLine {
    /// Its sign.
    pub(crate) mark: Mark,
    /// How bad that is.
    pub(crate) tone: Tone,
    /// Who; empty where the sentence says so itself.
    pub(crate) who: String,
    /// What.
    pub(crate) what: String,
    /// The same in fewer words, where there are any.
    pub(crate) brief: Option<String>,
    /// The way out, where no key is one.
    pub(crate) way: String,
    /// The first step of it alone, where there are more.
    pub(crate) brief_way: Option<String>,
    /// The keys that help, each with what it does.
    pub(crate) keys: Vec<(&'static str, &'static str)>,
}

/// Says a need of a report.
pub(crate) fn line(report: &Report, need: &Need, now: Timestamp) -> NeedLine {
    let window = || report.windows.iter().find(|window| window.key == need.subject);
    let ago = |since: Option<Timestamp>| since.map(|at| age::label_between(now, at));
    match &need.kind {
        NeedKind::Waits { waiting, among } => {
            let window = window();
            let who = match (window, among.len()) {
                (Some(window), 2..) => one_of(window, among.len()),
                (Some(window), _) => window_name(window),
                (None, _) => String::new(),
            };
            let asks = question(waiting, window.and_then(folder));
            let since = ago(need.since).map_or_else(String::new, |age| format!(" ({age})"));
            NeedLine {
                mark: Mark::Waiting,
                tone: Tone::Notice,
                who,
                what: format!("{}{since}: {asks}", WindowDoing::Asks.word()),
                brief: None,
                brief_way: None,
                way: String::new(),
                keys: if among.len() > 1 { vec![("Enter", "which")] } else { jump(window) },
            }
        }
        NeedKind::Failed { error } => {
            let since = ago(need.since).map_or_else(String::new, |age| format!(" {age} ago"));
            let error = error.as_ref().map_or_else(String::new, |error| format!(": {}", safe(error.raw())));
            NeedLine {
                mark: Mark::Warning,
                tone: Tone::Warning,
                who: window().map(window_name).unwrap_or_default(),
                what: format!("was stopped by an error{since}{error}"),
                brief: None,
                brief_way: None,
                way: String::new(),
                keys: jump(window()),
            }
        }
        NeedKind::Stuck { .. } => {
            let window = window();
            let proof = window.and_then(|window| window.stuck.as_deref()).map(stuck::describe);
            let since = ago(need.since).map_or_else(String::new, |age| format!(" ({age})"));
            let what = proof.as_ref().map_or_else(String::new, |proof| format!(": {}", proof.what));
            NeedLine {
                mark: Mark::Warning,
                tone: Tone::Warning,
                who: window.map(window_name).unwrap_or_default(),
                what: format!("{}{since}{what}", WindowDoing::Stuck.word()),
                brief: None,
                brief_way: None,
                way: proof.map(|proof| proof.way).unwrap_or_default(),
                keys: jump(window),
            }
        }
        NeedKind::Done { asked } => {
            let since = ago(need.since).map_or_else(String::new, |age| format!(" {age} ago"));
            let asked = asked.as_ref().map_or_else(String::new, |text| format!(": {}", safe(text.raw())));
            NeedLine {
                mark: Mark::Turn,
                tone: Tone::Accent,
                who: window().map(window_name).unwrap_or_default(),
                what: format!("finished{since}{asked}"),
                brief: None,
                brief_way: None,
                way: String::new(),
                keys: jump(window()),
            }
        }
        NeedKind::Unfinished { message, end } => NeedLine {
            mark: Mark::Warning,
            tone: Tone::Warning,
            who: String::new(),
            what: message.to_string(),
            brief: None,
            brief_way: None,
            way: unfinished::way(&need.subject, *end),
            keys: vec![("z", "put right")],
        },
        NeedKind::Collision { .. } => collision(report, &need.kind),
        NeedKind::Alike { code, needs } => {
            let (what, way) = alike::described(*code, needs);
            let keys = vec![("Enter", "which")];
            NeedLine {
                mark: Mark::Collision,
                tone: Tone::Bad,
                who: String::new(),
                what,
                brief: None,
                brief_way: None,
                way,
                keys,
            }
        }
        NeedKind::Died(left) => NeedLine {
            mark: Mark::Dead,
            tone: Tone::Warning,
            who: whose(left),
            what: died(report, left, ago(need.since)),
            brief: None,
            brief_way: None,
            way: String::new(),
            keys: keys_of(report, left),
        },
        NeedKind::MoreDied { windows, claims, left_overs } => NeedLine {
            mark: Mark::Dead,
            tone: Tone::Warning,
            who: String::new(),
            what: more_died(*windows, *claims, *left_overs),
            brief: None,
            brief_way: None,
            way: String::new(),
            keys: vec![("Enter", "which")],
        },
    }
}

/// Returns the key that goes to a window's pane, where that is known.
fn jump(window: Option<&WindowView>) -> Vec<(&'static str, &'static str)> {
    window.filter(|window| window.has_pane()).map(|_| ("J", "go there")).into_iter().collect()
}

/// Names a window that may be any of several in its folder.
fn one_of(window: &WindowView, among: usize) -> String {
    let folder = window.cwd.as_ref().map(|cwd| format!(" in {}", safe(file_name(cwd.raw()))));
    format!("one of {among} {} windows{}", outside(Some(&window.agent)), folder.unwrap_or_default())
}

fn collision(report: &Report, kind: &NeedKind) -> NeedLine {
    let find = |key: &Key| report.windows.iter().find(|window| window.key == *key);
    let described = between::describe(report, &find, kind);
    let ends = matches!(kind, NeedKind::Collision { code: Code::SharedSessionId, .. });
    let command = between::advised_command(kind, &find).or_else(|| between::found_command(report, kind));
    let command = command.map(|_| ("y", "copy command"));
    let keys =
        [("Enter", "story")].into_iter().chain(ends.then_some(("x", "end the later one"))).chain(command);
    let between::Words { who, what, brief, way, first_step } = described.unwrap_or_default();
    NeedLine {
        mark: Mark::Collision,
        tone: Tone::Bad,
        who: if who.is_empty() { String::new() } else { format!("{}:", who.join(" ↔ ")) },
        brief: Some(brief).filter(|brief| *brief != what),
        what,
        brief_way: Some(first_step).filter(|step| *step != way),
        way,
        keys: keys.collect(),
    }
}

/// Names a dead window; an ID alone does not say which it was.
fn whose(left: &Remains) -> String {
    let name = left.name.raw();
    if !is_uuid_only(name) {
        return outside(Some(&left.name));
    }
    match left.folder() {
        Some(folder) => format!("{} in {}", left.format, safe(folder)),
        None => format!("{} {}", left.format, safe(name.get(..8).unwrap_or(name))).trim_end().to_owned(),
    }
}

fn some(number: usize, noun: &str) -> Option<String> {
    (number > 0).then(|| count(number, noun))
}

fn more_died(windows: usize, claims: usize, left_overs: usize) -> String {
    let things: Vec<String> =
        some(claims, "claim").into_iter().chain(some(left_overs, "left-over")).collect();
    let things = if things.is_empty() { "uncommitted files".to_owned() } else { things.join(", ") };
    let who = if windows == 1 { "it" } else { "they" };
    format!("{} died: {who} left {things}", count(windows, "more window"))
}

fn died(report: &Report, left: &Remains, ago: Option<String>) -> String {
    let when = match ago {
        Some(age) if left.is_end_seen => format!("died {age} ago"),
        Some(age) => format!("is dead, silent for {age}"),
        None => "is dead".to_owned(),
    };
    format!("{when}: left {}", left_words(report, left))
}

/// Says what a dead window has left.
pub(crate) fn left_words(report: &Report, left: &Remains) -> String {
    let claims = some(left.claims.len(), "claim");
    let unproven = some(left.unproven, "claim").map(|claims| format!("{claims} not proven dead"));
    let files = some(left.uncommitted, "uncommitted file");
    let lost = some(left.lost, "lost edit");
    let running = report.left_overs.iter().filter(|one| left.left_overs.contains(&one.key)).collect();
    let trees = match left.left_trees.len() {
        0 => None,
        1 => Some("a working tree".to_owned()),
        many => Some(count(many, "working tree")),
    };
    let running = left_over::several(running);
    let stashed: usize = report
        .left_stashes
        .iter()
        .filter(|one| left.left_stashes.contains(&one.key))
        .map(|one| one.files)
        .sum();
    let stashed = some(stashed, "stashed file");
    let things: Vec<String> = claims
        .into_iter()
        .chain(unproven)
        .chain(running)
        .chain(trees)
        .chain(files)
        .chain(stashed)
        .chain(lost)
        .collect();
    if things.is_empty() { "nothing".to_owned() } else { things.join(", ") }
}

fn keys_of(report: &Report, left: &Remains) -> Vec<(&'static str, &'static str)> {
    let mut claims = report.claims.iter().filter(|claim| left.claims.contains(&claim.key));
    let release = claims.any(|claim| claim.releasable != Releasable::No).then_some(("r", "release all"));
    let is_here = left.claims.iter().all(|key| key.machine().is_none());
    let back = left.resume().filter(|_| is_here).map(|_| ("R", "resume"));
    let resume = left.resume().map(|_| ("y", "resume command"));
    let mut running = report.left_overs.iter().filter(|one| left.left_overs.contains(&one.key));
    let end = running.any(LeftOver::may_be_ended).then_some(("x", "end left-overs"));
    let rescue = (left.lost > 0).then_some(("u", "bring back edits"));
    release.into_iter().chain(back).chain(end).chain(rescue).chain(resume).collect()
}

/// Returns a need as one sentence: on which other machine, who, what, and no keys for readers without a screen.
pub(crate) fn sentence(report: &Report, need: &Need, now: Timestamp) -> String {
    let NeedLine { who, what, way, .. } = line(report, need, now);
    let what = if who.is_empty() { what } else { format!("{who} {what}") };
    let what = if way.is_empty() { what } else { format!("{what}: {way}") };
    let subjects: Vec<&Key> = match &need.kind {
        NeedKind::Collision { subjects, windows, .. } => subjects.iter().chain(windows).collect(),
        NeedKind::Waits { .. }
        | NeedKind::Failed { .. }
        | NeedKind::Stuck { .. }
        | NeedKind::Done { .. }
        | NeedKind::Unfinished { .. }
        | NeedKind::Alike { .. }
        | NeedKind::Died(_)
        | NeedKind::MoreDied { .. } => vec![&need.subject],
    };
    let Some(name) = only_machine(subjects.into_iter()) else { return what };
    let machine = report.machines.iter().find(|machine| machine.name == name && !machine.state.is_heard());
    let unseen = machine.and_then(|machine| unseen_for(machine, now));
    format!("on {}{}: {what}", safe(name), unseen.map_or_else(String::new, |unseen| format!(", {unseen}")))
}

/// Says that nothing needs a person, and not for certain where something could not be read.
pub(crate) fn calm(report: &Report, working: usize) -> (Mark, Tone, String) {
    let number = Number::new(report.windows.len(), &report.sources, Topic::Windows);
    let windows = number.with_noun("window");
    let at_work = match working {
        0 => "",
        some if some == number.seen && number.seen == 1 => " works",
        some if some == number.seen => " work",
        1 => ", 1 works",
        some => &format!(", {some} work"),
    };
    let mut unread: Vec<&str> = unread(&report.sources, Topic::All).map(source_name).collect();
    unread.dedup();
    match unread.as_slice() {
        [] => (Mark::Alive, Tone::Good, format!("{windows}{at_work}, nothing needs you")),
        [first, more @ ..] => {
            let says = format!(
                "{windows}: nothing that was read needs you, but not everything could be read: {first}"
            );
            let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
            (Mark::Unknown, Tone::Notice, says + &more)
        }
    }
}

/// Returns each action of claimtop's own that did not end, described with the command that finishes it.
pub(crate) fn unfinished_actions(report: &Report) -> impl Iterator<Item = (&Need, String)> {
    let is_one = |need: &&Need| matches!(need.kind, NeedKind::Unfinished { .. });
    let all = report.needs.iter().filter(is_one);
    all.map(|need| (need, sentence(report, need, report.taken_at)))
}

/// Says everything that needs a person.
pub fn sentences(report: &Report) -> Vec<String> {
    report.needs.iter().map(|need| sentence(report, need, report.taken_at)).collect()
}
