//! Which settings are changed, and what is prepared for that.

use std::cell::RefCell;
use std::path::Path;

use jiff::Timestamp;

use crate::act::error::ActionError;
use crate::act::fs::disk::Disk;
use crate::act::fs::files::shown;
use crate::act::preflight::inspect::{InspectedFile, Inspector, NewFile};
use crate::act::preflight::look::{see_all, together};
use crate::act::preflight::prepared::PreparedStep;
use crate::act::preflight::preview::{FollowUp, Preview};
use crate::act::rules::Rules;
use crate::act::state::journal_store::Lock;
use crate::core::model::text::diff::unified;
use crate::core::model::{Report, Request, SettingsEdit};
use crate::core::plan::setup::{PlannedSettings, plan_all, plan_settings};
use crate::format::hook::edit::{SettingsChange, edited};
use crate::source::own::ledger::Tree;

impl Preview {
    /// Prepares to change agents' settings: each file by itself, journalled and undone as a part of one action.
    pub(super) fn of_setup<D: Disk>(
        lock: &Lock<'_, D>,
        report: &Report,
        files: &[SettingsEdit],
        request: Request,
        (rules, now): (&Rules, Timestamp),
    ) -> Result<Self, ActionError> {
        if let [file] = files {
            return Self::of_settings(lock, file, request, (rules, now));
        }
        let part = |file: &SettingsEdit| {
            let request = Request::Setup { files: vec![file.clone()] };
            (format!("set up {}", file.agent), request)
        };
        let parts = together(see_all(lock, report, files.iter().map(part).collect(), rules, now));
        let plan = plan_all(files, parts.iter().filter_map(FollowUp::plan).cloned().collect());
        Ok(Self::of_all(plan, parts, request, rules)?.of_parts())
    }

    /// Prepares to change one file.
    fn of_settings<D: Disk>(
        lock: &Lock<'_, D>,
        file: &SettingsEdit,
        request: Request,
        (rules, now): (&Rules, Timestamp),
    ) -> Result<Self, ActionError> {
        let inspector = Inspector { files: lock.files(), rules, now, wait: RefCell::default() };
        expect_no_link(inspector.files.disk, file)?;
        let (step, planned) = inspector.settings(file)?;
        let wait = inspector.wait.into_inner();
        let mut plan = plan_settings(file, planned);
        plan.why.extend(wait.as_ref().map(ActionError::to_string));
        Ok(Self { wait, ..Self::new(plan, request, rules, vec![step], None) })
    }
}

impl<D: Disk> Inspector<'_, D> {
    /// Prepares to change settings.
    fn settings(&self, file: &SettingsEdit) -> Result<(PreparedStep, PlannedSettings), ActionError> {
        let path: &Path = &file.path;
        let found = self.settings_file(path)?;
        let before = found.as_ref().and_then(|found| found.bytes.as_deref());
        let edited = edited(before, &file.wiring, file.way)
            .map_err(|fault| ActionError::Never(format!("{}, {fault}", shown(path))))?;
        let (step, after) = match (edited.change, &found) {
            (SettingsChange::Same, _) | (SettingsChange::Gone, None) => {
                return Err(ActionError::Never(format!("there is nothing to change in {}", shown(path))));
            }
            (SettingsChange::Gone, Some(found)) => {
                let (print, place) = (found.print.clone(), found.place.clone());
                (PreparedStep::Park { path: path.to_path_buf(), print, place }, Vec::new())
            }
            (SettingsChange::New(new), Some(found)) => {
                let (print, place) = (found.print.clone(), found.place.clone());
                (PreparedStep::End { path: path.to_path_buf(), print, place, new: new.clone() }, new)
            }
            (SettingsChange::New(new), None) => {
                (self.create(path, NewFile { bytes: new.clone(), mode: None })?, new)
            }
        };
        let names = [format!("{} now", shown(path)), format!("{} then", shown(path))];
        let diff = unified((before.unwrap_or_default(), &names[0]), (&after, &names[1]));
        let is_there = (found.is_some(), !matches!(step, PreparedStep::Park { .. }));
        let (done, notes) = (edited.done, edited.notes);
        Ok((step, PlannedSettings { done, notes, diff: diff.unwrap_or_default(), is_there }))
    }
}

impl<D: Disk> Inspector<'_, D> {
    /// Looks at a file of settings; `None` if there is none.
    ///
    /// # Errors
    /// It may not be touched, is read-only or too large.
    pub(super) fn settings_file(&self, path: &Path) -> Result<Option<InspectedFile<D::Folder>>, ActionError> {
        if !self.is_there(path)? {
            return Ok(None);
        }
        let found = self.file(path)?;
        let never = |why: &str| Err(ActionError::Never(format!("{}: {why}; it is left alone", shown(path))));
        if found.print.mode & 0o200 == 0 {
            return never("it is read-only");
        }
        if found.bytes.is_none() {
            return never("it is too large");
        }
        Ok(Some(found))
    }
}

/// Makes sure that neither the file nor a folder above it is a link: what lies behind one may be shared with others.
fn expect_no_link<D: Disk>(disk: &D, file: &SettingsEdit) -> Result<(), ActionError> {
    let (path, base): (&Path, &Path) = (&file.path, &file.base);
    let below = path.strip_prefix(base).unwrap_or(path);
    let leads_to = disk.resolved(path);
    let is_plain = leads_to == disk.resolved(base).join(below);
    if is_plain && path.is_symlink() {
        return Err(ActionError::Never(format!("{} is a link that leads nowhere", shown(path))));
    }
    if is_plain {
        return Ok(());
    }
    let repository = leads_to.parent().and_then(Tree::find).filter(Tree::is_repository);
    let shared = match repository {
        Some(_) => ", in a repository that others may share",
        None => "",
    };
    Err(ActionError::Never(format!(
        "{} leads through a link to {}{shared}, and claimtop writes through none",
        shown(path),
        shown(&leads_to)
    )))
}
