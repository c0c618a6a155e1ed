//! Frames without a terminal: the same screen, drawn after each look and each key.

use std::sync::Arc;

use crate::app::msg::{Msg, Press};
use crate::app::state::{Options, State};
use crate::app::table::geometry::Size;
use crate::app::update;
use crate::config::{Glyphs, Theme};
use crate::core::model::Report;
use crate::ui::svg::{DARK, to_svg};
use crate::ui::theme::{Colors, Palette};
use crate::ui::{Look, render};

const SIZE: Size = Size { width: 120, height: 36 };

/// Draws every frame as a picture, whatever the clock says: the moment is that of the look.
pub(crate) fn frames(looks: impl Iterator<Item = Arc<Report>>, keys: &str) -> String {
    let look = Look { palette: Palette::new(Theme::Dark, Colors::Used), glyphs: Glyphs::Unicode };
    let mut state: Option<State> = None;
    let mut out = String::new();
    for report in looks {
        let now = report.taken_at;
        let state = state.get_or_insert_with(|| State::new(Options::default(), SIZE, now));
        update(state, Msg::Looked(report));
        update(state, Msg::Tick(now));
        out.push_str(&to_svg(&render(state, look), "look", DARK));
        for key in keys.chars() {
            update(state, Msg::Pressed(press(key)));
            out.push_str(&to_svg(&render(state, look), &format!("key {key:?}"), DARK));
        }
    }
    out
}

fn press(key: char) -> Press {
    match key {
        '\n' => Press::Enter,
        '\u{1b}' => Press::Esc,
        '\t' => Press::Tab,
        key => Press::Char(key),
    }
}
