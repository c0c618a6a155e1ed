//! `context-id`: who is asking, in one line, for hooks and scripts.

use std::ffi::OsString;

use anyhow::anyhow;

use crate::cli::args::{ContextArguments, Options};
use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::cli::output::{complain, print};
use crate::cli::settings::environment::Environment;
use crate::cli::settings::settings;
use crate::cli::settings::signatures::signatures;
use crate::core::judge::window::context::{Resolution, resolve};
use crate::core::model::report::context::{CONTEXT_VARIABLE, SESSION_VARIABLE};
use crate::core::model::text::json;
use crate::core::model::{ContextSource, Process, ProcessTable, Untrusted};
use crate::source::os::processes;

/// Reads a plain `context-id` without building the whole parser, for hooks run it all day.
/// `None` for everything that is not exactly that: then the parser has its say.
pub(crate) fn recognise(arguments: &[OsString]) -> Option<ContextArguments> {
    let [_, command, rest @ ..] = arguments else { return None };
    if command != "context-id" {
        return None;
    }
    let mut found = ContextArguments::default();
    let mut rest = rest.iter();
    while let Some(argument) = rest.next() {
        match argument.to_str()? {
            "--json" if !found.json => found.json = true,
            "--strict" if !found.strict => found.strict = true,
            "--pid" if found.pid.is_none() => found.pid = Some(rest.next()?.to_str()?.parse().ok()?),
            _ => return None,
        }
    }
    Some(found)
}

/// Prints the context ID of the calling process, or of another one.
///
/// # Errors
/// The process is not there, the ID is not stable where it must be, or the configuration or
/// the output fails.
pub(crate) fn run(asked: ContextArguments, options: &Options, environment: Environment) -> Outcome {
    let settings = settings(options, environment)?;
    let signatures = signatures(&settings)?;
    let pid = asked.pid.unwrap_or_else(crate::source::os::processes::own::own_pid);
    let table = processes::chain(pid, &signatures.candidates());
    let process = table.get(pid).ok_or_else(|| no_process(pid))?;
    let (given, session) = match asked.pid {
        Some(_) => (variable(process, CONTEXT_VARIABLE), variable(process, SESSION_VARIABLE)),
        None => (settings.environment.context_id, settings.environment.session_id),
    };
    let (given, session) = (given.as_ref().map(Untrusted::raw), session.as_ref().map(Untrusted::raw));
    let resolution = resolve(&table, &signatures, pid, given, session).ok_or_else(|| no_process(pid))?;
    if resolution.context_id.source == ContextSource::ParentPid && process.parent == 0 {
        return Err(no_parent(pid));
    }
    print_resolution(asked, &resolution, &table)
}

fn print_resolution(asked: ContextArguments, resolution: &Resolution, table: &ProcessTable) -> Outcome {
    if let Some(refused) = &resolution.refused {
        complain(&format!("claimtop: {refused}; ignoring it"));
    }
    if asked.json {
        print(&format!("{}\n", json::to_string_pretty(resolution)?))?;
    }
    if asked.strict && !resolution.context_id.stable {
        return Err(unstable(table));
    }
    if !asked.json {
        print(&format!("{}\n", resolution.context_id.value))?;
    }
    Ok(Exit::Fine)
}

fn variable(process: &Process, name: &str) -> Option<Untrusted> {
    process.details.as_ref()?.env.get(name).filter(|value| !value.is_empty()).cloned()
}

fn no_process(pid: u32) -> Failure {
    Failure::new(Exit::Failed, anyhow!("failed to read process {pid}: no such process is visible"))
}

/// Every process without a parent would get the same 0, which is not a PID.
fn no_parent(pid: u32) -> Failure {
    let error = anyhow!("process {pid} has no context ID: no agent above it, and no parent to name");
    Failure::new(Exit::Refused, error).hint(format!("set {CONTEXT_VARIABLE} for it"))
}

fn unstable(table: &ProcessTable) -> Failure {
    let levels = table.by_pid.len();
    let error = anyhow!("no stable context ID: no agent among {levels} processes up the chain");
    Failure::new(Exit::Refused, error)
        .hint(format!("set {CONTEXT_VARIABLE}, or run this from a hook or a shell of an agent"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(arguments: &[&str], expected: Option<ContextArguments>) {
        let all: Vec<OsString> = ["claimtop"].iter().chain(arguments).map(OsString::from).collect();
        assert_eq!(recognise(&all), expected);
    }

    #[test]
    fn only_the_plain_form_is_read_early() {
        let plain = ContextArguments::default();
        check(&["context-id"], Some(plain));
        check(&["context-id", "--strict"], Some(ContextArguments { strict: true, ..plain }));
        check(
            &["context-id", "--json", "--pid", "12"],
            Some(ContextArguments { json: true, pid: Some(12), ..plain }),
        );
        check(&["context-id", "--pid"], None);
        check(&["context-id", "--pid", "x"], None);
        check(&["context-id", "--json", "--json"], None);
        check(&["context-id", "--home", "/h"], None);
        check(&["context-id", "--help"], None);
        check(&["ls"], None);
        check(&[], None);
    }
}
