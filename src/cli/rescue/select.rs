//! Which versions are asked for.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::anyhow;
use jiff::Timestamp;

use crate::cli::output::failure::{Exit, Failure};
use crate::cli::settings::Settings;
use crate::core::model::{Edit, EditFate, EditState, Report, Snapshot, Untrusted, Work};
use crate::format::agent::bytes::Bytes;
use crate::present::report_index::window_name;
use crate::source::database::sqlite::copies::Copies;
use crate::source::os::fence::resolve;
use crate::source::versions::base::{BaseQuestion, base_of};
use crate::source::versions::found::{FoundVersion, fates, from_transcript, kept, sort};

/// A version with whose it is and what became of it.
pub(super) struct Candidate {
    pub(super) version: FoundVersion,
    /// The name of its window, if that runs.
    pub(super) who: Option<String>,
    pub(super) fate: EditFate,
}

/// The versions that are asked for, the newest of each file first.
pub(super) struct Selection {
    pub(super) versions: Vec<Candidate>,
    /// Why the transcripts of some sessions gave nothing.
    pub(super) unread: Vec<String>,
    /// What the sessions do.
    works: Vec<Arc<Work>>,
    /// When that was seen.
    at: Timestamp,
}

impl Selection {
    /// Returns the newest version of each file.
    pub(super) fn newest(&self) -> impl Iterator<Item = &Candidate> {
        let mut known: HashSet<&Path> = HashSet::new();
        self.versions.iter().filter(move |one| known.insert(&one.version.path))
    }
}

impl Selection {
    /// Finds what the lost edits began from of which a version is the last.
    pub(super) fn base_of(&self, settings: &Settings, version: &FoundVersion) -> Option<Bytes> {
        let FoundVersion { path, session, blob, .. } = version;
        let work = self.works.iter().find(|work| work.session == *session);
        let wanted = BaseQuestion { path, session, blob: *blob, work: work.map(|work| &**work) };
        let (home, kept) = (settings.places.home.as_path(), settings.state.join("kept"));
        let (fence, copies) = (settings.places.fence(), Copies::in_folder(&settings.places.copies));
        base_of(&wanted, &kept, (self.at, home), (&fence, &copies))
    }
}

/// What one word on the command line names.
enum Subject {
    File(PathBuf),
    Session(Untrusted),
}

/// Selects the versions of files, sessions and windows; without any, the last ones that are gone.
///
/// # Errors
/// A word names nothing of which versions are known.
pub(super) fn select(
    settings: &Settings,
    (snapshot, report): (&Snapshot, &Report),
    subjects: &[String],
) -> Result<Selection, Failure> {
    let home = &settings.places.home;
    let names: HashMap<&Untrusted, String> = report
        .windows
        .iter()
        .filter_map(|window| Some((window.session_id.as_ref()?, window_name(window))))
        .collect();
    let mut all = kept(&settings.state.join("kept"));
    let asked: Vec<Subject> = subjects
        .iter()
        .map(|subject| named(subject, report, (&snapshot.work, &all)))
        .collect::<Result<_, _>>()?;
    let (fence, copies) = (settings.places.fence(), Copies::in_folder(&settings.places.copies));
    let mut unread = Vec::new();
    for work in &snapshot.work {
        let is_asked = |edit: &&Edit| is_asked(edit, work, &asked);
        let wanted: Vec<PathBuf> = work
            .doing
            .edits
            .iter()
            .filter(is_asked)
            .map(|edit| Path::new(edit.path.raw()).to_path_buf())
            .collect();
        if wanted.is_empty() {
            continue;
        }
        match from_transcript(work, &wanted, (&fence, &copies)) {
            Ok(versions) => all.extend(versions),
            Err(error) => unread.push(format!("{}: {error}", work.session)),
        }
    }
    all.retain(|version| is_named(version, &asked));
    sort(&mut all);
    if asked.is_empty() || asked.iter().any(|one| matches!(one, Subject::Session(_))) {
        let mut known: HashSet<(PathBuf, Untrusted)> = HashSet::new();
        all.retain(|one| known.insert((one.path.clone(), one.session.clone())));
    }
    let fates = fates(&all, (report.taken_at, home));
    let candidate = |(version, fate): (FoundVersion, EditFate)| {
        let who = names.get(&version.session).cloned();
        Candidate { version, who, fate }
    };
    let mut versions: Vec<Candidate> = all.into_iter().zip(fates).map(candidate).collect();
    if asked.is_empty() {
        versions.retain(|one| one.fate.state.is_away());
    }
    Ok(Selection { versions, unread, works: snapshot.work.clone(), at: report.taken_at })
}

/// Returns whether the transcript of a session is read for an edit: without a name, unless it is known that nothing of
/// it is gone.
fn is_asked(edit: &Edit, work: &Work, asked: &[Subject]) -> bool {
    let is_here = |subject: &Subject| match subject {
        Subject::File(path) => Path::new(edit.path.raw()) == path,
        Subject::Session(session) => work.session == *session,
    };
    let may_be_gone = || match edit.fate.state {
        EditState::Gone | EditState::Stashed | EditState::Unknown => true,
        EditState::Present | EditState::Committed | EditState::Superseded => false,
    };
    if asked.is_empty() { may_be_gone() } else { asked.iter().any(is_here) }
}

fn is_named(version: &FoundVersion, asked: &[Subject]) -> bool {
    asked.is_empty()
        || asked.iter().any(|subject| match subject {
            Subject::File(path) => version.path == *path,
            Subject::Session(session) => version.session == *session,
        })
}

/// Finds what a word names: a file of which a version is known, a session or the beginning of its ID, or a window.
fn named(
    word: &str,
    report: &Report,
    (works, kept): (&[Arc<Work>], &[FoundVersion]),
) -> Result<Subject, Failure> {
    let path = std::path::absolute(word).ok();
    let path = path.map(|path| match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => resolve(folder).join(name),
        _ => path,
    });
    let edited = |path: &Path| {
        let edits = works.iter().flat_map(|work| &work.doing.edits);
        edits.into_iter().any(|edit| Path::new(edit.path.raw()) == path)
    };
    if let Some(path) = path.filter(|path| edited(path) || kept.iter().any(|one| one.path == *path)) {
        return Ok(Subject::File(path));
    }
    let window = report.windows.iter().find(|window| {
        let is_named = window.name.as_ref().is_some_and(|name| name.raw() == word);
        is_named || window.key.as_str() == word || window.pid.to_string() == word
    });
    if let Some(session) = window.and_then(|window| window.session_id.clone()) {
        return Ok(Subject::Session(session));
    }
    let sessions = works.iter().map(|work| &work.session).chain(kept.iter().map(|one| &one.session));
    let mut found: Vec<&Untrusted> = sessions.filter(|session| session.raw().starts_with(word)).collect();
    found.sort_unstable();
    found.dedup();
    match found.as_slice() {
        [session] if word.len() >= 4 || session.raw() == word => Ok(Subject::Session((*session).clone())),
        [] | [_] => {
            let error =
                anyhow!("{word}: no version of such a file is known, and no session or window has this name");
            Err(Failure::new(Exit::Refused, error).hint("claimtop rescue lists what is known to be gone"))
        }
        many => Err(Failure::usage(anyhow!("{word}: {} sessions begin so", many.len()))),
    }
}
