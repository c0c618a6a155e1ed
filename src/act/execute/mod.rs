//! Carries out verified plans: journals, moves, looks again, and reverses the movements if something fails.

pub(crate) mod entire_lock;
pub(crate) mod follow_up;
mod judge;

use crate::act::error::ActionError;
use crate::act::fs::disk::Disk;
use crate::act::fs::files::Files;
use crate::act::fs::print::print_of;
use crate::act::look::Look;
use crate::act::preflight::prepared::PreparedStep;
use crate::act::preflight::preview::Preview;
use crate::act::rows::update::RowUpdate;
use crate::act::state::journal_store::Lock;
use crate::act::stop;
use crate::core::history::journal::{Intent, Outcome};
use crate::core::history::movement::Movement;
use crate::core::model::{Action, EndResult, FileImage, Request};
use crate::format::Release;
use jiff::Timestamp;

/// A plan that was found unchanged under the lock. It cannot outlive the lock.
pub struct VerifiedPlan<'l, 's, D: Disk> {
    pub(crate) preview: Preview,
    pub(crate) lock: &'l mut Lock<'s, D>,
}

/// The record of a completed action.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Receipt {
    /// The number of the journal entry.
    pub entry: u64,
    /// What the action was about.
    pub title: String,
    /// The entry that this action undid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undoes: Option<u64>,
    /// Whether it cannot be undone.
    #[serde(skip)]
    pub is_final: bool,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: Outcome,
}

impl<D: Disk> VerifiedPlan<'_, '_, D> {
    /// Carries out the plan: journals the intent, moves, looks at what was moved, and journals the outcome.
    ///
    /// # Errors
    /// The folder for parked files cannot be made, or the journal cannot be written: before anything was touched, or,
    /// as [`ActionError::Stuck`], afterwards. A failure in between is an outcome.
    pub fn execute(self, observer: &mut impl Look) -> Result<Receipt, ActionError> {
        let Self { preview, lock } = self;
        let now = observer.now();
        let guard = preview.peer_lock(&lock.files())?;
        let why = preview.plan.why.first().cloned().unwrap_or_default();
        let release = Release { at: now, why: &why };
        let (entry, mut movements) = free(lock, |entry| lock.lowered(&preview.prepared, entry, release))?;
        let undoes = match preview.request {
            Request::Act { .. }
            | Request::Several { .. }
            | Request::Left { .. }
            | Request::Stop { .. }
            | Request::Rescue { .. }
            | Request::Setup { .. } => None,
            Request::Undo { entry, .. } => Some(entry),
        };
        preview.write_new(&lock.files(), &mut movements, now)?;
        // An undo restores to the original place, wherever its path leads now.
        let earlier = undoes.and_then(|undone| lock.history.entry(undone)).map(|entry| &entry.intent);
        let leads = earlier.map_or_else(|| lock.leads(&movements), |intent| intent.leads.clone());
        let intent = Intent {
            action: preview.request.action(),
            title: preview.plan.what.clone(),
            why,
            movements,
            home: Some(preview.rules.home.clone()),
            boot_id: lock.files().disk.boot(now).id,
            leads,
            undoes,
            follows: preview.follows,
            order: preview.order.clone(),
            settings: preview.request.shared_settings().cloned(),
        };
        // Made before the intent is journalled, so recovery knows that a missing folder is away.
        let parked = intent.movements.iter().filter_map(Movement::parked);
        parked.into_iter().try_for_each(|parked| lock.files().make_park(parked))?;
        lock.begin(entry, &intent, now)?;
        let outcome = match intent.movements.as_slice() {
            [Movement::Stop { signal, processes }] => {
                let stopped =
                    stop::carry_out(lock.files().processes, processes, *signal, &preview.plan.ports());
                stopped.map_or_else(
                    |trouble| undone(&lock.files(), &[], &trouble),
                    |done| preview.with_session_note(done),
                )
            }
            movements => preview.carry_out(&lock.files_of(intent.leads.clone()), movements, observer),
        };
        drop(guard);
        lock.finish(entry, outcome.clone(), observer.now()).map_err(|trouble| {
            let ended = if outcome.ended == EndResult::Done { "it was done" } else { "it was not completed" };
            ActionError::Stuck(format!(
                "{ended}, but its outcome is not journalled ({trouble}): `claimtop undo {entry}` finds out and repairs it"
            ))
        })?;
        let is_final = intent.action == Action::Stop;
        Ok(Receipt { entry, title: intent.title, undoes: intent.undoes, is_final, outcome })
    }
}

