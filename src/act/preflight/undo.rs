//! Looks at what an undo would do, also where an agent has written its settings since claimtop was set up in them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;

use crate::act::error::ActionError;
use crate::act::fs::disk::Disk;
use crate::act::fs::files::shown;
use crate::act::fs::print::{print_of, sha256};
use crate::act::preflight::inspect::Inspector;
use crate::act::preflight::prepared::PreparedStep;
use crate::act::rules::Rules;
use crate::act::state::journal_store::Lock;
use crate::act::undo::{plan, shown_plan};
use crate::core::history::journal::Entry;
use crate::core::history::movement::Movement;
use crate::core::model::text::diff::unified;
use crate::core::model::{Content, Plan, RestoreTo, SettingsEdit, SetupWay, Step};
use crate::format::hook::edit::{SettingsChange, edited, own_entries};

/// What an undo would do.
pub(super) struct PlannedUndo {
    pub(super) plan: Plan,
    pub(super) prepared: Vec<PreparedStep>,
    /// Why it is not done yet, if it is not.
    pub(super) wait: Option<ActionError>,
}

/// Plans to take an entry back. Where an agent has written its settings since, only claimtop's own entries are taken
/// out of them.
pub(super) fn plan_undo<D: Disk>(
    lock: &Lock<'_, D>,
    (number, to): (u64, RestoreTo),
    rules: &Rules,
    now: Timestamp,
) -> Result<PlannedUndo, ActionError> {
    match plan(lock, number, to, now) {
        Ok((plan, prepared)) => Ok(PlannedUndo { plan, prepared, wait: None }),
        Err(error) if to == RestoreTo::Beside => Err(error),
        Err(error) => match lock.history.entry(number).and_then(RewrittenSettings::from_entry) {
            Some(settings) => settings.plan(lock, rules, now)?.ok_or(error),
            None => Err(error),
        },
    }
}

/// A file of settings to which an entry has added something.
struct RewrittenSettings<'a> {
    entry: &'a Entry,
    edit: &'a SettingsEdit,
    movement: &'a Movement,
}

impl<'a> RewrittenSettings<'a> {
    fn from_entry(entry: &'a Entry) -> Option<Self> {
        let edit = entry.intent.settings.as_ref().filter(|edit| edit.way == SetupWay::Add)?;
        let [movement] = entry.intent.movements.as_slice() else { return None };
        let is_whole = entry.is_done() && entry.can_be_undone();
        is_whole.then_some(Self { entry, edit, movement })
    }

    /// Plans to take the entries out of what is there now; `None` if they are not exactly as they were added.
    fn plan<D: Disk>(
        self,
        lock: &Lock<'_, D>,
        rules: &Rules,
        now: Timestamp,
    ) -> Result<Option<PlannedUndo>, ActionError> {
        let path: &Path = &self.edit.path;
        let Some(added) = self.as_added(lock)? else { return Ok(None) };
        let files = lock.files_of(self.entry.intent.leads.clone());
        let inspector = Inspector { files, rules, now, wait: RefCell::default() };
        let Some(found) = inspector.settings_file(path)? else { return Ok(None) };
        let before = found.bytes.as_deref().unwrap_or_default();
        let wiring = &self.edit.wiring;
        let own = (own_entries(&added, wiring), own_entries(before, wiring));
        let (Some(own), Some(now_own)) = own else { return Ok(None) };
        let Ok(edited) = edited(Some(before), wiring, SetupWay::Remove) else { return Ok(None) };
        if own != now_own {
            return Ok(None);
        }
        let (print, place) = (found.print.clone(), found.place.clone());
        let (step, after) = match edited.change {
            SettingsChange::Same => return Ok(None),
            SettingsChange::Gone => {
                (PreparedStep::Park { path: path.to_path_buf(), print, place }, Vec::new())
            }
            SettingsChange::New(new) => {
                (PreparedStep::End { path: path.to_path_buf(), print, place, new: new.clone() }, new)
            }
        };
        let names = [format!("{} now", shown(path)), format!("{} then", shown(path))];
        let diff = unified((before, &names[0]), (&after, &names[1])).unwrap_or_default();
        let is_kept = matches!(step, PreparedStep::End { .. });
        let prepared = vec![step];
        let mut plan = Plan { diff, ..shown_plan(self.entry, &prepared, now) };
        if is_kept {
            let (path, change) = (self.edit.path.clone(), edited.done);
            plan.steps = vec![Step::Settings { path, change, replaces: true }];
        }
        plan.why
            .push(format!("{} was written since: only claimtop's own entries are taken out", shown(path)));
        let wait = inspector.wait.into_inner();
        plan.why.extend(wait.as_ref().map(ActionError::to_string));
        Ok(Some(PlannedUndo { plan, prepared, wait }))
    }

    /// Returns the settings as the entry has left them; `None` if that is not certain, or if something of claimtop's was
    /// in them before.
    fn as_added<D: Disk>(&self, lock: &Lock<'_, D>) -> Result<Option<Vec<u8>>, ActionError> {
        let wiring = &self.edit.wiring;
        let (before, written) = match self.movement {
            Movement::Put { print, .. } => (None, &print.sha256),
            Movement::Exchange { parked, print, new_sha256, .. } => {
                let files = lock.files_of(self.entry.intent.leads.clone());
                let park = files.park(parked)?;
                let image = files.look(park.spot(), &park.path)?;
                let is_it = |image: &_| print_of(image).is_some_and(|there| there.sha256 == print.sha256);
                let Some(Content::Bytes(bytes)) = image.filter(is_it).map(|image| image.content) else {
                    return Ok(None);
                };
                (Some(bytes), new_sha256)
            }
            Movement::Take { .. } | Movement::Rows { .. } | Movement::Stop { .. } => return Ok(None),
        };
        let change = |way| edited(before.as_deref(), wiring, way).map(|edited| edited.change);
        match (change(SetupWay::Remove), change(SetupWay::Add)) {
            (Ok(SettingsChange::Same), Ok(SettingsChange::New(added))) if sha256(&added) == *written => {
                Ok(Some(added))
            }
            _ => Ok(None),
        }
    }
}

/// Returns why entries cannot be undone in their own places now, by number; entries missing here can.
pub(crate) fn obstacles<D: Disk>(
    lock: &Lock<'_, D>,
    rules: &Rules,
    numbers: &[u64],
    now: Timestamp,
) -> BTreeMap<u64, ActionError> {
    let mut unread: BTreeMap<&str, ActionError> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for entry in numbers.iter().filter_map(|number| lock.history.entry(*number)) {
        let database = entry.intent.movements.iter().find_map(Movement::database);
        let planned = match database.and_then(|database| unread.get(database)) {
            // A server that does not answer is not asked again.
            Some(error) => Err(error.clone()),
            None => (lock.files().expect_home(entry, Some(&rules.home)))
                .and_then(|()| plan_undo(lock, (entry.number, RestoreTo::Origin), rules, now).map(drop)),
        };
        let Err(error) = planned else { continue };
        if let Some(database) = database.filter(|_| !matches!(error, ActionError::Never(_))) {
            unread.insert(database, error.clone());
        }
        found.insert(entry.number, error);
    }
    found
}
