//! The guard: what a window is notified of, held up for or refused, around a prompt, an edit and a shell line.
//!
//! It reads and writes ledgers and nothing else. `core::guard` decides; who asks, how long the answer may take and how it
//! is printed are the caller's.

pub(crate) mod edits;
pub(crate) mod lines;
pub(crate) mod machine;
pub(crate) mod outcome;
pub(crate) mod query;
pub(crate) mod scope;

use std::path::Path;

use anyhow::anyhow;

use self::machine::Machine;
use self::outcome::{GuardOutcome, GuardResponse};
use self::query::Query;
use self::scope::Scope;
use crate::core::guard::git::{GitCall, git_calls};
use crate::core::guard::shell::Place;
use crate::format::hook::guard::{Asker, Moment, Touch, question};
use crate::format::reading::json;
use crate::source::own::ledger::Tree;

/// Answers a hook's input; the machine is only asked if something is in the guard's scope.
///
/// # Errors
/// The input is not a JSON object, or a ledger cannot be read or written.
pub(crate) fn respond(
    asker: Asker,
    scope: &Scope,
    input: &[u8],
    machine: impl FnOnce() -> anyhow::Result<Machine>,
) -> anyhow::Result<GuardResponse> {
    let hook = json::parse(input).map_err(|why| anyhow!("the hook's input is no JSON object: {why}"))?;
    let Some(question) = question(asker, &hook) else { return Ok((GuardOutcome::OutOfScope, None)) };
    let is_line = matches!(question.moment, Moment::Before(Touch::Line(_)) | Moment::After(Touch::Line(_)));
    if is_line && scope.is_git_elsewhere {
        return Ok((GuardOutcome::OutOfScope, None));
    }
    let query = || Ok::<_, anyhow::Error>(Query::new(scope, &question, machine()?));
    match &question.moment {
        Moment::Prompt => query()?.brief(asker),
        Moment::Before(Touch::Files(files)) => query()?.before_edit(asker, files),
        Moment::After(Touch::Files(files)) => query()?.after_edit(asker, files),
        Moment::Before(Touch::Line(line)) => match calls_of(line, &question.cwd, scope).as_slice() {
            [] => Ok((GuardOutcome::OutOfScope, None)),
            calls => query()?.before_git(asker, calls),
        },
        Moment::After(Touch::Line(line)) => match calls_of(line, &question.cwd, scope).as_slice() {
            [] => Ok((GuardOutcome::OutOfScope, None)),
            calls => query()?.after_git(calls),
        },
    }
}

/// Returns the calls of git in a line that reach into what others have not committed.
fn calls_of(line: &str, folder: &str, scope: &Scope) -> Vec<GitCall> {
    let top_of = |folder: &str| {
        let tree = Tree::find(Path::new(folder)).filter(Tree::is_repository)?;
        tree.text().map(str::to_owned)
    };
    git_calls(line, &Place { folder, home: scope.home.to_str(), top_of: &top_of })
}