/// Returns the next number whose names are all free, with its movements: if the journal was lost, a file of an earlier
/// entry may have such a name.
fn free<D: Disk>(
    lock: &Lock<'_, D>,
    lowered: impl Fn(u64) -> Vec<Movement>,
) -> Result<(u64, Vec<Movement>), ActionError> {
    let mut entry = lock.history.next();
    loop {
        let movements = lowered(entry);
        let files = lock.files();
        let are_free = movements.iter().try_fold(true, |so_far, one| Ok(so_far && files.is_free(one)?))?;
        if are_free {
            return Ok((entry, movements));
        }
        entry += 1;
    }
}

impl Preview {
    /// Adds to an outcome how the session continues with an agent that has ended.
    fn with_session_note(&self, outcome: Outcome) -> Outcome {
        let resume = self.plan.resume.as_ref().filter(|_| outcome.ended == EndResult::Done);
        let detail = resume.map(|resume| format!("{}; resume its session with: {resume}", outcome.detail));
        Outcome { detail: detail.unwrap_or(outcome.detail), ..outcome }
    }

    /// Takes the lock that the file's own system takes before it writes, if it has one.
    fn peer_lock<D: Disk>(&self, files: &Files<'_, D>) -> Result<Option<D::Lock>, ActionError> {
        let paths = self.prepared.iter().filter_map(|prepared| match prepared {
            PreparedStep::Park { path, .. }
            | PreparedStep::Move { path, .. }
            | PreparedStep::End { path, .. } => Some(path.as_path()),
            PreparedStep::Restore { to, .. } => Some(to.as_path()),
            PreparedStep::Create { .. } | PreparedStep::Row { .. } | PreparedStep::Stop { .. } => None,
        });
        entire_lock::lock_of_any(files, paths)
    }

    /// Writes the files that are new among the parked ones, and gives the movements their prints. Before the intent is
    /// journalled they are in no place where anything looks for them.
    fn write_new<D: Disk>(
        &self,
        files: &Files<'_, D>,
        movements: &mut [Movement],
        now: Timestamp,
    ) -> Result<(), ActionError> {
        let new = self.prepared.iter().filter_map(|prepared| match prepared {
            PreparedStep::Create { path, new, mode, .. } => Some((path, new, *mode)),
            PreparedStep::End { .. }
            | PreparedStep::Park { .. }
            | PreparedStep::Move { .. }
            | PreparedStep::Restore { .. }
            | PreparedStep::Row { .. }
            | PreparedStep::Stop { .. } => None,
        });
        for (path, new, mode) in new {
            let put = movements.iter_mut().find_map(|one| match one {
                Movement::Put { parked, to, print, .. } if to == path => Some((parked, print)),
                Movement::Take { .. }
                | Movement::Put { .. }
                | Movement::Exchange { .. }
                | Movement::Rows { .. }
                | Movement::Stop { .. } => None,
            });
            let Some((parked, print)) = put else { continue };
            files.make_park(parked)?;
            let park = files.park(parked)?;
            let failed = |errno| ActionError::failed_at("write", &park.path)(errno);
            let mut file = files.disk.create(park.spot()).map_err(failed)?;
            files.disk.write(&mut file, new).map_err(failed)?;
            files.disk.finish(&mut file, mode, now).map_err(failed)?;
            files.disk.sync_file(&mut file).map_err(failed)?;
            drop(file);
            let written = files.look(park.spot(), &park.path)?.as_ref().and_then(print_of);
            *print =
                written.ok_or_else(|| ActionError::Changed(format!("{} is gone", park.path.display())))?;
        }
        Ok(())
    }

