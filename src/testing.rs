//! What claimtop's own tests and benches use beside the library's surface. It may change with every commit.

/// From `act`.
pub mod act {
    pub use crate::act::error::ActionError;
    pub use crate::act::execute::Receipt;
    pub use crate::act::execute::follow_up::{CompletedAction, FollowUpResult};
    pub use crate::act::executor::Executor;
    pub use crate::act::fs::disk::{Disk, Durability, FolderAccess, LockHolder, Patience, Side, Spot};
    pub use crate::act::fs::system::System;
    pub use crate::act::look::{Look, Testimony};
    pub use crate::act::orders::PendingOrder;
    pub use crate::act::preflight::preview::Preview;
    pub use crate::act::rows::postgres::Postgres;
    pub use crate::act::rows::sqlite::Sqlite;
    pub use crate::act::rows::store::Rows;
    pub use crate::act::rules::{Answer, Rules};
    pub use crate::act::state::journal_store::{Lock, StateFolder};
    pub use crate::act::stop::processes::{Agent, ProcessHandle, Processes};
    pub use crate::act::stop::system::Machine;

    /// What is carried out after an action.
    pub mod follow_up {
        pub use crate::act::execute::follow_up::carry_out;
    }

    /// What is deleted on request.
    pub mod prune {
        pub use crate::act::prune::{KeepReason, removable};
    }
}

/// From `app`.
pub mod app {
    pub use crate::app::msg::{Effect, Msg, Press};
    pub use crate::app::state::{Options, State};
    pub use crate::app::table::geometry::Size;
    pub use crate::app::update;
}

/// From `config`.
pub mod config {
    pub use crate::config::{Config, Glyphs, Theme};
}

/// From `core`.
pub mod core {
    pub use crate::core::fleet::database::outbox::{Batch, Outbox};
    pub use crate::core::fleet::database::publisher::{Call, HostId, Next, Publisher, Waiting};
    pub use crate::core::fleet::merge::identity::clone_of;
    pub use crate::core::fleet::merge::remote_machine::FarMachine;
    pub use crate::core::fleet::merge::{apply_testimony, merged as merged_machines, merged_beside};
    pub use crate::core::fleet::order::{
        Ask, Asker, Became, MOST_REQUESTS, OpenOrders, Order, OrderReceipt, OrderStep, Part, Proposal,
        ProposedPlan, RawPlans, Settle, Standing, Taker, VALID_FOR, digest_of, read_proposal,
    };
    pub use crate::core::fleet::wire::decoder::{Answer, Decoder, Message, StreamError};
    pub use crate::core::fleet::wire::encoder::Encoder;
    pub use crate::core::fleet::wire::line::{Hello, Identity, hashed};
    pub use crate::core::history::journal::{Entry, History, Outcome};
    pub use crate::core::history::movement::Movement;
    pub use crate::core::history::recording::redact::Redactor;
    pub use crate::core::judge::git::tree_of;
    pub use crate::core::judge::tombstone::descent::{SeenBelowMap, ended, to_keep};
    pub use crate::core::judge::tombstone::keeper::{Lesson, TombstoneKeeper};
    pub use crate::core::judge::window::agent::Role;
    pub use crate::core::judge::window::agent::names_itself;
    pub use crate::core::judge::window::local_start::settle;
    pub use crate::core::judge::window::windows;
    pub use crate::core::model::action::rescue::{RescueFile, RescueTarget, RescueWay};
    pub use crate::core::model::action::setup::{
        HookEntries, HookEntry, HookForm, ServerEntry, SettingsEdit, SetupWay, TextLines, TextSyntax, Wiring,
    };
    pub use crate::core::model::action::stop::Signal;
    pub use crate::core::model::action::{
        Action, Confirmation, EndResult, ErrorKind, Obstacle, Offer, Plan, Request, RestoreTo, Step,
    };
    pub use crate::core::model::report::place::VARIABLES;
    pub use crate::core::model::snapshot::descent::{MAX_OF_WINDOW, merged as merged_descents};
    pub use crate::core::model::snapshot::file::MAX_BYTES;
    pub use crate::core::model::snapshot::home::{HomeFolder, HomePart};
    pub use crate::core::model::snapshot::host::{INITIAL_PID_NAMESPACE, INITIAL_TIME_NAMESPACE};
    pub use crate::core::model::snapshot::note::SCHEMA as NOTE_SCHEMA;
    pub use crate::core::model::snapshot::process::has_exited;
    pub use crate::core::model::snapshot::tombstone::merged;
    pub use crate::core::model::text::secret::{Secret, hidden, hide_in_arguments};
    pub use crate::core::model::text::{is_forbidden, is_uuid};
    pub use crate::core::plan::about::plan_for;
    pub use crate::core::plan::bring_back::{ClosedWindow, closed_windows};
    pub use crate::core::plan::find::{Meaning, Subject, find};
    pub use crate::core::plan::full_name;
    pub use crate::core::plan::left::{left_by, plan_left};

    /// Returns the commands that the guard reads in a shell line which runs in a folder, each with its folder if that is
    /// known and its words; `None` for a word of which only the shell knows a part.
    pub fn shell_commands(
        line: &str,
        folder: &str,
        home: &str,
    ) -> Vec<(Option<String>, Vec<Option<String>>)> {
        use crate::core::guard::shell::token::is_known;
        use crate::core::guard::shell::{ShellContext, commands};
        let place = ShellContext { folder, home: Some(home), top_of: &|_| None };
        let words =
            |words: Vec<String>| words.into_iter().map(|word| is_known(&word).then_some(word)).collect();
        let read = commands(line, &place).into_iter();
        read.map(|one| (one.folder.map(|folder| folder.to_string()), words(one.words))).collect()
    }

