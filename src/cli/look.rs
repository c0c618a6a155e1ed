//! The observer of these settings, and how a command that has looked ends.

use super::failure::Exit;
use super::settings::Settings;
use crate::act::fs::system::System;
use crate::act::{dead_holds, tombstones};
use crate::core::assess::Policy;
use crate::core::judge::agent::Signatures;
use crate::core::model::{MachineState, Report, SourceState};
use crate::observe::observer::TombstoneStore;
use crate::observe::{Observer, Options};
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
    let is_missing = report.machines.iter().any(|machine| machine.state != MachineState::Live);
    if is_missing { Exit::Failed } else { Exit::Fine }
}
