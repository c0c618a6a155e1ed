//! The edits of a working tree that are not known to be over, of every session, by the ledgers alone: a stat each tells
//! which files were changed since.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use bstr::ByteSlice;
use jiff::{SignedDuration, Timestamp};

use super::lines::{AskedLines, MOST, holder_of, is_ledger, read_end};
use super::query::MOST_LEDGERS;
use super::story::{Edits, Stories};
use super::tree::Tree;
use crate::core::model::Untrusted;
use crate::core::model::snapshot::ledger::{LedgerHolder, LedgerLine, Loss, Reversion, folder_name, parse};
use crate::source::os::open::folder::{Folder, look_at};
use crate::source::repos::objects::Short;
use crate::source::work::committed::name_held;

/// The most edits that are looked at, the newest.
const MOST_EDITS: usize = 8_192;
/// The most files that are read as they may hold again what they held before they were as committed.
const MOST_RETURNED: usize = 64;
/// How far the time of a file may be behind the clock: 10 ms, a tick of the slowest kernels.
const TICK: SignedDuration = SignedDuration::from_millis(10);

/// The last edit of a file by a session.
#[derive(Clone, Debug)]
pub(crate) struct KnownEdit {
    pub(crate) path: Untrusted,
    pub(crate) at: Timestamp,
    /// What the file held then, if that is written down.
    pub(crate) held: Option<Short>,
    /// Who wrote it down last.
    pub(crate) holder: LedgerHolder,
    /// When the file was last seen before it to be as the last commit has it.
    pub(crate) settled: Option<Timestamp>,
    /// When the file was changed last; `None` if it is gone.
    pub(crate) changed: Option<Timestamp>,
}

/// Whose edits are asked for.
#[derive(Clone, Copy)]
pub(crate) enum Whose<'a> {
    All,
    /// Those of this session.
    Session(&'a Untrusted),
}

/// What the ledgers of a working tree have of open edits.
#[derive(Default)]
pub(crate) struct KnownEdits {
    /// Those whose files were changed after the edit, or are gone, the newest first.
    pub(crate) touched: Vec<KnownEdit>,
    /// The files whose edits had ended and are open again, as they hold what they held at an earlier moment, where no
    /// ledger has that yet.
    pub(crate) returned: Vec<Reversion>,
    /// What was lost, and in whose ledger that stands.
    pub(crate) losses: Vec<(LedgerHolder, Loss)>,
    /// Of which losses sessions have heard: the session, the file, and when it was lost.
    pub(crate) heard: HashSet<(Untrusted, Untrusted, Timestamp)>,
}

impl KnownEdits {
    /// Reads the ledgers of a working tree.
    pub(crate) fn read(ledgers: &Path, tree: &Tree, whose: Whose<'_>, now: Timestamp) -> Self {
        let mut found = Self::default();
        let Some(top) = tree.text() else { return found };
        let path = ledgers.join(folder_name(top));
        let entries = Folder::open(&path).and_then(|folder| folder.entries(is_ledger)).unwrap_or_default();
        let (mut stories, mut text) = (Stories::default(), Vec::new());
        let mut sessions: HashMap<Untrusted, (LedgerHolder, Edits)> = HashMap::new();
        for entry in entries.into_iter().take(MOST_LEDGERS) {
            if read_end(&path.join(&entry.name), MOST, &mut text).is_none() {
                continue;
            }
            let Some(holder) = holder_of(&text).filter(|holder| holder.tree.raw() == top) else { continue };
            found.add_losses(&holder, &text);
            let is_asked = match whose {
                Whose::All => true,
                Whose::Session(session) => holder.session == *session,
            };
            let asked = if is_asked { AskedLines::All } else { AskedLines::Ends };
            let edits = asked.edits_of(&text, &mut stories);
            if edits.is_empty() {
                continue;
            }
            let (_, known) =
                sessions.entry(holder.session.clone()).or_insert_with(|| (holder, Edits::default()));
            for (path, mut edits) in edits {
                known.entry(path).or_default().append(&mut edits);
            }
        }
        sessions.values().for_each(|(_, edits)| stories.add_held(edits));
        found.add_touched(&sessions, &stories, now);
        found
    }

    fn add_losses(&mut self, holder: &LedgerHolder, text: &[u8]) {
        let begins = [&br#"{"lost""#[..], br#"{"heard""#];
        let is_asked = |line: &&[u8]| begins.iter().any(|begin| line.starts_with(begin));
        for line in text.lines().filter(is_asked).filter_map(parse) {
            if let LedgerLine::Lost(loss) = line {
                self.losses.push((holder.clone(), *loss));
            } else if let LedgerLine::Heard(lost) = line {
                self.heard.insert((holder.session.clone(), lost.path, lost.at));
            }
        }
    }

    /// Adds the newest open edits whose files were changed since.
    fn add_touched(
        &mut self,
        sessions: &HashMap<Untrusted, (LedgerHolder, Edits)>,
        stories: &Stories,
        now: Timestamp,
    ) {
        let (mut changes, mut open) = (HashMap::new(), Vec::new());
        let holds_again = held_again(sessions, stories, now);
        for (holder, edits) in sessions.values() {
            for (path, edits) in edits {
                let last = stories.open(path, edits, (now, &HashMap::new()));
                let again = || stories.open(path, edits, (now, &holds_again));
                let Some(last) = last.or_else(again) else { continue };
                if last.again_at.is_none()
                    && stories.settled_by(path, now).is_some_and(|at| at >= last.edit.at)
                {
                    let to = last.edit.at;
                    self.returned.push(Reversion { path: path.clone(), at: now, to });
                }
                open.push((last.edit, path, holder));
            }
        }
        open.sort_by(|(one, path, _), (other, at, _)| other.at.cmp(&one.at).then_with(|| path.cmp(at)));
        open.truncate(MOST_EDITS);
        for (edit, path, holder) in open {
            let look = || look_at(Path::new(path.raw())).map(|meta| meta.touched_at());
            let changed = *changes.entry(path).or_insert_with(look);
            if changed.is_none_or(|changed| is_since(changed, edit.at)) {
                let (path, holder, at, held) = (path.clone(), holder.clone(), edit.at, edit.held);
                let settled = stories.settled_by(&path, at);
                self.touched.push(KnownEdit { path, at, held, holder, settled, changed });
            }
        }
    }
}

/// Returns what files hold that were as the last commit has them and were changed since then.
fn held_again(
    sessions: &HashMap<Untrusted, (LedgerHolder, Edits)>,
    stories: &Stories,
    now: Timestamp,
) -> HashMap<Untrusted, Short> {
    let edited = sessions.values().flat_map(|(_, edits)| edits.keys()).filter(|path| stories.has(path));
    let held = |(path, settled): (&Untrusted, Timestamp)| {
        let file = Path::new(path.raw());
        let changed = look_at(file)?.touched_at();
        is_since(changed, settled).then(|| Some((path.clone(), name_held(file)?)))?
    };
    stories.may_return(edited, (now, MOST_RETURNED)).into_iter().filter_map(held).collect()
}

/// Returns whether a file with this time may have been changed after a moment.
pub(crate) fn is_since(changed: Timestamp, at: Timestamp) -> bool {
    changed.checked_add(TICK).is_ok_and(|changed| changed > at)
}
