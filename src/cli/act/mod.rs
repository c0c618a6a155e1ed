//! The commands that act: `release`, `park`, `migrate`, `clean`, `stop`, `undo`. Each shows its plans
//! first; each plan is confirmed, verified and journalled by itself.

pub(crate) mod bring_back;
mod elsewhere;
mod far;
pub(crate) mod open;
pub(crate) mod site;
mod transcript;

use std::collections::BTreeSet;

use anyhow::anyhow;

pub(crate) use self::open::{asker, executor, looking};
use self::site::Site;
use self::transcript::Transcript;
use self::transcript::{asks_only_for_yes, question};
use super::args::Consent;
use super::output::{Paint, Shape};
use super::settings::Settings;
use crate::act::executor::Executor;
use crate::act::preflight::preview::Preview;
use crate::act::rules::Answer;
use crate::cli::output::failure::{Exit, Failure, Outcome, of_action};
use crate::cli::output::said_yes;
use crate::cli::show::explain::find;
use crate::cli::show::explain::find::Match;
use crate::core::model::text::shown;
use crate::core::model::{
    Action, Code, Confirmation, Format, Key, LeftOver, Reason, RecordKind, RecordView, Remedy, Report,
    Request, RestoreTo, Signal, VerdictState,
};
use crate::core::plan::about::ReportView;
use crate::core::plan::find::Subject;
use crate::core::plan::holder::claims_of;
use crate::core::plan::stop::topmost;

/// Acts on what a person named.
///
/// # Errors
/// Nothing or several things are called so, or acting is refused or fails.
pub(crate) fn act_on(settings: &Settings, action: Action, subjects: &[String], consent: &Consent) -> Outcome {
    let mut site = site::open(settings, consent, subjects)?;
    let report = site.report();
    let all = site.all(&report);
    let mut requests = Vec::new();
    for subject in subjects {
        requests.extend(asked(&report, find::find_here(&report, all.as_ref(), subject)?, action)?);
    }
    carry_out(settings, site, &report, &requests, consent)
}

/// Carries out requests about this machine, and prints at the end what was left.
///
/// # Errors
/// Acting is refused or fails.
pub(crate) fn carry(
    settings: &Settings,
    requests: &[Request],
    consent: &Consent,
    left: Option<String>,
) -> Outcome {
    let mut site = site::open(settings, consent, &[])?;
    let report = site.report();
    carry_out_and_tell(settings, site, &report, requests, consent, left)
}

/// Ends what a person named: a left-over or a window.
///
/// # Errors
/// Nothing or several things are called so, or acting is refused or fails.
pub(crate) fn stop(settings: &Settings, subject: &str, consent: &Consent) -> Outcome {
    let mut site = site::open(settings, consent, &[subject.to_owned()])?;
    let report = site.report();
    let key = ending(&report, site.all(&report).as_ref(), subject)?;
    let signal = match &site {
        Site::Here { executor, .. } => {
            let history = executor.history().map_err(of_action)?;
            topmost(&report, &key).map_or(Signal::Term, |id| history.next_signal(id))
        }
        // What was tried there before is known there.
        Site::There(_) => Signal::Term,
    };
    carry_out(settings, site, &report, &[Request::Stop { key, signal }], consent)
}

/// Returns the key of a left-over by that or its PID, or of whatever else is called so.
fn ending(report: &Report, all: Option<&Report>, subject: &str) -> Result<Key, Failure> {
    let pid: Option<u32> = subject.parse().ok();
    let is_meant = |one: &&LeftOver| one.key.as_str() == subject || Some(one.pid) == pid;
    if let Some(one) = report.left_overs.iter().find(is_meant) {
        return Ok(one.key.clone());
    }
    Ok(match find::find_here(report, all, subject)? {
        Match::One(subject) => subject.key().clone(),
        Match::Left(record) => record.key.clone(),
    })
}

