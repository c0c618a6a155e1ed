//! The effective settings of one run: the configuration file, the environment, the options.

pub(crate) mod config_file;
pub(crate) mod described;
pub(crate) mod environment;
pub(crate) mod places;
pub(crate) mod signatures;
pub(crate) mod values;

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};

use super::args::{LogLevel, Options};
use super::output;
use crate::cli::fleet::machine_names;
use crate::cli::fleet::machine_names::{MachineSet, OneNamed};
use crate::cli::output::failure::{Exit, Failure};
use crate::config::layers::{Effective, Layer, Origin};
use crate::config::{Access, ColorChoice, Config, Glyphs, file};
use crate::core::fleet::transport::Machine;
use crate::core::model::report::need::quoted;
use crate::core::model::text::shown;
use crate::core::model::{DescribedFormat, Secret, Untrusted};
use crate::run;
use crate::source::places::Places;
use config_file::{ConfigFile, read};
use environment::Environment;

/// Everything that a command is given.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) effective: Effective,
    /// Where to look.
    pub(crate) places: Places,
    /// The machines that `--on` names.
    pub(crate) named: MachineSet,
    /// Whether a look is about this machine alone.
    pub(crate) is_here: bool,
    /// What a printed command must end with to meet the same hosts: the option that names their database, if one was given.
    pub(crate) given: String,
    pub(crate) file: ConfigFile,
    /// Where `~` is in it.
    pub(crate) home: PathBuf,
    /// The formats that a person has described.
    pub(crate) formats: Vec<DescribedFormat>,
    pub(crate) environment: Environment,
    /// Where the journal and what is parked lie.
    pub(crate) state: PathBuf,
    /// Where the last view is kept: nowhere when only some folders are looked in, unless its folder
    /// was given.
    pub(crate) view: Option<PathBuf>,
    /// Whose the home is, when root looks at another user's.
    pub(crate) other_owner: Option<u32>,
    /// What is logged at least; `None` for nothing.
    pub(crate) log_level: Option<tracing::Level>,
}

/// Collects the settings of one run.
///
/// # Errors
/// The configuration file cannot be read or used, or an option names no folder.
pub(crate) fn settings(options: &Options, environment: Environment) -> Result<Settings, Failure> {
    let home = places::home(options, &environment)?;
    let (file, layer) = from_file(options, &environment, &home)?;
    let effective = Effective::default()
        .covered_by(layer, Origin::File)
        .covered_by(from_environment(&environment), Origin::Environment)
        .covered_by(from_options(options), Origin::Option);
    let places = places::places(options, &environment, &effective, &file)?;
    let state = places::state(options, &environment, &home);
    let config = &effective.config;
    output::draw_with(config.glyphs);
    let named = machine_names::named(&options.machines, &config.machines, config.fleet.is_some())?;
    let is_usual = options.home.is_none() && options.tmp.is_none();
    Ok(Settings {
        view: (is_usual || options.state.is_some()).then(|| state.join("view.json")),
        other_owner: places::other_owner(&home),
        given: given(options),
        named,
        is_here: options.here,
        effective,
        places,
        formats: described::all(file.formats().as_deref())?,
        file,
        home,
        environment,
        state,
        log_level: options.log_level.and_then(level),
    })
}

impl Settings {
    /// Returns the machine of a name: one that `--on` names or the configuration has, a host of the fleet, or a way to
    /// one, such as `docker:web`.
    ///
    /// # Errors
    /// It is none of these.
    pub(crate) fn machine(&self, name: &str) -> Result<OneNamed, Failure> {
        let config = &self.effective.config;
        let named: Vec<Machine> = self.named.machines.iter().chain(&config.machines).cloned().collect();
        machine_names::one(name, &named, config.fleet.is_some()).map_err(|why| {
            Failure::usage(anyhow!("no machine is called {:?}: {why}", shown(name)))
                .hint("name it in a [[machine]] of the configuration, or with --on")
        })
    }

    /// Returns what the configuration file says now, for commands that run for long.
    ///
    /// # Errors
    /// It cannot be read or used by now, in words.
    pub(crate) fn file_now(&self) -> Result<Config, String> {
        let layer = match &self.file {
            ConfigFile::Nowhere => Layer::default(),
            ConfigFile::Read(path) | ConfigFile::Absent(path) => match read(path) {
                Ok(Some(text)) => file::parse(&text, &self.home).map_err(|error| error.to_string())?,
                Ok(None) => Layer::default(),
                Err(error) => return Err(error.to_string()),
            },
        };
        Ok(Effective::default().covered_by(layer, Origin::File).config)
    }

    /// Starts the log, if one is asked for.
    ///
    /// # Errors
    /// Its folder or file cannot be made.
    pub(crate) fn start_log(&self) -> Result<(), Failure> {
        let Some(level) = self.log_level else { return Ok(()) };
        let folder = self.state.join("log");
        run::log::start(&folder, level)
            .with_context(|| format!("failed to log into {}", Untrusted::from_path(&folder)))
            .map_err(|error| Failure::new(Exit::Failed, error).hint("omit --log-level"))
    }
}

/// Returns the option that names the fleet's database, if one was given.
fn given(options: &Options) -> String {
    let url = options.fleet.as_ref();
    url.map_or_else(String::new, |url| format!(" --fleet {}", quoted(&without_password(url))))
}

