//! `hook check`: which of claimtop's hooks each agent has, whether it trusts them, and whether they are found.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::cli::hook::files::place;
use crate::cli::hook::{ALL, Agent, PLUGIN, events, guarded};
use crate::cli::output::columns::{Cell, Columns};
use crate::cli::output::failure::{Exit, Outcome};
use crate::cli::output::{Paint, print};
use crate::cli::settings::Settings;
use crate::core::model::Untrusted;
use crate::core::model::text::shown;
use crate::format::hook::settings::{IN_ANY_CASE, InstalledHook, installed, is_trusted};
use crate::present::text::tone::Tone;
use crate::source::os::open::plain::small;

/// The most bytes of settings that are read.
pub(super) const MOST: usize = 4 << 20;

/// Which of claimtop's hooks one agent has.
pub(crate) struct AgentHooks {
    pub(crate) agent: &'static str,
    settings: PathBuf,
    pub(crate) found: Result<AgentSettings, UnreadReason>,
}

/// Why nothing is known of an agent's settings.
pub(crate) enum UnreadReason {
    /// There are none.
    NoFile,
    /// They cannot be read: what is wrong with them.
    Broken(String),
}

/// What was found in an agent's settings.
pub(crate) struct AgentSettings {
    /// `None` for an agent that has no such hook.
    bind: Option<Share>,
    guard: Share,
    /// What keeps a hook from running.
    pub(crate) trouble: Option<String>,
    /// Whether that keeps it for certain, and is no matter of taste.
    is_broken: bool,
}

/// Of how many events a hook is set for how many.
#[derive(Clone, Copy)]
enum Share {
    None,
    Some(usize, usize),
    All,
    /// It is set, in the form of another version.
    OtherVersion,
}

impl Share {
    fn cell(self) -> Cell {
        match self {
            Self::None => Cell::new("no").toned(Tone::Dim),
            Self::Some(count, wanted) => {
                Cell::new(format!("{count} of {wanted} events")).toned(Tone::Warning)
            }
            Self::All => Cell::new("yes").toned(Tone::Good),
            Self::OtherVersion => Cell::new("another version").toned(Tone::Warning),
        }
    }

    fn is_set(self) -> bool {
        match self {
            Self::None => false,
            Self::Some(..) | Self::All | Self::OtherVersion => true,
        }
    }
}

impl AgentSettings {
    /// Returns whether any hook of claimtop's is set.
    pub(crate) fn has_any(&self) -> bool {
        self.bind.is_some_and(Share::is_set) || self.guard.is_set()
    }
}

/// Says of each agent which of claimtop's hooks it has.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn check(settings: &Settings) -> Outcome {
    let paint = Paint::for_stdout(settings.effective.config.color);
    let mut table = Columns::new(&["AGENT", "SETTINGS", "BIND", "GUARD", ""]);
    let none = || Cell::new("-").toned(Tone::Dim);
    let mut exit = Exit::Fine;
    for hooks in all(settings) {
        if hooks.is_broken() {
            exit = Exit::Problems;
        }
        let (bind, guard, why) = match hooks.found {
            Ok(AgentSettings { bind, guard, trouble, is_broken: _ }) => {
                let why = trouble.map_or_else(Cell::default, |why| Cell::new(why).toned(Tone::Warning));
                (bind.map_or_else(none, Share::cell), guard.cell(), why)
            }
            Err(UnreadReason::NoFile) => (none(), none(), Cell::new("no such file").toned(Tone::Dim)),
            Err(UnreadReason::Broken(why)) => (none(), none(), Cell::new(shown(&why)).toned(Tone::Warning)),
        };
        table.row([
            Cell::new(hooks.agent),
            Cell::new(Untrusted::from_path(&hooks.settings)),
            bind,
            guard,
            why,
        ]);
    }
    print(&table.laid_out(paint, None))?;
    Ok(exit)
}

