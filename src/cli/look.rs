//! The observer of these settings, and how a command that has looked ends.

use super::output::Paint;
use super::settings::Settings;
use crate::act::fs::system::System;
use crate::act::state::{dead_holds, tombstones};
use crate::cli::output::failure::Exit;
use crate::core::assess::Policy;
use crate::core::judge::window::agent::Signatures;
use crate::core::model::snapshot::unread;
use crate::core::model::{NotAsked, Report, SourceState, Topic};
use crate::observe::observer::TombstoneStore;
use crate::observe::{Observer, Options};
use crate::present::sources::source_name;
use crate::present::text::safe;
use crate::present::text::tone::Tone;
use crate::source::os::host;

/// Prepares to observe the world of these settings; reads nothing yet.
pub(crate) fn observer(settings: &Settings, signatures: Signatures) -> Observer {
    let may_keep = host::owns(&settings.places.home) && !settings.effective.config.access.is_read_only();
    let tombstones = settings.places.tombstones().filter(|_| may_keep);
    let tombstones = tombstones.map(|path| -> TombstoneStore {
        Box::new(move |lesson, host| Ok(tombstones::keep(&System, &path, lesson, host)?))
    });
    let holds = settings.places.tombstones().filter(|_| may_keep).map(|path| dead_holds::beside(&path));
    let observer = Observer::new(Options {
        places: settings.places.clone(),
        policy: Policy { signatures },
        formats: settings.formats.clone(),
        stage: None,
        tombstones,
    });
    let Some(path) = holds else { return observer };
    let mut keeper = dead_holds::Keeper::new(System, path);
    observer.recorded(Box::new(move |snapshot, report| keeper.keep(report, &snapshot.host)))
}

/// Names the sources that may have more; `None` if none has.
pub(crate) fn unread_names(report: &Report) -> Option<String> {
    let mut names: Vec<&str> = unread(&report.sources, Topic::All).map(source_name).collect();
    names.dedup();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Says that no problem was found, as far as that is known.
pub(crate) fn no_problem(report: &Report) -> (Tone, String) {
    match unread_names(report) {
        Some(names) => {
            let unknown = "It is not known whether there is a problem: not everything could be read";
            (Tone::Warning, format!("{unknown} ({names})."))
        }
        None if report.not_asked.is_empty() => (Tone::Good, "No problem was found.".to_owned()),
        None => (Tone::Notice, "Nothing is wrong in what was asked.".to_owned()),
    }
}

/// Names the sources of the configuration that were not asked, in one line.
pub(crate) fn not_asked(sources: &[NotAsked]) -> Option<String> {
    let name = |source: &NotAsked| match source {
        NotAsked::Machine(name) => safe(name),
        NotAsked::Fleet(url) => format!("the fleet in {}", safe(url)),
        NotAsked::OtherHosts(url) => format!("the other hosts in {}", safe(url)),
    };
    let names: Vec<String> = sources.iter().map(name).collect();
    (!names.is_empty()).then(|| format!("Not asked: {}", names.join(", ")))
}

/// Returns the same line for the end of a text, or nothing.
pub(crate) fn not_asked_line(report: &Report, paint: Paint) -> String {
    not_asked(&report.not_asked)
        .map_or_else(String::new, |line| format!("{}\n", paint.paint(Tone::Notice, &line)))
}

/// Returns how a command that has looked ends: a failure where no source gave anything, or a machine that was
/// asked for could not be reached.
pub(crate) fn exit(report: &Report) -> Exit {
    let is_useless = report.sources.iter().all(|source| match source.state {
        SourceState::Failed | SourceState::Absent => true,
        SourceState::Ok | SourceState::Partial => false,
    });
    if has_failed(report) && is_useless { Exit::Failed } else { missing(report) }
}

/// Returns whether a source could not be read at all.
pub(crate) fn has_failed(report: &Report) -> bool {
    report.sources.iter().any(|source| source.state == SourceState::Failed)
}

/// Returns how a command ends that has shown what there is: a failure where a machine that was asked for is missing.
pub(crate) fn missing(report: &Report) -> Exit {
    let is_missing = report.machines.iter().any(|machine| !machine.state.is_heard());
    if is_missing { Exit::Failed } else { Exit::Fine }
}
