//! How moments of different clocks compare.

use jiff::{SignedDuration, Timestamp};

use crate::core::model::{Host, Medium};

/// How much later than a record's last write a process may have started and still be the one
/// that wrote it: 2 s for clocks and file times, and one tick of at most 10 ms.
pub(crate) const SLACK: SignedDuration = SignedDuration::from_millis(2_010);

pub(crate) fn is_after(host: &Host, later: Timestamp, earlier: Timestamp) -> bool {
    earlier.checked_add(SLACK + host.clock_doubt).is_ok_and(|earlier| later > earlier)
}

/// Returns whether the machine is certain to have booted since something was written on a medium.
pub(crate) fn has_booted_since(host: &Host, written_at: Timestamp, medium: Medium) -> bool {
    medium.is_this_machines() && host.booted_by().is_some_and(|boot_at| is_after(host, boot_at, written_at))
}
