//! All sources of facts, in the order in which they add to a snapshot and are shown.

use super::places::Places;
use crate::source::database::sqlite::copies::Copies;
use crate::source::database::{leo, obra, stores};
use crate::source::interface::Source;
use crate::source::own::{bindings, forecasts, git_commands, guarded, unfinished};
use crate::source::{call_waits, provenance, sessions, work};

/// Returns one of each, which has read nothing yet.
pub(crate) fn all(places: &Places) -> Vec<Box<dyn Source>> {
    let mut all = of_files(places);
    all.push(Box::new(provenance::Reader::default()));
    all.push(Box::new(unfinished::Reader::default()));
    all.push(Box::new(git_commands::Reader::default()));
    all.push(Box::new(forecasts::Reader::default()));
    // Which session a window runs, and what that does, is known by all of the above.
    all.push(Box::new(call_waits::Reader::default()));
    all
}

/// Returns one of each that reads files and databases.
pub(crate) fn of_files(places: &Places) -> Vec<Box<dyn Source>> {
    let copies = Copies::in_folder(&places.copies);
    vec![
        Box::new(bindings::Reader::default()),
        Box::new(obra::Reader::new(&copies)),
        Box::new(stores::mail::Reader::new(&copies)),
        Box::new(stores::beads::Reader::new(&copies)),
        Box::new(leo::Reader::default()),
        // Files are only searched for a window that nothing above names.
        Box::new(sessions::Reader::new(&copies)),
        // All of the above determine which session a window runs.
        Box::new(work::Reader::new(&copies)),
        Box::new(guarded::Reader::default()),
    ]
}
