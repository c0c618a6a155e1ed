//! Which versions of files are asked for, and where they are searched for: what hooks have kept, the sessions of the look,
//! and those in the agents' own folders.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::core::model::{Edit, EditFate, EditState, Untrusted, Work};
use crate::source::database::sqlite::copies::Copies;
use crate::source::os::fence::Fence;
use crate::source::repos::objects::Name;
use crate::source::versions::SessionFiles;
use crate::source::versions::found::{FoundVersion, fates, sort, whole_transcript};
use crate::source::versions::stored::{SessionStore, StoredSession, may_name};
use crate::source::work::title_of;

/// How long ago a session may have been written whose file is searched, in days: agents delete most by then.
const DAYS: i64 = 30;
/// The same if nothing is named.
const DAYS_HERE: i64 = 7;
/// Of how many sessions the title is read.
const MOST_TITLES: usize = 32;

/// What versions are asked for.
#[derive(Clone)]
pub(crate) enum Subject {
    /// A file, by its resolved path and as it was given.
    File([PathBuf; 2]),
    Session(Untrusted),
}

/// How and when versions are searched for.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    /// What the sessions of the look do.
    pub(crate) works: &'a [Arc<Work>],
    pub(crate) now: Timestamp,
    /// The home in which a person's settings of git are.
    pub(crate) home: &'a Path,
    pub(crate) fence: &'a Fence,
    pub(crate) copies: &'a Copies,
}

/// The versions that were found.
pub(crate) struct FoundVersions {
    /// File by file, the newest of each first, each with what became of it.
    pub(crate) versions: Vec<(FoundVersion, EditFate)>,
    /// What the sessions do, also those of the agents' folders.
    pub(crate) works: Vec<Arc<Work>>,
    /// Why the transcripts of some sessions gave nothing, and what was not searched.
    pub(crate) unread: Vec<String>,
}

/// A session that is read, for some files or for all.
struct SessionToRead {
    work: Arc<Work>,
    files: Option<Vec<PathBuf>>,
}

