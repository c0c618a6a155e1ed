//! Where to look: from the options where they say so, else from the environment.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use rustix::fs::stat;
use rustix::process::geteuid;

use super::config_file::ConfigFile;
use super::environment::Environment;
use crate::cli::args::Options;
use crate::cli::output::failure::Failure;
use crate::config::layers::{Effective, Origin};
use crate::core::model::{Secret, Untrusted};
use crate::source::database::postgres::{ConnectionDefaults, Target};
use crate::source::database::sqlite::copies::COPIES;
use crate::source::places::Places;
use crate::source::repos::locate::{RepoLocation, locate};

/// Where the systems put their temporary files: they write this path literally and never ask
/// `TMPDIR`.
const TMP: &str = "/tmp";

/// Finds the home: the option, else the environment's.
///
/// # Errors
/// The option names no folder, or there is no home at all.
pub(crate) fn home(options: &Options, environment: &Environment) -> Result<PathBuf, Failure> {
    match &options.home {
        Some(home) => folder("--home", home),
        None => environment.home.clone().ok_or_else(|| {
            Failure::usage(anyhow!("there is no home folder to look in")).hint("set HOME, or give --home DIR")
        }),
    }
}

/// Returns every place to look in. With `--home` the folders of all systems are below it,
/// whatever the environment says; with `--home` and `--tmp` nothing else is read.
///
/// # Errors
/// An option names no folder, or there is no home at all.
pub(crate) fn places(
    options: &Options,
    environment: &Environment,
    effective: &Effective,
    file: &ConfigFile,
) -> Result<Places, Failure> {
    let home = home(options, environment)?;
    let own = |name: &str, given: &Option<PathBuf>| match (&options.home, given) {
        (None, Some(given)) => given.clone(),
        (Some(_), _) | (None, None) => home.join(name),
    };
    let tmp = options.tmp.as_deref().map_or_else(|| Ok(TMP.into()), |tmp| folder("--tmp", tmp))?;
    let confined = is_confined(options);
    let places = Places {
        tmp,
        claude_config: own(".claude", &environment.claude_config),
        cache: own(".cache", &environment.cache),
        bindings: state(options, environment, &home).join("bindings"),
        copies: state(options, environment, &home).join(COPIES),
        roots: roots(effective, confined)?,
        obra_databases: obra_databases(effective, confined)?,
        leo_database: leo_database(effective, environment, file, &home, confined)?,
        programs: if confined { Vec::new() } else { environment.programs.clone() },
        home,
        confined,
        follows_homes: options.home.is_none(),
        here: None,
    };
    Ok(Places { here: working_repository(environment, &places), ..places })
}

/// Returns the repository that claimtop runs in, by its main working tree where it has one. None that is another user's,
/// as git uses none of those (git-config(1), `safe.directory`); none that the whole home lies in, as of dot files: every
/// folder of a person would be in it; and none beyond the folders that are the only ones to be read.
fn working_repository(environment: &Environment, places: &Places) -> Option<PathBuf> {
    let fence = places.fence();
    let RepoLocation { common_dir, main } = locate(environment.folder.as_deref()?, &fence)?;
    let is_own = |path: &PathBuf| stat(path).is_ok_and(|found| found.st_uid == geteuid().as_raw());
    let is_safe = is_own(&common_dir) && main.as_ref().is_none_or(is_own);
    let top = main.unwrap_or(common_dir);
    (is_safe && !fence.resolve(&places.home).starts_with(&top)).then_some(top)
}

/// Where root keeps what is its own about the homes of others (hier(7)).
const OF_ROOT: &str = "/var/lib";

/// Returns whose a home is that root looks at, when it belongs to another user.
pub(crate) fn other_owner(home: &Path) -> Option<u32> {
    let owner = stat(home).ok()?.st_uid;
    (geteuid().is_root() && owner != 0).then_some(owner)
}

/// Returns claimtop's own folder: the journal, what is parked, what was observed, the hook notes
/// and the log. Where root looks at the home of another user, it is root's own: that user could steer
/// what is written into the home by links.
pub(crate) fn state(options: &Options, environment: &Environment, home: &Path) -> PathBuf {
    if let Some(owner) = other_owner(home) {
        return of_root(environment, owner);
    }
    if let Some(state) = &options.state {
        // What is parked is named by whole paths.
        return environment.folder.as_ref().map_or_else(|| state.clone(), |folder| folder.join(state));
    }
    let states = match (&options.home, &environment.state) {
        (None, Some(state)) => state.clone(),
        (Some(_), _) | (None, None) => home.join(".local/state"),
    };
    states.join("claimtop")
}

/// Returns root's own folder about another user's home.
fn of_root(environment: &Environment, owner: u32) -> PathBuf {
    let is_roots = |states: &&PathBuf| stat(states.as_path()).is_ok_and(|found| found.st_uid == 0);
    let states = environment.state.as_ref().filter(is_roots);
    let states = states.map_or(Path::new(OF_ROOT), PathBuf::as_path);
    states.join("claimtop").join(format!("home-of-{owner}"))
}

