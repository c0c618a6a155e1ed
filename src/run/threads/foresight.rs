//! The thread that foresees which working trees of living windows will conflict, while a screen is open.
//!
//! A repository is compared again when one of its trees has changed: soon after a turn ends, else at most every 30 s.
//! After a check that took long it rests for so long that it takes at most a hundredth of a core.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::act::state::forecasts::BookKeeper;
use crate::core::model::snapshot::work::TurnState;
use crate::core::model::{FileMeta, Forecast, Key, Report, Untrusted, WindowView};
use crate::observe::Recorder;
use crate::source::database::sqlite::copies::Copies;
use crate::source::git::Asker;
use crate::source::git::foresight::memory::Memory;
use crate::source::git::foresight::{Foreseer, merges};
use crate::source::os::clock;
use crate::source::os::fence::Fence;
use crate::source::os::open::folder::look_at;
use crate::source::repos::locate::git_dir;

/// How long after a change a repository is compared: what a turn writes at its end is then written.
const SOON: Duration = Duration::from_secs(2);
/// The shortest time between two checks while turns go on.
const EACH: Duration = Duration::from_secs(30);
/// How many times as long as a check took it rests afterwards.
const REST: u32 = 99;
/// How often a tree counts as changed in which a window works whose work cannot be read: every 5 min.
const UNREAD_EACH: i64 = 300;

/// What is needed to foresee.
pub(crate) struct Foresights {
    /// How to run git.
    pub(crate) asker: Asker,
    /// The folder for what is thrown away.
    pub(crate) copies: Copies,
    /// What may be read.
    pub(crate) fence: Fence,
    /// The state folder, in which the forecasts are kept.
    pub(crate) state: PathBuf,
}

/// Starts the thread, which ends with the recorder that it returns.
///
/// # Errors
/// The system has no more threads.
pub(crate) fn start(foresights: Foresights) -> io::Result<Recorder> {
    let (sender, reports) = channel();
    let mut checker = Checker { foresights, keeper: None, repositories: BTreeMap::new() };
    std::thread::Builder::new().name("foresight".to_owned()).spawn(move || checker.follow(&reports))?;
    // A screen goes on without forecasts.
    Ok(Box::new(move |_, report| drop(sender.send(Arc::clone(report)))))
}

/// Compares the working trees of one report, and keeps the result for as long as the returned keeper lives; `None` if
/// it cannot be kept.
pub(crate) fn once(report: &Report, foresights: Foresights) -> Option<BookKeeper> {
    let mut checker = Checker { foresights, keeper: None, repositories: BTreeMap::new() };
    checker.check(report);
    checker.keeper
}

struct Checker {
    foresights: Foresights,
    /// What writes the forecasts; `None` while another claimtop does.
    keeper: Option<BookKeeper>,
    repositories: BTreeMap<Untrusted, Repository>,
}

/// What is known of one repository, by its main working tree.
#[derive(Default)]
struct Repository {
    /// What its trees were like at the last check.
    signs: Signs,
    memory: Memory,
    forecasts: Vec<Forecast>,
}

/// What shows that a working tree may have changed.
#[derive(Debug, Default, PartialEq)]
struct Signs {
    windows: Vec<(Key, WorkSign)>,
    /// Files of git's that change with commits and the index.
    files: Vec<(PathBuf, Option<FileMeta>)>,
}

/// What shows that a window may have changed files.
#[derive(Debug, PartialEq)]
enum WorkSign {
    Written(Timestamp),
    /// Its work cannot be read: a time that passes.
    Unread(i64),
}

