//! Reads the ledgers of a working tree, as much of them as one question needs.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};

use super::about::About;
use super::lines::{AskedLines, MOST, OwnLines, holder_of, holds_of, is_ledger, read_end};
use super::story::{EditEvent, Edits, Stories};
use super::tree::Tree;
use super::who::{Here, Own, is_kin, life};
use crate::core::guard::decide::{Life, Other};
use crate::core::model::snapshot::ledger::{FileMoment, LedgerHolder, folder_name, is_seen};
use crate::core::model::{Edit, EditFate, Medium, Untrusted};
use crate::source::os::open::error::OpenError;
use crate::source::os::open::folder::Folder;
use crate::source::os::open::listing::Entry;
use crate::source::os::open::medium::medium_at;
use crate::source::repos::ignored::IgnoreRules;
use crate::source::repos::objects::Short;
use crate::source::work::committed::EditFacts;
use crate::source::work::committed::marker::Marker;

/// The most ledgers of one working tree that are read.
pub(super) const MOST_LEDGERS: usize = 512;
/// The most edits of one session that are compared with what git has, the last first.
const MOST_EDITS: usize = 512;
/// How many of them are compared at once, and how many of one session must be in the way for a text: the others are
/// not examined.
const AT_ONCE: usize = 16;
const ENOUGH: usize = 4;

/// For how long a hold that an open claimtop has seen is believed: 30 s.
const SEEN_FOR: SignedDuration = SignedDuration::from_secs(30);

/// The answer of the ledgers of a working tree.
#[derive(Default)]
pub(crate) struct LedgerView {
    pub(crate) others: Vec<Other>,
    /// What was written for the asking session itself.
    pub(crate) own_lines: OwnLines,
    /// What the sessions above and below it have edited of the files asked about, and what it has edited itself.
    pub(crate) by_kin: Vec<String>,
    pub(crate) by_oneself: Vec<String>,
    /// When files were edited whose edits had ended, if they hold again what they held then.
    pub(crate) returned: HashMap<Untrusted, Timestamp>,
    /// Why the ledgers could not be read, if that does not mean that no session has written anything.
    unread: Option<OpenError>,
    stories: Stories,
}

impl LedgerView {
    /// Returns it if it is reliable: then an empty answer means that no session has written anything.
    ///
    /// # Errors
    /// The ledgers cannot be read.
    pub(crate) fn all(mut self) -> Result<Self, OpenError> {
        self.unread.take().map_or(Ok(self), Err)
    }

    /// Returns whether a file was not seen as the last commit has it since an edit.
    pub(crate) fn is_open(&self, path: &Untrusted, at: Timestamp, now: Timestamp) -> bool {
        self.stories.is_open(path, at, now)
    }

    /// Returns when files were edited that hold again what they held then, and that another session has not committed.
    fn returned_to(
        &self,
        holds_again: &HashMap<Untrusted, Short>,
        now: Timestamp,
    ) -> HashMap<Untrusted, Timestamp> {
        let open = self.others.iter().flat_map(|other| &other.edits);
        let open = open.filter(|edit| edit.is_open());
        let returned = |edit: &Edit| {
            let is_settled = !self.is_open(&edit.path, edit.at?, now);
            let holds = holds_again.get(&edit.path).filter(|_| is_settled)?;
            Some((edit.path.clone(), self.stories.0.get(&edit.path)?.returns_to(now, *holds)?))
        };
        open.filter_map(returned).collect()
    }
}

/// One ledger as it was read.
struct Ledger {
    holder: LedgerHolder,
    edits: Edits,
    holds: Vec<FileMoment>,
    /// Its whole text, if it is the asking session's.
    own_text: Option<Vec<u8>>,
    /// Whether an open claimtop wrote it.
    is_seen: bool,
}

/// Reads the lines asked about from the ledgers of a working tree; edits that git has are marked.
pub(crate) fn read(
    ledgers: &Path,
    tree: &Tree,
    (own, here): (&Own<'_>, &Here),
    about: &About<'_>,
    (now, home): (Timestamp, &Path),
) -> LedgerView {
    let mut found = LedgerView::default();
    let Some(top) = tree.text() else { return found };
    let path = ledgers.join(folder_name(top));
    let opened = Folder::open(&path).and_then(|folder| Ok((folder.entries(is_ledger)?, folder)));
    let (entries, folder) = match opened {
        Ok(opened) => opened,
        Err(error) => return LedgerView { unread: Some(error).filter(|error| !error.is_absence()), ..found },
    };
    let lines = match about {
        About::Files(files) => AskedLines::naming(files),
        About::Matching(_, _) | About::Naming(_, _, _) => AskedLines::All,
    };
    let is_local = medium_at(&path) == Medium::Local;
    let query = Query { tree, own, here, about, now, home, is_local };
    let ledgers = query.ledgers((&folder, entries), top, &lines, &mut found.stories);
    ledgers.iter().for_each(|ledger| found.stories.add_held(&ledger.edits));
    let others = query.by_session(ledgers, &lines, &mut found);
    query.judge(others, &mut found);
    found
}

/// The query of the ledgers of a working tree.
struct Query<'a> {
    tree: &'a Tree,
    own: &'a Own<'a>,
    here: &'a Here,
    about: &'a About<'a>,
    now: Timestamp,
    home: &'a Path,
    /// Whether the ledgers lie where only this machine writes.
    is_local: bool,
}

