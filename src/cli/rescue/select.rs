//! Which versions are asked for.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::anyhow;
use jiff::{SignedDuration, Timestamp};

use crate::cli::output::failure::{Exit, Failure};
use crate::cli::settings::Settings;
use crate::core::model::snapshot::work::MOST_FILES;
use crate::core::model::{Edit, EditFate, EditState, Report, Snapshot, Untrusted, WindowView, Work};
use crate::format::agent::bytes::Bytes;
use crate::present::report_index::window_name;
use crate::present::text::safe;
use crate::source::database::sqlite::copies::Copies;
use crate::source::os::fence::{Fence, resolve};
use crate::source::places::homes::Homes;
use crate::source::repos::objects::Name;
use crate::source::versions::SessionFiles;
use crate::source::versions::base::{BaseQuestion, base_of};
use crate::source::versions::found::{FoundVersion, fates, kept, sort, whole_transcript};
use crate::source::versions::stored::{SessionStore, StoredSession, may_name};
use crate::source::work::title_of;

/// How long ago a session may have been written whose file is searched, in days: agents delete most by then.
const DAYS: i64 = 30;
/// The same if nothing is named.
const DAYS_HERE: i64 = 7;
/// Of how many sessions the title is read.
const MOST_TITLES: usize = 32;

/// A version with whose it is and what became of it.
pub(super) struct Candidate {
    pub(super) version: FoundVersion,
    /// The name of its window, if that runs.
    pub(super) who: Option<String>,
    /// The title of its session, if it is known and no window runs it.
    pub(super) title: Option<String>,
    /// Whether no window runs it, nor may.
    pub(super) has_ended: bool,
    pub(super) fate: EditFate,
}

/// The versions that are asked for, the newest of each file first.
pub(super) struct Selection {
    pub(super) versions: Vec<Candidate>,
    /// Why the transcripts of some sessions gave nothing.
    pub(super) unread: Vec<String>,
    /// The files that are named themselves.
    named: HashSet<PathBuf>,
    /// What the sessions do.
    works: Vec<Arc<Work>>,
    /// When that was seen.
    at: Timestamp,
}

impl Candidate {
    /// Returns the name of its window, or what its session is called.
    pub(super) fn label(&self) -> String {
        let session = self.version.session.to_string();
        self.who.clone().unwrap_or_else(|| called(&session, self.title.as_deref(), self.has_ended))
    }
}

