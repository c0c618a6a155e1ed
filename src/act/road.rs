//! The one road of every action: seen, confirmed, verified, done.

use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};

use super::change::Change;
use super::disk::Disk;
use super::entire;
use super::follow::{self, Follower};
use super::lock::Lock;
use super::movement::{Hands, sha256, shown};
use super::planned::{Planned, lowered};
use super::sight::Sight;
use super::trouble::Trouble;
use super::undo;
use super::witness::{self, Witness, judge_taken};
use crate::core::assess::assess;
use crate::core::file::FileImage;
use crate::core::journal::{Ended, Intent, Movement, Outcome};
pub use crate::core::plan::Request;
use crate::core::plan::{Action, Confirmation, Plan, plan_for};
use crate::core::record::{Format, Location};
use crate::core::report::{Reason, Report, VerdictState};
use crate::format::Release;

/// What every action keeps to.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The home, for places that a plan names by `~`.
    pub home: PathBuf,
    /// Whose files may be touched: the user's own.
    pub uid: u32,
    /// How long a file must have been left alone.
    pub settled_for: SignedDuration,
}

impl Rules {
    /// How long a file must have been left alone, outside of tests: 2 s.
    pub const SETTLED_FOR: SignedDuration = SignedDuration::from_secs(2);
}

/// A plan with the prints of all files that it touches.
#[derive(Clone, Debug)]
pub struct Seen {
    /// What would be done.
    pub plan: Plan,
    request: Request,
    rules: Rules,
    planned: Vec<Planned>,
    holder: Option<Holder>,
    state: String,
    /// What follows once it is done.
    pub(super) followers: Vec<Follower>,
    /// The entry that it follows.
    pub(super) follows: Option<u64>,
}

/// What the plan relies on about the holder.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Holder {
    format: Format,
    /// Where the record is that says so.
    said_at: Location,
    state: VerdictState,
    reason: Reason,
}

/// What a person gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// `y`, or `--yes`.
    Yes,
    /// What was typed.
    Typed(String),
}

impl Seen {
    /// Looks at all files of a plan, or of an entry to undo.
    ///
    /// # Errors
    /// It is never done, or a file is not as it must be.
    pub fn see<D: Disk>(
        lock: &Lock<'_, D>,
        report: &Report,
        request: Request,
        rules: &Rules,
        now: Timestamp,
    ) -> Result<Self, Trouble> {
        let followers = |requests| follow::see(lock, report, requests, rules, now);
        match &request {
            Request::Act { key, action } => {
                let plan = plan_for(report, key, *action);
                if plan.confirmation == Confirmation::Refused {
                    return Err(Trouble::Never(refusal(&plan)));
                }
                let sight = Sight { hands: lock.hands(), rules, now };
                let planned = plan.steps.iter().map(|step| sight.planned(step)).collect::<Result<_, _>>()?;
                let holder =
                    report.records.iter().find(|record| record.key == plan.record).map(|record| Holder {
                        format: record.format,
                        said_at: record.location.clone(),
                        state: record.verdict.state,
                        reason: record.verdict.reason,
                    });
                let followers = followers(follow::of_plan(&plan));
                Ok(Self { followers, ..Self::new(plan, request, rules, planned, holder) })
            }
            Request::Undo { entry, place } => {
                let (mut plan, planned) = undo::plan(lock, *entry, *place, now)?;
                let followers = followers(follow::of_entry(&lock.history, *entry, *place));
                plan.follows = followers.iter().filter_map(Follower::plan).cloned().collect();
                Ok(Self { followers, ..Self::new(plan, request, rules, planned, None) })
            }
        }
    }

    fn new(
        plan: Plan,
        request: Request,
        rules: &Rules,
        planned: Vec<Planned>,
        holder: Option<Holder>,
    ) -> Self {
        let state =
            sha256(format!("{:?} {:?} {planned:?} {holder:?}", plan.steps, plan.confirmation).as_bytes());
        let (rules, followers) = (rules.clone(), Vec::new());
        Self { plan, request, rules, planned, holder, state, followers, follows: None }
    }

