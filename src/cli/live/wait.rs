//! `wait`: returns when something is so, and says so; it looks when something changes, not at intervals.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::anyhow;
use jiff::Timestamp;
use rustix::fs::lstat;
use rustix::io::Errno;
use serde::Serialize;
use tokio::time::{Instant, sleep_until};

use super::following::{Following, Next, follow};
use crate::cli::alive;
use crate::cli::args::{WaitArguments, WaitFor};
use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::cli::output::{complain, print_if_heard};
use crate::cli::show::explain::find::{Match, find};
use crate::core::model::text::{json, shown};
use crate::core::model::{
    ClaimStatus, ClaimView, Key, ProcessId, Report, Resource, SourceState, Untrusted, VerdictState,
    WindowDoing, WindowState, WindowView,
};
use crate::core::plan::find::{Meaning, Subject, find as resolve};

/// Waits until it is so, the time is over, or it can no longer become so.
///
/// # Errors
/// Nothing or several things are called so, or that can never be of what is; the looks fail.
pub(crate) fn run(observer: crate::observe::Observer, asked: WaitArguments) -> Outcome {
    follow(observer, async |following| wait(following, &asked).await)
}

async fn wait(mut following: Following, asked: &WaitArguments) -> Outcome {
    // What is too far away to be a time never comes.
    let end = asked.timeout.and_then(|seconds| Instant::now().checked_add(Duration::from_secs(seconds)));
    let mut target: Option<Target> = None;
    let mut present = "nothing was seen yet".to_owned();
    let mut looked_at = None;
    loop {
        let over = async {
            match end {
                Some(end) => sleep_until(end).await,
                None => std::future::pending().await,
            }
        };
        // `None` when the time is over.
        let next = tokio::select! {
            biased;
            next = following.next() => Some(next),
            // However short the time is, it looks once.
            () = over, if target.is_some() => None,
        };
        let report = match next.transpose()? {
            Some(Next::Looked(report)) => report,
            Some(Next::HintsLost) => continue,
            Some(Next::Interrupted) => return Ok(Exit::Problems),
            None => {
                let line = format!("not within {} s: {present}", asked.timeout.unwrap_or_default());
                return ended_as(asked, (WaitEnd::TimedOut, &line), looked_at);
            }
        };
        looked_at = Some(report.taken_at);
        let seen = match &mut target {
            Some(target) => target.state(&report),
            None => target.insert(Target::find(&report, &asked.subject, asked.until)?).state(&report),
        };
        match seen {
            WaitState::So(line) => return ended_as(asked, (WaitEnd::Reached, &line), looked_at),
            WaitState::Never(line) => return ended_as(asked, (WaitEnd::Impossible, &line), looked_at),
            WaitState::NotYet(line) => present = line,
        }
    }
}

/// The schema of the JSON.
const SCHEMA: &str = "claimtop.wait.v1";

/// How a wait ended.
#[derive(Serialize)]
struct WaitOutput<'a> {
    schema: &'static str,
    /// When the last look was taken.
    taken_at: Option<Timestamp>,
    subject: Untrusted,
    until: WaitFor,
    end: WaitEnd,
    /// How it stood in the last look, in words.
    detail: &'a str,
}

/// Whether it has become so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum WaitEnd {
    Reached,
    TimedOut,
    /// It can no longer become so.
    Impossible,
}

/// Prints how it ended.
fn ended_as(asked: &WaitArguments, (end, detail): (WaitEnd, &str), taken_at: Option<Timestamp>) -> Outcome {
    let exit = if end == WaitEnd::Reached { Exit::Fine } else { Exit::Problems };
    if asked.json {
        let (subject, until) = (asked.subject.as_str().into(), asked.until);
        let output = WaitOutput { schema: SCHEMA, taken_at, subject, until, end, detail };
        print_if_heard(&format!("{}\n", json::to_string_pretty(&output)?))?;
    } else if end == WaitEnd::Reached {
        print_if_heard(&format!("{detail}\n"))?;
    } else {
        complain(detail);
    }
    Ok(exit)
}

/// How it stands in one look, in words.
#[derive(Debug, PartialEq, Eq)]
enum WaitState {
    So(String),
    NotYet(String),
    /// It can no longer become so.
    Never(String),
}

/// What is waited for, as the first look found it.
enum Target {
    Window(OneWindow),
    Record { key: Key, title: String },
    Claim(FreeClaim),
}

/// A window.
struct OneWindow {
    key: Key,
    title: String,
    process: ProcessId,
    until: WaitFor,
    /// Whether a record of it was ever read: once it cannot be read, its turn is unknown.
    has_record: bool,
}

