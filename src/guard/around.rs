//! Which edits a shell line may reach: those of the working trees that it names or runs in.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use jiff::Timestamp;

use crate::core::guard::folder::joined;
use crate::core::guard::shell::{ShellContext, commands};
use crate::core::model::snapshot::ledger::LedgerLine;
use crate::core::model::snapshot::ledger::kept::{KeptReason, KeptVersion};
use crate::core::model::text::hex;
use crate::format::hook::guard::Question;
use crate::guard::keep::{NEWEST, NewVersion};
use crate::guard::query::Query;
use crate::guard::scope::Scope;
use crate::source::own::content::FileContent;
use crate::source::own::ledger::{KnownEdit, KnownEdits, Tree, Whose, is_since, resolved};

/// The most working trees that are looked at for one line.
const MOST_TREES: usize = 4;
/// The most words of a line that are looked at.
const MOST_WORDS: usize = 64;
/// The most files that are read before a line, and how much, in bytes.
const MOST_FILES: usize = 64;
const MOST_BYTES: u64 = 16 << 20;

/// Returns the working trees that a line may reach, with what sessions have edited there and what was changed since;
/// nothing where nothing is to be looked at.
pub(super) fn trees_around(
    scope: &Scope,
    question: &Question,
    line: &str,
    now: Timestamp,
) -> Vec<(Tree, KnownEdits)> {
    if !scope.keep.files {
        return Vec::new();
    }
    let place = ShellContext { folder: &question.cwd, home: scope.home.to_str(), top_of: &|_| None };
    let commands = commands(line, &place);
    let mut folders = vec![question.cwd.clone()];
    for command in &commands {
        let Some(folder) = command.folder.as_deref() else { continue };
        folders.push(folder.to_owned());
        // A path to somewhere else.
        let is_path = |word: &&String| word.starts_with('/') || word.starts_with("..");
        let words = command.words.iter().skip(1).take(MOST_WORDS).filter(is_path);
        folders.extend(words.filter_map(|word| joined(folder, word)).filter_map(|path| folder_of(&path)));
    }
    let (mut seen, mut trees) = (HashSet::new(), Vec::new());
    for folder in folders {
        if trees.len() >= MOST_TREES || !seen.insert(folder.clone()) {
            continue;
        }
        let Some(tree) = Tree::find(Path::new(&folder)) else { continue };
        if !trees.iter().any(|(known, _)| *known == tree) {
            let known = KnownEdits::read(&scope.ledgers, &tree, Whose::All, now);
            trees.push((tree, known));
        }
    }
    trees.retain(|(_, known)| !known.touched.is_empty());
    trees
}

/// Returns the nearest folder that is there, of a path that may not be.
fn folder_of(path: &str) -> Option<String> {
    let path = resolved(path)?;
    let found = Path::new(&path).ancestors().find(|above| above.is_dir())?;
    found.to_str().map(str::to_owned)
}

impl Query<'_> {
    /// Keeps what a shell line may change or remove: files that other sessions have edited, as far as they were changed
    /// since they were last kept.
    ///
    /// # Errors
    /// It cannot be written down which edits are open again.
    pub(super) fn keep_others(&self, around: &[(Tree, KnownEdits)]) -> anyhow::Result<()> {
        for (tree, known) in around {
            if !known.returned.is_empty() {
                // After the line that cannot be known any more.
                let lines: Vec<LedgerLine> =
                    known.returned.iter().cloned().map(LedgerLine::Returned).collect();
                self.note_down(tree, &lines)?;
            }
            let others = known.touched.iter().filter(|edit| edit.holder.session != self.question.session);
            // The session that edited a file last comes first.
            let mut edits: BTreeMap<&str, &KnownEdit> = BTreeMap::new();
            for edit in others.filter(|edit| !self.is_exempt(edit.path.raw(), tree)).take(MOST_FILES) {
                edits.entry(edit.path.raw()).or_insert(edit);
            }
            self.keep_changed(tree, known, &edits);
        }
        Ok(())
    }

    fn keep_changed(&self, tree: &Tree, known: &KnownEdits, edits: &BTreeMap<&str, &KnownEdit>) {
        let Some(files) = self.kept_of(tree).filter(|_| !edits.is_empty()) else { return };
        let versions = files.newest_of(&edits.keys().copied().collect(), NEWEST);
        let last = |path: &str| versions.iter().rev().find(|version| version.path.raw() == path);
        let mut left = MOST_BYTES;
        let mut read: Vec<(&KnownEdit, FileContent, Timestamp)> = Vec::new();
        for (path, edit) in edits {
            let last = last(path);
            if last.is_some_and(|last| edit.changed.is_some_and(|changed| !is_since(changed, last.at))) {
                continue;
            }
            let Some(content) = self.content_of(path) else { continue };
            let size = content.bytes().map_or(0, |bytes| bytes.len() as u64);
            if size > left {
                break;
            }
            left -= size;
            // What was reported as gone and has come back can be lost again.
            let is_back = last.is_some_and(|last| {
                content.name().is_some()
                    && known.losses.iter().any(|(_, loss)| loss.path == last.path && loss.at >= last.at)
            });
            if is_back || !is_same(last, &content) {
                read.push((edit, content, self.machine.by_now()));
            }
        }
        let found = read.iter().map(|(edit, content, at)| NewVersion {
            path: edit.path.raw(),
            content,
            whose: (&edit.holder.session, &edit.holder.agent),
            why: KeptReason::Other,
            at: *at,
        });
        self.keep(tree, &found.collect::<Vec<_>>());
    }
}

/// Returns whether a file still is what was kept of it last.
fn is_same(last: Option<&KeptVersion>, content: &FileContent) -> bool {
    let Some(last) = last else { return matches!(content, FileContent::Unread) };
    match content {
        FileContent::Unread => true,
        FileContent::Absent => last.blob.is_none() && last.left_out.is_none(),
        FileContent::Large(_) => last.left_out.is_some(),
        FileContent::Whole(_, _, name) => {
            let digits = hex(name);
            last.left_out.is_some() || last.blob.as_ref().is_some_and(|blob| blob.raw() == digits)
        }
    }
}
