//! Around an edit: whom it meets is written down before it, and reported after it.

use std::path::Path;

use anyhow::Context;
use jiff::Timestamp;

use super::outcome::{GuardOutcome, GuardResponse};
use crate::config::guard::HoldUps;
use crate::core::guard::decide::{self, Holding, Life, Other};
use crate::core::guard::folder::joined;
use crate::core::model::Untrusted;
use crate::core::model::snapshot::ledger::{Encounter, FileMoment, Harm, LedgerLine, Reversion};
use crate::format::hook::guard::Asker;
use crate::guard::query::Query;
use crate::present;
use crate::source::own::content::FileContent;
use crate::source::own::ledger::{About, LedgerView, Tree, settled, written};

impl Query<'_> {
    /// Returns the files of a call by the working trees that they lie in.
    pub(crate) fn by_tree(&self, files: &[String]) -> Vec<(Tree, Vec<String>)> {
        let mut found: Vec<(Tree, Vec<String>)> = Vec::new();
        for file in files {
            let path = joined(&self.question.cwd, file).and_then(|path| written(&path));
            let folder = |path: &str| {
                let path = Path::new(path);
                if path.is_dir() { Some(path.to_path_buf()) } else { path.parent().map(Path::to_path_buf) }
            };
            let tree = path.as_deref().and_then(|path| Tree::find(&folder(path)?));
            let Some((path, tree)) = path.zip(tree) else { continue };
            match found.iter_mut().find(|(other, _)| *other == tree) {
                Some((_, paths)) => paths.push(path),
                None => found.push((tree, vec![path])),
            }
        }
        found
    }

    /// Returns what others who may live hold of what is asked about, and have edited since the asking window did: it was
    /// notified of earlier edits then.
    fn news<'b>(&self, found: &'b LedgerView, tree: &Tree) -> Vec<Holding<'b>> {
        let is_asked = |other: &Other, path: &str| {
            let edit = other.edits.iter().find(|edit| edit.path.raw() == path);
            let own = found.own_lines.edited.get(path);
            let is_news = own.is_none_or(|own| edit.and_then(|edit| edit.at).is_some_and(|at| at > *own));
            other.life != Life::Dead && is_news && !self.is_exempt(path, tree)
        };
        decide::held(&found.others, is_asked)
    }

    fn met(&self, paths: &[String], holdings: &[Holding<'_>]) -> Vec<Encounter> {
        paths.iter().filter_map(|path| decide::met(&path.as_str().into(), holdings, self.now)).collect()
    }

    /// Writes down whom an edit will meet: afterwards their bytes cannot be distinguished.
    pub(crate) fn before_edit(&self, asker: Asker, files: &[String]) -> anyhow::Result<GuardResponse> {
        let mut is_met = false;
        for (tree, paths) in self.by_tree(files) {
            let top = tree.text().context("no text")?;
            let found = self.read(&tree, &About::Files(&paths));
            let is_held = |held: &str| paths.iter().any(|path| Path::new(path).starts_with(held));
            if let Some(response) = self.keep_off(asker, "this edit", (&tree, &found), is_held)? {
                return Ok(response);
            }
            let holdings = self.news(&found, &tree);
            let met = self.met(&paths, &holdings);
            is_met |= !met.is_empty();
            let upon = tree.just_moved_to(self.now);
            let to_come = |path: &String| {
                let met = met.iter().find(|met| met.path.raw() == path);
                // An edit that did not come to its end may have met a window that has committed since.
                let is_news = met.is_some() || upon.is_some() || found.own_lines.met.contains_key(path);
                let others = met.map(|met| met.others.clone()).unwrap_or_default();
                let (upon, call) = (upon.clone(), self.question.call.clone());
                is_news.then(|| Encounter { path: path.as_str().into(), others, at: self.now, upon, call })
            };
            let mut lines: Vec<LedgerLine> = paths.iter().filter_map(to_come).map(LedgerLine::Met).collect();
            // After this edit it cannot be known any more that others before it had ended and are open again.
            let returned = |path: &String| {
                let path = Untrusted::from(path.as_str());
                let to = *found.returned.get(&path)?;
                Some(LedgerLine::Returned(Reversion { path, at: self.now, to }))
            };
            lines.extend(paths.iter().filter_map(returned));
            // Nor that others have ended.
            lines.extend(self.ended(&tree, &found, &found.by_kin));
            let level = self.levels(&tree).edit;
            let recent: Vec<Holding<'_>> = decide::just_edited(&holdings, self.now);
            if level != HoldUps::Off && !recent.is_empty() {
                let why = present::guard::hold_up("this edit", &recent, top, self.now);
                let held_up = self.held_up(decide::edits(&recent), Harm::Kept);
                let held_up = (held_up, decide::newest_edit(&recent));
                let (response, text) =
                    self.hold_up(asker, level, (&tree, &found.own_lines), held_up, &why)?;
                if text.is_some() {
                    return Ok((response, text));
                }
            }
            self.keep_before(asker, &tree, &paths);
            if !lines.is_empty() {
                self.note_down(&tree, &lines)?;
            }
        }
        Ok((if is_met { GuardOutcome::Recorded } else { GuardOutcome::NobodyElse }, None))
    }

    /// Writes down what was edited, and reports whose uncommitted edits that met.
    pub(crate) fn after_edit(&self, files: &[String]) -> anyhow::Result<GuardResponse> {
        let mut texts = Vec::new();
        for (tree, paths) in self.by_tree(files) {
            let top = tree.text().context("no text")?;
            let found = self.read(&tree, &About::Files(&paths));
            // The edit is done by now, whenever this was asked.
            let at = self.machine.by_now();
            let upon = |path: &String| {
                let met = found.own_lines.met.get(path).filter(|met| met.call == self.question.call);
                met.and_then(|met| met.upon.clone())
            };
            let theirs = || found.others.iter().flat_map(|other| &other.edits);
            // What another process has just written there proves nothing about this edit.
            let is_own = |path: &String| {
                let is_just = |edited: Timestamp| edited.as_second() == at.as_second();
                !theirs().any(|edit| edit.path.raw() == path && edit.at.is_some_and(is_just))
            };
            let read: Vec<_> = paths.iter().map(|path| (path, self.content_of(path))).collect();
            let edited = |(path, content): &(&String, Option<FileContent>)| {
                let edited = tree.edited(path, at, content.as_ref().and_then(FileContent::name));
                let just = edited.upon.filter(|_| is_own(path));
                LedgerLine::Edited(FileMoment { upon: just.or_else(|| upon(path)), ..edited })
            };
            // What went back to the last commit belongs to no window; the next edit would hide that.
            let is_known = |path: &&String| {
                found.own_lines.edited.contains_key(*path) || theirs().any(|edit| edit.path.raw() == *path)
            };
            let known: Vec<String> = paths.iter().filter(is_known).cloned().collect();
            let ended = settled(&tree, &known, (at, &self.scope.home));
            // Another window may have edited it while a person was asked.
            let since = self.met(&paths, &self.news(&found, &tree));
            let since = |path: &String| since.iter().find(|met| met.path.raw() == path).cloned();
            // Or it was put back to the last commit meanwhile.
            let is_open = |met: &&Encounter| !met.others.is_empty() && found.is_open(&met.path, met.at, at);
            let before = |path: &String| found.own_lines.met.get(path).filter(is_open).cloned();
            let met = paths.iter().filter_map(|path| before(path).or_else(|| since(path)));
            let met: Vec<Encounter> = met.filter(|_| self.levels(&tree).note).collect();
            let mut lines: Vec<LedgerLine> = read.iter().map(edited).collect();
            lines.extend(ended.into_iter().map(LedgerLine::Settled));
            lines.extend(
                met.iter()
                    .map(|met| LedgerLine::Noted(Encounter { at, upon: None, call: None, ..met.clone() })),
            );
            let noted = self.note_down(&tree, &lines);
            self.keep_edits(&tree, at, &read);
            noted?;
            if !met.is_empty() {
                texts.push(present::guard::note(&met, &found.others, top, self.now));
            }
        }
        match texts.is_empty() {
            true => Ok((GuardOutcome::Recorded, None)),
            false => Ok((GuardOutcome::Noted, Some(texts.join("\n")))),
        }
    }
}