/// A resource that is to become free.
struct FreeClaim {
    resource: Resource,
    /// The records that had claims on it, and their files.
    records: BTreeMap<Key, Option<PathBuf>>,
    /// The sources when it was last seen held: what one of them no longer reads has not gone.
    sources: BTreeMap<String, SourceState>,
}

impl Target {
    /// Finds what a name means in the first look.
    fn find(report: &Report, name: &str, until: WaitFor) -> Result<Self, Failure> {
        let free = |claim: &ClaimView| {
            let (resource, records) = (claim.resource.clone(), BTreeMap::new());
            Self::Claim(FreeClaim { resource, records, sources: sources(report) })
        };
        // Two windows may claim it, and it is free once neither does.
        let path = std::path::absolute(Path::new(name)).unwrap_or_else(|_| name.into());
        if until == WaitFor::Free
            && let Meaning::Several(all) = resolve(report, name, &path)
            && let Some(claim) = one_resource(&all)
        {
            return Ok(free(claim));
        }
        let subject = match find(report, name)? {
            Match::One(subject) => subject,
            Match::Left(record) => Subject::Record(record),
        };
        let of = |window: &WindowView| {
            Self::Window(OneWindow {
                key: window.key.clone(),
                title: window.title(),
                process: ProcessId { pid: window.pid, start_ticks: window.start_ticks },
                until,
                has_record: false,
            })
        };
        let window = match subject {
            Subject::Window(window) => Some(window),
            Subject::Record(record) => record.window.as_ref().and_then(|key| report.window(key)),
            Subject::Claim(claim) => claim.window.as_ref().and_then(|key| report.window(key)),
            Subject::LeftOver(_) | Subject::LeftTree(_) | Subject::LeftStash(_) | Subject::Broken(_) => None,
        };
        let held = match subject {
            Subject::Claim(claim) => Some(claim),
            Subject::Record(record) => {
                let mut claims = report.claims.iter().filter(|claim| claim.record.key == record.key);
                claims.next().filter(|_| claims.next().is_none())
            }
            Subject::Window(_)
            | Subject::LeftOver(_)
            | Subject::LeftTree(_)
            | Subject::LeftStash(_)
            | Subject::Broken(_) => None,
        };
        match (until, window, held, subject) {
            (WaitFor::Free, _, Some(claim), _) => Ok(free(claim)),
            (WaitFor::Free, ..) => Err(unfit(name, "is no single claim", "claimtop ls claims lists them")),
            (_, Some(window), ..) => Ok(of(window)),
            (WaitFor::Dead, None, _, Subject::Record(record)) => {
                Ok(Self::Record { key: record.key.clone(), title: record.title.shown() })
            }
            (WaitFor::Dead, None, Some(claim), _) => {
                Ok(Self::Record { key: claim.record.key.clone(), title: claim.record.title.shown() })
            }
            (WaitFor::Dead | WaitFor::YourTurn | WaitFor::Waits, None, ..) => {
                Err(unfit(name, "has no window that lives", "claimtop ls lists them"))
            }
        }
    }

    fn state(&mut self, report: &Report) -> WaitState {
        match self {
            Self::Window(one) => one.state(report),
            Self::Record { key, title } => of_record(report, key, title),
            Self::Claim(free) => free.state(report),
        }
    }
}

impl OneWindow {
    fn state(&mut self, report: &Report) -> WaitState {
        let Some(window) = report.window(&self.key) else {
            return of_ended(&self.title, self.process, self.until);
        };
        self.has_record |= !window.records.is_empty();
        if self.has_record && window.records.is_empty() && window.state != WindowState::Zombie {
            let title = &self.title;
            return WaitState::NotYet(format!(
                "{title} lives; what it does is not known: its record is not read"
            ));
        }
        of_window(window, self.until)
    }
}

fn of_window(window: &WindowView, until: WaitFor) -> WaitState {
    let title = window.title();
    if window.state == WindowState::Zombie {
        return ended(&title, until);
    }
    let wanted = match until {
        WaitFor::YourTurn => Some(WindowDoing::YourTurn),
        WaitFor::Waits => Some(WindowDoing::Asks),
        WaitFor::Dead | WaitFor::Free => None,
    };
    let present = window.doing.map_or("lives; what it does is not known", WindowDoing::word);
    let line = format!("{title}: {present}");
    if wanted.is_some() && window.doing == wanted { WaitState::So(line) } else { WaitState::NotYet(line) }
}

