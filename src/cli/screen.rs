//! The full screen, when there is a terminal to show it on.

use std::io::{IsTerminal, stdout};

use super::failure::Outcome;
use super::list;
use super::look::Looker;
use super::output::{Paint, Shape};
use super::settings::Settings;

/// Opens the full screen over what `looker` sees; where the output is no terminal, prints what
/// `ls` prints.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn screen(settings: &Settings, mut looker: Looker) -> Outcome {
    let paint = Paint::for_stdout(settings.effective.config.color);
    if !stdout().is_terminal() {
        return list::run(&mut looker, None, Shape::Text(paint));
    }
    // The event loop takes this place; until then a terminal gets the same list.
    list::run(&mut looker, None, Shape::Text(paint))
}
