//! Takes one look after another at all places, and keeps what the next look can reuse.

use std::path::PathBuf;

use crate::core::agent::Signatures;
use crate::core::snapshot::Snapshot;

/// Where to look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The temporary folder.
    pub tmp: PathBuf,
    /// The home.
    pub home: PathBuf,
    /// Claude Code's configuration folder.
    pub claude_config: PathBuf,
    /// The cache folder.
    pub cache: PathBuf,
    /// Repositories, or folders to find repositories in.
    pub roots: Vec<PathBuf>,
    /// Whether only these folders are read, and not the repositories that windows and records
    /// elsewhere work in: so with `--home` and `--tmp`.
    pub confined: bool,
}

/// Looks again and again.
pub struct Collector {
    places: Places,
    signatures: Signatures,
}

impl Collector {
    /// Prepares to look; reads nothing yet.
    pub fn new(places: Places, signatures: Signatures) -> Self {
        Self { places, signatures }
    }

    /// Takes one look: records first, processes second.
    pub fn look(&mut self) -> Snapshot {
        let _ = (&self.places, &self.signatures);
        unimplemented!()
    }
}
