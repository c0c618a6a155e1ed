//! The arguments: one definition for the parser, the help, the manual and the completions.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use jiff::Timestamp;

use super::hook::Agent;
use super::values::CompletionShell;
use crate::config::{ColorChoice, Theme};

/// See every coding-agent window, what it claims, and what is dead, stale or in collision - and why.
///
/// Without a command the full screen opens; when the output is no terminal, `ls` is printed.
#[derive(Debug, Parser)]
#[command(name = "claimtop", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = EXITS)]
pub(crate) struct Arguments {
    /// What holds for every command.
    #[command(flatten)]
    pub(crate) options: Options,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The exit codes, for help and manual.
const EXITS: &str = "Exit codes: 0 fine, 1 problems found (doctor), 2 usage, 3 refused, \
                     4 a source or the disk failed, 70 a bug.";

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
    /// Keep what is claimtop's own in this folder: journal, parked files, history, last view
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
    /// Look in this repository or folder too; may be repeated
    #[arg(long = "root", global = true, value_name = "DIR")]
    pub(crate) roots: Vec<PathBuf>,
    /// Read this SQLite database of Obra too; may be repeated
    #[arg(long = "obra-db", global = true, value_name = "FILE")]
    pub(crate) obra_databases: Vec<PathBuf>,
    /// Read LEO's database; leave the password to PGPASSWORD or a password file
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) postgres: Option<String>,
    /// Watch this machine too, or act on it: a name of the configuration, a host of ssh, docker:NAME, kubectl:POD; may be repeated
    #[arg(long = "on", global = true, value_name = "MACHINE")]
    pub(crate) machines: Vec<String>,
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
    /// What was missed too
    Warn,
    /// And every action
    Info,
    /// And every look
    Debug,
}

