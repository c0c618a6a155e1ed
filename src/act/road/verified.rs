//! Doing what was verified: journalled, moved, looked at once more, and taken back when it fails.

use super::Seen;
use crate::act::change::Change;
use crate::act::disk::Disk;
use crate::act::entire;
use crate::act::lock::Lock;
use crate::act::movement::Hands;
use crate::act::planned::Planned;
use crate::act::trouble::Trouble;
use crate::act::witness::Witness;
use crate::core::history::journal::{Intent, Movement, Outcome};
use crate::core::model::action::{Action, Ended, Request};
use crate::core::model::file::FileImage;
use crate::format::Release;

/// A plan that was found unchanged under the lock. It cannot outlive the lock.
pub struct Verified<'l, 's, D: Disk> {
    pub(super) seen: Seen,
    pub(super) lock: &'l mut Lock<'s, D>,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Receipt {
    /// The number of the journal's entry.
    pub entry: u64,
    /// What it was about.
    pub title: String,
    /// The entry that it undid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undoes: Option<u64>,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: Outcome,
}

impl<D: Disk> Verified<'_, '_, D> {
    /// Does it: journals the intent, moves, looks at what was moved, and journals the outcome.
    ///
    /// # Errors
    /// The journal cannot be written: before anything was touched, or, as [`Trouble::Stuck`], after. What
    /// fails between is an outcome.
    pub fn execute(self, witness: &mut impl Witness) -> Result<Receipt, Trouble> {
        let Self { seen, lock } = self;
        let now = witness.now();
        let guard = seen.peer_lock(&lock.hands())?;
        let why = seen.plan.why.first().cloned().unwrap_or_default();
        let release = Release { at: now, why: &why };
        let (entry, movements) = free(lock, |entry| lock.lowered(&seen.planned, entry, release))?;
        let intent = Intent {
            action: match seen.request {
                Request::Act { action, .. } => action,
                Request::Left { .. } => Action::Release,
                Request::Undo { .. } => Action::Undo,
            },
            title: seen.plan.what.clone(),
            why,
            movements,
            undoes: match seen.request {
                Request::Act { .. } | Request::Left { .. } => None,
                Request::Undo { entry, .. } => Some(entry),
            },
            follows: seen.follows,
        };
        lock.begin(entry, &intent, now)?;
        let outcome = seen.carry_out(&lock.hands(), &intent.movements, witness);
        drop(guard);
        lock.finish(entry, outcome.clone(), witness.now()).map_err(|trouble| {
            let found = "how it ended is not journalled, and the next action finds out and puts it right";
            Trouble::Stuck(format!("{trouble}; {found}"))
        })?;
        Ok(Receipt { entry, title: intent.title, undoes: intent.undoes, outcome })
    }
}

/// Returns the next number whose names are all free, with the movements of that number: where the
/// journal was lost, something of an earlier one may lie under such a name.
fn free<D: Disk>(
    lock: &Lock<'_, D>,
    lowered: impl Fn(u64) -> Vec<Movement>,
) -> Result<(u64, Vec<Movement>), Trouble> {
    let mut entry = lock.history.next();
    loop {
        let movements = lowered(entry);
        let hands = lock.hands();
        let are_free = movements.iter().try_fold(true, |so_far, one| Ok(so_far && hands.is_free(one)?))?;
        if are_free {
            return Ok((entry, movements));
        }
        entry += 1;
    }
}

impl Seen {
    /// Takes the lock that the file's own system takes before it writes, where it has one.
    fn peer_lock<D: Disk>(&self, hands: &Hands<'_, D>) -> Result<Option<D::Lock>, Trouble> {
        let paths = self.planned.iter().filter_map(|planned| match planned {
            Planned::Park { path, .. } | Planned::Move { path, .. } | Planned::End { path, .. } => Some(path),
            Planned::Restore { to, .. } => Some(to),
            Planned::Row { .. } => None,
        });
        match paths.into_iter().find_map(|path| entire::lock_of(path)) {
            Some(path) => entire::take_lock(hands, &path),
            None => Ok(None),
        }
    }

