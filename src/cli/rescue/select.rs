//! Which versions are asked for.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::anyhow;
use jiff::Timestamp;

use crate::cli::output::failure::{Exit, Failure};
use crate::cli::settings::Settings;
use crate::core::model::{EditFate, Report, Snapshot, Untrusted, WindowView, Work};
use crate::format::agent::bytes::Bytes;
use crate::present::versions::SessionLabel;
use crate::source::database::sqlite::copies::Copies;
use crate::source::os::fence::resolve;
use crate::source::places::homes::Homes;
use crate::source::versions::base::{BaseQuestion, base_of};
use crate::source::versions::found::{FoundVersion, kept};
use crate::source::versions::search::{FoundVersions, Search, Subject};
use crate::source::versions::stored::SessionStore;

/// A version with whose it is and what became of it.
pub(crate) struct Candidate {
    pub(crate) version: FoundVersion,
    pub(crate) label: SessionLabel,
    pub(crate) fate: EditFate,
}

/// The versions that are asked for, the newest of each file first.
pub(crate) struct Selection {
    pub(crate) versions: Vec<Candidate>,
    /// Why the transcripts of some sessions gave nothing.
    pub(crate) unread: Vec<String>,
    /// The files that are named themselves.
    named: HashSet<PathBuf>,
    /// What the sessions do.
    works: Vec<Arc<Work>>,
    /// When that was seen.
    at: Timestamp,
}

impl Selection {
    /// Returns whether a file is named itself, and not only its session.
    pub(super) fn names(&self, path: &Path) -> bool {
        self.named.contains(path)
    }

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

/// Selects the versions of files, sessions and windows; without any, the last ones that are gone.
///
/// # Errors
/// A word names nothing of which versions are known.
pub(super) fn select(
    settings: &Settings,
    seen: (&Snapshot, &Report),
    subjects: &[String],
) -> Result<Selection, Failure> {
    let here = settings.places.here.iter().chain(&settings.places.roots);
    let trees: Vec<PathBuf> = here.map(|tree| resolve(tree)).collect();
    let (selected, asked) = find(settings, seen, subjects, &trees)?;
    let is_known = |subject: &Subject| match subject {
        Subject::File(paths) => selected.versions.iter().any(|one| paths.contains(&one.version.path)),
        Subject::Session(_) => true,
    };
    if let Some((word, _)) = subjects.iter().zip(&asked).find(|(_, subject)| !is_known(subject)) {
        return Err(unknown(word, &selected.unread));
    }
    Ok(selected)
}

/// Finds the versions of files, sessions and windows, and returns what each word means; without any word the last
/// versions that are gone, of sessions without a window those that began in one of these trees.
///
/// # Errors
/// A word names several sessions.
pub(crate) fn find(
    settings: &Settings,
    (snapshot, report): (&Snapshot, &Report),
    subjects: &[String],
    trees: &[PathBuf],
) -> Result<(Selection, Vec<Subject>), Failure> {
    let (fence, copies) = (settings.places.fence(), Copies::in_folder(&settings.places.copies));
    let all = kept(&settings.state.join("kept"));
    let stored = SessionStore::find(&homes(settings, (snapshot, report)), (&fence, &copies));
    let asked: Vec<Subject> = subjects
        .iter()
        .map(|subject| named(subject, report, (&snapshot.work, &stored, &all)))
        .collect::<Result<_, _>>()?;
    let (now, home) = (report.taken_at, settings.places.home.as_path());
    let search = Search { works: &snapshot.work, now, home, fence: &fence, copies: &copies };
    let found = search.find(&asked, (all, stored), trees);
    let titles = found.titles(snapshot.host.uid);
    let candidate = |(version, fate): (FoundVersion, EditFate)| {
        let label =
            SessionLabel::new(report, (&version.session, &version.agent), titles.get(&version.session));
        Candidate { version, label, fate }
    };
    let FoundVersions { versions, works, unread } = found;
    let versions: Vec<Candidate> = versions.into_iter().map(candidate).collect();
    let files = asked.iter().filter_map(|subject| match subject {
        Subject::File(paths) => Some(paths.clone()),
        Subject::Session(_) => None,
    });
    let named = files.flatten().collect();
    Ok((Selection { versions, unread, named, works, at: now }, asked))
}

/// Returns the folders in which agents keep sessions: of this person, and those that windows have for themselves.
fn homes(settings: &Settings, (snapshot, report): (&Snapshot, &Report)) -> Homes {
    let mut homes = Homes::new(&settings.places);
    let details = |window: &'_ WindowView| snapshot.processes.get(window.pid)?.details.as_ref();
    let windows = report.windows.iter().filter_map(|window| Some((window.agent.raw(), details(window)?)));
    homes.follow(&settings.places, windows, snapshot.host.uid);
    homes
}

/// Finds what a word names: a file of which a version is known, a session or the beginning of its ID, or a window; else
/// a file that agents may have edited.
fn named(
    word: &str,
    report: &Report,
    (works, stored, kept): (&[Arc<Work>], &SessionStore, &[FoundVersion]),
) -> Result<Subject, Failure> {
    let given = std::path::absolute(word).unwrap_or_else(|_| PathBuf::from(word));
    let path = match (given.parent(), given.file_name()) {
        (Some(folder), Some(name)) => resolve(folder).join(name),
        _ => given.clone(),
    };
    let file = [path, given];
    let edited = |path: &PathBuf| {
        let edits = works.iter().flat_map(|work| &work.doing.edits);
        edits.into_iter().any(|edit| Path::new(edit.path.raw()) == path)
    };
    if file.iter().any(|path| edited(path) || kept.iter().any(|one| one.path == *path)) {
        return Ok(Subject::File(file));
    }
    let window = report.windows.iter().find(|window| {
        let is_named = window.name.as_ref().is_some_and(|name| name.raw() == word);
        is_named || window.key.as_str() == word || window.pid.to_string() == word
    });
    if let Some(session) = window.and_then(|window| window.session_id.clone()) {
        return Ok(Subject::Session(session));
    }
    let sessions = works.iter().map(|work| &work.session).chain(kept.iter().map(|one| &one.session));
    let sessions = sessions.chain(stored.sessions.iter().map(|one| &one.files.session));
    let mut found: Vec<&Untrusted> = sessions.filter(|session| session.raw().starts_with(word)).collect();
    found.sort_unstable();
    found.dedup();
    match found.as_slice() {
        [session] if word.len() >= 4 || session.raw() == word => Ok(Subject::Session((*session).clone())),
        [] | [_] => Ok(Subject::File(file)),
        many => Err(Failure::usage(anyhow!("{word}: {} sessions begin so", many.len()))),
    }
}

fn unknown(word: &str, unread: &[String]) -> Failure {
    let error = anyhow!("{word}: no version of such a file is known, and no session or window has this name");
    let known = "claimtop rescue lists what is known to be gone".to_owned();
    let hints: Vec<String> = unread.iter().cloned().chain([known]).collect();
    Failure::new(Exit::Refused, error).hint(hints.join("\n"))
}