    /// Programs that act as agents.
    pub mod stand_in {
        pub use crate::core::judge::window::stand_in::mark;
    }
}

/// From `format`.
pub mod format {
    use crate::core::model::{BoundSession, GitCommand, NotedWait};
    use crate::format::git::events;
    use crate::format::hook::{HookReport, report};
    pub use crate::format::reading::cells::Cells;
    use crate::format::reading::json;
    pub use crate::format::{Base, FileContents, FileKind, Reading, Source, doing, kind_at, places, read};

    /// Returns what `bind` notes of a hook that says that its session waits.
    pub fn noted_wait(by: BoundSession, hook: &[u8]) -> Option<NotedWait> {
        match report(&json::parse(hook).ok()?) {
            HookReport::Waits(waiting, agent) => Some(NotedWait::new(by, waiting, agent)),
            HookReport::Over(_) | HookReport::Starts | HookReport::Runs | HookReport::Nothing => None,
        }
    }

    /// Returns the git command that a file of git's own events is about, if it can change anything.
    pub fn git_command(name: &str, bytes: &[u8]) -> Option<GitCommand> {
        events::read(name, bytes).command
    }

    /// Agent Mail.
    pub mod agent_mail {
        pub use crate::format::agent_mail::{is_copied, rows};
    }

    /// Beads.
    pub mod beads {
        pub use crate::format::beads::{TABLE, rows};
    }

    /// LEO's database.
    pub mod database {
        pub use crate::format::leo::database::{
            DIRECTIVES, EVENTS, FILE_LOCKS, MESSAGES, QUICK_FIXES, SESSIONS, Source, Tables, join, read,
            tell_gone_trees,
        };
    }

    /// Obra.
    pub mod obra {
        pub use crate::format::obra::{Tables, named, read};
    }

    /// opencode.
    pub mod opencode {
        pub use crate::format::agent::opencode::{Rows, doing};
    }
}

/// From `observe`.
pub mod observe {
    pub use crate::observe::collect::Collector;
    pub use crate::observe::collect::moment::Moment;
    pub use crate::observe::watch::Watch;
}

/// From `present`.
pub mod present {
    pub use crate::present::need::sentences;

    /// What agents are answered that ask.
    pub mod answer {
        use std::path::Path;

        use crate::core::guard::decide::Exempt;
        use crate::core::model::{ProcessId, Report};
        pub use crate::present::answer::changes::what_changed;
        use crate::present::answer::edits;
        pub use crate::present::answer::subject::why;
        pub use crate::present::answer::windows::who_is_here;
        pub use crate::present::answer::{AgentAnswer, Item, Quote, SCHEMA};

        /// Answers whether files may be edited, where no guard has written anything down.
        pub fn may_i_edit(report: &Report, paths: &[&Path], own: Option<ProcessId>) -> AgentAnswer {
            edits::may_i_edit(report, paths, own, Vec::new(), &Exempt::default())
        }
    }
}

/// From `run`.
pub mod run {
    pub use crate::run::tape::{Tape, TapeOutcome, Wish};
    pub use crate::run::{Options, run};
}

/// From `source`.
pub mod source {
    pub use crate::source::database::sqlite::copies::Copies;
    pub use crate::source::os::locks::Locks;
    pub use crate::source::os::open::error::OpenError;
    pub use crate::source::os::open::folder::Folder;
    pub use crate::source::os::open::image::image;
    pub use crate::source::os::open::listing::Entry;
    pub use crate::source::os::pipe::make_pipe;
    pub use crate::source::os::processes::{Scanner, chain};
    pub use crate::source::provenance::descents::Descents;
    pub use crate::source::provenance::servers::{may_name as may_name_servers, named_in as server_named_in};
    pub use crate::source::provenance::{left, unnamed};

    /// What the tools of a session wrote.
    pub mod versions {
        use std::path::{Path, PathBuf};

        use crate::core::model::Format;
        pub use crate::format::agent::bytes::{Bounds, Bytes, FileVersion, Rebuilding};
        use crate::source::database::sqlite::copies::Copies;
        use crate::source::os::fence::Fence;
        use crate::source::versions::{SessionFiles, rebuilt as rebuilt_within};

        /// Rebuilds the files of the session with this file; a database is copied into a folder if it must be.
        pub fn rebuilt(
            (format, session): (Format, &str),
            (file, copies): (&Path, &Path),
            wanted: Option<&[PathBuf]>,
        ) -> Result<Rebuilding, String> {
            let files = SessionFiles { format, session: session.into(), file: file.to_path_buf() };
            let around = (&Fence::default(), &Copies::in_folder(copies));
            rebuilt_within(&files, wanted, Bounds::USUAL, around).map_err(|error| error.to_string())
        }
    }

    /// The clocks.
    pub mod clock {
        pub use crate::source::os::clock::{let_pass, now, set_by};
    }

    /// This machine.
    pub mod host {
        pub use crate::source::os::host::host;
    }
}

/// From `ui`.
pub mod ui {
    pub use crate::ui::svg::{DARK, Ground, LIGHT, to_svg};
    pub use crate::ui::theme::{Colors, Palette};
    pub use crate::ui::{Look, render};
}
