//! `guard`: the hook at a prompt and around a tool's call. It says what other windows have not committed, holds
//! a call up that would reach it, and never fails or delays its agent.

mod check;
mod hold;
pub(crate) mod notify;
mod replay;
mod scope;
mod stats;

use std::ffi::OsString;
use std::time::Duration;

use anyhow::{Context, bail};

pub(crate) use self::check::check;
pub(crate) use self::hold::hold;
pub(crate) use self::notify::tell_guards;
pub(crate) use self::replay::replay;
use self::scope::{counted_in, machine, scope};
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
use crate::source::os::clock;

/// How long an agent waits for an answer at most: 100 ms.
const PATIENCE_MS: u64 = 100;

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
    let limit = std::thread::Builder::new().spawn(move || {
        std::thread::sleep(Duration::from_millis(patience));
        std::process::exit(0);
    });
    let Ok(settings) = settings(options, environment) else { return Exit::Fine };
    let now = clock::now();
    let response = limit
        .context("failed to start the thread for the time limit")
        .and_then(|_| input_of(patience, &settings))
        .and_then(|input| respond(asker, &scope(&settings), &input, now, || machine(&settings, now)));
    let HookAnswer { outcome, text, keep_failed, .. } = response.unwrap_or_else(|error| {
        tracing::debug!("guard: {error:#}");
        HookAnswer { outcome: GuardOutcome::Failed, ..HookAnswer::OUT_OF_SCOPE }
    });
    if let Some(text) = text {
        let _ = print(&text);
    }
    if outcome != GuardOutcome::OutOfScope || keep_failed > 0 {
        let took = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let counted = CountLine { at: now, agent: asker.name().to_owned(), said: outcome, took, keep_failed };
        if let Ok(line) = to_json::to_line(&counted) {
            let _ = ledger::count(&counted_in(&settings), &line);
        }
    }
    Exit::Fine
}

fn input_of(patience: u64, settings: &Settings) -> anyhow::Result<Vec<u8>> {
    if settings.effective.config.access == Access::ReadOnly {
        bail!("claimtop is read-only");
    }
    input::read_all(i64::try_from(patience)?)
}
