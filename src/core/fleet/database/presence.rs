//! Whether a host of the fleet is there, by the age of its last beat on the database's own clock.

use std::time::Duration;

/// The age from which a host is late. It beats every 10 s.
pub(crate) const LATE: Duration = Duration::from_secs(25);

/// The age from which it is no longer visible.
pub(crate) const NOT_SEEN: Duration = Duration::from_secs(50);

/// How long after the database has started, or was reached again, no host is considered worse than before: hosts have
/// lost it too, and find it again one by one.
pub(crate) const GRACE: Duration = Duration::from_secs(50);

/// Whether a host is there. Silence proves nothing more than that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Presence {
    /// It beats.
    There,
    /// Its beat is overdue.
    Late,
    /// It has not beaten for so long that nothing it sent is known to be still true.
    NotSeen,
}

/// How long hosts have had to find the database again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grace {
    /// It started recently, this long ago.
    Started(Duration),
    /// It was reached again, and hosts may have lost it too.
    ReachedAgain,
    /// Long enough.
    Over,
}

/// Decides whether a host is there, by the age of its beat and its previous state. If that is unknown, the time since
/// the database started does not count against it.
pub(crate) fn presence(age: Duration, grace: Grace, before: Option<Presence>) -> Presence {
    let age = match (grace, before) {
        (Grace::Started(up), None) => age.saturating_sub(up),
        (Grace::Started(_), Some(_)) | (Grace::ReachedAgain | Grace::Over, _) => age,
    };
    let by_age = if age < LATE {
        Presence::There
    } else if age < NOT_SEEN {
        Presence::Late
    } else {
        Presence::NotSeen
    };
    match before {
        Some(before) if grace != Grace::Over => by_age.min(before),
        Some(_) | None => by_age,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_makes_late_and_then_unseen_but_not_while_all_look_for_the_database() {
        use Presence::{Late, NotSeen, There};
        let (no, again) = (Grace::Over, Grace::ReachedAgain);
        let started = |seconds| Grace::Started(Duration::from_secs(seconds));
        for (seconds, grace, before, expected) in [
            (24, no, None, There),
            (25, no, Some(There), Late),
            (49, no, Some(Late), Late),
            (50, no, Some(Late), NotSeen),
            (400, no, None, NotSeen),
            (400, again, Some(There), There),
            (400, started(2), Some(NotSeen), NotSeen),
            (3, again, Some(NotSeen), There),
            // Nothing was ever known of it, so it is not assumed to be there.
            (400, again, None, NotSeen),
            (400, started(40), None, NotSeen),
            // A viewer that looks for the first time, just after a restart.
            (31, started(7), None, There),
            (31, started(6), None, Late),
        ] {
            let found = presence(Duration::from_secs(seconds), grace, before);
            assert_eq!(found, expected, "{seconds} s, {grace:?}, {before:?}");
        }
    }
}
