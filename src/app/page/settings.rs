//! What can be set on the screen.

use crate::app::page::panel::{Choice, Pick};
use crate::app::state::State;
use crate::config::preference::Preference;
use crate::present::text::page::Page;
use crate::present::text::tone::{Line, Tone};

/// Writes each setting with its value; returns the choices.
pub(crate) fn write(page: &mut Page, state: &State) -> Vec<Choice> {
    let mut choices = Vec::new();
    for which in Preference::ALL {
        let value = state.preferences.value(which);
        let line =
            Line::new(&format!("{:12}", which.key()), Tone::Plain).then(&format!("{value:18}"), Tone::Key);
        choices.push(Choice::line(page.lines.len(), Pick::Preference(which)));
        page.lines.push(line.then(which.summary(), Tone::Dim));
    }
    page.gap();
    let kept = match (&state.options.config_file, state.options.access.is_read_only()) {
        (None, _) => "It counts until the end: there is no place for a configuration file.".to_owned(),
        (Some(_), true) => "It counts until the end: claimtop is read-only.".to_owned(),
        (Some(file), false) => format!("It counts at once and is written to {file}, whose comments stay."),
    };
    page.text(&kept, Tone::Dim);
    page.text("Which columns a view has: c. The guard, machines and folders: only in the file.", Tone::Dim);
    choices
}