/// Returns whether only the folders of the options are read.
pub(crate) fn is_confined(options: &Options) -> bool {
    options.home.is_some() && options.tmp.is_some()
}

/// Returns the roots that count: confined, only those of the options. One of an option must be
/// there; one of the file may be on a disk that is not mounted today.
fn roots(effective: &Effective, confined: bool) -> Result<Vec<PathBuf>, Failure> {
    let all = effective.config.roots.iter().zip(&effective.origins.roots);
    all.filter(|(_, origin)| !confined || **origin == Origin::Option)
        .map(|(root, origin)| match origin {
            Origin::Option => folder("--root", root),
            Origin::Default | Origin::File | Origin::Environment => Ok(root.clone()),
        })
        .collect()
}

/// Returns the databases that count: confined, only those of the options.
fn obra_databases(effective: &Effective, confined: bool) -> Result<Vec<PathBuf>, Failure> {
    let all = effective.config.obra_databases.iter().zip(&effective.origins.obra_databases);
    all.filter(|(_, origin)| !confined || **origin == Origin::Option)
        .map(|(path, _)| std::path::absolute(path))
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::usage(anyhow!(error).context("--obra-db".to_owned())))
}

/// Returns LEO's database: confined, only that of the option. Its password comes from the URL, the
/// environment or a password file, in this order.
fn leo_database(
    effective: &Effective,
    environment: &Environment,
    file: &ConfigFile,
    home: &Path,
    confined: bool,
) -> Result<Option<Target>, Failure> {
    let is_meant = |_: &&Secret| !confined || effective.origins.postgres == Origin::Option;
    let Some(Secret(url)) = effective.config.postgres.as_ref().filter(is_meant) else { return Ok(None) };
    let given = given(environment, effective, home);
    let target = Target::parse(url, given);
    target.map(Some).map_err(|error| {
        let given_by = match file {
            ConfigFile::Read(path) if effective.origins.postgres == Origin::File => {
                format!("configuration {}: key `postgres`", Untrusted::from_path(path))
            }
            ConfigFile::Read(_) | ConfigFile::Absent(_) | ConfigFile::Nowhere => "--postgres".to_owned(),
        };
        Failure::usage(anyhow!(error).context(given_by))
            .hint("it looks like postgres://user@host:5432/database?sslmode=verify-full")
    })
}

/// Returns what environment and configuration add to the URL of a server.
pub(crate) fn given(environment: &Environment, effective: &Effective, home: &Path) -> ConnectionDefaults {
    ConnectionDefaults {
        password: environment.postgres_password.clone(),
        password_file: (effective.config.postgres_password_file.clone())
            .or_else(|| environment.postgres_password_file.clone())
            .or_else(|| Some(home.join(".pgpass"))),
        ssl_mode: environment.postgres_ssl_mode.clone(),
        root_cert: environment.postgres_root_cert.clone(),
    }
}

fn folder(option: &str, path: &Path) -> Result<PathBuf, Failure> {
    if !path.is_dir() {
        let shown = Untrusted::from_path(path);
        return Err(Failure::usage(anyhow!("{option} {shown}: there is no such folder")));
    }
    std::path::absolute(path).map_err(|error| Failure::usage(anyhow!(error).context(option.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> Environment {
        Environment {
            home: Some("/home/dev".into()),
            cache: Some("/fast/cache".into()),
            claude_config: Some("/etc/claude".into()),
            ..Environment::default()
        }
    }

    #[test]
    fn the_environment_says_where_without_options() {
        let places =
            places(&Options::default(), &environment(), &Effective::default(), &ConfigFile::Nowhere).unwrap();
        assert_eq!(places.home, Path::new("/home/dev"));
        assert_eq!(places.cache, Path::new("/fast/cache"));
        assert_eq!(places.claude_config, Path::new("/etc/claude"));
        assert_eq!(places.tmp, Path::new("/tmp"));
        assert!(!places.confined && places.follows_homes);
    }

    #[test]
    fn home_and_tmp_confine_and_silence_the_environment() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let options = Options { home: Some(path.into()), tmp: Some(path.into()), ..Options::default() };
        let mut effective = Effective::default();
        effective.config.roots = vec!["/srv".into()];
        effective.origins.roots = vec![Origin::File];
        let places = places(&options, &environment(), &effective, &ConfigFile::Nowhere).unwrap();
        assert_eq!(places.claude_config, path.join(".claude"));
        assert_eq!(places.cache, path.join(".cache"));
        assert_eq!(places.roots, Vec::<PathBuf>::new());
        assert!(places.confined && !places.follows_homes);
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let options = Options { tmp: Some("/nowhere/at/all".into()), ..Options::default() };
        let failure =
            places(&options, &environment(), &Effective::default(), &ConfigFile::Nowhere).unwrap_err();
        assert_eq!(failure.lines(), ["claimtop: --tmp /nowhere/at/all: there is no such folder"]);
    }
}
