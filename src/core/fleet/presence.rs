//! Whether a host of the fleet is there, by the age of its last beat on the database's own clock.

use std::time::Duration;

/// From when on a host is late. It beats every 10 s.
pub(crate) const LATE: Duration = Duration::from_secs(25);

/// From when on it is not seen any more.
pub(crate) const NOT_SEEN: Duration = Duration::from_secs(50);

/// How long after the database has started, or was reached again, nobody is taken for worse than before: hosts have
/// lost it as well, and find it again one by one.
pub(crate) const GRACE: Duration = Duration::from_secs(50);

/// Whether it is there. Silence proves nothing more than that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Presence {
    /// It beats.
    There,
    /// It should have beaten by now.
    Late,
    /// It has not beaten for so long that nothing of what it told is known to be so.
    NotSeen,
}

/// Decides whether a host is there, by the age of its beat and what was known before.
pub(crate) fn presence(age: Duration, is_grace: bool, before: Option<Presence>) -> Presence {
    let by_age = if age < LATE {
        Presence::There
    } else if age < NOT_SEEN {
        Presence::Late
    } else {
        Presence::NotSeen
    };
    match before {
        Some(before) if is_grace => by_age.min(before),
        Some(_) | None => by_age,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_makes_late_and_then_unseen_but_not_while_all_look_for_the_database() {
        use Presence::{Late, NotSeen, There};
        for (seconds, is_grace, before, expected) in [
            (24, false, None, There),
            (25, false, Some(There), Late),
            (49, false, Some(Late), Late),
            (50, false, Some(Late), NotSeen),
            (400, false, None, NotSeen),
            (400, true, Some(There), There),
            (400, true, Some(NotSeen), NotSeen),
            (3, true, Some(NotSeen), There),
            // Nothing was ever known of it: it is not made up that it is there.
            (400, true, None, NotSeen),
        ] {
            let found = presence(Duration::from_secs(seconds), is_grace, before);
            assert_eq!(found, expected, "{seconds} s, {is_grace}, {before:?}");
        }
    }
}
