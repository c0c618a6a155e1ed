//! The tape: a recording while it is made, shared by the observer and by the key that begins and ends it.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;

use crate::core::history::diff::diff;
use crate::core::history::recording::line::Header;
use crate::core::history::recording::redact::{Redactor, Replacements};
use crate::core::history::recording::{Encoder, VERSION};
use crate::core::judge::window::agent::Signatures;
use crate::core::model::{Report, Snapshot, Untrusted};
use crate::observe::observer::Recorder;
use crate::source::os::open::meta::is_deleted;

/// The most bytes of a recording, unless a person asks for more or less: 64 MiB.
pub(crate) const LIMIT: u64 = 64 << 20;

/// What became of a look that was to be kept.
#[derive(Debug)]
pub enum TapeOutcome {
    /// Nothing is recorded at present.
    Off,
    /// It is written.
    Written,
    /// It did not fit any more; the recording has ended whole.
    Full,
    /// The disk failed; the recording has ended.
    Failed(io::Error),
}

/// Called before anything of a redacted look is written: what is replaced by what, and what is kept.
pub(crate) type Tell = Box<dyn FnMut(&Replacements) + Send>;

/// Asks for a look, so that a recording begins with the present.
pub(crate) type Nudge = Box<dyn Fn() + Send>;

/// Called with the reason if a recording has ended by itself.
pub(crate) type OnLoss = Box<dyn Fn(String) + Send>;

/// A tape; its copies are one.
#[derive(Clone)]
pub struct Tape {
    signatures: Signatures,
    reel: Arc<Mutex<Option<Reel>>>,
    nudge: Arc<Mutex<Option<Nudge>>>,
    lost: Arc<Mutex<Option<OnLoss>>>,
}

/// A recording that is being made.
struct Reel {
    file: File,
    path: PathBuf,
    encoder: Encoder,
    redactor: Option<(Redactor, Tell)>,
    bytes: u64,
    limit: u64,
}

/// How a recording is made.
pub struct Wish {
    /// Where it goes: a file that is not there yet.
    pub path: PathBuf,
    /// When it is begun.
    pub began_at: Timestamp,
    /// The most bytes of it.
    pub limit: u64,
    /// What replaces words, and what is called with each new one; nothing if none is replaced.
    pub redact: Option<(Redactor, Tell)>,
}

impl Tape {
    /// Makes a tape on which nothing is recorded yet.
    pub fn new(signatures: Signatures) -> Self {
        Self { signatures, reel: Arc::default(), nudge: Arc::default(), lost: Arc::default() }
    }

    /// Returns what records every look while the tape is on, each with whether it shows a change.
    pub(crate) fn recorder(&self) -> Recorder {
        let tape = self.clone();
        let mut before: Option<Arc<Report>> = None;
        Box::new(move |snapshot, report| {
            if tape.path().is_none() {
                before = None;
                return;
            }
            let is_event = before.as_ref().is_none_or(|before| !diff(Some(before), report).is_empty());
            match tape.keep(snapshot, is_event) {
                TapeOutcome::Off | TapeOutcome::Written => {}
                TapeOutcome::Full => tracing::warn!("the recording is full"),
                TapeOutcome::Failed(error) => tracing::warn!(%error, "the recording has failed"),
            }
            before = Some(Arc::clone(report));
        })
    }

    /// Has a look asked for whenever a recording is begun.
    pub(crate) fn asks(&self, nudge: Nudge) {
        *self.nudge.lock().unwrap_or_else(PoisonError::into_inner) = Some(nudge);
    }

    /// Sets what is called if a recording ends by itself.
    pub(crate) fn tells(&self, lost: OnLoss) {
        *self.lost.lock().unwrap_or_else(PoisonError::into_inner) = Some(lost);
    }

    /// Begins a recording in a new file, for its owner only.
    ///
    /// # Errors
    /// The file is there already, its folder is not, or it cannot be made or written.
    pub fn begin(&self, wish: Wish) -> io::Result<()> {
        let header = Header {
            recording: VERSION,
            claimtop: env!("CARGO_PKG_VERSION").to_owned(),
            began_at: wish.began_at,
            redacted: wish.redact.is_some(),
            signatures: self.signatures.clone(),
        };
        let first = Encoder::header(&header)?;
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&wish.path);
        let mut file = file.map_err(|error| without_folder(error, &wish.path))?;
        file.write_all(first.as_bytes())?;
        let (encoder, bytes) = (Encoder::default(), first.len() as u64);
        let (redactor, limit) = (wish.redact, wish.limit);
        *self.reel() = Some(Reel { file, path: wish.path, encoder, redactor, bytes, limit });
        if let Some(nudge) = self.nudge.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            nudge();
        }
        Ok(())
    }

    /// Ends the recording and returns where it is; nothing where none was made.
    pub(crate) fn end(&self) -> Option<PathBuf> {
        self.reel().take().map(|reel| reel.path)
    }

    /// Returns where the recording goes, if one is being made.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        self.reel().as_ref().map(|reel| reel.path.clone())
    }

    /// Writes a look; `is_event` says whether it shows a change that people care about.
    pub fn keep(&self, snapshot: &Snapshot, is_event: bool) -> TapeOutcome {
        let mut held = self.reel();
        let Some(reel) = held.as_mut() else { return TapeOutcome::Off };
        let (kept, why) = match reel.keep(snapshot, is_event) {
            Ok(true) => return TapeOutcome::Written,
            Ok(false) => (TapeOutcome::Full, "it is full and intact".to_owned()),
            Err(error) => {
                let why = error.to_string();
                (TapeOutcome::Failed(error), why)
            }
        };
        *held = None;
        drop(held);
        if let Some(lost) = self.lost.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            lost(why);
        }
        kept
    }

    fn reel(&self) -> std::sync::MutexGuard<'_, Option<Reel>> {
        self.reel.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reel {
    /// Returns whether there was room.
    fn keep(&mut self, snapshot: &Snapshot, is_event: bool) -> io::Result<bool> {
        let line = match &mut self.redactor {
            None => self.encoder.look(snapshot, is_event)?,
            Some((redactor, tell)) => {
                let look = redactor.look(snapshot);
                let fresh = redactor.fresh();
                if !fresh.is_empty() {
                    tell(&fresh);
                }
                self.encoder.look(&look, is_event)?
            }
        };
        if self.bytes + line.len() as u64 > self.limit {
            return Ok(false);
        }
        if is_deleted(&self.file) {
            return Err(io::Error::other("it was deleted"));
        }
        self.file.write_all(line.as_bytes())?;
        self.bytes += line.len() as u64;
        Ok(true)
    }
}

/// Names the folder of a file that could not be made because that is not there.
fn without_folder(error: io::Error, path: &Path) -> io::Error {
    match path.parent().filter(|_| error.kind() == io::ErrorKind::NotFound) {
        Some(folder) => {
            let says = format!("there is no folder {}", Untrusted::from_path(folder));
            io::Error::new(io::ErrorKind::NotFound, says)
        }
        None => error,
    }
}

/// Makes the folder of the recordings that a key begins, for its owner only.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Returns where a recording goes that a key begins.
pub(crate) fn usual_path(folder: &Path, now: Timestamp) -> PathBuf {
    folder.join(format!("{}.jsonl", now.strftime("%Y%m%dT%H%M%SZ")))
}