    fn carry_out<D: Disk>(
        &self,
        files: &Files<'_, D>,
        movements: &[Movement],
        observer: &mut impl Look,
    ) -> Outcome {
        let (mut done, mut taken) = (Vec::new(), Vec::new());
        for movement in movements {
            let moved = self.carry(files, movement, &mut taken, observer);
            // A take that was done but not believed counts as done.
            if moved.is_ok() || matches!(moved, Err((_, Progress::Moved))) {
                done.push(movement);
            }
            if let Err((trouble, _)) = moved {
                return undone(files, &done, &trouble);
            }
        }
        let settled = movements.last().map_or(Ok(()), |movement| match movement {
            Movement::Take { parked, .. } => files.park(parked).and_then(|park| files.settle(&park)),
            Movement::Put { to: path, .. } | Movement::Exchange { path, .. } => {
                files.entry(path).and_then(|at| files.settle(&at))
            }
            // A commit has reached the disk when it returns.
            Movement::Rows { .. } | Movement::Stop { .. } => Ok(()),
        });
        match settled {
            Ok(()) => Outcome::new(EndResult::Done, read_back(files, movements)),
            Err(trouble) => undone(files, &done, &trouble),
        }
    }

    fn carry<D: Disk>(
        &self,
        files: &Files<'_, D>,
        movement: &Movement,
        taken: &mut Vec<FileImage>,
        observer: &mut impl Look,
    ) -> Result<(), (ActionError, Progress)> {
        let not = |trouble| (trouble, Progress::NotMoved);
        match movement {
            Movement::Take { from, parked, print } => {
                taken.push(files.take(from, parked, print).map_err(not)?);
                self.believe(taken, observer).map_err(|trouble| (trouble, Progress::Moved))
            }
            Movement::Put { parked, to, print, touched_at } => {
                files.put(parked, to, print, *touched_at).map_err(not)
            }
            Movement::Exchange { path, parked, print, .. } => {
                let new = self.prepared.iter().find_map(|prepared| match prepared {
                    PreparedStep::End { path: own, new, .. } if own == path => Some(new.as_slice()),
                    PreparedStep::End { .. }
                    | PreparedStep::Create { .. }
                    | PreparedStep::Park { .. }
                    | PreparedStep::Move { .. }
                    | PreparedStep::Restore { .. }
                    | PreparedStep::Row { .. }
                    | PreparedStep::Stop { .. } => None,
                });
                let image = files.exchange(path, parked, print, new.unwrap_or_default(), observer.now());
                taken.push(image.map_err(not)?);
                self.believe(taken, observer).map_err(|trouble| (trouble, Progress::Moved))
            }
            Movement::Rows { format, database, changes, backup } => {
                let backup = backup.as_deref();
                let change = RowUpdate { format: *format, database, changes, backup };
                change.carry_out(files, &mut || self.agrees(database, observer)).map_err(not)
            }
            Movement::Stop { .. } => {
                Err(not(ActionError::Never("processes are ended separately".to_owned())))
            }
        }
    }
}

/// Describes the state of a change's rows after it was done.
fn read_back<D: Disk>(files: &Files<'_, D>, movements: &[Movement]) -> String {
    let changes = movements.iter().filter_map(RowUpdate::from_movement);
    changes.map(|change| change.read_back(files)).collect::<Vec<_>>().join("; ")
}

/// How far a failed movement got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// Everything is where it was.
    NotMoved,
    /// It was done.
    Moved,
}

/// Reverses what was done, newest first, and returns the outcome.
fn undone<D: Disk>(files: &Files<'_, D>, done: &[&Movement], trouble: &ActionError) -> Outcome {
    let stuck: Vec<String> = done
        .iter()
        .rev()
        .filter_map(|movement| files.reverse(movement).err())
        .map(|error| error.to_string())
        .collect();
    let ended = match trouble {
        _ if !stuck.is_empty() => EndResult::Stuck,
        ActionError::Stuck(_) => EndResult::Stuck,
        ActionError::Changed(_) | ActionError::TooYoung(_) | ActionError::Busy(_) | ActionError::Taken(_) => {
            EndResult::Changed
        }
        ActionError::Unsure(_) => EndResult::Unknown,
        ActionError::Never(_)
        | ActionError::NotConfirmed(_)
        | ActionError::Failed { .. }
        | ActionError::Refused(_)
        | ActionError::Away(_) => EndResult::Failed,
    };
    let detail = std::iter::once(trouble.to_string()).chain(stuck).collect::<Vec<_>>().join("; then ");
    Outcome::new(ended, detail)
}
