//! Looks at the world again before and during an action.

use jiff::Timestamp;

use crate::core::assess::{Policy, assess};
use crate::core::model::{Report, Snapshot};
use crate::observe::Observer;
use crate::source::os::clock;

/// Takes looks at the world.
pub trait Look {
    /// Takes a fresh look: records first, processes second.
    fn look(&mut self) -> Snapshot;
    /// Takes a look right after another one; it need not reread what cannot have changed.
    fn look_again(&mut self) -> Snapshot {
        self.look()
    }
    /// Returns the policy by which looks are judged.
    fn policy(&self) -> &Policy;
    /// Returns the current time.
    fn now(&self) -> Timestamp;
    /// Adds what other machines know to a report.
    fn testify(&self, _report: &mut Report) {}
    /// Judges a look.
    fn judge(&self, snapshot: &Snapshot) -> Report {
        let mut report = assess(snapshot, self.policy());
        self.testify(&mut report);
        report
    }
}

impl Look for Observer {
    fn look(&mut self) -> Snapshot {
        self.look()
    }

    fn look_again(&mut self) -> Snapshot {
        self.look_again()
    }

    fn policy(&self) -> &Policy {
        self.policy()
    }

    fn now(&self) -> Timestamp {
        clock::now()
    }
}

/// Adds to a report what other machines know at the time of the call.
pub type Testimony = Box<dyn Fn(&mut Report) + Send>;

/// An observer with the testimony of other machines.
pub(crate) struct Hearing<'a> {
    pub(crate) observer: &'a mut Observer,
    pub(crate) testimony: Option<&'a Testimony>,
}

impl Look for Hearing<'_> {
    fn look(&mut self) -> Snapshot {
        self.observer.look()
    }

    fn look_again(&mut self) -> Snapshot {
        self.observer.look_again()
    }

    fn policy(&self) -> &Policy {
        self.observer.policy()
    }

    fn now(&self) -> Timestamp {
        self.observer.now()
    }

    fn testify(&self, report: &mut Report) {
        if let Some(testimony) = self.testimony {
            testimony(report);
        }
    }
}

/// Takes a look and judges it.
pub(crate) fn report(observer: &mut impl Look) -> Report {
    let snapshot = observer.look();
    observer.judge(&snapshot)
}
