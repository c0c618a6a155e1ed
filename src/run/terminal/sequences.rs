//! The control sequences that reach a person who is looking elsewhere.

use crate::app::attention::Alert;
use crate::config::Notify;

/// Saves the terminal's title (xterm's window operation 22).
pub(crate) const SAVE_TITLE: &str = "\u{1b}[22;2t";
/// Puts the saved title back (window operation 23).
pub(crate) const RESTORE_TITLE: &str = "\u{1b}[23;2t";

/// Returns the sequence of a call; nothing for a notification when none is wanted. The words
/// hold no control characters, so nothing in them can end a sequence early.
pub(crate) fn for_alert(call: &Alert, notify: Notify) -> Option<String> {
    match (call, notify) {
        (Alert::Title(title), _) => Some(format!("\u{1b}]2;{title}\u{7}")),
        (Alert::Bell, _) => Some("\u{7}".to_owned()),
        (Alert::Call(_), _) | (Alert::Notification(_), Notify::Off) => None,
        (Alert::Notification(text), Notify::Osc9) => Some(format!("\u{1b}]9;claimtop: {text}\u{7}")),
        (Alert::Notification(text), Notify::Osc777) => {
            Some(format!("\u{1b}]777;notify;claimtop;{text}\u{7}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(call: Alert, notify: Notify, expected: Option<&str>) {
        assert_eq!(for_alert(&call, notify).as_deref(), expected);
    }

    #[test]
    fn a_notification_is_written_as_was_asked_for() {
        let call = || Alert::Notification("a dead claim".to_owned());
        check(call(), Notify::Off, None);
        check(call(), Notify::Osc9, Some("\u{1b}]9;claimtop: a dead claim\u{7}"));
        check(call(), Notify::Osc777, Some("\u{1b}]777;notify;claimtop;a dead claim\u{7}"));
        check(Alert::Bell, Notify::Off, Some("\u{7}"));
        check(Alert::Title("claimtop".to_owned()), Notify::Off, Some("\u{1b}]2;claimtop\u{7}"));
    }
}
