//! Keys and reports go in, states come out.

pub(crate) mod bring_back;
pub(crate) mod deaths;
pub(crate) mod evidence;
pub(crate) mod looks;
pub(crate) mod now;
pub(crate) mod palette;
pub(crate) mod peek;
pub(crate) mod rows;
pub(crate) mod selection;
pub(crate) mod sheets;
pub(crate) mod unseen;
pub(crate) mod versions;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::msg::{Effect, Msg, Press};
use super::state::{Options, State};
use super::update;
use crate::app::table::geometry::Size;
use crate::core::model::{Key, Report};
use crate::core::testing;
use crate::core::testing::{key, now};

/// A state that has seen a report and shows its windows, at 80x24.
fn seen(report: Report) -> State {
    let mut state = State::new(Options::default(), Size { width: 80, height: 24 }, now());
    look(&mut state, report);
    press(&mut state, "2");
    state
}

fn look(state: &mut State, report: Report) -> Vec<Effect> {
    update(state, Msg::Looked(Arc::new(report)))
}

/// Presses keys as they would be typed; `\n` is Enter, `\t` Tab, `\u{1b}` Esc.
fn press(state: &mut State, keys: &str) -> Vec<Effect> {
    let as_press = |c| match c {
        '\n' => Press::Enter,
        '\t' => Press::Tab,
        '\u{1b}' => Press::Esc,
        c => Press::Char(c),
    };
    keys.chars().fold(Vec::new(), |_, c| update(state, Msg::Pressed(as_press(c))))
}

fn shown(state: &State) -> Vec<&str> {
    state.table.rows.iter().map(|row| row.key.as_str()).collect()
}

fn panel_text(state: &State) -> String {
    let lines = state.panel.as_ref().map(|panel| panel.page.lines.clone()).unwrap_or_default();
    lines.iter().map(|line| line.plain() + "\n").collect()
}