    /// Returns the short code of this very state: six letters and digits that cannot be confused.
    pub fn code(&self) -> String {
        code_of(&self.state)
    }

    /// Returns what must be typed where a plain yes is not enough.
    pub fn wanted(&self) -> Option<String> {
        match self.plan.confirmation {
            Confirmation::Yes | Confirmation::Refused => None,
            Confirmation::Code => Some(self.code()),
            Confirmation::FullName => Some(self.plan.name.clone()),
        }
    }

    /// Returns what was asked for.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Takes what a person gave.
    ///
    /// # Errors
    /// It is not what this state asks for.
    pub fn confirm(self, answer: &Answer) -> Result<Confirmed, Trouble> {
        let wanted = match self.plan.confirmation {
            Confirmation::Yes => None,
            Confirmation::Code => Some(("the code", self.code())),
            Confirmation::FullName => Some(("the full name", self.plan.name.clone())),
            Confirmation::Refused => return Err(Trouble::Never(refusal(&self.plan))),
        };
        match (wanted, answer) {
            (None, Answer::Yes) => Ok(Confirmed(self)),
            (Some((_, wanted)), Answer::Typed(typed)) if *typed == wanted => Ok(Confirmed(self)),
            (None, Answer::Typed(_)) => Err(Trouble::NotConfirmed("a plain yes is asked for".to_owned())),
            (Some((what, wanted)), _) => {
                Err(Trouble::NotConfirmed(format!("{what} of this very state is asked for: {wanted}")))
            }
        }
    }
}

/// Draws the short code of a state from its hash in hex digits.
fn code_of(state: &str) -> String {
    const ALPHABET: &[u8] = b"acdefhjkmnprtuvwxy3479";
    let digits = state.bytes().collect::<Vec<_>>();
    let pairs = digits.chunks(2).take(6).filter_map(|pair| {
        let number = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        ALPHABET.get(usize::from(number) % ALPHABET.len()).copied()
    });
    pairs.map(char::from).collect()
}

