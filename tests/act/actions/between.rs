//! Another program writes at a file's source or destination, before every call of an action that is under way: its
//! file stays in its place, and nothing is lost that it has not overwritten.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use claimtop::testing::core::{EndResult, Entry, History};
use rustix::io::Errno;

use crate::actions::faults::{Scene, TestAction, sweep};
use crate::faulty::{Fault, FaultyDisk};

const THEIRS: &str = "theirs";

/// The file that lay at a place when another program wrote there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Nothing,
    /// The file that the action is about.
    Own,
    /// The file that the action had put there instead.
    New,
}

/// Replaces the file at a place, as every system does that writes safely.
fn write(place: &Path, own: &str) -> Before {
    let before = std::fs::read_to_string(place).ok();
    let draft = place.with_extension("draft");
    std::fs::write(&draft, THEIRS).unwrap();
    std::fs::rename(&draft, place).unwrap();
    before.map_or(Before::Nothing, |before| if before == own { Before::Own } else { Before::New })
}

fn newest(journal: &Path) -> Option<Entry> {
    let journal = std::fs::read(journal).unwrap_or_default();
    History::read(&journal).entries.pop()
}

impl Scene {
    /// Returns where an action takes a file from, and where it puts one.
    fn places(&self) -> Vec<PathBuf> {
        let current = self.stage.path(&format!("home/.maia/sessions/swarm_session_{}.json", self.live));
        match self.test_action {
            TestAction::Migrate | TestAction::UndoMigrate => vec![self.place.clone(), current],
            TestAction::Release | TestAction::End | TestAction::UndoRelease | TestAction::UndoEnd => {
                vec![self.place.clone()]
            }
        }
    }

    /// Returns how many calls the action makes.
    fn calls(&self, far: bool) -> usize {
        self.reset();
        self.run(FaultyDisk::new(0, Fault::Kill, self.far(far)))
    }

    /// Does the action while another program writes to a place before a call; returns the file that was there, or
    /// `None` if the action was not under way.
    fn disturbed(&self, place: &Path, at: usize, fault: Option<Fault>, far: bool) -> Option<Before> {
        self.reset();
        let journal = self.stage.state_path().join("journal.jsonl");
        let before = Rc::new(Cell::new(None));
        let (own, text) = (Rc::clone(&before), self.text.clone());
        let (theirs, entries) = (place.to_path_buf(), journal.clone());
        let mut disk = FaultyDisk::new(at, Fault::Kill, self.far(far));
        disk.fault = fault;
        disk.meanwhile = Box::new(move || {
            if newest(&entries).is_some_and(|entry| entry.outcome.is_none()) {
                own.set(Some(write(&theirs, &text)));
            }
        });
        self.run(disk);
        let before = before.get()?;
        let files = self.files();
        let outcome = newest(&journal).and_then(|entry| entry.outcome);
        let what = format!(
            "{:?} at {at}, far {far}, {fault:?}, {before:?}: {files:#?} {outcome:?}",
            self.test_action
        );
        assert_eq!(files.get(place).map(String::as_str), Some(THEIRS), "{what}");
        let copies = files.values().filter(|text| **text == self.text).count();
        assert!(copies == 1 || before == Before::Own, "{copies} copies: {what}");
        if fault.is_none() && before == Before::Nothing && self.is_to(place) {
            let (ended, detail) = outcome.map(|outcome| (outcome.ended, outcome.detail)).unzip();
            assert_eq!(ended, Some(EndResult::Changed), "{what}");
            assert!(detail.unwrap().contains("there is a file at"), "{what}");
        }
        Some(before)
    }

    /// Returns whether the action puts the file at a place.
    fn is_to(&self, place: &Path) -> bool {
        match self.test_action {
            TestAction::Release | TestAction::End | TestAction::UndoEnd => false,
            TestAction::UndoRelease | TestAction::UndoMigrate => place == self.place,
            TestAction::Migrate => place != self.place,
        }
    }
}

#[test]
fn what_others_write_in_between_stays_where_they_wrote_it() {
    sweep(|scene, far| {
        for place in scene.places() {
            for fault in [None, Some(Fault::Refuse(Errno::IO))] {
                let last_first = (1..=scene.calls(far)).rev();
                let writes = last_first.map_while(|at| scene.disturbed(&place, at, fault, far));
                assert!(writes.count() > 3, "{place:?} was hardly written to");
            }
        }
    });
}
