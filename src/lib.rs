//! claimtop shows every coding-agent window of a machine, the session records and claims tied
//! to it, and what is dead, stale or in collision, each with the evidence.
//!
//! One promise is above everything else: **claimtop never calls a live holder dead, and never
//! loses a byte.** When it cannot know, it says so.
//!
//! # As a library
//!
//! An [`observe::Observer`] looks at the world and judges it, and changes nothing:
//!
//! ```
//! use claimtop::core::assess::Policy;
//! use claimtop::core::judge::window::agent::Signatures;
//! use claimtop::core::model::VerdictState;
//! use claimtop::observe::{Observer, Options};
//! use claimtop::source::places::Places;
//!
//! // A home in which Claude Code has registered a process that no longer exists.
//! let folder = tempfile::tempdir()?;
//! let (home, tmp, root) = (folder.path().join("home"), folder.path().join("tmp"), folder.path().join("src"));
//! let sessions = home.join(".claude/sessions");
//! std::fs::create_dir_all(&sessions)?;
//! std::fs::write(
//!     sessions.join("4000001.json"),
//!     r#"{"pid": 4000001, "sessionId": "made-up", "procStart": "7", "startedAt": 1, "cwd": "/src"}"#,
//! )?;
//!
//! let policy = Policy { signatures: Signatures::built_in()? };
//! let places = Places::within(home, tmp, vec![root]);
//! let mut observer = Observer::new(Options { places, policy, ..Options::default() });
//! let report = observer.observe();
//! for record in report.records() {
//!     println!("{}: {:?}, {:?}", record.key, record.verdict.state, record.verdict.reason);
//!     assert_ne!(record.verdict.state, VerdictState::Alive);
//! }
//! assert_eq!(report.records().count(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Report`](core::model::Report) is plain data. What looks for changes by itself is an
//! [`observe::ReportSource`]; [`core::assess::assess`] judges a snapshot from elsewhere, such as a look of a
//! [`core::history::recording`], with every verdict anew. `ARCHITECTURE.md` is the map of the inside.
//!
//! # How a verdict is reached
//!
//! `core::judge::liveness` judges each record step by step and stops at the first that decides:
//!
//! 0. **What an agent's own hook reported**: a session that it bound to a process lives as long as that process
//!    does. The newest note of Claude Code also says that a process runs no other session, unless one says
//!    that it has run that too.
//! 1. **Its own PID**, if the format says that the PID is the agent's (or claimtop has seen it
//!    as an agent, or the agent's own registry names it): machine, host and boot are compared, then
//!    whether it was proven dead before ([`core::model::Tombstone`]), then the start in raw clock ticks,
//!    then whether a pidfd says that it has exited. A number that could count in another PID
//!    namespace decides nothing, and neither do times that another machine's clock wrote.
//! 2. **Its session**: a registry, marker, tick or argument that binds the session to a living
//!    process keeps every record of that session alive, whatever became of a helper's PID; so does
//!    a window that has the record's context ID in its environment.
//! 3. **Who could own it**: a shell's or hook's PID that is gone proves nothing. The record is
//!    dead only if no living process could be its owner: an agent of that system that could have
//!    written it, with the same home, and not certain to run another session. A process of which
//!    too little could be read counts as a possible owner.
//!
//! That makes a rule that is tested as a property: *forgetting any fact may turn a verdict into
//! unknown, never into dead.*
//!
//! Every look is judged anew and from nothing but its snapshot. Only what came out equal is then
//! shared with the report before ([`core::assess::assess_after`]), to save memory.
//!
//! # How a collision is explained
//!
//! A [`story`](core::model::Event) decides nothing: it is made after the findings, from the same snapshot. Each
//! event has its source and says whether it was observed or follows from what was; the last one is the conclusion.
//! A recording keeps snapshots and never reports, so that a later claimtop judges what an earlier one saw.
//!
//! # How something is let go
//!
//! The program, not the library, lets go. `act` knows one road, and its stations are types: seen, confirmed,
//! verified, done. A plan is seen with the prints of its files (device, inode, size, mode, time, hash) and what the
//! holder is worth; what a person gives is good for that state only; under the lock everything is seen
//! again; the intent is journalled and brought to the disk; each file is renamed away without
//! clobbering and looked at *there*, where no process can renew it, and its holder is judged once
//! more; on any difference it is renamed back. What follows an action as a part of it
//! takes the same road by itself once that is done, and is undone with it. What is
//! parked never leaves its file system, so a process that still writes into it writes into the parked file.
//! No file is deleted but what a person prunes by name; the one row that a release deletes, a file lock
//! in LEO's database, is kept whole in the journal.
//!
//! # How processes are ended
//!
//! What a window has left running, or a window itself, is ended by the same road. A plan holds the print of each
//! process (start, executable, arguments, where the kernel has put them). `act::stop` opens a pidfd of each first and
//! reads what its PID means *after* that: what still lives then had its PID all the while, so it is what the pidfd
//! stays with. What was started below a confirmed process since is ended with it unless it may be an agent. Nothing
//! is ever signalled by a number.
//!
//! # What is only read
//!
//! Not every claim is claimtop's to let go ([`core::model::LetGo`]). Git's locks are parked only when
//! they are proven dead: no process of git's and its kin lives that may hold one, and no process has it open.
//! Task lists, issues, reservations and the locks of Codex and Copilot are let go by
//! their own systems alone, and a plan says by which command. Where a file only copies what a database
//! says, the database counts. A format that a person describes ([`described`]) says itself whether it may be parked,
//! and then only what is dead.

#![cfg_attr(
    not(unix),
    expect(dead_code, unused_imports, unreachable_pub, reason = "nothing looks, so much is not asked for")
)]

#[cfg(unix)]
mod act;
mod app;
#[cfg(unix)]
pub mod cli;
mod config;
pub mod core;
mod format;
#[cfg(unix)]
mod guard;
#[cfg(unix)]
pub mod observe;
mod present;
#[cfg(unix)]
mod run;
#[cfg(unix)]
pub mod source;
#[cfg(unix)]
#[doc(hidden)]
pub mod testing;
mod ui;

pub use format::described;
