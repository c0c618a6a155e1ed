//! `guard`: the hook at a prompt and around a tool's call. It says what other windows have not committed, holds
//! a call up that would reach it, and never fails or delays its agent.

mod asked;
mod check;
mod edits;
mod folders;
mod hold;
mod lines;
mod machine;
mod outcome;
mod replay;
mod seen;
mod stats;

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};

use self::asked::Asked;
pub(crate) use self::check::check;
pub(crate) use self::hold::hold;
use self::machine::Machine;
use self::outcome::{Counted, GuardOutcome, Said};
pub(crate) use self::replay::replay;
pub(crate) use self::seen::tell_guards;
pub(crate) use self::stats::{held_up, stats};
use crate::act::state::ledger;
use crate::cli::args::Options;
use crate::cli::hook::input;
use crate::cli::output::failure::Exit;
use crate::cli::output::print;
use crate::cli::settings::environment::{Environment, guard_patience};
use crate::cli::settings::{Settings, settings};
use crate::config::Access;
use crate::core::guard::git::{GitCall, git_calls};
use crate::core::guard::shell::Place;
use crate::core::model::text::json as to_json;
use crate::format::hook::guard::{Asker, Moment, Touch, question};
use crate::format::reading::json;
use crate::source::os::clock;
use crate::source::own::ledger::Tree;

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

/// Answers a hook. What goes wrong is counted and never told to the agent.
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
    let said = limit
        .context("no thread can be started that ends this in time")
        .and_then(|_| input_of(patience, &settings))
        .and_then(|input| said(asker, &settings, &input, || Machine::of_system(&settings, now)));
    let (said, text) = said.unwrap_or_else(|error| {
        tracing::debug!("guard: {error:#}");
        (GuardOutcome::Failed, None)
    });
    if let Some(text) = text {
        let _ = print(&text);
    }
    if said != GuardOutcome::OutOfScope {
        let took = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let counted = Counted { at: now, agent: asker.name().to_owned(), said, took };
        if let Ok(line) = to_json::to_line(&counted) {
            let _ = ledger::count(&folders::said(&settings), &line);
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

/// Answers a hook's input; the machine is asked only where something is in its scope.
fn said(
    asker: Asker,
    settings: &Settings,
    input: &[u8],
    machine: impl FnOnce() -> anyhow::Result<Machine>,
) -> anyhow::Result<Said> {
    let hook = json::parse(input).map_err(|why| anyhow!("the hook's input is no JSON object: {why}"))?;
    let Some(question) = question(asker, &hook) else { return Ok((GuardOutcome::OutOfScope, None)) };
    let is_line = matches!(question.moment, Moment::Before(Touch::Line(_)) | Moment::After(Touch::Line(_)));
    if is_line && settings.environment.is_git_elsewhere {
        return Ok((GuardOutcome::OutOfScope, None));
    }
    let asked = || Ok::<_, anyhow::Error>(Asked::new(settings, &question, machine()?));
    match &question.moment {
        Moment::Prompt => asked()?.brief(asker),
        Moment::Before(Touch::Files(files)) => asked()?.before_edit(asker, files),
        Moment::After(Touch::Files(files)) => asked()?.after_edit(asker, files),
        Moment::Before(Touch::Line(line)) => match calls_of(line, &question.cwd, settings).as_slice() {
            [] => Ok((GuardOutcome::OutOfScope, None)),
            calls => asked()?.before_git(asker, calls),
        },
        Moment::After(Touch::Line(line)) => match calls_of(line, &question.cwd, settings).as_slice() {
            [] => Ok((GuardOutcome::OutOfScope, None)),
            calls => asked()?.after_git(calls),
        },
    }
}

/// Returns the calls of git in a line that reach into what others have not committed.
fn calls_of(line: &str, folder: &str, settings: &Settings) -> Vec<GitCall> {
    let top_of = |folder: &str| {
        let tree = Tree::of(Path::new(folder)).filter(Tree::is_repository)?;
        tree.text().map(str::to_owned)
    };
    git_calls(line, &Place { folder, home: settings.home.to_str(), top_of: &top_of })
}