/// What to do.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Command {
    /// Look once and print what is there
    Ls {
        /// Which view; windows with a summary when left out
        view: Option<View>,
        /// Print the whole snapshot as JSON, whatever the view
        #[arg(long)]
        json: bool,
        /// Include in the JSON what each window was asked last
        #[arg(long, requires = "json")]
        with_prompts: bool,
    },
    /// Print what needs a person, the most harmful first, and what each window is doing
    Now {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print what windows have left running, whose it was and how sure that is
    Leftovers {
        /// Ask git about the working trees that agents have made: what a removal would lose
        #[arg(long)]
        trees: bool,
        /// Count how much lies in these trees, and in the folders that agents let grow
        #[arg(long, conflicts_with = "trees")]
        sizes: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the problems only, worst first, each with its remedy
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Print instead what the system lets claimtop see, and which deaths it remembers
        #[arg(long = "self")]
        own: bool,
        /// Forget the deaths that are remembered
        #[arg(long, requires = "own")]
        drop_tombstones: bool,
    },
    /// Print the evidence for one window, record, claim or left-over
    Explain {
        /// Any name on the screen: a key or its start, a window's name, a session or context ID, a
        /// work item, a PID, a path
        #[arg(value_name = "NAME")]
        subject: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the context ID of the calling process, for hooks and scripts
    ContextId(ContextArguments),
    /// Note down which process runs a session, for hooks: reads the hook's JSON, never fails
    Bind(BindArguments),
    /// Print or check the hooks for an agent's settings: who runs a session, what waits, the guard
    Hook {
        /// What to do
        #[command(subcommand)]
        what: HookCommand,
    },
    /// Warn an agent of what other windows have not committed, for hooks: reads the hook's JSON, never fails
    #[command(args_conflicts_with_subcommands = true)]
    Guard {
        /// Whose hook it is
        #[arg(long = "for", value_name = "AGENT", required = true)]
        #[arg(value_parser = ["claude", "codex", "gemini", "qwen", "copilot", "opencode"])]
        asker: Option<String>,
        /// What else to do
        #[command(subcommand)]
        what: Option<GuardCommand>,
    },
    /// Hold files or folders for the window, or the shell, that runs this: guarded windows are kept off them
    Hold {
        /// Files or folders
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// Let them go again; they also go when the window ends
        #[arg(long)]
        release: bool,
    },
    /// Print each change as it happens, until interrupted
    Events {
        /// Only what is about this: any name on the screen
        #[arg(value_name = "NAME")]
        about: Option<String>,
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// What changes something.
    #[command(flatten)]
    Act(ActCommand),
    /// Print what was done, when, why, and whether it can be undone; with --on also ask that machine what has
    /// become of what it was asked
    Journal {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Remove for good what is parked past its retention; it is shown first
        #[arg(long)]
        prune: bool,
        /// Do it without asking
        #[arg(long, requires = "prune")]
        yes: bool,
    },
    /// Show a made-up world with every kind of collision; it is gone on exit
    Demo(DemoArguments),
    /// Record what is seen, look by look, until interrupted
    Record(RecordArguments),
    /// Show a recording on the same screens, with the same verdicts; nothing can be done in it
    Replay(ReplayArguments),
    /// Print the story of each problem and the timeline, or write them into a page with a map
    Report(ReportArguments),
    /// Print one line for a status bar: windows, collisions, dead claims; with Claude Code's JSON on
    /// standard input, its own window first
    Statusline,
    /// Print the other machines, and whether each is reached
    Machines {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Take whoever is reached by this name from now on for the right machine
        #[arg(long, value_name = "MACHINE", conflicts_with = "json")]
        accept: Option<String>,
    },
    /// Prepare a database in which machines meet that ssh does not reach
    Fleet {
        /// What is done to it
        #[command(subcommand)]
        what: FleetCommand,
    },
    /// Publish this machine in the database of --fleet, until interrupted; no prompts, paths without where they lie
    #[command(args_conflicts_with_subcommands = true)]
    Witness {
        /// Print what would be published instead
        #[arg(long)]
        dry_run: bool,
        /// What else to do
        #[command(subcommand)]
        what: Option<WitnessCommand>,
    },
    /// Tell another claimtop of this machine, line by line, on the standard output: it runs this over ssh
    Stream {
        /// Take no orders, which is also so without this
        #[arg(long, conflicts_with = "operate")]
        observe: bool,
        /// Take orders as well: what it confirms is planned, verified and journalled here
        #[arg(long)]
        operate: bool,
    },
    /// Formats of your own: where records are and how to read them, described in TOML
    Formats {
        /// What about them
        #[command(subcommand)]
        command: FormatsCommand,
    },
    /// Print every setting with where it came from, every path in use, and what can be watched
    Config,
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: CompletionShell,
    },
    /// Print the manual page
    Man,
}

impl Command {
    /// Returns whether it also looks at other machines, or acts on one, where they are named.
    pub(crate) fn is_for_others(&self) -> bool {
        matches!(
            self,
            Self::Act(_)
                | Self::Journal { prune: false, .. }
                | Self::Ls { .. }
                | Self::Now { .. }
                | Self::Doctor { own: false, .. }
                | Self::Explain { .. }
                | Self::Leftovers { trees: false, sizes: false, .. }
                | Self::Machines { .. }
                | Self::Events { .. }
                | Self::Statusline
                | Self::Report(ReportArguments { from: None, redact: false, .. })
        )
    }
}

/// What a witness is asked for beside publishing.
#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum WitnessCommand {
    /// Print a systemd unit of yours that publishes this machine
    Unit,
}

/// What is done to the fleet's database.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Print the SQL that it needs: a schema, three roles, functions
    Init {
        /// The database, as postgres://user@host:5432/database; leave the password to PGPASSWORD or a password file
        #[arg(value_name = "URL")]
        url: String,
        /// Run it there, in one transaction
        #[arg(long)]
        apply: bool,
    },
    /// Print the SQL that takes it back, with all that machines have told
    Drop {
        /// The database
        #[arg(value_name = "URL")]
        url: String,
        /// Run it there, in one transaction
        #[arg(long)]
        apply: bool,
    },
    /// Say that a host does not come back: kept as your word and shown as that; it proves nothing, and ends when it beats
    DeclareLost {
        /// The host in the database of --fleet, by its name or ID
        #[arg(value_name = "HOST")]
        host: String,
        /// Its name, typed
        #[arg(long, value_name = "NAME")]
        confirm: Option<String>,
    },
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

