//! `mcp`: answers agents that ask, over standard input and output. The guard enforces; this only answers.

mod desk;
mod filter;
mod request;
mod server;
mod tools;
mod worker;

use std::sync::Arc;

use anyhow::Context;

use self::desk::Desk;
use self::worker::Worker;
use crate::cli::hook::files::{LINES, SKILL};
use crate::cli::look;
use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::cli::output::print;
use crate::cli::settings::Settings;
use crate::cli::settings::signatures::signatures;

/// What agents need to start the server.
const SERVERS: &str = include_str!("../../../assets/mcp/servers.md");

/// Prints how agents start the server; edits nothing.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn print_settings() -> Outcome {
    let parts = [
        SERVERS,
        "\n# Lines for AGENTS.md, or CLAUDE.md\n\n",
        LINES,
        "\n# A skill for Claude Code, in ~/.claude/skills/claimtop/SKILL.md\n\n",
        SKILL,
    ];
    print(&parts.concat())?;
    Ok(Exit::Fine)
}

/// Answers requests until standard input ends.
///
/// # Errors
/// The configuration cannot be used, or the other side does not speak the protocol.
pub(crate) fn run(settings: &Settings) -> Outcome {
    let signatures = signatures(settings)?;
    let settings = Arc::new(settings.clone());
    let desk = move || {
        let observer = look::observer(&settings, signatures.clone());
        Desk::new(Arc::clone(&settings), observer)
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.context("failed to start the runtime").map_err(|error| Failure::new(Exit::Failed, error))?;
    let ended = runtime.block_on(server::serve(Worker::new(desk)));
    // A look that hangs, or a read of an input that does not end, holds nothing up.
    runtime.shutdown_background();
    ended.map(|()| Exit::Fine).map_err(|error| Failure::new(Exit::Failed, error))
}
