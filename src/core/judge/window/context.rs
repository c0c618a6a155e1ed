//! The context ID of a process: explicit before implicit, with its stability.

use serde::Serialize;

use crate::core::judge::window::agent::{Role, Signatures};
use crate::core::model::report::context::{CONTEXT_ID_RULE, CONTEXT_VARIABLE, is_context_id, is_valid_id};
use crate::core::model::snapshot::process::ancestry;
use crate::core::model::{ContextId, ContextSource, Process, ProcessTable, Untrusted};

/// One step of the parent chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Link {
    pub(crate) pid: u32,
    /// The start in clock ticks since boot.
    pub(crate) start_ticks: u64,
    /// The main thread's name.
    pub(crate) comm: Untrusted,
    pub(crate) agent: Option<String>,
}

/// How a context ID was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Resolution {
    pub(crate) context_id: ContextId,
    /// Claude Code's session ID from the environment, beside the context ID and never it.
    pub(crate) session_id: Option<Untrusted>,
    /// A given ID that was refused, and why.
    pub(crate) refused: Option<String>,
    /// The chain walked, the asking process first.
    pub(crate) chain: Vec<Link>,
}

/// Returns the nearest agent above a process, or itself, with its name. A daemon serves several windows, so its
/// children do not show their window: the walk ends there.
pub(crate) fn agent_above<'a>(
    table: &'a ProcessTable,
    signatures: &'a Signatures,
    pid: u32,
) -> Option<(&'a Process, &'a str)> {
    server_above(table, signatures, pid)
        .filter(|(_, _, role)| *role != Role::Daemon)
        .map(|(process, agent, _)| (process, agent))
}

/// Returns the nearest agent or agent's daemon above a process, or itself, with its name and role.
pub(crate) fn server_above<'a>(
    table: &'a ProcessTable,
    signatures: &'a Signatures,
    pid: u32,
) -> Option<(&'a Process, &'a str, Role)> {
    let known = |process: &'a Process| Some((process, signatures.classify(process)?));
    let (process, (agent, role)) = ancestry(table, pid)
        .into_iter()
        .filter_map(known)
        .find(|(_, (_, role))| matches!(role, Role::Agent | Role::Spare | Role::Daemon))?;
    Some((process, &agent.name, role))
}

/// Returns a process and those above it, up to an agent's daemon: what that runs was started by several windows, and the
/// daemon itself by any one of them.
pub(crate) fn up_to_daemon<'a>(
    table: &'a ProcessTable,
    signatures: &Signatures,
    pid: u32,
) -> impl Iterator<Item = &'a Process> {
    let is_daemon =
        |process: &&Process| signatures.classify(process).is_some_and(|(_, role)| role == Role::Daemon);
    ancestry(table, pid).into_iter().take_while(move |process| !is_daemon(process))
}

