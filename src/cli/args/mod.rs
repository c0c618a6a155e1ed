//! The arguments: one definition for the parser, the help, the manual and the completions.

mod acting;
mod complete;
mod far;
pub(crate) mod generate;
pub(crate) mod help;
mod hooks;
mod manual;
mod options;
mod showing;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueHint};

pub(crate) use self::acting::{ActCommand, Consent, RescueArguments};
pub(crate) use self::far::{FleetCommand, WitnessCommand};
pub(crate) use self::hooks::{BindArguments, ContextArguments, GuardCommand, HookCommand, SetupArguments};
pub(crate) use self::options::{LogLevel, Options};
pub(crate) use self::showing::{
    AliveArguments, AliveSubject, DemoArguments, FormatsCommand, RecordArguments, ReplayArguments,
    ReportArguments, StatusFormat, View, WaitArguments, WaitFor,
};
use crate::cli::settings::values::{CompletionShell, NamedCommand};

/// See every coding-agent window, what it claims, and what is dead, stale or in collision - and why.
///
/// With no command, the full screen opens; if the output is not a terminal, `now` runs.
#[derive(Debug, Parser)]
#[command(name = "claimtop", version, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    /// What holds for every command.
    #[command(flatten)]
    pub(crate) options: Options,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What to do.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Command {
    /// Look once and print what is there
    Ls {
        /// Which view; by default windows with a summary
        view: Option<View>,
        /// Print the whole snapshot as JSON, whatever the view
        #[arg(long)]
        json: bool,
        /// Include each window's last prompt in the JSON
        #[arg(long, requires = "json")]
        with_prompts: bool,
    },
    /// Print what needs a person, and what each window is doing
    ///
    /// The most harmful comes first.
    Now {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print what windows have left running, and whose it was
    ///
    /// It also prints how sure that is.
    Leftovers {
        /// Ask git about the working trees that agents have made: what a removal would lose
        #[arg(long)]
        trees: bool,
        /// Measure these trees, and the folders that agents let grow
        #[arg(long, conflicts_with = "trees")]
        sizes: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print which working trees of living windows will conflict
    ///
    /// It merges what each has now, committed or not, in a place of its own; the repository is not touched. Exit code 1 if
    /// the trees of two windows do not merge, 4 if that is not known of some.
    Foresee {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what windows wrote and is gone, and bring it back
    Rescue(RescueArguments),
    /// Print the problems, worst first, each with its remedy
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Print instead what the system lets claimtop see, and which deaths it remembers
        #[arg(long = "self")]
        own: bool,
        /// Forget the remembered deaths
        #[arg(long, requires = "own")]
        drop_tombstones: bool,
    },
    /// Print the evidence for a window, record, claim or left-over
    Explain {
        /// Any name on the screen: a key or its start, a window's name, a session or context ID, a
        /// work item, a PID, a path
        #[arg(value_name = "NAME", value_hint = ValueHint::Username)]
        subject: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Answer whether a process, session, pane or lock is alive
    ///
    /// Exit code 0 alive, 1 dead, 2 unknown, 64 usage; dead only with its proof.
    Alive(AliveArguments),
    /// Wait until a window or a claim is in some state
    ///
    /// Exit code 0 when it is so, 1 when the time is over or it can no longer become so. It waits for events and
    /// costs nothing meanwhile.
    Wait(WaitArguments),
    /// Print the context ID of the calling process
    ContextId(ContextArguments),
    /// Record which process runs a session; for hooks
    ///
    /// It reads the hook's JSON from standard input and never fails.
    Bind(BindArguments),
    /// Add claimtop's hooks to the settings of your agents
    ///
    /// It shows what would change in which file, asks, and can be undone. Other settings stay as they are, to the byte.
    Setup(SetupArguments),
    /// Print or check the hooks for an agent's settings
    ///
    /// They report which process runs a session and what waits, and ask the guard.
    Hook {
        /// What to do
        #[command(subcommand)]
        what: HookCommand,
    },
    /// Warn an agent of what others have not committed; for hooks
    ///
    /// It reads the hook's JSON from standard input and never fails.
    #[command(args_conflicts_with_subcommands = true)]
    Guard {
        /// Whose hook it is
        #[arg(long = "for", value_name = "AGENT", required = true)]
        #[arg(value_parser = ["claude", "claude-code", "codex", "gemini", "qwen", "copilot", "opencode"])]
        asker: Option<String>,
        /// What else to do
        #[command(subcommand)]
        what: Option<GuardCommand>,
    },
    /// Keep guarded windows off files or folders
    ///
    /// They are held for the window, or the shell, that runs this.
    Hold {
        /// Files or folders
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// Release them; this also happens when the window ends
        #[arg(long)]
        release: bool,
    },
    /// Print what makes git report its commands
    ///
    /// Then it is certain which command removed edits. Nothing is changed.
    GitEvents {
        /// Print how it is removed again
        #[arg(long)]
        remove: bool,
    },
    /// Print each change as it happens, until interrupted
    Events {
        /// Only events about this: any name on the screen
        #[arg(value_name = "NAME", value_hint = ValueHint::Username)]
        about: Option<String>,
        /// Print a JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// What changes something.
    #[command(flatten)]
    Act(ActCommand),
    /// Print what was done, and whether it can be undone
    ///
    /// With --on it also asks that machine what has become of earlier requests.
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
    /// Count how often the dead held claims, and for how long
    ///
    /// It also counts what was done about it.
    Stats {
        /// How many days back
        #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u16).range(1..=3650))]
        days: u16,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a made-up world with every kind of collision
    ///
    /// It is gone on exit.
    Demo(DemoArguments),
    /// Record what is seen, until interrupted
    Record(RecordArguments),
    /// Show a recording on the same screens
    ///
    /// The verdicts are the same; nothing can be done in it.
    Replay(ReplayArguments),
    /// Print the story of each problem, or write a page with a map
    ///
    /// The timeline of what happened is in both.
    Report(ReportArguments),
    /// Print one line for a status bar
    ///
    /// It counts windows, collisions and dead claims; with Claude Code's JSON on standard input, its own window
    /// comes first.
    Statusline {
        /// For which program
        #[arg(long, value_enum, default_value_t = StatusFormat::Text)]
        format: StatusFormat,
    },
    /// Answer agents that ask, over standard input and output
    ///
    /// It speaks the Model Context Protocol: who works where, whether a file may be edited, why something is alive or
    /// dead. It changes nothing but the holds of the window that runs it.
    Mcp {
        /// Print how agents start it and what they should know; nothing is edited
        #[arg(long)]
        print: bool,
    },
    /// Print the other machines, and whether each is reached
    Machines {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// From now on, accept the machine reached by this name as the right one
        #[arg(long, value_name = "MACHINE", conflicts_with = "json")]
        accept: Option<String>,
    },
    /// Prepare a database for machines that ssh cannot reach
    Fleet {
        /// What is done to it
        #[command(subcommand)]
        what: FleetCommand,
    },
    /// Publish this machine in the database of --fleet
    ///
    /// It does so until interrupted, without prompts and with relative paths.
    #[command(args_conflicts_with_subcommands = true)]
    Witness {
        /// Print what would be published instead
        #[arg(long)]
        dry_run: bool,
        /// What else to do
        #[command(subcommand)]
        what: Option<WitnessCommand>,
    },
    /// Report this machine to another claimtop
    ///
    /// It does so line by line on standard output; the other one runs this over ssh.
    Stream {
        /// Take no orders, which is the default
        #[arg(long, conflicts_with = "operate")]
        observe: bool,
        /// Take orders as well: what it confirms is planned, verified and journalled here
        #[arg(long)]
        operate: bool,
    },
    /// Check a format of your own, described in TOML
    ///
    /// A description says where records are and how to read them.
    Formats {
        /// What about them
        #[command(subcommand)]
        command: FormatsCommand,
    },
    /// Print every setting and path in use, and its origin
    ///
    /// It also prints what can be watched.
    Config,
    /// Print completions for a shell
    Completions {
        /// The shell
        #[arg(required_unless_present = "names")]
        shell: Option<CompletionShell>,
        /// Print instead the names that this command takes now, for the completions
        #[arg(long, value_name = "COMMAND", conflicts_with = "shell")]
        names: Option<NamedCommand>,
    },
    /// Print the manual page
    Man,
    /// Print help: of a command, `commands` or `options`
    Help {
        /// A command, with its own if it has any; `commands` lists them all, `options` has those of every command
        #[arg(value_name = "COMMAND")]
        topic: Vec<String>,
    },
}

impl Command {
    /// Returns whether it asks other machines in any case: what is here may be held on one of them.
    pub(crate) fn needs_others(&self) -> bool {
        matches!(self, Self::Act(_) | Self::Machines { .. })
    }

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
                | Self::Statusline { .. }
                | Self::Report(ReportArguments { from: None, redact: false, .. })
        )
    }
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
