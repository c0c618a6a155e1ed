//! Prepared movements, before every file has its parked name.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::act::fs::files::{NAME_MAX, cut, shown};
use crate::act::fs::park::ParkPlace;
use crate::act::fs::print::sha256;
use crate::core::history::movement::{Movement, ParkLocation, Print};
use crate::core::model::snapshot::row;
use crate::core::model::{Columns, Format, ProcessPrint, RowChange, Signal};
use crate::format;
use crate::format::Release;

/// A movement before it has parked names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PreparedStep {
    /// Take a file and leave it parked.
    Park { path: PathBuf, print: Print, place: ParkPlace },
    /// Take a file and put it elsewhere.
    Move { path: PathBuf, print: Print, place: ParkPlace, to: PathBuf, modified_at: NewTime },
    /// End a session in its state file.
    End { path: PathBuf, print: Print, place: ParkPlace, new: Vec<u8> },
    /// Write a new file.
    Create { path: PathBuf, place: ParkPlace, new: Vec<u8>, mode: u32 },
    /// Put back what an earlier entry parked.
    Restore { parked: ParkLocation, print: Print, to: PathBuf },
    /// Change a row.
    Row { format: Format, database: String, table: String, id: String, before: Columns, to: RowTarget },
    /// Signal a process.
    Stop { print: ProcessPrint, signal: Signal },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RowTarget {
    /// The result of its system's release at that time.
    Released,
    State(Columns),
}

impl PreparedStep {
    /// Names what the step changes: a file, a row or a process.
    pub(crate) fn subject(&self) -> String {
        match self {
            Self::Park { path, .. }
            | Self::Move { path, .. }
            | Self::End { path, .. }
            | Self::Create { path, .. }
            | Self::Restore { to: path, .. } => shown(path).to_string(),
            Self::Row { table, id, .. } => format!("row {id} of {table}"),
            Self::Stop { print, .. } => format!("PID {}", print.id.pid),
        }
    }

    /// Describes that its file is parked under a shorter name, if its own does not fit behind the entry's numbers.
    pub(crate) fn cut_words(&self, entry: u64, step: usize) -> Option<String> {
        let (Self::Park { path, .. } | Self::End { path, .. } | Self::Move { path, .. }) = self else {
            return None;
        };
        let bytes = path.file_name().unwrap_or_default().to_string_lossy().len();
        let numbers = format!("{entry}-{step}-").len();
        (bytes + numbers > NAME_MAX).then(|| {
            format!("parked under a shortened name (the full one has {bytes} bytes): {}", shown(path))
        })
    }

    /// Describes where its file is parked, if that is not the state folder.
    pub(crate) fn parked_words(&self) -> Option<String> {
        match self {
            Self::Park { place, .. } | Self::End { place, .. } => place.place_text(),
            Self::Move { .. }
            | Self::Create { .. }
            | Self::Restore { .. }
            | Self::Row { .. }
            | Self::Stop { .. } => None,
        }
    }
}

impl RowTarget {
    /// Describes which columns change, from what and to what.
    pub(crate) fn changes_text(&self, before: &Columns) -> String {
        match self {
            Self::Released => "released".to_owned(),
            Self::State(after) => row::difference_text(before, after),
        }
    }
}

/// The modification time that a moved file gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NewTime {
    /// The time of the move: its own system deletes by age.
    Now,
    /// This time, which it had before.
    FileRef(Timestamp),
}

/// Assigns every movement its place in the park, and every row its new values.
pub(crate) fn lowered(
    prepared: &[PreparedStep],
    entry: u64,
    release: Release<'_>,
    folder_of: &mut dyn FnMut(&ParkPlace) -> Option<PathBuf>,
) -> Vec<Movement> {
    let mut movements = Vec::new();
    for (at, prepared) in prepared.iter().enumerate() {
        let name = |path: &Path| parked_name(path, entry, at + 1);
        let mut parked =
            |path: &Path, place: &ParkPlace| ParkLocation { name: name(path), folder: folder_of(place) };
        match prepared.clone() {
            PreparedStep::Park { path, print, place } => {
                let parked = parked(&path, &place);
                movements.push(Movement::Take { from: path, parked, print });
            }
            PreparedStep::Move { path, print, place, to, modified_at } => {
                let parked = parked(&path, &place);
                let touched_at = match modified_at {
                    NewTime::Now => Some(release.at),
                    NewTime::FileRef(at) => Some(at),
                };
                movements.push(Movement::Take { from: path, parked: parked.clone(), print: print.clone() });
                movements.push(Movement::Put { parked, to, print, touched_at });
            }
            PreparedStep::End { path, print, place, new } => {
                let parked = parked(&path, &place);
                movements.push(Movement::Exchange { path, parked, print, new_sha256: sha256(&new) });
            }
            // It is written among the parked files first, which gives it its print.
            PreparedStep::Create { path, place, new, mode } => {
                let parked = parked(&path, &place);
                let print = Print { sha256: sha256(&new), mode, ..Print::unread(0, 0) };
                movements.push(Movement::Put { parked, to: path, print, touched_at: None });
            }
            PreparedStep::Restore { parked, print, to } => {
                movements.push(Movement::Put { parked, to, print, touched_at: None });
            }
            PreparedStep::Row { format, database, table, id, before, to } => {
                let after = match to {
                    RowTarget::Released => {
                        format::released(format, &table, &before, release).unwrap_or_default()
                    }
                    RowTarget::State(state) => state,
                };
                let change = RowChange { table, id, before, after };
                join(&mut movements, format, database, change, name);
            }
            PreparedStep::Stop { print, signal } => match movements.last_mut() {
                Some(Movement::Stop { processes, .. }) => processes.push(print),
                Some(_) | None => movements.push(Movement::Stop { signal, processes: vec![print] }),
            },
        }
    }
    movements
}

/// Returns the name under which a file is parked: as much of its own as fits behind the numbers of entry and step.
fn parked_name(path: &Path, entry: u64, step: usize) -> String {
    let numbers = format!("{entry}-{step}-");
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = cut(OsStr::new(&*name), numbers.len()).to_string_lossy();
    numbers + &name
}

/// Adds a row to the movement of its database: all rows of one database change together.
fn join(
    movements: &mut Vec<Movement>,
    format: Format,
    database: String,
    change: RowChange,
    name: impl Fn(&Path) -> String,
) {
    if let Some(Movement::Rows { database: own, changes, .. }) = movements.last_mut()
        && *own == database
    {
        return changes.push(change);
    }
    let backup = format::is_backed_up(format).then(|| name(Path::new(&database)));
    movements.push(Movement::Rows { format, database, changes: vec![change], backup });
}
