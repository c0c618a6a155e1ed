//! `hook check`: which of claimtop's hooks each agent has, whether it trusts them, and whether they are found.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::columns::{Cell, Columns};
use super::failure::{Exit, Outcome};
use super::hook::{ALL, Agent, PLUGIN, events, guarded};
use super::output::{Paint, print};
use super::settings::Settings;
use crate::core::model::Untrusted;
use crate::format::hooks::{IN_ANY_CASE, Installed, installed, is_trusted};
use crate::present::tone::Tone;
use crate::source::os::open::plain::small;

/// The most bytes of settings that are read.
const MOST: usize = 4 << 20;

/// Says of each agent which of claimtop's hooks it has.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn check(settings: &Settings) -> Outcome {
    let paint = Paint::for_stdout(settings.effective.config.color);
    let mut table = Columns::new(&["AGENT", "SETTINGS", "BIND", "GUARD", ""]);
    for agent in ALL {
        let Some(path) = place(agent, settings) else { continue };
        let file = Cell::new(Untrusted::from_path(&path));
        let none = || Cell::new("-").toned(Tone::Dim);
        let found = match small(&path, MOST) {
            Ok(text) if agent == Agent::Opencode => {
                let guard = match text == PLUGIN.as_bytes() {
                    true => Cell::new("yes").toned(Tone::Good),
                    false => Cell::new("another version").toned(Tone::Warning),
                };
                table.row([Cell::new(agent.title()), file, none(), guard, Cell::default()]);
                continue;
            }
            Ok(text) => installed(&text).map_err(|error| format!("not read: {error}")),
            Err(Errno::NOENT | Errno::NOTDIR) => Err("no such file".to_owned()),
            Err(errno) => Err(format!("not read: {errno}")),
        };
        let found = match found {
            Ok(found) => found,
            Err(why) => {
                let why = Cell::new(crate::core::model::text::shown(&why)).toned(Tone::Dim);
                table.row([Cell::new(agent.title()), file, none(), none(), why]);
                continue;
            }
        };
        let bind = of(&found, "bind", events(agent).iter().copied());
        let (asker, all) = guarded(agent);
        let guard = of(&found, &format!("guard --for {}", asker.name()), all.iter().map(|(event, _)| *event));
        let own: Vec<&Installed> = found.iter().filter(|one| one.runs_claimtop()).collect();
        table.row([
            Cell::new(agent.title()),
            file,
            bind,
            guard,
            trouble(agent, &path, &own, settings)
                .map_or_else(Cell::default, |why| Cell::new(why).toned(Tone::Warning)),
        ]);
    }
    print(&table.laid_out(paint, None))?;
    Ok(Exit::Fine)
}

/// Tells at how many of the events that it is for a command runs.
fn of<'a>(found: &[Installed], command: &str, wanted: impl Iterator<Item = &'a str>) -> Cell {
    let wanted: Vec<&str> = wanted.collect();
    let has = |event: &&&str| found.iter().any(|one| one.event == **event && one.runs(command));
    let count = wanted.iter().filter(has).count();
    match count {
        0 => Cell::new("no").toned(Tone::Dim),
        all if all == wanted.len() => Cell::new("yes").toned(Tone::Good),
        some => Cell::new(format!("{some} of {} events", wanted.len())).toned(Tone::Warning),
    }
}

/// Returns what keeps hooks that are set from running, or from running this very program.
fn trouble(agent: Agent, path: &Path, own: &[&Installed], settings: &Settings) -> Option<String> {
    if agent == Agent::Codex && !own.is_empty() {
        let config = path.with_file_name("config.toml");
        let config = small(&config, MOST).map(|text| String::from_utf8_lossy(&text).into_owned());
        let is_known = |one: &&&Installed| {
            let key = one.trust_key(&path.to_string_lossy());
            config.as_ref().is_ok_and(|config| is_trusted(config, &key))
        };
        let missing = own.len() - own.iter().filter(is_known).count();
        if missing > 0 {
            return Some(format!("{missing} not trusted yet: start codex and review its hooks"));
        }
    }
    if agent == Agent::Gemini && own.iter().any(|one| !one.command.ends_with(IN_ANY_CASE)) {
        return Some(
            "without claimtop it refuses to work: take what `claimtop hook print gemini` shows".to_owned(),
        );
    }
    let identity = |path: &Path| path.metadata().ok().map(|meta| (meta.dev(), meta.ino()));
    let this = std::env::current_exe().ok().and_then(|path| identity(&path));
    own.iter().find_map(|one| {
        let program = one.program();
        let found = match program.contains('/') {
            true => identity(Path::new(program)),
            false => settings.environment.programs.iter().find_map(|folder| identity(&folder.join(program))),
        };
        match found {
            None => Some(format!("`{}` is not found", crate::core::model::text::shown(program))),
            Some(_) if found != this => {
                Some(format!("`{}` is another claimtop", crate::core::model::text::shown(program)))
            }
            Some(_) => None,
        }
    })
}

/// Returns where an agent's settings lie for all repositories; none for one that has them in each.
fn place(agent: Agent, settings: &Settings) -> Option<PathBuf> {
    let places = &settings.places;
    match agent {
        Agent::ClaudeCode => Some(places.claude_config.join("settings.json")),
        Agent::Codex => Some(places.home.join(".codex/hooks.json")),
        Agent::Gemini => Some(places.home.join(".gemini/settings.json")),
        Agent::Qwen => Some(places.home.join(".qwen/settings.json")),
        Agent::Copilot => None,
        Agent::Opencode => Some(places.home.join(".config/opencode/plugin/claimtop.js")),
    }
}
