//! What an agent's settings become when claimtop's entries are added or removed: every other byte stays as it is.

mod add;
mod lines;
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
        (Wiring::Plugin(plugin), way) => edited_file(text, (plugin, "the plugin"), way),
        (Wiring::Skill(skill), way) => edited_file(text, (skill, "the skill"), way),
        (Wiring::Lines(lines), SetupWay::Add) => lines::added(text, lines),
        (Wiring::Lines(lines), SetupWay::Remove) => {
            text.map_or_else(|| Ok(EditedSettings::same(Vec::new())), |text| lines::removed(text, lines))
        }
        (Wiring::Hooks(entries), SetupWay::Add) => add::added(text, entries),
        (Wiring::Hooks(entries), SetupWay::Remove) => {
            text.map_or_else(|| Ok(EditedSettings::same(Vec::new())), |text| remove::removed(text, entries))
        }
    }
}

/// Writes or removes a file that is claimtop's alone.
fn edited_file(
    text: Option<&[u8]>,
    (new, what): (&str, &str),
    way: SetupWay,
) -> Result<EditedSettings, SettingsFault> {
    let is_own = |text: &[u8]| String::from_utf8_lossy(text).contains("claimtop");
    let done =
        |change, verb: &str| Ok(EditedSettings { change, done: format!("{verb} {what}"), notes: Vec::new() });
    match (text, way) {
        (Some(text), _) if !is_own(text) => Err(fault_at(text, 0, "this file is not claimtop's")),
        (Some(text), SetupWay::Add) if text == new.as_bytes() => Ok(EditedSettings::same(Vec::new())),
        (None, SetupWay::Remove) => Ok(EditedSettings::same(Vec::new())),
        (_, SetupWay::Add) => {
            let verb = if text.is_some() { "update" } else { "add" };
            done(SettingsChange::New(new.as_bytes().to_vec()), verb)
        }
        (Some(_), SetupWay::Remove) => done(SettingsChange::Gone, "remove"),
    }
}

/// Returns the first thing in a text that is not JSON and that its agent does not take.
pub(crate) fn beyond_json(text: &[u8], is_taken: impl Fn(ExtraKind) -> bool) -> Option<SettingsFault> {
    let scanned = scan(text).ok()?;
    let extra = scanned.extras.iter().find(|extra| !is_taken(extra.kind))?;
    Some(fault_at(text, extra.span.start, extra.kind.name()))
}
