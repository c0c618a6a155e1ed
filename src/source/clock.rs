//! The one place where the clock is read.

use jiff::Timestamp;

/// Returns the present moment.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub fn now() -> Timestamp {
    Timestamp::now()
}
