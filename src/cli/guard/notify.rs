//! What an open claimtop passes to guards: the edits that it reads in session files of windows without a guard, and
//! what other systems have given to a window alone.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use super::scope::scope;
use crate::act::state::ledger;
use crate::cli::settings::Settings;
use crate::config::Access;
use crate::core::guard::seen::{ObservedWindow, seen};
use crate::core::model::report::context::is_valid_id;
use crate::core::model::snapshot::ledger::{FileMoment, LedgerHolder, LedgerLine};
use crate::core::model::{Host, ProcessId, Report, Untrusted};
use crate::observe::Observer;
use crate::source::os::{host, processes};
use crate::source::own::ledger::{Tree, written};

/// How often what a window still holds is written again: 10 s, well within the time for which that is believed.
const AGAIN: SignedDuration = SignedDuration::from_secs(10);

/// Has what is observed passed to guards, if claimtop may write.
pub(crate) fn tell_guards(observer: Observer, settings: &Settings) -> Observer {
    let may_write = settings.effective.config.access == Access::Full && host::owns(&settings.places.home);
    if !may_write {
        return observer;
    }
    let mut feed = LedgerFeed { ledgers: scope(settings).ledgers, notices: HashMap::new() };
    observer.recorded(Box::new(move |snapshot, report| feed.update(&snapshot.host, report)))
}

/// A session and its process.
type Whose = (Untrusted, ProcessId);

struct LedgerFeed {
    ledgers: PathBuf,
    notices: HashMap<Whose, WindowNotice>,
}

/// What was written for a window.
#[derive(Default)]
struct WindowNotice {
    edits: Vec<(Untrusted, Timestamp)>,
    holds: Vec<String>,
    at: Timestamp,
    /// The working trees whose ledgers have lines for it.
    trees: Vec<Untrusted>,
    is_whole: bool,
}

impl LedgerFeed {
    fn update(&mut self, host: &Host, report: &Report) {
        let mut before = std::mem::take(&mut self.notices);
        for seen in seen(report).filter(|seen| is_valid_id(seen.session.raw())) {
            let id = ProcessId { pid: seen.window.pid, start_ticks: seen.window.start_ticks };
            let whose = (seen.session.clone(), id);
            let notice = before.remove(&whose).unwrap_or_default();
            let is_told = notice.is_whole && notice.is_of(&seen, report.taken_at);
            let notice =
                if is_told { notice } else { self.tell_of(&seen, id, host, (notice, report.taken_at)) };
            self.notices.insert(whose, notice);
        }
    }

    fn tell_of(
        &self,
        seen: &ObservedWindow<'_>,
        id: ProcessId,
        host: &Host,
        (before, at): (WindowNotice, Timestamp),
    ) -> WindowNotice {
        let mut lines: BTreeMap<Untrusted, Vec<LedgerLine>> =
            before.trees.into_iter().map(|tree| (tree, Vec::new())).collect();
        let mut add = |path: &str, line: &dyn Fn(FileMoment) -> LedgerLine, at: Timestamp| {
            let Some(path) = written(path) else { return };
            let below = Path::new(&path);
            let folder = if below.is_dir() { Some(below) } else { below.parent() };
            let tree = folder.and_then(Tree::find);
            let Some(top) = tree.as_ref().and_then(Tree::text) else { return };
            lines.entry(top.into()).or_default().push(line(FileMoment::new(path.as_str().into(), at)));
        };
        for (path, at) in &seen.edits {
            add(path.raw(), &LedgerLine::Edited, *at);
        }
        for path in &seen.holds {
            add(path, &LedgerLine::Holds, at);
        }
        let mut notice = WindowNotice {
            edits: seen.edits.iter().map(|(path, at)| ((*path).clone(), *at)).collect(),
            holds: seen.holds.iter().map(|path| (*path).to_owned()).collect(),
            at,
            trees: Vec::new(),
            is_whole: true,
        };
        for (tree, lines) in lines {
            let window = seen.window;
            let holder = LedgerHolder::new(
                (seen.session.clone(), window.agent.clone()),
                (tree.clone(), window.cwd.clone().unwrap_or_default()),
                Some((id, processes::pidfd_inode(id))),
                (host.name.as_str().into(), host.boot_id.as_deref().map(Untrusted::from), host.pid_namespace),
            );
            match ledger::replace(&self.ledgers, &holder, &lines) {
                Ok(is_told) => notice.is_whole &= is_told,
                Err(error) => {
                    tracing::debug!(%error, "guards could not be told of a window");
                    notice.is_whole = false;
                }
            }
            if !lines.is_empty() {
                notice.trees.push(tree);
            }
        }
        notice
    }
}

impl WindowNotice {
    /// Returns whether it equals what is seen, and was written recently if it must be.
    fn is_of(&self, seen: &ObservedWindow<'_>, now: Timestamp) -> bool {
        let age = now.duration_since(self.at);
        let is_fresh = self.holds.is_empty() || (SignedDuration::ZERO..AGAIN).contains(&age);
        let edits = self.edits.iter().map(|(path, at)| (path, *at));
        is_fresh && edits.eq(seen.edits.iter().copied()) && self.holds == seen.holds
    }
}
