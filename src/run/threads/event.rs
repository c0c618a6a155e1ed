//! What reaches the screen's loop beside the keyboard.

use std::sync::Arc;

use crate::app::msg::Msg;

/// What the caller does at the very end, also when only the thread that waits for signals can
/// still end the program.
pub(crate) type AtEnd = Arc<dyn Fn() + Send + Sync>;

/// What can reach the screen's loop beside the keyboard.
#[derive(Debug)]
pub(crate) enum Event {
    Message(Msg),
    /// The program is to stop until continued.
    Stop,
    /// The program was continued; the terminal may show and do anything.
    Continued,
    /// The terminal has another size, or had one in between.
    Resized,
    End,
    /// The scanner thread has failed.
    Failed(String),
}
