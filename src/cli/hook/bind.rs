//! `bind`: a hook's note about who runs which session and whether it waits. It is silent and never fails
//! its hook.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use clap::CommandFactory;
use jiff::{SignedDuration, Timestamp};

use super::input;
use crate::act::fs::system::System;
use crate::act::state::bind;
use crate::act::state::bind::is_wait_of;
use crate::cli::args::{Arguments, BindArguments, Options};
use crate::cli::output::complain;
use crate::cli::output::failure::Exit;
use crate::cli::settings::environment::Environment;
use crate::cli::settings::signatures::signatures;
use crate::cli::settings::{Settings, settings};
use crate::config::Access;
use crate::core::judge::window::agent::Role;
use crate::core::judge::window::context::{resolve, server_above};
use crate::core::model::report::context::is_valid_id;
use crate::core::model::snapshot::note::SCHEMA;
use crate::core::model::{BoundSession, NotedWait, ProcessId, Untrusted, Waiting, Wants};
use crate::format::hook::{HookReport, Over, report};
use crate::format::reading::json;
use crate::run;
use crate::source::os::open::folder::{Folder, look_at};
use crate::source::os::{clock, host, processes};

/// How long the agent may take to send it: 1 s. What has come by then is all there is.
const PATIENCE_MS: i64 = 1_000;
/// How long an agent's notification may come after its request for leave: Claude Code waits 6 s.
const REPEATED: SignedDuration = SignedDuration::from_secs(15);

/// Reads a plain `bind` without building the whole parser, for it runs in every session's start.
pub(crate) fn recognise(arguments: &[OsString]) -> Option<BindArguments> {
    match arguments {
        [_, command] if command == "bind" => Some(BindArguments { verbose: false }),
        _ => None,
    }
}

/// Returns whether a hook asked for this: then nothing may look like a failure to its agent, for
/// which some exit codes mean "stop". Options may stand before the command, also wrong ones.
pub(crate) fn is_asked(arguments: &[OsString]) -> bool {
    let mut rest = arguments.iter().skip(1);
    while let Some(argument) = rest.next() {
        match argument.to_str().and_then(|argument| argument.strip_prefix("--")) {
            Some(option) if takes_value(option) => drop(rest.next()),
            Some(_) => {}
            // People and scripts ask a guard, too.
            None if argument == "guard" => {
                return rest
                    .next()
                    .and_then(|next| next.to_str())
                    .is_some_and(|next| next.starts_with("--for"));
            }
            None => return argument == "bind",
        }
    }
    false
}

/// Returns whether the argument after this option is its value.
fn takes_value(option: &str) -> bool {
    let definition = Arguments::command();
    let mut named = definition.get_arguments().filter(|argument| argument.get_long() == Some(option));
    named.any(|argument| argument.get_action().takes_values())
}

/// Writes the note of the calling hook. What goes wrong is reported to the log, or to who asks for
/// it, and never to the agent.
pub(crate) fn run(asked: BindArguments, options: &Options, environment: Environment) -> Exit {
    let settings = match settings(options, environment) {
        Ok(settings) => settings,
        Err(failure) => {
            failure.lines().iter().filter(|_| asked.verbose).for_each(|line| complain(line));
            return Exit::Fine;
        }
    };
    if let Err(error) = note_down(&settings) {
        if asked.verbose {
            complain(&format!("claimtop: nothing was bound: {}", Untrusted::new(format!("{error:#}"))));
        }
        log(&settings, &error);
    }
    Exit::Fine
}

fn log(settings: &Settings, error: &anyhow::Error) {
    let folder = settings.state.join("log");
    if settings.log_level.is_some_and(|level| run::log::start(&folder, level).is_ok()) {
        tracing::error!("bind: {error:#}");
    }
}

fn note_down(settings: &Settings) -> anyhow::Result<()> {
    if settings.effective.config.access == Access::ReadOnly {
        bail!("claimtop is read-only");
    }
    let since_boot = clock::since_boot().context("the machine does not report its uptime")?;
    let text = input::read_all(PATIENCE_MS)?;
    let hook = json::parse(&text).map_err(|why| anyhow!("the hook's input is not a JSON object: {why}"))?;
    let session = hook.text("session_id").or_else(|| hook.text("sessionId"));
    let session_id =
        session.filter(|id| is_valid_id(id.raw())).context("the hook's input names no usable session")?;
    let reported = report(&hook);
    if reported == HookReport::Nothing {
        return Ok(());
    }
    let who = who(settings)?;
    let note = BoundSession {
        schema: Untrusted::fixed(SCHEMA),
        session_id,
        host: host::name().into(),
        boot_id: host::boot_id().context("failed to read the boot ID")?.into(),
        pid_namespace: host::pid_namespace().context("failed to read the PID namespace")?,
        pidfd_inode: processes::pidfd_inode(who.id),
        pid: who.id.pid,
        start_ticks: who.id.start_ticks,
        agent: who.agent,
        context_id: who.context_id,
        cwd: hook.text("cwd"),
        written_at: Timestamp::from_millisecond(clock::now().as_millisecond())?,
        since_boot_ms: u64::try_from(since_boot.as_millis())?,
    };
    keep(&settings.places.bindings, note, reported, who.role)
}