    fn carry_out<D: Disk>(
        &self,
        hands: &Hands<'_, D>,
        movements: &[Movement],
        witness: &mut impl Witness,
    ) -> Outcome {
        let (mut done, mut taken) = (Vec::new(), Vec::new());
        let parked = movements.iter().filter_map(Movement::parked);
        if let Err(trouble) = parked.into_iter().try_for_each(|parked| hands.make_park(parked)) {
            return undone(hands, &done, &trouble);
        }
        for movement in movements {
            let moved = self.carry(hands, movement, &mut taken, witness);
            // A take that was done but not believed counts as done.
            if moved.is_ok() || matches!(moved, Err((_, Progress::Moved))) {
                done.push(movement);
            }
            if let Err((trouble, _)) = moved {
                return undone(hands, &done, &trouble);
            }
        }
        let settled = movements.last().map_or(Ok(()), |movement| match movement {
            Movement::Take { parked, .. } => hands.park(parked).and_then(|park| hands.settle(&park)),
            Movement::Put { to: path, .. } | Movement::Exchange { path, .. } => {
                hands.at(path).and_then(|at| hands.settle(&at))
            }
            // A commit has reached the disk when it returns.
            Movement::Rows { .. } => Ok(()),
        });
        match settled {
            Ok(()) => Outcome { ended: Ended::Done, detail: read_back(hands, movements) },
            Err(trouble) => undone(hands, &done, &trouble),
        }
    }

    fn carry<D: Disk>(
        &self,
        hands: &Hands<'_, D>,
        movement: &Movement,
        taken: &mut Vec<FileImage>,
        witness: &mut impl Witness,
    ) -> Result<(), (Trouble, Progress)> {
        let not = |trouble| (trouble, Progress::NotMoved);
        match movement {
            Movement::Take { from, parked, print } => {
                taken.push(hands.take(from, parked, print).map_err(not)?);
                self.believe(taken, witness).map_err(|trouble| (trouble, Progress::Moved))
            }
            Movement::Put { parked, to, print, touched_at } => {
                hands.put(parked, to, print, *touched_at).map_err(not)
            }
            Movement::Exchange { path, parked, print, .. } => {
                let new = self.planned.iter().find_map(|planned| match planned {
                    Planned::End { path: own, new, .. } if own == path => Some(new.as_slice()),
                    Planned::End { .. }
                    | Planned::Park { .. }
                    | Planned::Move { .. }
                    | Planned::Restore { .. }
                    | Planned::Row { .. } => None,
                });
                let image = hands.exchange(path, parked, print, new.unwrap_or_default(), witness.now());
                taken.push(image.map_err(not)?);
                self.believe(taken, witness).map_err(|trouble| (trouble, Progress::Moved))
            }
            Movement::Rows { format, database, changes, backup } => {
                let backup = backup.as_deref();
                let change = Change { format: *format, database, changes, backup };
                change.carry_out(hands, &mut || self.agrees(database, witness)).map_err(not)
            }
        }
    }
}

/// Says how the rows of a change stand once it was done.
fn read_back<D: Disk>(hands: &Hands<'_, D>, movements: &[Movement]) -> String {
    let changes = movements.iter().filter_map(Change::of);
    changes.map(|change| change.read_back(hands)).collect::<Vec<_>>().join("; ")
}

/// How far a movement came that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// Everything is where it was.
    NotMoved,
    /// It was done.
    Moved,
}

/// Reverses what was done, newest first, and tells the outcome.
fn undone<D: Disk>(hands: &Hands<'_, D>, done: &[&Movement], trouble: &Trouble) -> Outcome {
    let stuck: Vec<String> = done
        .iter()
        .rev()
        .filter_map(|movement| hands.reverse(movement).err())
        .map(|error| error.to_string())
        .collect();
    let ended = match trouble {
        _ if !stuck.is_empty() => Ended::Stuck,
        Trouble::Stuck(_) => Ended::Stuck,
        Trouble::Changed(_) | Trouble::NotNow(_) | Trouble::Taken(_) => Ended::Changed,
        Trouble::Unsure(_) => Ended::Unknown,
        Trouble::Never(_) | Trouble::NotConfirmed(_) | Trouble::Failed { .. } | Trouble::Refused(_) => {
            Ended::Failed
        }
    };
    let detail = std::iter::once(trouble.to_string()).chain(stuck).collect::<Vec<_>>().join("; then ");
    Outcome { ended, detail }
}