/// Resolves the context ID of the process `pid`: the given variable if it is valid, the PID
/// of the nearest agent above, the parent's PID (unstable: the next call has another one).
pub(crate) fn resolve(
    table: &ProcessTable,
    signatures: &Signatures,
    pid: u32,
    given: Option<&str>,
    session_id: Option<&str>,
) -> Option<Resolution> {
    let chain = ancestry(table, pid);
    let links: Vec<Link> = chain
        .iter()
        .map(|process| Link {
            pid: process.id.pid,
            start_ticks: process.id.start_ticks,
            comm: process.comm.clone(),
            agent: signatures
                .classify(process)
                .filter(|(_, role)| matches!(role, Role::Agent | Role::Spare))
                .map(|(agent, _)| agent.name.clone()),
        })
        .collect();
    let refused = given.filter(|id| !is_context_id(id)).map(|id| {
        format!("{CONTEXT_VARIABLE} is not a usable ID ({CONTEXT_ID_RULE}): {}", Untrusted::from(id))
    });
    let context_id = if let Some(id) = given.filter(|id| is_context_id(id)) {
        ContextId { value: id.into(), source: ContextSource::Env, stable: true }
    } else if let Some((agent, _)) = agent_above(table, signatures, pid) {
        ContextId { value: agent.id.pid.to_string().into(), source: ContextSource::AgentPid, stable: true }
    } else {
        let parent = chain.first()?.parent;
        ContextId { value: parent.to_string().into(), source: ContextSource::ParentPid, stable: false }
    };
    Some(Resolution {
        context_id,
        session_id: session_id.filter(|id| is_valid_id(id)).map(Untrusted::from),
        refused,
        chain: links,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::{Details, InnerPids, ProcessId, ProcessState};

    fn process(pid: u32, parent: u32, name: &str, exe: &str, argv: &[&str]) -> (u32, Process) {
        let process = Process {
            id: ProcessId { pid, start_ticks: 1 },
            parent,
            state: ProcessState::Running,
            comm: name.into(),
            tty: None,
            group: 0,
            session: pid,
            pidfd_inode: None,
            has_exited: None,
            inner: InnerPids::default(),
            is_renamed: false,
            details: Some(Details {
                exe: Some(exe.into()),
                argv: argv.iter().map(|arg| (*arg).into()).collect(),
                ..Details::default()
            }),
        };
        (pid, process)
    }

    /// Asks for the context of a hook's shell, 9, below these.
    #[track_caller]
    fn check(above: Vec<(u32, Process)>, expected: &str) {
        let mut table = ProcessTable { by_pid: above.into_iter().collect(), ..ProcessTable::default() };
        table.by_pid.extend([process(9, 8, "sh", "/usr/bin/dash", &["sh"])]);
        let signatures = Signatures::built_in().unwrap();
        let found = resolve(&table, &signatures, 9, None, None).unwrap().context_id;
        assert_eq!(format!("{} {:?}", found.value, found.source), expected);
    }

    #[test]
    fn a_context_is_any_file_name_that_maia_would_write() {
        for text in ["sess.1:2", "a b", "ünï", "--", "x".repeat(128).as_str()] {
            assert!(is_context_id(text), "{text}");
        }
        let long = "x".repeat(129);
        for text in ["", ".x", "..", "a/b", "../x", "a\nb", "a\u{9b}b", "a\u{202e}b", &long] {
            assert!(!is_context_id(text), "{text:?}");
        }
    }

    const CODEX: &str = "/x/@openai/codex-linux-x64/vendor/bin/codex";

    #[test]
    fn the_nearest_agent_is_the_context() {
        let claude = "/x/@anthropic-ai/claude-code/bin/claude.exe";
        let outer = process(7, 1, "codex", CODEX, &["codex"]);
        check(vec![process(8, 7, "claude", claude, &["claude"]), outer], "8 AgentPid");
    }

    #[test]
    fn what_a_daemon_runs_is_not_below_the_window_that_started_the_daemon() {
        let claude = "/x/@anthropic-ai/claude-code/bin/claude.exe";
        let agent = |pid, parent, arguments: &[&str]| process(pid, parent, "claude", claude, arguments);
        let by_pid = [
            agent(7, 1, &["claude"]),
            agent(8, 7, &["claude", "daemon", "run"]),
            agent(9, 8, &["claude", "--session-id", "x"]),
            process(10, 9, "sh", "/bin/sh", &["sh"]),
        ];
        let table = ProcessTable { by_pid: by_pid.into_iter().collect(), ..ProcessTable::default() };
        let signatures = Signatures::built_in().unwrap();
        let above: Vec<u32> = up_to_daemon(&table, &signatures, 10).map(|process| process.id.pid).collect();
        assert_eq!(above, [10, 9]);
    }

    #[test]
    fn a_daemons_parent_is_one_window_of_several_and_so_none() {
        let daemon = process(8, 7, "codex", CODEX, &["codex", "app-server"]);
        check(vec![daemon, process(7, 1, "codex", CODEX, &["codex"])], "8 ParentPid");
    }
}