/// Notes down who runs the session, where that is not known yet, and whether it waits.
fn keep(folder: &Path, note: BoundSession, reported: HookReport, role: Role) -> anyhow::Result<()> {
    let is_daemon = role == Role::Daemon;
    let is_known = || look_at(&folder.join(note.file_name())).is_some();
    if !is_daemon && (matches!(reported, HookReport::Starts | HookReport::Runs) || !is_known()) {
        bind::keep(&System, folder, &note)?;
    }
    match reported {
        HookReport::Waits(waiting, _) if is_told_already(folder, &note, &waiting) => {}
        HookReport::Waits(waiting, agent) => {
            bind::keep_wait(&System, folder, &NotedWait::new(note, waiting, agent))?;
        }
        HookReport::Over(Over::Call(call, agent)) => {
            bind::end_wait(&System, folder, &note, (&call, agent.as_ref()))?;
        }
        HookReport::Over(Over::Turn(agent)) => {
            bind::end_waits(&System, folder, &note, |wait| wait.sub_agent == agent)?;
        }
        HookReport::Over(Over::All) | HookReport::Starts => {
            bind::end_waits(&System, folder, &note, |_| true)?
        }
        HookReport::Runs if is_daemon => bail!("it is run by a daemon, which serves several windows"),
        HookReport::Runs | HookReport::Nothing => {}
    }
    Ok(())
}

/// Returns whether this only repeats that leave is needed: a call was noted a moment ago.
fn is_told_already(folder: &Path, note: &BoundSession, waiting: &Waiting) -> bool {
    if waiting.call.is_some() || waiting.wants != Wants::Permission {
        return false;
    }
    let opened =
        Folder::open(folder).and_then(|opened| Ok((opened.entries(|name| is_wait_of(name, note))?, opened)));
    opened.is_ok_and(|(entries, opened)| {
        let written = entries.iter().filter_map(|entry| opened.look_at(&entry.name));
        written.into_iter().any(|(_, meta)| note.written_at.duration_since(meta.modified_at).abs() < REPEATED)
    })
}

/// The agent that runs the hook, or its daemon.
struct Who {
    id: ProcessId,
    agent: Untrusted,
    context_id: Untrusted,
    role: Role,
}

fn who(settings: &Settings) -> anyhow::Result<Who> {
    let signatures = signatures(settings).map_err(|failure| anyhow!(failure.lines().join("; ")))?;
    let pid = crate::source::os::processes::own::own_pid();
    let table = processes::chain(pid, &signatures.candidates());
    let (process, agent, role) =
        server_above(&table, &signatures, pid).context("no agent among the parents")?;
    let given = settings.environment.context_id.as_ref().map(Untrusted::raw);
    let resolution = resolve(&table, &signatures, pid, given, None).context("failed to read this process")?;
    Ok(Who { id: process.id, agent: agent.into(), context_id: resolution.context_id.value, role })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(arguments: &[&str], expected: Option<BindArguments>) {
        let all: Vec<OsString> = ["claimtop"].iter().chain(arguments).map(OsString::from).collect();
        assert_eq!(recognise(&all), expected);
    }

    #[track_caller]
    fn check_asked(arguments: &str, expected: bool) {
        let all: Vec<OsString> = arguments.split(' ').map(OsString::from).collect();
        assert_eq!(is_asked(&all), expected, "{arguments}");
    }

    #[test]
    fn a_hook_may_give_options_first() {
        check_asked("claimtop bind --bogus", true);
        check_asked("claimtop --home /h --read-only bind --bogus", true);
        check_asked("claimtop --home=/h --bogus bind", true);
        check_asked("claimtop", false);
        check_asked("claimtop --home bind ls --bogus", false);
        check_asked("claimtop explain bind", false);
        check_asked("claimtop --home /h guard --for bogus", true);
        check_asked("claimtop guard check x", false);
    }

    #[test]
    fn only_the_plain_form_is_read_early() {
        check(&["bind"], Some(BindArguments { verbose: false }));
        check(&["bind", "--verbose"], None);
        check(&["ls"], None);
        check(&[], None);
    }
}