/// Returns the URL of a database without its password, which is never printed.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return String::new() };
    let (base, query) = rest.split_once('?').unwrap_or((rest, ""));
    let base = match base.rsplit_once('@') {
        Some((user, server)) => format!("{}@{server}", user.split(':').next().unwrap_or_default()),
        None => base.to_owned(),
    };
    let query: Vec<&str> = query.split('&').filter(|part| !part.starts_with("password=")).collect();
    let query = query.join("&");
    if query.is_empty() { format!("{scheme}://{base}") } else { format!("{scheme}://{base}?{query}") }
}

fn level(asked: LogLevel) -> Option<tracing::Level> {
    match asked {
        LogLevel::Off => None,
        LogLevel::Error => Some(tracing::Level::ERROR),
        LogLevel::Warn => Some(tracing::Level::WARN),
        LogLevel::Info => Some(tracing::Level::INFO),
        LogLevel::Debug => Some(tracing::Level::DEBUG),
    }
}

fn from_options(options: &Options) -> Layer {
    Layer {
        theme: options.theme,
        glyphs: options.ascii.then_some(Glyphs::Ascii),
        color: options.color,
        access: options.read_only.then_some(Access::ReadOnly),
        roots: options.roots.clone(),
        obra_databases: options.obra_databases.clone(),
        postgres: options.postgres.clone().map(Secret),
        fleet: options.fleet.clone().map(Secret),
        ..Layer::default()
    }
}

fn from_environment(environment: &Environment) -> Layer {
    let color = environment.colorless.map(|_| ColorChoice::Never);
    Layer { color, glyphs: environment.is_ascii.then_some(Glyphs::Ascii), ..Layer::default() }
}

/// Reads the file that `--config` names, which must be there, or the usual one, which may be.
fn from_file(
    options: &Options,
    environment: &Environment,
    home: &Path,
) -> Result<(ConfigFile, Layer), Failure> {
    let usual = match (&options.home, &environment.config) {
        (Some(_), _) => Some(home.join(".config")),
        (None, config) => config.clone(),
    };
    let usual = usual.map(|folder| folder.join("claimtop").join("config.toml"));
    let Some(path) = options.config.clone().or(usual) else {
        return Ok((ConfigFile::Nowhere, Layer::default()));
    };
    let shown = Untrusted::from_path(&path);
    match read(&path).with_context(|| format!("failed to read the configuration {shown}")) {
        Ok(Some(text)) => {
            let layer = file::parse(&text, home).map_err(|error| {
                Failure::usage(anyhow!(error).context(format!("configuration {shown}")))
                    .hint("correct or remove that line; claimtop config then lists every setting")
            })?;
            Ok((ConfigFile::Read(path), layer))
        }
        Ok(None) if options.config.is_none() => Ok((ConfigFile::Absent(path), Layer::default())),
        Ok(None) => Err(Failure::usage(anyhow!("--config {shown}: there is no such file"))),
        Err(error) => Err(Failure::usage(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::os::pipe::make_pipe;

    fn options(folder: &tempfile::TempDir) -> Options {
        Options { home: Some(folder.path().into()), tmp: Some(folder.path().into()), ..Options::default() }
    }

    #[test]
    fn a_missing_usual_file_is_fine_and_a_missing_named_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let found = settings(&options(&folder), Environment::default()).unwrap();
        assert_eq!(found.file, ConfigFile::Absent(folder.path().join(".config/claimtop/config.toml")));
        let named = Options { config: Some("/nowhere/c.toml".into()), ..options(&folder) };
        let failure = settings(&named, Environment::default()).unwrap_err();
        assert_eq!(failure.lines(), ["claimtop: --config /nowhere/c.toml: there is no such file"]);
    }

    #[test]
    fn a_folder_and_a_fifo_are_no_configuration_and_do_not_block() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        make_pipe(&fifo).unwrap();
        for path in [folder.path(), fifo.as_path()] {
            assert!(read(path).is_err_and(|error| error.to_string() == "it is not a plain file"));
        }
    }

    #[test]
    fn a_printed_command_names_the_database_and_never_its_password() {
        for (url, expected) in [
            (
                "postgres://vera:hush@db:5432/work?sslmode=disable",
                "postgres://vera@db:5432/work?sslmode=disable",
            ),
            ("postgres://db/work?password=hush&sslmode=disable", "postgres://db/work?sslmode=disable"),
            ("postgres://vera:a@b@db/work", "postgres://vera@db/work"),
            ("hush", ""),
        ] {
            assert_eq!(without_password(url), expected);
        }
    }

    #[test]
    fn an_option_covers_the_environment() {
        let folder = tempfile::tempdir().unwrap();
        let colorless = Environment { colorless: Some("NO_COLOR"), ..Environment::default() };
        let by_environment = settings(&options(&folder), colorless.clone()).unwrap().effective;
        assert_eq!(by_environment.config.color, ColorChoice::Never);
        let asked = Options { color: Some(ColorChoice::Always), ..options(&folder) };
        let by_option = settings(&asked, colorless).unwrap().effective;
        assert_eq!((by_option.config.color, by_option.origins.color), (ColorChoice::Always, Origin::Option));
    }
}
