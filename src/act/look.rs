//! Who looks at the world again before and while something is done.

use jiff::Timestamp;

use crate::core::assess::{Policy, assess};
use crate::core::model::{Report, Snapshot};
use crate::observe::Observer;
use crate::source::os::clock;

/// Takes looks at the world.
pub trait Look {
    /// Takes a fresh look: records first, processes second.
    fn look(&mut self) -> Snapshot;
    /// Takes a look right after another one, which need not read again what cannot have changed.
    fn look_again(&mut self) -> Snapshot {
        self.look()
    }
    /// Returns how looks are judged.
    fn policy(&self) -> &Policy;
    /// Returns the moment.
    fn now(&self) -> Timestamp;
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

/// Takes a look and judges it.
pub(crate) fn report(observer: &mut impl Look) -> Report {
    let snapshot = observer.look();
    assess(&snapshot, observer.policy())
}
