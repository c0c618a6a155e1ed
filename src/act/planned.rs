//! What is planned, before every file has its parked name.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::movement::sha256;
use crate::core::journal::{Movement, Print};

/// A movement before it has parked names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Planned {
    /// Take a file and leave it parked.
    Park { path: PathBuf, print: Print },
    /// Take a file and put it elsewhere.
    Move { path: PathBuf, print: Print, to: PathBuf, modified_at: Modified },
    /// End a session in its state file.
    End { path: PathBuf, print: Print, new: Vec<u8> },
    /// Put back what an earlier entry parked.
    Restore { parked: String, print: Print, to: PathBuf },
}

/// What time a moved file gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Modified {
    /// The moment of the move: its own system deletes by age.
    Now,
    /// This one, which it had before.
    At(Timestamp),
}

/// Gives every movement its parked name.
pub(super) fn lowered(planned: &[Planned], entry: u64, now: Timestamp) -> Vec<Movement> {
    let mut movements = Vec::new();
    for (at, planned) in planned.iter().enumerate() {
        let parked = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            format!("{entry}-{}-{name}", at + 1)
        };
        match planned.clone() {
            Planned::Park { path, print } => {
                let parked = parked(&path);
                movements.push(Movement::Take { from: path, parked, print });
            }
            Planned::Move { path, print, to, modified_at } => {
                let parked = parked(&path);
                let touched_at = match modified_at {
                    Modified::Now => Some(now),
                    Modified::At(at) => Some(at),
                };
                movements.push(Movement::Take { from: path, parked: parked.clone(), print: print.clone() });
                movements.push(Movement::Put { parked, to, print, touched_at });
            }
            Planned::End { path, print, new } => {
                let parked = parked(&path);
                movements.push(Movement::Exchange { path, parked, print, new_sha256: sha256(&new) });
            }
            Planned::Restore { parked, print, to } => {
                movements.push(Movement::Put { parked, to, print, touched_at: None });
            }
        }
    }
    movements
}