impl AgentHooks {
    /// Returns whether something keeps a hook that is there from running, or hides whether there is one.
    fn is_broken(&self) -> bool {
        match &self.found {
            Ok(found) => found.is_broken,
            Err(UnreadReason::NoFile) => false,
            Err(UnreadReason::Broken(_)) => true,
        }
    }
}

/// Returns which hooks each agent has, in each place where it may have some.
pub(crate) fn all(settings: &Settings) -> Vec<AgentHooks> {
    let everywhere =
        ALL.into_iter().flat_map(|agent| places(agent, settings).into_iter().map(move |path| (agent, path)));
    let read = |(agent, path): (Agent, PathBuf)| {
        let found = match small(&path, MOST) {
            Ok(text) => found(agent, &path, &text, settings),
            Err(Errno::NOENT | Errno::NOTDIR) => Err(UnreadReason::NoFile),
            Err(errno) => Err(UnreadReason::Broken(format!("not read: {errno}"))),
        };
        AgentHooks { agent: agent.title(), settings: path, found }
    };
    everywhere.map(read).collect()
}

fn found(agent: Agent, path: &Path, text: &[u8], settings: &Settings) -> Result<AgentSettings, UnreadReason> {
    if agent == Agent::Opencode {
        let guard = if text == PLUGIN.as_bytes() { Share::All } else { Share::OtherVersion };
        return Ok(AgentSettings { bind: None, guard, trouble: None, is_broken: false });
    }
    let text = text.strip_prefix(b"\xEF\xBB\xBF").filter(|_| agent.takes_bom()).unwrap_or(text);
    // Gemini CLI and Qwen Code take comments in their settings; the others take the whole file for broken.
    let plain = agent.takes_comments().then(|| without_comments(text));
    let found = installed(plain.as_deref().unwrap_or(text)).map_err(|error| {
        let what = wrong(text).map_or_else(|| error.to_string(), str::to_owned);
        UnreadReason::Broken(format!("{} cannot read it: {what}", agent.title()))
    })?;
    let bind = of(&found, "bind", events(agent).iter().copied());
    let (asker, all) = guarded(agent);
    let guard = of(&found, &format!("guard --for {}", asker.name()), all.iter().map(|(event, _)| *event));
    let own: Vec<&InstalledHook> = found.iter().filter(|one| one.runs_claimtop()).collect();
    let trouble = trouble(agent, path, &own, settings);
    let is_broken = trouble.as_ref().is_some_and(|(_, is_broken)| *is_broken);
    Ok(AgentSettings { bind: Some(bind), guard, trouble: trouble.map(|(what, _)| what), is_broken })
}

/// Says what is wrong with settings that are no JSON, where that is one of the usual things.
fn wrong(text: &[u8]) -> Option<&'static str> {
    match text {
        [0xEF, 0xBB, 0xBF, ..] => {
            Some("it begins with a byte order mark (BOM): save it as UTF-8 without one")
        }
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => Some("it is UTF-16: save it as UTF-8"),
        text if text.trim_ascii().is_empty() => Some("it is empty: write {} into it, or remove it"),
        text if installed(&without_comments(text)).is_ok() => {
            Some("it has comments, which are not JSON: remove them")
        }
        _ => None,
    }
}

/// Takes comments out of JSON: from `//` to the end of the line, and from `/*` to `*/`, but not in strings.
fn without_comments(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let (mut rest, mut is_in_string) = (text, false);
    while let Some((first, after)) = rest.split_first() {
        let skipped = match (is_in_string, rest) {
            (true, [b'\\', escaped, ..]) => {
                out.extend([b'\\', *escaped]);
                2
            }
            (false, [b'/', b'/', ..]) => rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
            (false, [b'/', b'*', tail @ ..]) => {
                tail.windows(2).position(|two| two == b"*/").map_or(rest.len(), |at| at + 4)
            }
            _ => {
                is_in_string ^= *first == b'"';
                out.push(*first);
                rest = after;
                continue;
            }
        };
        rest = rest.get(skipped..).unwrap_or_default();
    }
    out
}