/// What changes something, and shows a plan first.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum ActCommand {
    /// Let a claim go, or end a dead record; the plan is shown first
    Release {
        /// Any name on the screen, KEY@MACHINE on another one; of a window that has ended, all that it has left
        #[arg(value_name = "NAME")]
        subject: String,
        /// How it is confirmed
        #[command(flatten)]
        consent: Consent,
    },
    /// Move legacy records to their current form
    Migrate {
        /// Keys or paths of legacy records
        #[arg(value_name = "KEY", required_unless_present = "all", conflicts_with = "all")]
        subjects: Vec<String>,
        /// All that have a window of their own
        #[arg(long)]
        all: bool,
        /// How it is confirmed
        #[command(flatten)]
        consent: Consent,
    },
    /// Park every record that is provably dead and past its own system's limit
    Clean {
        /// How it is confirmed
        #[command(flatten)]
        consent: Consent,
    },
    /// Park a file, also one that its own system cannot read
    Park {
        /// Any name on the screen, or a path; of a window that has ended, all that it has left
        #[arg(value_name = "NAME")]
        subject: String,
        /// How it is confirmed
        #[command(flatten)]
        consent: Consent,
    },
    /// End a process that a window has left running, or a window, with all that runs below it; it cannot be
    /// undone, so the code or the full name in the plan is always asked for
    Stop {
        /// A key or a PID; of a window also its name
        #[arg(value_name = "NAME")]
        subject: String,
        /// How it is confirmed
        #[command(flatten)]
        consent: Consent,
    },
    /// Undo an entry of the journal: the newest that can be undone when left out
    Undo {
        /// Its number; that of another machine's journal as NUMBER@MACHINE
        entry: Option<String>,
        /// Restore under another name if another file has taken its place
        #[arg(long)]
        beside: bool,
        /// How it is confirmed
        #[command(flatten)]
        consent: Consent,
    },
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
    /// Play how the guard keeps two windows out of each other's way, and print it
    #[arg(long, conflicts_with_all = ["once", "json", "record", "frames"])]
    pub(crate) guard: bool,
    /// Show so many other machines beside this one, up to three
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
    /// Write a page that needs nothing else into this new file; - is the standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Report the last look of this recording instead of looking
    #[arg(long, value_name = "RECORDING")]
    pub(crate) from: Option<PathBuf>,
    /// Include what each window was asked last, which is otherwise left out
    #[arg(long, conflicts_with_all = ["from", "redact"])]
    pub(crate) with_prompts: bool,
    /// Replace names, paths and texts by made-up ones, and leave out what was seen and done before
    #[arg(long, conflicts_with = "from")]
    pub(crate) redact: bool,
}

/// How an action is confirmed.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Consent {
    /// Only show the plan
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Yes wherever nothing has to be typed: to all whose holder is provably dead
    #[arg(long)]
    pub(crate) yes: bool,
    /// The code or the full name that the plan asks for
    #[arg(long, value_name = "TEXT")]
    pub(crate) confirm: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `record`.
#[derive(Args, Clone, Debug)]
pub(crate) struct RecordArguments {
    /// The recording: a file that is not there yet
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Replace paths, prompts, names, IDs and addresses, each by the same everywhere; what is
    /// replaced and what is kept is listed, and asked for, before it is written
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
    /// Copy this recording instead of looking, as a rule with --redact
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

/// The arguments of `context-id`.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContextArguments {
    /// Ask for this process instead of the calling one
    #[arg(long, value_name = "N")]
    pub(crate) pid: Option<u32>,
    /// Print JSON with the chain of parents
    #[arg(long)]
    pub(crate) json: bool,
    /// Refuse (exit 3) instead of falling back to an ID that the next call will not find again
    #[arg(long)]
    pub(crate) strict: bool,
}

/// The arguments of `bind`.
#[derive(Args, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BindArguments {
    /// Say on standard error why nothing was bound
    #[arg(long)]
    pub(crate) verbose: bool,
}

/// What a guard is asked by people and scripts.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum GuardCommand {
    /// Say which living window has uncommitted edits of these files; exit code 1 if one has
    Check {
        /// Files or folders
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
    },
    /// Replay recorded calls in a recorded world; exit code 1 if an answer is wrong
    Replay {
        /// The recording
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Print one JSON object a call
        #[arg(long)]
        json: bool,
    },
    /// Count what it has said so far, and how long that took
    Stats {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// What is done about hooks.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum HookCommand {
    /// Print the settings; nothing is edited
    Print {
        /// Which agent; all that have hooks when left out
        agent: Option<Agent>,
        /// Say how to take them out again
        #[arg(long, conflicts_with = "agent")]
        remove: bool,
    },
    /// Show for each agent which hooks it has, and whether they can run
    Check,
}

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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn global_options_may_stand_anywhere() {
        let before = Arguments::try_parse_from(["claimtop", "--home", "/h", "ls", "--json"]).unwrap();
        let after = Arguments::try_parse_from(["claimtop", "ls", "--json", "--home", "/h"]).unwrap();
        for arguments in [before, after] {
            assert_eq!(arguments.options.home, Some("/h".into()));
            assert!(matches!(
                arguments.command,
                Some(Command::Ls { view: None, json: true, with_prompts: false })
            ));
        }
    }
}
