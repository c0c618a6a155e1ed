//! The configuration file: TOML in, one layer of settings or one clear error out.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use super::fleet::FleetKeys;
use super::guard::GuardKeys;
use super::keep::Keep;
use super::layers::Layer;
use super::machine::MachineKeys;
use super::notify::{AlertRank, QuietHours};
use super::{Access, ColorChoice, Foresee, Glyphs, Notify, Retention, Switch, Theme};
use crate::core::fleet::order::Accepts;
use crate::core::fleet::transport::Machine;
use crate::core::judge::window::agent::Signature;
pub(crate) use crate::core::model::LineError as FileError;
use crate::core::model::Secret;
use crate::core::model::text::line::error_at;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Keys {
    theme: Option<Theme>,
    ascii: Option<bool>,
    color: Option<ColorChoice>,
    mouse: Option<bool>,
    read_only: Option<bool>,
    keep_parked_days: Option<u16>,
    title: Option<bool>,
    bell: Option<bool>,
    notify: Option<Notify>,
    notify_command: Option<Spanned<Vec<String>>>,
    notify_quiet: Option<QuietHours>,
    notify_from: Option<AlertRank>,
    keep_history: Option<bool>,
    foresee: Option<bool>,
    roots: Vec<Spanned<String>>,
    obra_databases: Vec<Spanned<String>>,
    postgres: Option<Secret>,
    postgres_password_file: Option<Spanned<String>>,
    agent: Vec<Signature>,
    guard: Option<GuardKeys>,
    keep: Option<Keep>,
    machine: Vec<MachineKeys>,
    accept_orders: Option<Accepts>,
    fleet: Option<FleetKeys>,
}

/// Reads the text of a configuration file. `home` is what a root's `~` stands for.
///
/// # Errors
/// The first line that is no TOML, names an unknown key or has a value that cannot be.
pub(crate) fn parse(text: &str, home: &Path) -> Result<Layer, FileError> {
    let keys: Keys = toml::from_str(text)
        .map_err(|error| error_at(text, error.span().map_or(0, |span| span.start), error.message()))?;
    Ok(Layer {
        theme: keys.theme,
        glyphs: keys.ascii.map(|is| if is { Glyphs::Ascii } else { Glyphs::Unicode }),
        color: keys.color,
        mouse: keys.mouse.map(Switch::from_truth),
        access: keys.read_only.map(|is| if is { Access::ReadOnly } else { Access::Full }),
        roots: all_absolute(text, &keys.roots, "a root", home)?,
        obra_databases: all_absolute(text, &keys.obra_databases, "a database", home)?,
        postgres: keys.postgres,
        postgres_password_file: keys
            .postgres_password_file
            .map(|path| absolute(text, &path, "a password file", home))
            .transpose()?,
        agents: keys.agent,
        retention: keys.keep_parked_days.map(|days| Retention { days }),
        title: keys.title.map(Switch::from_truth),
        bell: keys.bell.map(Switch::from_truth),
        notify: keys.notify,
        notify_command: keys.notify_command.map(|command| program(text, command)).transpose()?,
        notify_quiet: keys.notify_quiet,
        notify_from: keys.notify_from,
        history: keys.keep_history.map(Switch::from_truth),
        foresee: keys.foresee.map(Foresee::from_truth),
        machines: machines(text, keys.machine)?,
        accepts: keys.accept_orders,
        fleet: keys.fleet.as_ref().and_then(|fleet| fleet.url.clone()),
        publishing: keys
            .fleet
            .map(|fleet| fleet.publishing(|path, what| absolute(text, path, what, home)))
            .transpose()?,
        guard: keys
            .guard
            .map(|guard| guard.guard(|path| absolute(text, path, "a working tree", home)))
            .transpose()?,
        keep: keys.keep,
    })
}

fn program(text: &str, command: Spanned<Vec<String>>) -> Result<Vec<String>, FileError> {
    let is_named = command.get_ref().first().is_none_or(|program| !program.is_empty());
    let message = "a command begins with the name of its program";
    is_named.then(|| command.get_ref().clone()).ok_or_else(|| error_at(text, command.span().start, message))
}

fn machines(text: &str, keys: Vec<MachineKeys>) -> Result<Vec<Machine>, FileError> {
    let machine = |keys: MachineKeys| {
        let at = keys.position();
        keys.machine().map_err(|why| error_at(text, at, &why))
    };
    keys.into_iter().map(machine).collect()
}

fn all_absolute(
    text: &str,
    paths: &[Spanned<String>],
    what: &str,
    home: &Path,
) -> Result<Vec<PathBuf>, FileError> {
    paths.iter().map(|path| absolute(text, path, what, home)).collect()
}

