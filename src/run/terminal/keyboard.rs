//! What the terminal sends, in the screen's own words.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind};

use crate::app::msg::{Gesture, Msg, Press};

/// How many characters of a pasted text are of use: no input takes more.
const MOST_PASTED: usize = 200;

/// Translates an event; nothing when it means nothing to the screen.
pub(crate) fn messages(event: &Event) -> Vec<Msg> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => presses(*key),
        Event::Paste(text) => vec![Msg::Pasted(text.chars().take(MOST_PASTED).collect())],
        // What the mouse means depends on what is under it, and changes of size are signals.
        Event::Mouse(_) | Event::Resize(..) | Event::Key(_) | Event::FocusGained | Event::FocusLost => {
            Vec::new()
        }
    }
}

/// Returns the key that an event types into a text: a character or one that takes characters away.
pub(crate) fn edits(event: &Event) -> Option<Press> {
    match messages(event).as_slice() {
        [Msg::Pressed(press @ (Press::Char(_) | Press::Backspace | Press::Ctrl('u')))] => Some(*press),
        _ => None,
    }
}

/// A key with Alt is what a terminal makes of Esc and a key in quick succession. No key with Alt
/// is bound, so it is taken as those two.
fn presses(key: KeyEvent) -> Vec<Msg> {
    let escape = key.modifiers.contains(KeyModifiers::ALT).then_some(Press::Esc);
    escape.into_iter().chain(press(key)).map(Msg::Pressed).collect()
}

#[expect(clippy::wildcard_enum_match_arm, reason = "crossterm names many keys that have no meaning here")]
fn press(key: KeyEvent) -> Option<Press> {
    let has_control = key.modifiers.contains(KeyModifiers::CONTROL);
    Some(match key.code {
        KeyCode::Char(c) if has_control => Press::Ctrl(c.to_ascii_lowercase()),
        KeyCode::Char(c) => Press::Char(c),
        KeyCode::Enter => Press::Enter,
        KeyCode::Esc => Press::Esc,
        KeyCode::Tab => Press::Tab,
        KeyCode::BackTab => Press::BackTab,
        KeyCode::Backspace => Press::Backspace,
        KeyCode::Up => Press::Up,
        KeyCode::Down => Press::Down,
        KeyCode::Left => Press::Left,
        KeyCode::Right => Press::Right,
        KeyCode::PageUp => Press::PageUp,
        KeyCode::PageDown => Press::PageDown,
        KeyCode::Home => Press::Home,
        KeyCode::End => Press::End,
        _ => return None,
    })
}

/// Translates what the mouse did, and where; nothing when it means nothing to the screen.
pub(crate) fn pointed(event: &Event) -> Option<(Gesture, (u16, u16))> {
    let Event::Mouse(mouse) = event else { return None };
    let gesture = match mouse.kind {
        MouseEventKind::ScrollUp => Gesture::WheelUp,
        MouseEventKind::ScrollDown => Gesture::WheelDown,
        MouseEventKind::Down(MouseButton::Left) => Gesture::Click,
        MouseEventKind::Down(_)
        | MouseEventKind::Up(_)
        | MouseEventKind::Drag(_)
        | MouseEventKind::Moved
        | MouseEventKind::ScrollLeft
        | MouseEventKind::ScrollRight => return None,
    };
    Some((gesture, (mouse.column, mouse.row)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: KeyCode, modifiers: KeyModifiers, expected: &[Press]) {
        let messages = messages(&Event::Key(KeyEvent::new(code, modifiers)));
        let presses: Vec<Press> = messages
            .into_iter()
            .filter_map(|msg| if let Msg::Pressed(press) = msg { Some(press) } else { None })
            .collect();
        assert_eq!(presses, expected);
    }

    #[test]
    fn keys_keep_their_meaning() {
        check(KeyCode::Char('G'), KeyModifiers::SHIFT, &[Press::Char('G')]);
        check(KeyCode::Char('c'), KeyModifiers::CONTROL, &[Press::Ctrl('c')]);
        check(KeyCode::Esc, KeyModifiers::NONE, &[Press::Esc]);
        check(KeyCode::F(1), KeyModifiers::NONE, &[]);
    }

    #[test]
    fn escape_and_a_quick_key_are_two_keys() {
        check(KeyCode::Char('q'), KeyModifiers::ALT, &[Press::Esc, Press::Char('q')]);
    }
}