/// Judges a window that is no longer in the report: it has ended only if its process has.
fn of_ended(title: &str, process: ProcessId, until: WaitFor) -> WaitState {
    match alive::life_of(process) {
        VerdictState::Dead => ended(title, until),
        VerdictState::Alive => WaitState::Never(format!(
            "{title} is no window any more, but PID {} lives: it runs another program",
            process.pid
        )),
        VerdictState::Unknown => WaitState::NotYet(format!(
            "{title} is not seen any more, and whether PID {} lives cannot be known",
            process.pid
        )),
    }
}

fn ended(title: &str, until: WaitFor) -> WaitState {
    let line = format!("{title} has ended");
    if until == WaitFor::Dead { WaitState::So(line) } else { WaitState::Never(line) }
}

fn of_record(report: &Report, key: &Key, title: &str) -> WaitState {
    let Some(record) = report.records().find(|record| record.key == *key) else {
        return WaitState::Never(format!("the record of {title} is gone, and with it who its holder was"));
    };
    match record.verdict.state {
        VerdictState::Dead => WaitState::So(format!("{title}: its holder is dead")),
        VerdictState::Alive => WaitState::NotYet(format!("{title}: its holder lives")),
        VerdictState::Unknown => {
            WaitState::NotYet(format!("{title}: whether its holder lives cannot be known"))
        }
    }
}

impl FreeClaim {
    fn state(&mut self, report: &Report) -> WaitState {
        let name = format!("{} {}", self.resource.kind.name(), self.resource.id.shown());
        let claims: Vec<_> = report.claims.iter().filter(|claim| claim.resource == self.resource).collect();
        let is_gone = |status| matches!(status, ClaimStatus::Dead | ClaimStatus::Ghost);
        if let Some(claim) = claims.iter().find(|claim| !is_gone(claim.status)) {
            self.sources = sources(report);
            let file = |claim: &ClaimView| claim.record.location.path().map(Path::to_path_buf);
            self.records.extend(claims.iter().map(|claim| (claim.record.key.clone(), file(claim))));
            let holder = claim.window.as_ref().and_then(|key| report.window(key));
            let by = holder.map_or_else(String::new, |window| format!(" by {}", window.title()));
            return WaitState::NotYet(format!("{name}: {}{by}", claim.status.name()));
        }
        if let Some(claim) = claims.first() {
            let line = format!("{name}: its holder is dead; claimtop release {} releases it", claim.key);
            return WaitState::So(line);
        }
        let worse = report.sources.iter().find(|source| {
            matches!(source.state, SourceState::Failed | SourceState::Partial)
                && self.sources.get(&source.id) != Some(&source.state)
        });
        if let Some(file) = self.records.iter().find_map(|(key, file)| hidden(report, key, file.as_deref()?))
        {
            return WaitState::NotYet(format!("{name}: not seen, but {file} is not read"));
        }
        match worse {
            Some(source) => {
                WaitState::NotYet(format!("{name}: not seen, but {} is not read", shown(&source.id)))
            }
            None => WaitState::So(format!("{name}: free")),
        }
    }
}

/// Returns a record's file if it may still have a claim: it is there and could not be read, or nothing is there at all,
/// not even its folder.
fn hidden(report: &Report, key: &Key, file: &Path) -> Option<Untrusted> {
    let is_read = report.records().any(|record| record.key == *key);
    let is_folder_there = || file.parent().is_some_and(|folder| lstat(folder).is_ok());
    let is_gone = || lstat(file).is_err_and(|error| error == Errno::NOENT) && is_folder_there();
    (!is_read && !is_gone()).then(|| Untrusted::from_path(file))
}

fn sources(report: &Report) -> BTreeMap<String, SourceState> {
    report.sources.iter().map(|source| (source.id.clone(), source.state)).collect()
}

/// Returns one of the claims if all that a name means are claims of one resource.
fn one_resource<'a>(all: &[Subject<'a>]) -> Option<&'a ClaimView> {
    let claim = |subject: &Subject<'a>| match subject {
        Subject::Claim(claim) => Some(*claim),
        Subject::Window(_)
        | Subject::Record(_)
        | Subject::LeftOver(_)
        | Subject::LeftTree(_)
        | Subject::LeftStash(_)
        | Subject::Broken(_) => None,
    };
    let claims: Vec<&ClaimView> = all.iter().map(claim).collect::<Option<_>>()?;
    let first = *claims.first()?;
    claims.iter().all(|claim| claim.resource == first.resource).then_some(first)
}

fn unfit(name: &str, why: &str, hint: &str) -> Failure {
    Failure::usage(anyhow!("{} {why}", shown(name))).hint(hint)
}
