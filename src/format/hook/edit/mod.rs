//! What an agent's settings become when claimtop's entries are added or removed: every other byte stays as it is.

mod add;
mod list;
mod own;
mod remove;
mod scan;
mod splice;
#[cfg(test)]
mod tests;

pub(crate) use self::add::{by_event, entry_text};
pub(crate) use self::list::own_entries;
pub(crate) use self::own::{EditedSettings, SettingsChange};
pub(crate) use self::scan::ExtraKind;
use self::scan::{SettingsFault, fault_at, scan};
use crate::core::model::{SetupWay, Wiring};

/// Adds claimtop's entries to some settings, or removes them; `None` are settings of which there is no file.
///
/// # Errors
/// They cannot be read, or are not what settings are.
pub(crate) fn edited(
    text: Option<&[u8]>,
    wiring: &Wiring,
    way: SetupWay,
) -> Result<EditedSettings, SettingsFault> {
    match (wiring, way) {
        (Wiring::Plugin(plugin), way) => edited_plugin(text, plugin, way),
        (Wiring::Hooks(entries), SetupWay::Add) => add::added(text, entries),
        (Wiring::Hooks(entries), SetupWay::Remove) => {
            text.map_or_else(|| Ok(EditedSettings::same(Vec::new())), |text| remove::removed(text, entries))
        }
    }
}

/// Writes or removes a file that is claimtop's alone.
fn edited_plugin(text: Option<&[u8]>, plugin: &str, way: SetupWay) -> Result<EditedSettings, SettingsFault> {
    let is_own = |text: &[u8]| String::from_utf8_lossy(text).contains("claimtop");
    let done = |change, done: &str| EditedSettings { change, done: done.to_owned(), notes: Vec::new() };
    match (text, way) {
        (Some(text), _) if !is_own(text) => Err(fault_at(text, 0, "this file is not claimtop's")),
        (Some(text), SetupWay::Add) if text == plugin.as_bytes() => Ok(EditedSettings::same(Vec::new())),
        (None, SetupWay::Remove) => Ok(EditedSettings::same(Vec::new())),
        (_, SetupWay::Add) => {
            let what = if text.is_some() { "update the plugin" } else { "add the plugin" };
            Ok(done(SettingsChange::New(plugin.as_bytes().to_vec()), what))
        }
        (Some(_), SetupWay::Remove) => Ok(done(SettingsChange::Gone, "remove the plugin")),
    }
}

/// Returns the first thing in a text that is not JSON and that its agent does not take.
pub(crate) fn beyond_json(text: &[u8], is_taken: impl Fn(ExtraKind) -> bool) -> Option<SettingsFault> {
    let scanned = scan(text).ok()?;
    let extra = scanned.extras.iter().find(|extra| !is_taken(extra.kind))?;
    Some(fault_at(text, extra.span.start, extra.kind.name()))
}
