//! `statusline`: one line for a status bar.

use super::failure::Outcome;
use super::look;
use super::output::print;
use crate::config::Glyphs;
use crate::observe::Observer;
use crate::present::summary::Summary;

/// Looks once and prints the line.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn run(observer: &mut Observer, glyphs: Glyphs) -> Outcome {
    let report = observer.observe();
    let between = if glyphs.is_ascii() { " | " } else { " · " };
    print(&format!("{}\n", Summary::of(&report).words().join(between)))?;
    Ok(look::exit(&report))
}