impl Checker {
    fn follow(&mut self, reports: &Receiver<Arc<Report>>) {
        let mut pace = Pace::new(clock::steady());
        let mut last: Option<Arc<Report>> = None;
        let mut is_pending = false;
        loop {
            let wait = pace.due_at.saturating_duration_since(clock::steady());
            let received = match is_pending {
                true => reports.recv_timeout(wait),
                false => reports.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match received {
                Ok(report) => {
                    if last.as_ref().is_some_and(|last| has_turn_ended(last, &report)) {
                        pace.hurry(clock::steady());
                    }
                    (last, is_pending) = (Some(report), true);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if clock::steady() < pace.due_at {
                continue;
            }
            is_pending = false;
            let Some(report) = &last else { continue };
            let began = clock::steady();
            if self.check(report) {
                let now = clock::steady();
                pace.rest(now, now.saturating_duration_since(began));
            }
        }
    }

    /// Compares the repositories of which a tree has changed; returns whether there was one.
    fn check(&mut self, report: &Report) -> bool {
        let trees = report.working_trees();
        self.repositories.retain(|root, _| trees.contains_key(root));
        let mut changed = Vec::new();
        for (root, trees) in &trees {
            let signs = signs(report, trees.iter().copied());
            let known = self.repositories.entry((*root).clone()).or_default();
            if known.signs != signs {
                changed.push((*root, signs));
            }
        }
        if self.keeper.is_none() {
            self.keeper = BookKeeper::new(&self.foresights.state);
        }
        let Some(keeper) = &mut self.keeper else { return false };
        let Foresights { asker, copies, fence, .. } = &self.foresights;
        let foreseer = Foreseer { asker, copies, fence };
        let is_changed = !changed.is_empty();
        let mut counts = Vec::new();
        for (root, signs) in changed {
            let trees = trees.get(root).into_iter().flatten();
            let trees: Vec<PathBuf> = trees.map(|tree| PathBuf::from(tree.raw())).collect();
            let Some(known) = self.repositories.get_mut(root) else { continue };
            known.forecasts = foreseer.foresee(&trees, &mut known.memory).forecasts;
            // What changes meanwhile is compared again.
            known.signs = signs;
            counts.push(known.memory.take_counts());
        }
        let forecasts = self.repositories.values().flat_map(|known| known.forecasts.iter().cloned());
        let forecasts: Vec<Forecast> = forecasts.collect();
        let is_news = is_changed && !(forecasts.is_empty() && keeper.is_idle());
        if is_news || keeper.has_others_than(&forecasts) {
            keeper.keep(|book| book.learn(forecasts, &counts, clock::now(), &merges::merge_outcome));
        }
        is_changed
    }
}

/// When to compare again.
struct Pace {
    due_at: Instant,
    /// Before that nothing is compared, whatever happens.
    rested_at: Instant,
}

impl Pace {
    fn new(now: Instant) -> Self {
        Self { due_at: now + SOON, rested_at: now }
    }

    /// Notes that a turn has ended.
    fn hurry(&mut self, now: Instant) {
        self.due_at = self.due_at.min((now + SOON).max(self.rested_at));
    }

    /// Notes a check that took so long.
    fn rest(&mut self, now: Instant, took: Duration) {
        self.rested_at = now + took * REST;
        self.due_at = self.rested_at.max(now + EACH);
    }
}

/// Returns whether a window has stopped working since an earlier report.
fn has_turn_ended(before: &Report, after: &Report) -> bool {
    let is_working = |window: &WindowView| {
        window.work.as_ref().is_some_and(|work| work.doing.turn.state == TurnState::Working)
    };
    let worked = before.windows.iter().filter(|window| is_working(window));
    worked.map(|window| &window.key).any(|key| after.window(key).is_some_and(|window| !is_working(window)))
}

fn signs<'a>(report: &Report, trees: impl Iterator<Item = &'a Untrusted> + Clone) -> Signs {
    let sign = |window: &WindowView| {
        let work = window.work.as_ref().filter(|work| work.doing.turn.state != TurnState::Unknown);
        work.map_or(WorkSign::Unread(report.taken_at.as_second() / UNREAD_EACH), |work| {
            WorkSign::Written(work.written_at)
        })
    };
    let is_there = |window: &&WindowView| {
        let tree = window.repo.as_ref().map(|repo| &repo.worktree);
        window.key.machine().is_none() && trees.clone().any(|one| Some(one) == tree)
    };
    let windows = report.windows.iter().filter(is_there);
    let windows = windows.map(|window| (window.key.clone(), sign(window))).collect();
    let folders = trees.clone().filter_map(|tree| git_dir(Path::new(tree.raw())));
    let files = folders.flat_map(|own| ["HEAD", "index", "logs/HEAD"].map(|name| own.join(name)));
    // Where all branches are, a folder changes with each of them.
    let root = report.windows.iter().filter(is_there).find_map(|window| window.repo.as_ref());
    let common = root.and_then(|repo| git_dir(Path::new(repo.root.raw())));
    let branches = common.into_iter().flat_map(|common| {
        ["refs/heads", "packed-refs", "config", "info/attributes"].map(|name| common.join(name))
    });
    let file = |path: PathBuf| {
        let meta = look_at(&path);
        (path, meta)
    };
    Signs { windows, files: files.chain(branches).map(file).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turns_end_is_followed_soon_and_a_long_check_by_a_long_rest() {
        let now = clock::steady();
        let mut pace = Pace::new(now);
        assert_eq!(pace.due_at, now + SOON);
        pace.rest(now, Duration::from_millis(10));
        assert_eq!(pace.due_at, now + EACH);
        pace.hurry(now);
        assert_eq!(pace.due_at, now + SOON, "the check before was short");
        pace.rest(now, Duration::from_secs(1));
        pace.hurry(now);
        assert_eq!(pace.due_at, now + Duration::from_secs(99), "a hundredth of a core, whatever ends");
    }
}
