//! `guard`: the hook at a prompt and around a tool's call. It says what other windows have not committed, holds
//! a call up that would reach it, and never fails or delays its agent.

mod check;
#[cfg(feature = "mcp")]
mod file_holders;
mod hold;
pub(crate) mod notify;
mod replay;
mod scope;
mod stats;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::{Context, bail};

pub(crate) use self::check::check;
#[cfg(feature = "mcp")]
pub(crate) use self::file_holders::file_holders;
pub(crate) use self::hold::hold;
#[cfg(feature = "mcp")]
pub(crate) use self::hold::{HoldChange, HolderKind, take};
pub(crate) use self::notify::tell_guards;
pub(crate) use self::replay::replay;
pub(crate) use self::scope::machine;
use self::scope::{counted_in, scope};
pub(crate) use self::stats::{held_up, stats};
use crate::act::state::ledger;
use crate::cli::args::Options;
use crate::cli::hook::input;
use crate::cli::output::failure::Exit;
use crate::cli::output::print;
use crate::cli::settings::environment::{Environment, guard_patience};
use crate::cli::settings::{Settings, settings};
use crate::config::Access;
use crate::core::model::text::json as to_json;
use crate::format::hook::guard::Asker;
use crate::guard::outcome::{CountLine, GuardOutcome, HookAnswer};
use crate::guard::respond;
use crate::guard::scope::Scope;
use crate::source::os::clock;

/// How long an agent waits for an answer at most: 250 ms. Beside two compilers most of that is waiting for a core.
const PATIENCE_MS: u64 = 250;
/// How long it then takes at most to count that: 20 ms.
const COUNTING: Duration = Duration::from_millis(20);

/// Reads a plain `guard --for AGENT` without building the whole parser: it runs at every call of a tool.
pub(crate) fn recognise(arguments: &[OsString]) -> Option<Asker> {
    match arguments {
        [_, command, option, agent] if command == "guard" && option == "--for" => {
            Asker::named(agent.to_str()?)
        }
        _ => None,
    }
}

/// Returns whether these arguments are those of a hook, whatever is wrong with them.
pub(crate) fn is_hook(arguments: &[OsString]) -> bool {
    let [_, command, rest @ ..] = arguments else { return false };
    let is_option = |word: &OsString| word.to_str().is_some_and(|word| word.starts_with("--"));
    command == "guard" && rest.first().is_none_or(is_option)
}

/// Answers a hook. What goes wrong is counted and never shown to the agent.
pub(crate) fn answer(asker: Asker, options: &Options, environment: Environment) -> Exit {
    let began = clock::steady();
    // Whatever holds this up - a slow disk, an input that does not end - the agent goes on.
    let patience = guard_patience().unwrap_or(PATIENCE_MS);
    if patience == 0 {
        return Exit::Fine;
    }
    let counts: Arc<OnceLock<PathBuf>> = Arc::default();
    let limit = limited(Duration::from_millis(patience), asker, Arc::clone(&counts));
    let Ok(settings) = settings(options, environment) else { return Exit::Fine };
    let _ = counts.set(counted_in(&settings));
    let now = clock::now();
    // What it finds in half the time is reported; the next look goes on from there.
    let losses_until = Some(began + Duration::from_millis(patience / 2));
    let scope = Scope { losses_until, ..scope(&settings) };
    let response = limit
        .context("failed to start the thread for the time limit")
        .and_then(|()| input_of(patience, &settings))
        .and_then(|input| respond(asker, &scope, &input, now, || machine(&settings, now)));
    let HookAnswer { outcome, text, keep_failed, .. } = response.unwrap_or_else(|error| {
        tracing::debug!("guard: {error:#}");
        HookAnswer { outcome: GuardOutcome::Failed, ..HookAnswer::OUT_OF_SCOPE }
    });
    if let Some(text) = text {
        let _ = print(&text);
    }
    if outcome != GuardOutcome::OutOfScope || keep_failed > 0 {
        count(&counted_in(&settings), asker, (outcome, began.elapsed(), keep_failed));
    }
    Exit::Fine
}

/// Ends this process after a time, and counts that in a file, if it is known by then.
fn limited(after: Duration, asker: Asker, counts: Arc<OnceLock<PathBuf>>) -> std::io::Result<()> {
    let limit = move || {
        std::thread::sleep(after);
        let (counted, is_counted) = std::sync::mpsc::channel::<()>();
        // A slow disk holds up no agent.
        let counting = std::thread::Builder::new().spawn(move || {
            if let Some(path) = counts.get() {
                count(path, asker, (GuardOutcome::TimedOut, after, 0));
            }
            drop(counted);
        });
        if counting.is_ok() {
            let _ = is_counted.recv_timeout(COUNTING);
        }
        std::process::exit(0);
    };
    std::thread::Builder::new().spawn(limit).map(drop)
}

/// Counts what came of a call. What goes wrong with that is nothing to the agent.
fn count(path: &Path, asker: Asker, (said, took, keep_failed): (GuardOutcome, Duration, u32)) {
    let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    let counted = CountLine { at: clock::now(), agent: asker.name().to_owned(), said, took, keep_failed };
    if let Ok(line) = to_json::to_line(&counted) {
        let _ = ledger::count(path, &line);
    }
}

fn input_of(patience: u64, settings: &Settings) -> anyhow::Result<Vec<u8>> {
    if settings.effective.config.access == Access::ReadOnly {
        bail!("claimtop is read-only");
    }
    // The limit comes first, and is counted.
    input::read_all(i64::try_from(patience)?.saturating_add(1_000))
}