/// Counts at how many of its events a command runs.
fn of<'a>(found: &[InstalledHook], command: &str, wanted: impl Iterator<Item = &'a str>) -> Share {
    let wanted: Vec<&str> = wanted.collect();
    let has = |event: &&&str| found.iter().any(|one| one.event == **event && one.runs(command));
    match wanted.iter().filter(has).count() {
        0 => Share::None,
        all if all == wanted.len() => Share::All,
        some => Share::Some(some, wanted.len()),
    }
}

/// Returns what keeps hooks that are set from running, or from running this very program, and whether they do not run at all.
fn trouble(agent: Agent, path: &Path, own: &[&InstalledHook], settings: &Settings) -> Option<(String, bool)> {
    if agent == Agent::Codex && !own.is_empty() {
        let config = path.with_file_name("config.toml");
        let config = small(&config, MOST).map(|text| String::from_utf8_lossy(&text).into_owned());
        let is_known = |one: &&&InstalledHook| {
            let key = one.trust_key(&path.to_string_lossy());
            config.as_ref().is_ok_and(|config| is_trusted(config, &key))
        };
        let missing = own.len() - own.iter().filter(is_known).count();
        if missing > 0 {
            return Some((format!("{missing} not trusted yet: start codex and review its hooks"), true));
        }
    }
    if agent.is_stopped_by_failures() && own.iter().any(|one| !one.command.ends_with(IN_ANY_CASE)) {
        let name = guarded(agent).0.name();
        let why = format!("without claimtop it refuses to work: use what `claimtop hook print {name}` shows");
        return Some((why, false));
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
            None => Some((format!("`{}` is not found", shown(program)), true)),
            Some(_) if found != this => Some((format!("`{}` is another claimtop", shown(program)), false)),
            Some(_) => None,
        }
    })
}

/// Returns where an agent's settings lie: for all repositories, or in each that was named, else in this one.
fn places(agent: Agent, settings: &Settings) -> Vec<PathBuf> {
    let places = &settings.places;
    let for_all = place(agent, settings);
    match agent {
        Agent::Copilot => {
            let trees = if places.roots.is_empty() {
                this_tree().into_iter().collect()
            } else {
                places.roots.clone()
            };
            // Repositories can have their own beside those.
            let own = trees.iter().map(|tree| tree.join(".github/hooks/claimtop.json"));
            let own = own.filter(|file| file.symlink_metadata().is_ok());
            std::iter::once(for_all).chain(own).collect()
        }
        Agent::ClaudeCode | Agent::Codex | Agent::Gemini | Agent::Qwen | Agent::Opencode => vec![for_all],
    }
}

/// Returns the working tree in which this runs; outside of any the folder.
fn this_tree() -> Option<PathBuf> {
    let cwd = std::env::current_dir().ok()?;
    let is_tree = |folder: &&Path| folder.join(".git").symlink_metadata().is_ok();
    Some(cwd.ancestors().find(is_tree).unwrap_or(&cwd).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_settings_is_named() {
        let check = |text: &[u8], expected: Option<&str>| {
            let told = wrong(text).map(|told| told.split([':', ',']).next().unwrap_or_default());
            assert_eq!(told, expected, "{}", String::from_utf8_lossy(text));
        };
        check(b"\xEF\xBB\xBF{}", Some("it begins with a byte order mark (BOM)"));
        check(b"\xFF\xFE{\0}\0", Some("it is UTF-16"));
        check(b" \n", Some("it is empty"));
        check(b"// mine\n{ \"a\": \"//b /* c\" /* d */ }", Some("it has comments"));
        check(b"{,}", None);
    }

    #[test]
    fn only_comments_are_taken_out() {
        let check =
            |text: &str, expected: &str| assert_eq!(without_comments(text.as_bytes()), expected.as_bytes());
        check("{\"a\": \"x // y\"} // z", "{\"a\": \"x // y\"} ");
        check("{/* b\n */\"a\\\"//\": 1}", "{\"a\\\"//\": 1}");
        check("/* never ends", "");
    }
}