impl Search<'_> {
    /// Finds the versions of files and sessions among what hooks have kept and what transcripts give. Of a session only
    /// the newest of each file; without any subject the last ones that are gone, of sessions without a window those
    /// that began in one of `trees`.
    pub(crate) fn find(
        &self,
        asked: &[Subject],
        (mut all, mut stored): (Vec<FoundVersion>, SessionStore),
        trees: &[PathBuf],
    ) -> FoundVersions {
        let (mut unread, mut works) = (Vec::new(), self.works.to_vec());
        let is_of = |work: &Arc<Work>, files: &SessionFiles| {
            work.format == files.format && work.session == files.session
        };
        stored.sessions.retain(|one| !self.works.iter().any(|work| is_of(work, &one.files)));
        let more = self.sessions_to_read((stored, &mut unread), asked, trees);
        let stored_only: HashSet<Untrusted> = more.iter().map(|one| one.work.session.clone()).collect();
        let look = self.works.iter().filter_map(|work| self.known_session(work, asked));
        for SessionToRead { work, files } in look.chain(more) {
            match whole_transcript(&work, files.as_deref(), (self.fence, self.copies)) {
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
        all.retain(|version| is_asked_for(version, asked));
        keep_wanted(&mut all, asked, &stored_only);
        let fates = fates(&all, (self.now, self.home));
        let mut versions: Vec<(FoundVersion, EditFate)> = all.into_iter().zip(fates).collect();
        if asked.is_empty() {
            versions.retain(|(_, fate)| fate.state.is_away());
        }
        FoundVersions { versions, works, unread }
    }

    /// Returns for what the transcript of a session of the look is read: without a name for what may be gone, and for
    /// everything if the look does not know all of its edits.
    fn known_session(&self, work: &Arc<Work>, asked: &[Subject]) -> Option<SessionToRead> {
        let whole = |files| Some(SessionToRead { work: Arc::clone(work), files });
        let edits = &work.doing.edits;
        let is_partial = work.is_partly_known();
        if asked.iter().any(|subject| subject.is_session(&work.session)) || (asked.is_empty() && is_partial) {
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
        let is_named = !files.is_empty() && (!is_partial || may_name(work, &files, self.fence));
        if is_named { whole(Some(files)) } else { None }
    }

    /// Returns the other sessions that are read, and says what was not searched.
    fn sessions_to_read(
        &self,
        (mut stored, unread): (SessionStore, &mut Vec<String>),
        asked: &[Subject],
        trees: &[PathBuf],
    ) -> Vec<SessionToRead> {
        let of = |files: Option<Vec<PathBuf>>| {
            move |one: &StoredSession| SessionToRead { work: Arc::new(one.work()), files: files.clone() }
        };
        let is_since = |days: i64| {
            let since = self.now.saturating_sub(SignedDuration::from_hours(24 * days)).unwrap_or_default();
            move |one: &StoredSession| one.written_at >= since
        };
        if asked.is_empty() {
            stored.sessions.retain(is_since(DAYS_HERE));
            stored.sessions.retain(|one| one.is_in(trees));
            return stored.sessions.iter().map(of(None)).collect();
        }
        let is_asked =
            |one: &StoredSession| asked.iter().any(|subject| subject.is_session(&one.files.session));
        let (own, others): (Vec<_>, Vec<_>) = stored.sessions.drain(..).partition(is_asked);
        let mut read: Vec<SessionToRead> = own.iter().map(of(None)).collect();
        let files = paths(asked);
        if !files.is_empty() {
            let (newer, older): (Vec<_>, Vec<_>) = others.into_iter().partition(is_since(DAYS));
            stored.sessions = newer;
            stored.keep_naming(&files, (self.fence, self.copies));
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
}

impl FoundVersions {
    /// Returns the titles of the sessions that wrote these versions, as far as they are known or few enough to be read.
    pub(crate) fn titles(&self, uid: u32) -> HashMap<Untrusted, Untrusted> {
        let mut sessions: Vec<&Untrusted> = self.versions.iter().map(|(one, _)| &one.session).collect();
        let mut known = HashSet::new();
        sessions.retain(|session| known.insert(*session));
        let title = |session: &Untrusted| {
            let work = self.works.iter().find(|work| work.session == *session)?;
            Some((session.clone(), title_of(work, uid)?))
        };
        sessions.into_iter().take(MOST_TITLES).filter_map(title).collect()
    }
}

impl Subject {
    /// Returns a session, and those whose edits are also its own.
    pub(crate) fn all_of(work: &Work) -> Vec<Self> {
        let others = work.doing.edits.iter().filter_map(|edit| edit.from.as_ref());
        let all: BTreeSet<&Untrusted> = others.chain([&work.session]).collect();
        all.into_iter().cloned().map(Self::Session).collect()
    }

    /// Returns whether it is this session.
    pub(crate) fn is_session(&self, id: &Untrusted) -> bool {
        matches!(self, Self::Session(session) if session == id)
    }
}

/// Sorts versions, and keeps those that are wanted: one of each content, of a session the newest of each file.
fn keep_wanted(all: &mut Vec<FoundVersion>, asked: &[Subject], stored_only: &HashSet<Untrusted>) {
    sort(all);
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
}

/// Returns all paths that are asked for.
fn paths(asked: &[Subject]) -> Vec<PathBuf> {
    let paths = asked.iter().filter_map(|subject| match subject {
        Subject::File(paths) => Some(paths.iter().cloned()),
        Subject::Session(_) => None,
    });
    paths.flatten().collect()
}

fn is_asked_for(version: &FoundVersion, asked: &[Subject]) -> bool {
    asked.is_empty()
        || asked.iter().any(|subject| match subject {
            Subject::File(paths) => paths.contains(&version.path),
            Subject::Session(session) => version.session == *session,
        })
}