/// Returns what an action on something is about: of a window that lives what it holds, of one that
/// has ended all that it has left.
fn asked(report: &Report, found: Match<'_>, action: Action) -> Result<Vec<Request>, Failure> {
    let act = |key: &Key| Request::Act { key: key.clone(), action };
    Ok(match (found, action) {
        (Match::Left(record), Action::Release | Action::Park) => {
            vec![Request::Left { of: record.key.clone() }]
        }
        (
            Match::Left(record),
            Action::Migrate
            | Action::Undo
            | Action::Stop
            | Action::Rescue
            | Action::Setup
            | Action::BringBack,
        ) => {
            vec![act(&record.key)]
        }
        (Match::One(Subject::Window(window)), Action::Release) if window.claims.is_empty() => {
            let error = anyhow!("{} is running and holds nothing", shown(&window.title()));
            return Err(Failure::new(Exit::Refused, error));
        }
        (Match::One(Subject::Window(window)), Action::Release) => {
            claims_of(report, window).iter().map(act).collect()
        }
        (Match::One(Subject::LeftTree(tree)), Action::Release) => match &tree.releasable_lock {
            Some(lock) => vec![act(lock)],
            None => {
                let error = anyhow!("no dead window is known to have locked {}", shown(tree.path.raw()));
                return Err(Failure::new(Exit::Refused, error));
            }
        },
        (Match::One(subject), _) => vec![act(subject.key())],
    })
}

/// Migrates every legacy record that has a window of its own.
///
/// # Errors
/// Acting is refused or fails.
pub(crate) fn migrate_all(settings: &Settings, consent: &Consent) -> Outcome {
    let mut site = site::open(settings, consent, &[])?;
    let report = site.report();
    let legacy = report.findings.iter().filter(|finding| finding.remedy == Remedy::Migrate);
    let keys: BTreeSet<_> = legacy.filter_map(|finding| finding.subjects.first().cloned()).collect();
    let requests: Vec<_> =
        keys.into_iter().map(|key| Request::Act { key, action: Action::Migrate }).collect();
    carry_out(settings, site, &report, &requests, consent)
}

/// Parks every record that is provably dead and past its own system's limit; or, as one, all that are past it and that no
/// process is known to hold. Says what it leaves, and what takes that.
///
/// # Errors
/// Acting is refused or fails.
pub(crate) fn clean(settings: &Settings, is_expired: bool, consent: &Consent) -> Outcome {
    let mut site = site::open(settings, consent, &[])?;
    let report = site.report();
    let action = Action::Park;
    let (requests, left) = if is_expired {
        let keys: Vec<Key> = expired(&report).map(|record| record.key.clone()).collect();
        (if keys.is_empty() { Vec::new() } else { vec![Request::Several { keys, action }] }, None)
    } else {
        let act = |record: &RecordView| Request::Act { key: record.key.clone(), action };
        (
            outdated(&report).map(act).collect::<Vec<_>>(),
            Some(expired(&report).count()).filter(|left| *left > 0),
        )
    };
    let left = left.map(|left| {
        let records = if left == 1 { "1 record is".to_owned() } else { format!("{left} records are") };
        format!("{records} past their own system's limit, with no known holder: claimtop clean --expired")
    });
    carry_out_and_tell(settings, site, &report, &requests, consent, left)
}

/// Returns the records that are past their own system's limit, that no process is known to hold, and that may be parked.
fn expired(report: &Report) -> impl Iterator<Item = &RecordView> {
    let known = ReportView::new(report);
    report.records().filter(move |record| {
        // Of what may be held elsewhere, or by a process that cannot be seen, time alone proves nothing.
        record.verdict.state == VerdictState::Unknown
            && record.verdict.reason == Reason::NoPid
            && record.is_stale
            && record.format != Format::Entire
            && !matches!(record.kind, RecordKind::Companion | RecordKind::Temporary)
            && !known.is_refused(record, Action::Park, is_foreign(report, record))
    })
}

/// Returns whether a record's file is another user's.
fn is_foreign(report: &Report, record: &RecordView) -> bool {
    let is_it = |finding: &&std::sync::Arc<crate::core::model::Finding>| {
        finding.code == Code::ForeignOwner && finding.subjects.contains(&record.key)
    };
    report.findings.iter().any(|finding| is_it(&finding))
}

/// Returns the records that a clean is about. A companion goes with its session; the states of
/// the entire CLI are its own doctor's to remove, for they may hold work that is not condensed.
fn outdated(report: &Report) -> impl Iterator<Item = &RecordView> {
    let orphans: BTreeSet<_> = report
        .findings
        .iter()
        .filter(|finding| finding.code == Code::OrphanCompanion)
        .filter_map(|finding| finding.subjects.first())
        .collect();
    let known = ReportView::new(report);
    report.records().filter(move |record| {
        record.verdict.state == VerdictState::Dead
            && record.is_stale
            && record.format != Format::Entire
            && known.user_of(record).is_none()
            && (record.kind != RecordKind::Companion || orphans.contains(&record.key))
    })
}

