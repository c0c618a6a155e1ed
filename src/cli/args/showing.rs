//! What is shown, recorded and told.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use jiff::Timestamp;
use serde::Serialize;

use crate::core::judge::liveness::by_number::ProcessQuery;

/// A view of `ls`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum View {
    /// Running agents
    Windows,
    /// Session records
    Sessions,
    /// What is held
    Claims,
    /// What is wrong
    Problems,
    /// What windows have left running
    Leftovers,
}

/// How `statusline` is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatusFormat {
    /// One line
    Text,
    /// JSON for a custom module of waybar
    Waybar,
    /// A plugin of SwiftBar or xbar
    Swiftbar,
    /// Gauges for node_exporter's textfile collector
    Prometheus,
}

/// What about formats of your own.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum FormatsCommand {
    /// Check a description, try it on the files that it names, and show what it reads
    Check {
        /// The description
        file: PathBuf,
    },
}

/// The arguments of `alive`.
#[derive(Args, Clone, Debug)]
pub(crate) struct AliveArguments {
    /// What it is about.
    #[command(flatten)]
    pub(crate) subject: AliveSubject,
    /// The PID namespace in which the PID was recorded: the inode of /proc/self/ns/pid there
    #[arg(long, value_name = "INODE", conflicts_with_all = ["session", "pane"])]
    pub(crate) pid_namespace: Option<u64>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `wait`.
#[derive(Args, Clone, Debug)]
pub(crate) struct WaitArguments {
    /// Any name on the screen: of a window, a record or a claim
    #[arg(value_name = "NAME", value_hint = ValueHint::Username)]
    pub(crate) subject: String,
    /// What it waits for
    #[arg(long, value_name = "STATE")]
    pub(crate) until: WaitFor,
    /// Give up after so many seconds, with exit code 1
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<u64>,
    /// Print how it ended as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `wait` waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WaitFor {
    /// The holder is proven dead
    Dead,
    /// The window has ended its turn
    YourTurn,
    /// No living process can hold the claim
    Free,
    /// The window asks a person
    Waits,
}

/// What `alive` is about.
#[derive(Args, Clone, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct AliveSubject {
    /// A process: its PID and, if it was recorded, its start in clock ticks since the boot, or in RFC 3339
    #[arg(value_name = "PID[@START]")]
    pub(crate) process: Option<ProcessQuery>,
    /// A session of any agent, by its whole ID
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) session: Option<String>,
    /// The agent in a pane of tmux, such as %3
    #[arg(long, value_name = "PANE", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) pane: Option<String>,
    /// The holder of a record, a lock or a PID file
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<PathBuf>,
}

/// How the demo is shown.
#[derive(Args, Clone, Debug)]
pub(crate) struct DemoArguments {
    /// Print it once instead of opening the full screen
    #[arg(long)]
    pub(crate) once: bool,
    /// Print it once as JSON
    #[arg(long, requires = "once")]
    pub(crate) json: bool,
    /// Act out how the guard keeps two windows apart, and print it
    #[arg(long, conflicts_with_all = ["once", "json", "record", "frames"])]
    pub(crate) guard: bool,
    /// Show this many other machines too, up to three
    #[arg(long = "machines", value_name = "NUMBER", conflicts_with_all = ["guard", "record", "frames"],
          value_parser = clap::value_parser!(u8).range(1..=3))]
    pub(crate) machine_count: Option<u8>,
    /// Record it into a new file
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Print the frames after three looks and these keys
    #[arg(long, value_name = "KEYS", requires = "once", hide = true)]
    pub(crate) frames: Option<String>,
}

/// What a report is made of.
#[derive(Args, Clone, Debug)]
pub(crate) struct ReportArguments {
    /// Write a self-contained page to this new file; - is the standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Report the last look of this recording instead of looking
    #[arg(long, value_name = "RECORDING")]
    pub(crate) from: Option<PathBuf>,
    /// Include each window's last prompt, which is otherwise left out
    #[arg(long, conflicts_with_all = ["from", "redact"])]
    pub(crate) with_prompts: bool,
    /// Replace names, paths and texts with made-up ones, and leave out what happened before
    #[arg(long, conflicts_with = "from")]
    pub(crate) redact: bool,
}

/// The arguments of `record`.
#[derive(Args, Clone, Debug)]
pub(crate) struct RecordArguments {
    /// The recording: a new file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Replace paths, prompts, names, IDs and addresses, each consistently; what is
    /// replaced and what is kept is listed, and confirmed, before it is written
    #[arg(long)]
    pub(crate) redact: bool,
    /// Write it redacted without asking
    #[arg(long, requires = "redact")]
    pub(crate) yes: bool,
    /// Take one look only
    #[arg(long)]
    pub(crate) once: bool,
    /// Stop when the file would grow beyond this many MiB; more than 64 cannot be replayed
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) limit_mb: u16,
    /// Copy this recording instead of looking, usually with --redact
    #[arg(long, value_name = "RECORDING", conflicts_with = "once")]
    pub(crate) from: Option<PathBuf>,
}

/// The arguments of `replay`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ReplayArguments {
    /// The recording
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Begin with the last look at or before this time, such as 2026-11-20T10:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<Timestamp>,
    /// Print that look once instead of opening the full screen
    #[arg(long)]
    pub(crate) once: bool,
    /// Print it once as JSON
    #[arg(long, requires = "once")]
    pub(crate) json: bool,
    /// Print the frames of all looks after these keys
    #[arg(long, value_name = "KEYS", hide = true)]
    pub(crate) frames: Option<String>,
}
