//! The context ID of a process: explicit before implicit, and told how stable it is.

use serde::Serialize;

use super::agent::{Role, Signatures};
use super::process::{Process, ProcessTable, ancestry};
use super::report::{ContextId, ContextSource};
use super::text::Untrusted;

/// The variable by which a person or a system names the context.
pub const CONTEXT_VARIABLE: &str = "CLAUDE_SESSION_ID";
/// Claude Code's own session ID: it changes on `/clear` and leaks to every descendant, so it
/// proves descent and not identity.
pub const SESSION_VARIABLE: &str = "CLAUDE_CODE_SESSION_ID";

/// One step of the parent chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    /// The PID.
    pub pid: u32,
    /// The start in clock ticks since boot.
    pub start_ticks: u64,
    /// The main thread's name.
    pub comm: Untrusted,
    /// Which agent it is, if it is one.
    pub agent: Option<String>,
}

/// How a context ID was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Resolution {
    /// The context ID.
    pub context_id: ContextId,
    /// Claude Code's session ID from the environment, beside the context ID and never it.
    pub session_id: Option<Untrusted>,
    /// A given ID that was refused, and why.
    pub refused: Option<String>,
    /// The chain walked, the asking process first.
    pub chain: Vec<Link>,
}

/// Decides whether a given ID may be used: 1 to 128 of `A-Z a-z 0-9 _ -` (LEO's own rule,
/// the strictest of those who read it). It ends up in file names.
pub fn is_valid_id(text: &str) -> bool {
    (1..=128).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// Returns the nearest agent above a process, or itself, with its name. A daemon serves several
/// windows, so whose child it is says nothing: the walk ends there.
pub fn agent_above<'a>(
    table: &'a ProcessTable,
    signatures: &'a Signatures,
    pid: u32,
) -> Option<(&'a Process, &'a str)> {
    let known = |process: &'a Process| Some((process, signatures.classify(process)?));
    let (process, (agent, _)) = ancestry(table, pid)
        .into_iter()
        .filter_map(known)
        .take_while(|(_, (_, role))| *role != Role::Daemon)
        .find(|(_, (_, role))| matches!(role, Role::Agent | Role::Spare))?;
    Some((process, &agent.name))
}

/// Resolves the context ID of the process `pid`: the given variable if it is valid, the PID
/// of the nearest agent above, the parent's PID (unstable: the next call has another one).
pub fn resolve(
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
    let refused = given.filter(|id| !is_valid_id(id)).map(|id| {
        format!(
            "{CONTEXT_VARIABLE} is not a usable ID (1 to 128 of A-Z a-z 0-9 _ -): {}",
            Untrusted::from(id)
        )
    });
    let context_id = if let Some(id) = given.filter(|id| is_valid_id(id)) {
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
