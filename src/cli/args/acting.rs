//! What changes something, and how it is confirmed.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

/// What changes something, and shows a plan first.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum ActCommand {
    /// Release a claim, or end a dead record
    ///
    /// The plan is shown first.
    Release {
        /// Any name on the screen, KEY@MACHINE on another machine; for an ended window, all that it left
        #[arg(value_name = "NAME", value_hint = ValueHint::Username)]
        subject: String,
        /// How it is confirmed
        #[command(flatten)]
        consent: Consent,
    },
    /// Move legacy records to their current form
    Migrate {
        /// Keys or paths of legacy records
        #[arg(value_name = "KEY", required_unless_present = "all", conflicts_with = "all")]
        #[arg(value_hint = ValueHint::Username)]
        subjects: Vec<String>,
        /// All that have a window of their own
        #[arg(long)]
        all: bool,
        /// How it is confirmed
        #[command(flatten)]
        consent: Consent,
    },
    /// Park every record that is provably dead and past its limit
    ///
    /// The limit is that of its own system.
    Clean {
        /// Take what is past its own system's limit and has no known holder, as one plan with one code
        #[arg(long)]
        expired: bool,
        /// How it is confirmed
        #[command(flatten)]
        consent: Consent,
    },
    /// Park a file, even one that its own system cannot read
    Park {
        /// Any name on the screen, or a path; for an ended window, all that it left
        #[arg(value_name = "NAME", value_hint = ValueHint::Username)]
        subject: String,
        /// How it is confirmed
        #[command(flatten)]
        consent: Consent,
    },
    /// End a left-over process or a window, with all below it
    ///
    /// It cannot be undone, so the plan always asks for its code or full name.
    Stop {
        /// A key or PID; for a window, also its name
        #[arg(value_name = "NAME", value_hint = ValueHint::Username)]
        subject: String,
        /// How it is confirmed
        #[command(flatten)]
        consent: Consent,
    },
    /// Bring back windows that have died
    ///
    /// Without a name it lists the windows that have died without being closed. Those that are named are brought back by
    /// their agents' own commands, in new windows of the tmux or zellij that this runs in.
    BringBack {
        /// A name, a session or its start, a key, or a folder
        #[arg(value_name = "NAME", conflicts_with = "all", value_hint = ValueHint::Username)]
        subjects: Vec<String>,
        /// All that can be brought back
        #[arg(long)]
        all: bool,
        /// How it is confirmed
        #[command(flatten)]
        consent: Consent,
    },
    /// Undo a journal entry; by default the newest
    ///
    /// The newest is that of those which can be undone.
    Undo {
        /// Its number, or NUMBER@MACHINE in another machine's journal
        #[arg(value_hint = ValueHint::Username)]
        entry: Option<String>,
        /// Restore under another name if another file has taken its place
        #[arg(long)]
        beside: bool,
        /// How it is confirmed
        #[command(flatten)]
        consent: Consent,
    },
}

/// How an action is confirmed.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Consent {
    /// Only show the plan
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Answer yes to each plan that needs only that; a plan that needs typed text is not done
    #[arg(long)]
    pub(crate) yes: bool,
    /// The code or the full name that the plan asks for
    #[arg(long, value_name = "TEXT")]
    pub(crate) confirm: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which versions are brought back, and how.
#[derive(Args, Clone, Debug)]
pub(crate) struct RescueArguments {
    /// Files, sessions or windows; without them, everything that is gone
    #[arg(value_name = "WINDOW|SESSION|PATH", value_hint = ValueHint::Username)]
    pub(crate) subjects: Vec<String>,
    /// Write the newest version of each file below this folder; nothing is overwritten
    #[arg(long, value_name = "DIR")]
    pub(crate) to: Option<PathBuf>,
    /// Write the newest version of the one file to the standard output
    #[arg(long, conflicts_with_all = ["to", "json"])]
    pub(crate) print: bool,
    /// Show how each version differs from the file as it is now
    #[arg(long, conflicts_with_all = ["to", "print", "json"])]
    pub(crate) diff: bool,
    /// Write the newest version of each file beside it, under a name of its own
    #[arg(long, conflicts_with_all = ["to", "print", "diff"])]
    pub(crate) beside: bool,
    /// Merge it into the file that is there now; the plan shows the result
    #[arg(long, conflicts_with_all = ["beside", "to", "print", "diff"])]
    pub(crate) merge: bool,
    /// How bringing back is confirmed
    #[command(flatten)]
    pub(crate) consent: Consent,
}