/// Undoes an entry, or the newest that can be undone. One that was asked of another machine is undone there.
///
/// # Errors
/// There is none, or acting is refused or fails.
pub(crate) fn undo(settings: &Settings, entry: Option<&str>, to: RestoreTo, consent: &Consent) -> Outcome {
    let none = || {
        Failure::new(Exit::Refused, anyhow!("there is nothing to undo"))
            .hint("claimtop journal lists what was done")
    };
    let meant = site::undo(settings, consent, entry, to)?;
    if let Some(entry) = &meant.put_right {
        return transcript(settings, consent).put_right(entry, &meant.site.put_right());
    }
    let (mut site, entry) = (meant.site, meant.entry.ok_or_else(none)?);
    let report = site.report();
    carry_out(settings, site, &report, &[Request::Undo { entry, to }], consent)
}

fn transcript(settings: &Settings, consent: &Consent) -> Transcript {
    let paint = Paint::for_stdout(settings.effective.config.color);
    let shape = if consent.json { Shape::Json } else { Shape::Text(paint) };
    Transcript::new(shape, settings.given.clone())
}

/// Carries requests out where their things are.
fn carry_out(
    settings: &Settings,
    site: Site,
    report: &Report,
    requests: &[Request],
    consent: &Consent,
) -> Outcome {
    carry_out_and_tell(settings, site, report, requests, consent, None)
}

/// The same, and prints at the end what was left.
fn carry_out_and_tell(
    settings: &Settings,
    site: Site,
    report: &Report,
    requests: &[Request],
    consent: &Consent,
    left: Option<String>,
) -> Outcome {
    let mut transcript = transcript(settings, consent);
    transcript.left = left;
    match site {
        _ if requests.is_empty() => transcript.nothing(report),
        // Other machines may testify until it is done.
        Site::Here { mut executor, fleet: _fleet, unheard } => {
            let (mut transcript, mut may) = (transcript, Vec::new());
            for request in requests {
                match elsewhere::obstacle(report, request, &unheard) {
                    Some(why) => transcript.obstacle(None, &why),
                    None => may.push(request.clone()),
                }
            }
            carry_out_here(&mut transcript, &mut executor, report, &may, consent)?;
            transcript.earlier(report, &executor.put_right());
            transcript.end()
        }
        Site::There(there) => far::carry_out(transcript, there, requests, consent),
    }
}

/// Shows every plan, asks where that is needed, and does one after the other; one refusal does
/// not stop the rest.
fn carry_out_here(
    transcript: &mut Transcript,
    executor: &mut Executor,
    report: &Report,
    requests: &[Request],
    consent: &Consent,
) -> Result<(), Failure> {
    let chosen = planned(executor, report, requests, transcript)?;
    if consent.dry_run {
        chosen.iter().for_each(|seen| transcript.waits(seen));
        return Ok(());
    }
    let is_asked = !transcript.is_json() && asks_only_for_yes(chosen.iter().map(|seen| &seen.plan));
    let is_yes = consent.yes || (is_asked && said_yes(&question(chosen.len()))?);
    for seen in chosen {
        let title = seen.plan.what.clone();
        let answer = match &consent.confirm {
            Some(text) if seen.plan.confirmation != Confirmation::Yes => Answer::Typed(text.clone()),
            _ if is_yes => Answer::Yes,
            Some(_) | None => {
                transcript.unconfirmed(&seen.plan, seen.wanted().as_deref());
                continue;
            }
        };
        match executor.carry_out(seen, &answer) {
            Ok(carried) => transcript.carried(&carried),
            Err(trouble) => transcript.trouble(Some(&title), &trouble),
        }
    }
    Ok(())
}

/// Shows every plan, and returns those that can be done.
fn planned(
    executor: &mut Executor,
    report: &Report,
    requests: &[Request],
    transcript: &mut Transcript,
) -> Result<Vec<Preview>, Failure> {
    let mut chosen = Vec::new();
    for seen in executor.see(report, requests).map_err(of_action)? {
        match seen {
            Ok(seen) => {
                transcript.plan(&seen);
                chosen.push(seen);
            }
            Err(trouble) => transcript.trouble(None, &trouble),
        }
    }
    Ok(chosen)
}
