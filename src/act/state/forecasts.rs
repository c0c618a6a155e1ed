//! Keeps what is foreseen of working trees in the state folder, for as long as this process compares them.

use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};

use crate::act::error::ActionError;
use crate::act::fs::system::System;
use crate::act::state::bind;
use crate::core::model::{Forecast, ForecastBook};
use crate::source::own::forecasts::{last_book, lock_in};
use crate::source::places::FORECASTS;

/// The one that keeps the forecasts of a state folder.
pub(crate) struct BookKeeper {
    state: PathBuf,
    /// Held until the process ends: others then know that the forecasts are out of date.
    _lock: File,
    book: ForecastBook,
}

impl BookKeeper {
    /// Becomes the one that keeps them, if none is.
    pub(crate) fn new(state: &Path) -> Option<Self> {
        bind::open(&System, state).ok()?;
        let flags = OFlags::CREATE | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let lock: File = open(lock_in(state), flags, Mode::RUSR | Mode::WUSR).ok()?.into();
        flock(&lock, FlockOperation::NonBlockingLockExclusive).ok()?;
        // What another one foresaw is not kept up: only its counts and what it expected go on.
        let book =
            ForecastBook { forecasts: Vec::new(), checked_at: None, ..last_book(state).unwrap_or_default() };
        let keeper = Self { state: state.to_path_buf(), _lock: lock, book };
        if let Err(error) = keeper.put() {
            tracing::debug!(%error, "what is foreseen cannot be kept");
            return None;
        }
        Some(keeper)
    }

    /// Returns whether other forecasts are kept than these.
    pub(crate) fn has_others_than(&self, forecasts: &[Forecast]) -> bool {
        self.book.forecasts != forecasts
    }

    /// Returns whether nothing is kept and no merge is expected.
    pub(crate) fn is_idle(&self) -> bool {
        self.book.forecasts.is_empty() && self.book.expected.is_empty()
    }

    /// Changes what is kept. If it cannot be written, the next change writes it.
    pub(crate) fn keep(&mut self, change: impl FnOnce(&mut ForecastBook)) {
        change(&mut self.book);
        if let Err(error) = self.put() {
            tracing::debug!(%error, "what is foreseen is not kept");
        }
    }

    fn put(&self) -> Result<(), ActionError> {
        bind::put(&System, (&self.state, FORECASTS.to_owned()), &self.book)
    }
}
