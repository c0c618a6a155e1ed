//! The options that hold for every command.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::config::{ColorChoice, Theme};

/// The heading of what only those need who use one of these systems.
const OF_SYSTEMS: &str = "If you use Obra or LEO";

/// What holds for every command.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Options everywhere")]
pub(crate) struct Options {
    /// Look below this folder instead of your home
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Look in this folder instead of /tmp
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) tmp: Option<PathBuf>,
    /// Keep claimtop's own data in this folder: journal, parked files, history, last view
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
    /// Look in this repository or folder too, besides the one that claimtop runs in; may be repeated
    #[arg(long = "root", global = true, value_name = "DIR")]
    pub(crate) roots: Vec<PathBuf>,
    /// Read this SQLite database of Obra too; may be repeated
    #[arg(long = "obra-db", global = true, value_name = "FILE", help_heading = OF_SYSTEMS)]
    pub(crate) obra_databases: Vec<PathBuf>,
    /// Read LEO's database; leave the password to PGPASSWORD or a password file
    #[arg(long, global = true, value_name = "URL", help_heading = OF_SYSTEMS)]
    pub(crate) postgres: Option<String>,
    /// Look at this machine instead of the configured ones, or act on it: a configured name, a host of
    /// the fleet, ssh:HOST, docker:NAME, kubectl:POD, all; may be repeated
    #[arg(long = "on", global = true, value_name = "MACHINE")]
    pub(crate) machines: Vec<String>,
    /// Look at this machine alone, not at the configured machines and fleet
    #[arg(long, global = true, conflicts_with_all = ["machines", "fleet"])]
    pub(crate) here: bool,
    /// Meet other machines in this PostgreSQL database; leave the password to PGPASSWORD or a password file
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) fleet: Option<String>,
    /// Read this configuration file
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Refuse every action
    #[arg(long, global = true)]
    pub(crate) read_only: bool,
    /// Draw with ASCII characters only
    #[arg(long, global = true)]
    pub(crate) ascii: bool,
    /// Use colours
    #[arg(long, global = true, value_name = "WHEN")]
    pub(crate) color: Option<ColorChoice>,
    /// Keep a log in the state folder, down to this level
    #[arg(long, global = true, value_name = "LEVEL")]
    pub(crate) log_level: Option<LogLevel>,
    /// Colours of the screen
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) theme: Option<Theme>,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// Nothing
    Off,
    /// What failed
    Error,
    /// And what was missed
    Warn,
    /// And every action
    Info,
    /// And every look
    Debug,
}