/// A relative path would mean another folder for every folder that claimtop starts in.
fn absolute(text: &str, root: &Spanned<String>, what: &str, home: &Path) -> Result<PathBuf, FileError> {
    let path = Path::new(root.get_ref());
    if let Ok(rest) = path.strip_prefix("~") {
        return Ok(home.join(rest));
    }
    if path.is_absolute() {
        return Ok(path.to_path_buf());
    }
    let message = format!("{what} must be an absolute path or start with ~/, not {:?}", root.get_ref());
    Err(error_at(text, root.span().start, &message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::guard::{HoldPolicy, Levels};

    #[track_caller]
    fn check_error(text: &str, expected: &str) {
        let error = parse(text, Path::new("/home/dev")).map(|_| ()).unwrap_err().to_string();
        assert_eq!(error, expected);
    }

    #[test]
    fn every_key_is_read() {
        let text = "theme = 'color-blind'\nascii = true\ncolor = 'never'\nmouse = true\nread_only = true\n\
                    keep_parked_days = 7\ntitle = false\nbell = true\nnotify = 'osc777'\nkeep_history = true\n\
                    notify_from = 'collision'\nforesee = false\n\
                    roots = ['~/src', '/srv']\nobra_databases = ['~/o.db']\npostgres = 'postgres://u:p@h/d'\n\
                    postgres_password_file = '~/.pgpass'\n[[agent]]\nname = 'mine'\ntitle = 'Mine'\n\
                    [[agent.match]]\ncomm = ['mine']\n[guard]\nnote = false\nexempt = ['gen']\n\
                    [[guard.tree]]\npath = '~/src/shop'\ngit = 'ask'\n[[guard.tree]]\npath = '~/src'\n\
                    git = 'off'\nnote = true\n[keep]\ndays = 3\nsecrets = true\n";
        let layer = parse(text, Path::new("/home/dev")).unwrap();
        assert_eq!(layer.theme, Some(Theme::ColorBlind));
        assert_eq!(layer.glyphs, Some(Glyphs::Ascii));
        assert_eq!(layer.color, Some(ColorChoice::Never));
        assert_eq!(layer.mouse, Some(Switch::On));
        assert_eq!(layer.access, Some(Access::ReadOnly));
        assert_eq!(layer.retention, Some(Retention { days: 7 }));
        assert_eq!((layer.title, layer.bell), (Some(Switch::Off), Some(Switch::On)));
        assert_eq!(layer.notify_from, Some(AlertRank::Collision));
        assert_eq!((layer.notify, layer.history), (Some(Notify::Osc777), Some(Switch::On)));
        assert_eq!(layer.foresee, Some(Foresee::CommandOnly));
        assert_eq!(layer.roots, [PathBuf::from("/home/dev/src"), PathBuf::from("/srv")]);
        assert_eq!(layer.obra_databases, [PathBuf::from("/home/dev/o.db")]);
        assert_eq!(layer.postgres, Some(Secret("postgres://u:p@h/d".to_owned())));
        assert_eq!(layer.postgres_password_file, Some(PathBuf::from("/home/dev/.pgpass")));
        assert_eq!(layer.agents.first().map(|agent| agent.name.as_str()), Some("mine"));
        assert_eq!(layer.keep, Some(Keep { days: 3, secrets: true, ..Keep::default() }));
        let guard = layer.guard.unwrap();
        let said = |tree: &str| {
            let Levels { brief, note, git, edit, held } = guard.levels(Path::new(tree));
            assert_eq!(held, HoldPolicy::HoldUp);
            (brief, note, git.name(), edit.name())
        };
        assert_eq!(guard.exempt, ["gen"]);
        assert_eq!(said("/srv"), (true, false, "hold-up", "off"));
        assert_eq!(
            said("/home/dev/src/shop"),
            (true, false, "ask", "off"),
            "the nearest counts, and else all"
        );
        assert_eq!(said("/home/dev/src/other"), (true, true, "off", "off"));
    }

    #[test]
    fn an_error_names_line_and_key() {
        check_error(
            "ascii = true\ntheme = 'pink'\n",
            "line 2, key `theme`: unknown variant `pink`, expected one of `dark`, `light`, `color-blind`, `ansi`, `gruvbox`, `nord`, `dracula`, `solarized-dark`, `solarized-light`, `catppuccin`, `catppuccin-latte`, `tokyo-night`",
        );
        check_error(
            "\n\nthemes = 'dark'\n",
            "line 3, key `themes`: unknown field `themes`, expected one of `theme`, `ascii`, `color`, `mouse`, \
             `read_only`, `keep_parked_days`, `title`, `bell`, `notify`, `notify_command`, `notify_quiet`, \
             `notify_from`, `keep_history`, `foresee`, `roots`, `obra_databases`, `postgres`, `postgres_password_file`, `agent`, `guard`, `keep`, `machine`, `accept_orders`, `fleet`",
        );
        check_error("mouse = 'on'\n", "line 1, key `mouse`: invalid type: string \"on\", expected a boolean");
        check_error(
            "roots = ['src']\n",
            "line 1, key `roots`: a root must be an absolute path or start with ~/, not \"src\"",
        );
    }

    #[test]
    fn an_error_shows_nothing_that_steers_a_terminal() {
        let error = parse("theme = '\u{9b}31m'\n", Path::new("/")).map(|_| ()).unwrap_err().to_string();
        assert!(!error.chars().any(crate::core::model::text::is_forbidden), "{error:?}");
    }

    proptest::proptest! {
        #[test]
        fn parsing_is_total(text in ".*") {
            let _ = parse(&text, Path::new("/home/dev"));
        }
    }
}