fn refusal(plan: &Plan) -> String {
    std::iter::once(plan.what.as_str())
        .chain(plan.why.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join("; ")
}

/// A plan that a person has confirmed, for the state in which it was seen.
#[derive(Clone, Debug)]
pub struct Confirmed(Seen);

impl Confirmed {
    /// Looks at everything again, under the lock.
    ///
    /// # Errors
    /// Anything is not as it was seen; nothing was touched.
    pub fn verify<'l, 's, D: Disk>(
        self,
        lock: &'l mut Lock<'s, D>,
        witness: &mut impl Witness,
    ) -> Result<Verified<'l, 's, D>, Trouble> {
        let seen = self.0;
        let report = witness::report(witness);
        let again = Seen::see(lock, &report, seen.request.clone(), &seen.rules, witness.now());
        let again = again.map_err(|trouble| match trouble {
            Trouble::Never(why) => Trouble::Changed(why),
            Trouble::NotConfirmed(_)
            | Trouble::Changed(_)
            | Trouble::Taken(_)
            | Trouble::Failed { .. }
            | Trouble::Refused(_)
            | Trouble::Unsure(_)
            | Trouble::Stuck(_) => trouble,
        })?;
        if again.state != seen.state {
            return Err(Trouble::Changed("it is not as it was when the plan was shown".to_owned()));
        }
        Ok(Verified { seen, lock })
    }
}

/// A plan that was found unchanged under the lock. It cannot outlive the lock.
pub struct Verified<'l, 's, D: Disk> {
    seen: Seen,
    lock: &'l mut Lock<'s, D>,
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
    /// The journal cannot be written, and nothing was touched. What fails later is an outcome.
    pub fn execute(self, witness: &mut impl Witness) -> Result<Receipt, Trouble> {
        let Self { seen, lock } = self;
        let now = witness.now();
        let guard = seen.peer_lock(&lock.hands())?;
        let why = seen.plan.why.first().cloned().unwrap_or_default();
        let movements = lowered(&seen.planned, lock.history.next(), Release { at: now, why: &why });
        let intent = Intent {
            action: match seen.request {
                Request::Act { action, .. } => action,
                Request::Undo { .. } => Action::Undo,
            },
            title: seen.plan.what.clone(),
            why,
            movements,
            undoes: match seen.request {
                Request::Act { .. } => None,
                Request::Undo { entry, .. } => Some(entry),
            },
            follows: seen.follows,
        };
        let entry = lock.begin(&intent, now)?;
        let outcome = seen.carry_out(&lock.hands(), &intent.movements, witness);
        drop(guard);
        lock.finish(entry, outcome.clone(), witness.now())?;
        Ok(Receipt { entry, title: intent.title, undoes: intent.undoes, outcome })
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
            Movement::Take { .. } => hands
                .disk
                .sync_folder(hands.parked)
                .map_err(Trouble::at("bring to the disk", hands.parked_path)),
            Movement::Put { to: path, .. } | Movement::Exchange { path, .. } => hands.settle(path),
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
                let print = hands.current(parked, print).map_err(not)?;
                hands.put(parked, to, &print, *touched_at).map_err(not)
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

    /// Judges the holder once more, now that nobody else can write the database.
    fn agrees(&self, database: &str, witness: &mut impl Witness) -> Result<(), Trouble> {
        let snapshot = witness.look();
        witness::is_free(&snapshot.databases, database)?;
        let Some(holder) = &self.holder else { return Ok(()) };
        let report = assess(&snapshot, witness.policy());
        let record = report.records.iter().find(|record| record.key == self.plan.record);
        let gone = || Trouble::Changed("the row is not there any more".to_owned());
        holder.is_still(record.ok_or_else(gone)?.verdict.state)
    }

    /// Judges the holder once more, now that nobody can renew the record in its place.
    fn believe(&self, taken: &[FileImage], witness: &mut impl Witness) -> Result<(), Trouble> {
        let Some(holder) = &self.holder else { return Ok(()) };
        match (judge_taken(witness, holder.format, taken), taken.last()) {
            (Some(verdict), _) => holder.is_still(verdict.state),
            (None, Some(last)) if holder.said_at.is(&last.path) => {
                Err(Trouble::Changed(format!("{} is no record by now", shown(&last.path))))
            }
            // What belongs to a record says nothing by itself.
            (None, _) => Ok(()),
        }
    }
}

impl Holder {
    /// Makes sure that no more speaks for the holder's life than when it was seen.
    fn is_still(&self, state: VerdictState) -> Result<(), Trouble> {
        if certainty(state) > certainty(self.state) {
            return Err(Trouble::Changed(format!("its holder is {state:?} by now").to_lowercase()));
        }
        Ok(())
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

/// Returns how much speaks for a holder's life.
fn certainty(state: VerdictState) -> u8 {
    match state {
        VerdictState::Dead => 0,
        VerdictState::Unknown => 1,
        VerdictState::Alive => 2,
    }
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
        Trouble::Changed(_) | Trouble::Taken(_) => Ended::Changed,
        Trouble::Unsure(_) => Ended::Unknown,
        Trouble::Never(_) | Trouble::NotConfirmed(_) | Trouble::Failed { .. } | Trouble::Refused(_) => {
            Ended::Failed
        }
    };
    let detail = std::iter::once(trouble.to_string()).chain(stuck).collect::<Vec<_>>().join("; then ");
    Outcome { ended, detail }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_code_has_six_of_all_letters_and_digits_that_cannot_be_confused() {
        assert_eq!(code_of(&sha256(b"a state")).len(), 6);
        let drawn: BTreeSet<String> = (0..=255).map(|byte| code_of(&format!("{byte:02x}"))).collect();
        assert_eq!(drawn.len(), 22);
        assert!(drawn.iter().all(|one| one.len() == 1 && !"0o1il5s2z8b6gq".contains(one.as_str())));
    }
}
