//! What an open claimtop does for the store beside looking: it copies what agents are about to delete, and prunes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::act::state::kept::saving::{SaveBudget, prune_all, save};
use crate::cli::settings::Settings;
use crate::config::Access;
use crate::core::model::{Format, Untrusted, Work};
use crate::guard::keep::save_rules;
use crate::observe::Observer;
use crate::source::database::sqlite::copies::Copies;
use crate::source::os::{clock, host};
use crate::source::versions::retention::first_deleted_at;
use crate::source::versions::search::Search;

/// How often sessions are looked through: every hour.
const AGAIN: SignedDuration = SignedDuration::from_hours(1);
/// How often the store is pruned: once a day.
const PRUNE_AGAIN: SignedDuration = SignedDuration::from_hours(24);
/// How long before its agent deletes a file what it has is copied: 2 days.
const BEFORE: SignedDuration = SignedDuration::from_hours(48);
/// How much is copied in one round.
const MOST: SaveBudget = SaveBudget { files: 256, bytes: 64 << 20 };
/// The most sessions that are read in one round.
const MOST_SESSIONS: usize = 16;
/// The largest transcript that is read for this, in bytes.
const MOST_TRANSCRIPT: u64 = 256 << 20;
/// How long one round may take before the rest waits for the next, and so may pruning: 20 s.
const ROUND: Duration = Duration::from_secs(20);

/// Has what agents are about to delete copied into the store, and the store pruned, if claimtop may write.
pub(crate) fn keep_before_clean_up(observer: Observer, settings: &Settings) -> Observer {
    let config = &settings.effective.config;
    let may_write = config.access == Access::Full && host::owns(&settings.places.home);
    if !may_write || !config.keep.files {
        return observer;
    }
    let keeper = Arc::new(Keeper {
        settings: settings.clone(),
        is_busy: AtomicBool::new(false),
        saved: Mutex::default(),
    });
    let (mut next, mut next_prune) = (None, None);
    observer.recorded(Box::new(move |snapshot, _| {
        let now = snapshot.taken_at;
        let is_due = |next: Option<Timestamp>| next.is_none_or(|next| now >= next);
        if !is_due(next) || keeper.is_busy.swap(true, Ordering::AcqRel) {
            return;
        }
        let prunes = is_due(next_prune);
        next = now.checked_add(AGAIN).ok();
        if prunes {
            next_prune = now.checked_add(PRUNE_AGAIN).ok();
        }
        let (works, own) = (snapshot.work.clone(), Arc::clone(&keeper));
        let round = move || {
            own.round(&works, prunes);
            own.is_busy.store(false, Ordering::Release);
        };
        if std::thread::Builder::new().name("keep".to_owned()).spawn(round).is_err() {
            // The next hour tries again.
            keeper.is_busy.store(false, Ordering::Release);
        }
    }))
}

struct Keeper {
    settings: Settings,
    is_busy: AtomicBool,
    /// When the sessions that were looked through had been written last.
    saved: Mutex<HashMap<Untrusted, Timestamp>>,
}

impl Keeper {
    /// Returns the sessions whose files are deleted soon, and that were written since they were looked through.
    fn due<'a>(&self, works: &'a [Arc<Work>], now: Timestamp) -> Vec<&'a Arc<Work>> {
        let until = now.checked_add(BEFORE).unwrap_or(now);
        let saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = |work: &&Arc<Work>| {
            work.has_edits() && saved.get(&work.session).is_none_or(|at| work.written_at > *at)
        };
        let ends = |work: &&Arc<Work>| first_deleted_at(work).is_some_and(|at| at <= until);
        works.iter().filter(is_new).filter(ends).take(MOST_SESSIONS).collect()
    }

    fn round(&self, works: &[Arc<Work>], prunes: bool) {
        let settings = &self.settings;
        let (kept, rules) = (settings.state.join("kept"), save_rules(settings.effective.config.keep));
        let (fence, copies) = (settings.places.fence(), Copies::in_folder(&settings.places.copies));
        let (now, home) = (clock::now(), settings.places.home.as_path());
        let search = Search { works: &[], now, home, fence: &fence, copies: &copies };
        let began = clock::steady();
        let mut left = MOST;
        for work in self.due(works, now) {
            if began.elapsed() > ROUND {
                break;
            }
            // Of a database only the rows of the session are read.
            let is_small = work.format == Format::OpenCode
                || work.path.metadata().is_ok_and(|meta| meta.len() <= MOST_TRANSCRIPT);
            if is_small && let Err(error) = save(work, (&kept, &rules), &search, &mut left) {
                tracing::warn!(%error, "what an agent is about to delete was not copied");
            }
            if left.files == 0 {
                // The rest is for the next hour.
                break;
            }
            let mut saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
            saved.insert(work.session.clone(), work.written_at);
        }
        let began = clock::steady();
        if prunes && let Err(error) = prune_all(&kept, (rules.limits, now), || began.elapsed() < ROUND) {
            tracing::warn!(%error, "what is kept was not pruned");
        }
    }
}