/// Names a session that is no window's: by its title, or the beginning of its ID if it has surely ended.
fn called(session: &str, title: Option<&str>, has_ended: bool) -> String {
    /// How much of a session's ID tells it from others.
    const SHORT: usize = 8;
    match (title, has_ended) {
        (Some(title), true) => format!("{title} (ended)"),
        (None, true) => format!("{} (ended)", session.get(..SHORT).unwrap_or(session)),
        (title, false) => title.unwrap_or(session).to_owned(),
    }
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

/// What one word on the command line names.
enum Subject {
    /// A file, by its resolved path and as it was given.
    File([PathBuf; 2]),
    Session(Untrusted),
}

/// A session that is read, for some files or for all.
struct SessionToRead {
    work: Arc<Work>,
    files: Option<Vec<PathBuf>>,
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
    let (fence, copies) = (settings.places.fence(), Copies::in_folder(&settings.places.copies));
    let mut all = kept(&settings.state.join("kept"));
    let mut unread = Vec::new();
    let mut stored = SessionStore::find(&homes(settings, (snapshot, report)), (&fence, &copies));
    let asked: Vec<Subject> = subjects
        .iter()
        .map(|subject| named(subject, report, (&snapshot.work, &stored, &all)))
        .collect::<Result<_, _>>()?;
    stored.sessions.retain(|one| !snapshot.work.iter().any(|work| is_of(work, &one.files)));
    let more =
        sessions_to_read((settings, report.taken_at), (stored, &mut unread), &asked, (&fence, &copies));
    let stored_only: HashSet<Untrusted> = more.iter().map(|one| one.work.session.clone()).collect();
    let look = snapshot.work.iter().filter_map(|work| known_session(work, &asked, &fence));
    let mut works = snapshot.work.clone();
    for SessionToRead { work, files } in look.chain(more) {
        match whole_transcript(&work, files.as_deref(), (&fence, &copies)) {
            Ok((versions, too_long)) => {
                all.extend(versions);
                if too_long > 0 {
                    unread.push(format!("{}: its transcript was not read whole: a line of more than 64 MiB, or what exceeds the bounds, was left out", work.session));
                }
            }
            Err(error) => unread.push(format!("{}: {error}", work.session)),
        }
        works.push(work);
    }
    all.retain(|version| is_named(version, &asked));
    sort(&mut all);
    // A session that continues or copies another one repeats its lines.
    let mut same: HashSet<(PathBuf, Timestamp, Name)> = HashSet::new();
    all.retain(|one| same.insert((one.path.clone(), one.at, one.blob)));
    if asked.is_empty() || asked.iter().any(|one| matches!(one, Subject::Session(_))) {
        let mut known: HashSet<(PathBuf, Untrusted)> = HashSet::new();
        all.retain(|one| known.insert((one.path.clone(), one.session.clone())));
    }
    if asked.is_empty() {
        // What sessions that have ended wrote is old news once another session has written the file.
        let mut newest: HashSet<PathBuf> = HashSet::new();
        all.retain(|one| newest.insert(one.path.clone()) || !stored_only.contains(&one.session));
    }
    let is_known = |subject: &Subject| match subject {
        Subject::File(paths) => all.iter().any(|one| paths.contains(&one.path)),
        Subject::Session(_) => true,
    };
    if let Some((word, _)) = subjects.iter().zip(&asked).find(|(_, subject)| !is_known(subject)) {
        return Err(unknown(word, &unread));
    }
    let fates = fates(&all, (report.taken_at, &settings.places.home));
    let mut versions: Vec<(FoundVersion, EditFate)> = all.into_iter().zip(fates).collect();
    if asked.is_empty() {
        versions.retain(|(_, fate)| fate.state.is_away());
    }
    let mut known: HashMap<Untrusted, SessionLabel> = HashMap::new();
    let candidate = |(version, fate): (FoundVersion, EditFate)| {
        let has_title = known.len() < MOST_TITLES;
        let session = known.entry(version.session.clone());
        let of = || SessionLabel::of(&version, (snapshot, report), (&works, has_title));
        let label = session.or_insert_with(of).clone();
        Candidate { version, who: label.who, title: label.title, has_ended: label.has_ended, fate }
    };
    let versions: Vec<Candidate> = versions.into_iter().map(candidate).collect();
    let files = asked.into_iter().filter_map(|subject| match subject {
        Subject::File(paths) => Some(paths),
        Subject::Session(_) => None,
    });
    let named = files.flatten().collect();
    Ok(Selection { versions, unread, named, works, at: report.taken_at })
}

/// How a session is called.
#[derive(Clone)]
struct SessionLabel {
    who: Option<String>,
    title: Option<String>,
    has_ended: bool,
}

impl SessionLabel {
    fn of(
        version: &FoundVersion,
        (snapshot, report): (&Snapshot, &Report),
        (works, has_title): (&[Arc<Work>], bool),
    ) -> Self {
        let session = &version.session;
        let its = report.windows.iter().find(|window| window.session_id.as_ref() == Some(session));
        // A window of which it is not known which session it runs may run this one.
        let may_run = |window: &WindowView| {
            window.may_run.contains(session)
                || (window.session_id.is_none() && window.agent == version.agent)
                || window.session.as_ref().is_some_and(|view| view.id == *session)
        };
        let work = works.iter().find(|work| work.session == *session).filter(|_| has_title);
        let title = || work.and_then(|work| title_of(work, snapshot.host.uid));
        Self {
            who: its.map(window_name),
            title: if its.is_none() { title().map(|title| safe(&title.to_string())) } else { None },
            has_ended: its.is_none() && !report.windows.iter().any(may_run),
        }
    }
}

/// Returns the folders in which agents keep sessions: of this person, and those that windows have for themselves.
fn homes(settings: &Settings, (snapshot, report): (&Snapshot, &Report)) -> Homes {
    let mut homes = Homes::new(&settings.places);
    let details = |window: &'_ WindowView| snapshot.processes.get(window.pid)?.details.as_ref();
    let windows = report.windows.iter().filter_map(|window| Some((window.agent.raw(), details(window)?)));
    homes.follow(&settings.places, windows, snapshot.host.uid);
    homes
}

fn is_of(work: &Work, files: &SessionFiles) -> bool {
    work.format == files.format && work.session == files.session
}

/// Returns for what the transcript of a session of the look is read: without a name for what may be gone, and for
/// everything if the look does not know all of its edits.
fn known_session(work: &Arc<Work>, asked: &[Subject], fence: &Fence) -> Option<SessionToRead> {
    let whole = |files| Some(SessionToRead { work: Arc::clone(work), files });
    let edits = &work.doing.edits;
    let is_partial = work.doing.edits_since.is_some() || edits.len() >= MOST_FILES;
    let is_its = |subject: &Subject| matches!(subject, Subject::Session(session) if work.session == *session);
    if asked.iter().any(is_its) || (asked.is_empty() && is_partial) {
        return whole(None);
    }
    let may_be_gone = |edit: &&Edit| match edit.fate.state {
        EditState::Gone | EditState::Stashed | EditState::Unknown => true,
        EditState::Present | EditState::Committed | EditState::Superseded => false,
    };
    if asked.is_empty() {
        let files: Vec<PathBuf> =
            edits.iter().filter(may_be_gone).map(|edit| PathBuf::from(edit.path.raw())).collect();
        return if files.is_empty() { None } else { whole(Some(files)) };
    }
    let mut files = paths(asked);
    if !is_partial {
        files.retain(|path| edits.iter().any(|edit| Path::new(edit.path.raw()) == path));
    }
    let is_named = !files.is_empty() && (!is_partial || may_name(work, &files, fence));
    if is_named { whole(Some(files)) } else { None }
}

/// Returns all paths that are asked for.
fn paths(asked: &[Subject]) -> Vec<PathBuf> {
    let paths = asked.iter().filter_map(|subject| match subject {
        Subject::File(paths) => Some(paths.iter().cloned()),
        Subject::Session(_) => None,
    });
    paths.flatten().collect()
}

/// Returns the other sessions that are read, and says what was not searched.
fn sessions_to_read(
    (settings, now): (&Settings, Timestamp),
    (mut stored, unread): (SessionStore, &mut Vec<String>),
    asked: &[Subject],
    (fence, copies): (&Fence, &Copies),
) -> Vec<SessionToRead> {
    let of = |files: Option<Vec<PathBuf>>| {
        move |one: &StoredSession| SessionToRead { work: Arc::new(one.work()), files: files.clone() }
    };
    let is_since = |days: i64| {
        let since = now.saturating_sub(SignedDuration::from_hours(24 * days)).unwrap_or_default();
        move |one: &StoredSession| one.written_at >= since
    };
    if asked.is_empty() {
        let named = settings.places.here.iter().chain(&settings.places.roots);
        let trees: Vec<PathBuf> = named.map(|tree| resolve(tree)).collect();
        stored.sessions.retain(is_since(DAYS_HERE));
        stored.sessions.retain(|one| one.is_in(&trees));
        return stored.sessions.iter().map(of(None)).collect();
    }
    let is_asked = |one: &StoredSession| {
        let is_its = |subject: &Subject| matches!(subject, Subject::Session(id) if *id == one.files.session);
        asked.iter().any(is_its)
    };
    let (own, others): (Vec<_>, Vec<_>) = stored.sessions.drain(..).partition(is_asked);
    let mut read: Vec<SessionToRead> = own.iter().map(of(None)).collect();
    let files = paths(asked);
    if !files.is_empty() {
        let (newer, older): (Vec<_>, Vec<_>) = others.into_iter().partition(is_since(DAYS));
        stored.sessions = newer;
        stored.keep_naming(&files, (fence, copies));
        read.extend(stored.sessions.iter().map(of(Some(files))));
        if stored.left_out > 0 {
            unread.push(format!(
                "{} more session files were not searched: they exceed the bounds",
                stored.left_out
            ));
        }
        if !older.is_empty() {
            unread.push(format!(
                "{} sessions that were not written for {DAYS} days were not searched: name one by its ID",
                older.len()
            ));
        }
    }
    read
}

fn is_named(version: &FoundVersion, asked: &[Subject]) -> bool {
    asked.is_empty()
        || asked.iter().any(|subject| match subject {
            Subject::File(paths) => paths.contains(&version.path),
            Subject::Session(session) => version.session == *session,
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_without_a_window_is_called_ended_only_if_it_is() {
        let id = "c1a0de00-0000-4000-8000-000000000001";
        for (title, has_ended, expected) in [
            (Some("Sell things"), true, "Sell things (ended)"),
            (Some("Sell things"), false, "Sell things"),
            (None, true, "c1a0de00 (ended)"),
            (None, false, id),
        ] {
            assert_eq!(called(id, title, has_ended), expected);
        }
        assert_eq!(called("short", None, true), "short (ended)");
    }
}