/// The lines of one session: the process that ran it last, its edits and its holds.
type Session = (LedgerHolder, Edits, Vec<FileMoment>);

impl Query<'_> {
    /// Reads the ledgers of the working tree with this path.
    fn ledgers(
        &self,
        (folder, mut entries): (&Folder, Vec<Entry>),
        top: &str,
        lines: &AskedLines,
        stories: &mut Stories,
    ) -> Vec<Ledger> {
        entries.truncate(MOST_LEDGERS);
        // Parts that were set aside are older than their successors.
        entries.sort_by_key(|entry| !entry.name.as_encoded_bytes().ends_with(b".1"));
        let (mut ledgers, mut text): (Vec<Ledger>, Vec<u8>) = (Vec::new(), Vec::new());
        let mut aside = HashMap::new();
        for entry in entries {
            if read_end(&folder.path().join(&entry.name), MOST, &mut text).is_none() {
                continue;
            }
            let Some(holder) = holder_of(&text).filter(|holder| holder.tree.raw() == top) else { continue };
            let edits = lines.edits_of(&text, stories);
            let is_seen = is_seen(&entry.name);
            // A ledger continues the part that was set aside.
            let older = aside.get(&entry.name).and_then(|at: &usize| ledgers.get_mut(*at));
            let before = older.map(|older| std::mem::take(&mut older.holds)).unwrap_or_default();
            if let Some(newer) = entry.name.to_str().and_then(|name| name.strip_suffix(".1")) {
                aside.insert(OsString::from(newer), ledgers.len());
            }
            let mut holds = holds_of(&text, before);
            if is_seen {
                // It may have let go of what it holds by others' records since an open claimtop saw it.
                holds.retain(|held| is_fresh(held, self.now));
            }
            let own_text = (holder.session == *self.own.session).then(|| text.clone());
            ledgers.push(Ledger { holder, edits, holds, own_text, is_seen });
        }
        ledgers
    }

    /// Takes out the ledgers of the asking session and of those above and below it; returns what other sessions have
    /// written.
    fn by_session(&self, ledgers: Vec<Ledger>, lines: &AskedLines, found: &mut LedgerView) -> Vec<Session> {
        let tells = ledgers.iter().filter(|ledger| !ledger.edits.is_empty() || !ledger.holds.is_empty());
        let sessions: HashSet<Untrusted> = tells.map(|ledger| ledger.holder.session.clone()).collect();
        let mut others: Vec<Session> = Vec::new();
        let mut own_texts = Vec::new();
        for Ledger { holder, edits, holds, own_text, is_seen } in ledgers {
            let is_own = own_text.is_some();
            if !is_own && !sessions.contains(&holder.session) {
                continue;
            }
            let is_kin = is_kin(&holder, self.own, &self.here.processes);
            if is_own || is_kin {
                let open = self.open_paths(&edits, found);
                if is_kin { &mut found.by_kin } else { &mut found.by_oneself }.extend(open);
            }
            if let Some(text) = own_text {
                let is_this_process = holder.process == self.own.process;
                own_texts.push((is_this_process, text));
                if is_this_process && !is_seen {
                    found.own_lines.holds = holds;
                }
            } else if !is_kin {
                self.add(&mut others, (holder, edits, holds));
            }
        }
        // What was written for this very process counts before what was written for an earlier process of the session.
        own_texts.sort_by_key(|(is_this_process, _)| *is_this_process);
        found.own_lines.by_others_only =
            own_texts.last().is_some_and(|(is_this_process, _)| !is_this_process);
        own_texts.iter().for_each(|(_, text)| lines.read_own(text, &mut found.own_lines));
        others
    }

    /// Returns which files of these edits were not seen as the last commit has them since.
    fn open_paths(&self, edits: &Edits, found: &LedgerView) -> Vec<String> {
        let is_open = |(path, edits): &(&Untrusted, &Vec<EditEvent>)| {
            self.about.has(path.raw()) && edits.iter().any(|edit| found.is_open(path, edit.at, self.now))
        };
        edits.iter().filter(is_open).map(|(path, _)| path.raw().to_owned()).take(MOST_EDITS).collect()
    }

    /// Adds what a session has written to what an earlier process of it has.
    fn add(&self, others: &mut Vec<Session>, (holder, edits, holds): Session) {
        let known = others.iter_mut().find(|(other, _, _)| other.session == holder.session);
        let Some((known, before, held)) = known else { return others.push((holder, edits, holds)) };
        // A session that was resumed: the process that runs it now counts.
        if life(known, self.here, self.is_local) == Life::Alive {
            held.extend(holds);
        } else {
            (*known, *held) = (holder, holds);
        }
        edits.into_iter().for_each(|(path, mut edits)| before.entry(path).or_default().append(&mut edits));
    }

    /// Determines whether the other sessions live, and which of their edits git has.
    fn judge(&self, others: Vec<Session>, found: &mut LedgerView) {
        let (mut marker, mut ignored) = (None, None);
        let edited = others.iter().flat_map(|(_, edits, _)| edits.keys());
        let edited = edited.filter(|path| found.stories.has(path) && self.about.has(path.raw()));
        let holds_again = match found.stories.may_return(edited, (self.now, MOST_EDITS)).as_slice() {
            [] => HashMap::new(),
            files => marker.get_or_insert_with(|| self.tree.marker(self.now, self.home)).held_since(files),
        };
        for (holder, edits, holds) in others {
            let mut edits = self.open_edits(edits, &found.stories, &holds_again);
            // If nothing is open, which is nearly always so, git's files are not read.
            let asked = self.mark(&mut edits, &mut marker, &mut ignored);
            let is_cut = asked < edits.len();
            let edits: Vec<Edit> = edits.into_iter().take(asked).map(|(edit, _)| edit).collect();
            if !edits.is_empty() || !holds.is_empty() {
                let life = life(&holder, self.here, self.is_local);
                found.others.push(Other { holder, life, name: None, doing: None, edits, is_cut, holds });
            }
        }
        found.returned = found.returned_to(&holds_again, self.now);
    }

    /// Returns the newest edits asked about that had not ended, each with its recorded facts.
    fn open_edits(
        &self,
        edits: Edits,
        stories: &Stories,
        holds_again: &HashMap<Untrusted, Short>,
    ) -> Vec<(Edit, EditFacts)> {
        let open_of = |(path, edits): (Untrusted, Vec<EditEvent>)| {
            if !self.about.has(path.raw()) {
                return None;
            }
            let open = stories.open(&path, &edits, (self.now, holds_again))?;
            Some((edit_of(path, open.edit.at), open.known()))
        };
        let mut edits: Vec<(Edit, EditFacts)> = edits.into_iter().filter_map(open_of).collect();
        edits.sort_by(|(one, _), (other, _)| other.at.cmp(&one.at).then_with(|| one.path.cmp(&other.path)));
        edits.truncate(MOST_EDITS);
        edits
    }

    /// Marks which of these edits git has, until enough of them are in the way; returns how many were examined.
    fn mark(
        &self,
        edits: &mut [(Edit, EditFacts)],
        marker: &mut Option<Marker>,
        ignored: &mut Option<Option<IgnoreRules>>,
    ) -> usize {
        let (mut asked, mut in_the_way) = (0, 0);
        for some in edits.chunks_mut(AT_ONCE) {
            if in_the_way >= ENOUGH {
                break;
            }
            let marker = marker.get_or_insert_with(|| self.tree.marker(self.now, self.home));
            let mut may_be: Vec<&mut (Edit, EditFacts)> = some.iter_mut().collect();
            may_be.retain(|(edit, _)| self.about.may_take(edit, marker));
            marker.mark(may_be.into_iter().map(|(edit, known)| (edit, *known)));
            let ignored = ignored.get_or_insert_with(|| self.tree.ignored(self.home));
            for (edit, _) in some.iter_mut() {
                if !self.about.takes(edit, (marker, ignored)) {
                    edit.fate = EditFate::default();
                }
            }
            asked += some.len();
            in_the_way += some.iter().filter(|(edit, _)| edit.is_open()).count();
        }
        asked
    }
}

/// Returns which of these files, edited just now, are as the last commit has them.
pub(crate) fn settled(tree: &Tree, paths: &[String], (now, home): (Timestamp, &Path)) -> Vec<FileMoment> {
    let mut edits: Vec<Edit> = paths.iter().map(|path| edit_of(path.as_str().into(), now)).collect();
    if !edits.is_empty() {
        tree.marker(now, home).mark(edits.iter_mut().map(|edit| (edit, EditFacts::default())));
    }
    let settled = edits.into_iter().filter(Edit::has_ended);
    settled.map(|edit| FileMoment::new(edit.path, now)).collect()
}

fn edit_of(path: Untrusted, at: Timestamp) -> Edit {
    Edit::new(path, Some(at))
}

/// Returns whether an open claimtop has seen lately that something is held.
fn is_fresh(held: &FileMoment, now: Timestamp) -> bool {
    (SignedDuration::ZERO..=SEEN_FOR).contains(&now.duration_since(held.at))
}
