//! Numbers of what was confirmed, so that what is called off is never begun, whatever is asked for later.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Numbers of what was confirmed.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    issued: AtomicU64,
    called_off: AtomicU64,
}

/// The number of something that was confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

impl Tickets {
    /// Returns the next number.
    pub(crate) fn issue(&self) -> Ticket {
        Ticket(self.issued.fetch_add(1, Relaxed) + 1)
    }

    /// Begins nothing more of all that was confirmed until now.
    pub(crate) fn call_off(&self) {
        self.called_off.store(self.issued.load(Relaxed), Relaxed);
    }

    /// Returns whether something that was confirmed is not begun any more.
    pub(crate) fn is_called_off(&self, Ticket(number): Ticket) -> bool {
        number <= self.called_off.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_called_off_stays_so_whatever_is_confirmed_later() {
        let tickets = Tickets::default();
        let (first, second) = (tickets.issue(), tickets.issue());
        assert!(!tickets.is_called_off(first));
        tickets.call_off();
        let third = tickets.issue();
        assert_eq!([first, second, third].map(|one| tickets.is_called_off(one)), [true, true, false]);
    }
}
