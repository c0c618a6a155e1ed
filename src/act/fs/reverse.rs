//! Reverses movements when a later one fails.

use crate::act::error::ActionError;
use crate::act::fs::disk::Disk;
use crate::act::fs::files::{FileRef, Files, back_name, shown};
use crate::act::fs::print::print_of;
use crate::core::history::journal::NOT_BACK;
use crate::core::history::movement::{Movement, ParkLocation, Print};
use crate::core::model::RowChange;

impl<D: Disk> Files<'_, D> {
    /// Reverses a movement of an action that failed later. Whatever was written meanwhile into a taken file comes back
    /// with it.
    pub(crate) fn reverse(&self, movement: &Movement) -> Result<(), ActionError> {
        match movement {
            Movement::Take { from, parked, .. } => self.put(parked, from, &self.lies(parked)?, None),
            Movement::Put { parked, to, print, touched_at } => {
                let touched = Print { modified_at: touched_at.unwrap_or(print.modified_at), ..print.clone() };
                let at = self.entry(to)?;
                let there = self.look(at.spot(), to)?.and_then(|image| print_of(&image));
                match there.filter(|there| *there == touched) {
                    Some(there) => {
                        self.take(to, parked, &there)?;
                        let park = self.park(parked)?;
                        self.disk
                            .touch(park.spot(), print.modified_at)
                            .map_err(ActionError::failed_at("touch", to))
                    }
                    None => Err(ActionError::Changed(format!("{} was written since", shown(to)))),
                }
            }
            Movement::Exchange { path, parked, new_sha256, .. } => {
                let at = self.entry(path)?;
                if !self.has_content(at.spot(), new_sha256) {
                    return Err(ActionError::Changed(format!("{} was written since", shown(path))));
                }
                self.swap_back(&at, parked, &self.lies(parked)?, new_sha256)
            }
            Movement::Rows { format, database, changes, .. } => {
                let reversed: Vec<_> = changes.iter().map(RowChange::reversed).collect();
                self.stores.for_format(*format)?.apply(database, &reversed, &mut || Ok(()))
            }
            Movement::Stop { .. } => Err(ActionError::Never(NOT_BACK.to_owned())),
        }
    }

    /// Puts parked content back in place of the content that replaced it.
    fn swap_back(
        &self,
        at: &FileRef<D::Folder>,
        parked: &ParkLocation,
        print: &Print,
        new_sha256: &str,
    ) -> Result<(), ActionError> {
        let own = at.path.with_file_name(back_name(&parked.name));
        self.put(parked, &own, print, None)?;
        let beside = (&at.folder, own.file_name().unwrap_or_default());
        self.swap(at, beside, new_sha256).map_err(|errno| {
            let why = ActionError::failed_at("exchange", &at.path)(errno);
            if self.park_left(beside, parked) {
                return ActionError::Stuck(format!("{why}; the previous content is parked"));
            }
            ActionError::Stuck(format!("{why}; the previous content is beside it as {}", shown(&own)))
        })?;
        self.disk.remove(beside).map_err(ActionError::failed_at("remove the new content of", &at.path))
    }
}
