//! The texts that the systems write, each with a mark of its own, so that no two contents are equal.

use claimtop::testing::core::INITIAL_PID_NAMESPACE;
use jiff::{SignedDuration, Timestamp};

use crate::local::processes::SimProcess;

pub(crate) const HOST: &str = "vm";
pub(crate) const BOOT: &str = "0b5fb5f8-f561-4d27-8dcc-a78a6f99e24b";

/// Returns a time without its zone, marked by a version.
fn naive(at: Timestamp, mark: usize) -> String {
    let second = Timestamp::from_second(at.as_second()).unwrap_or(at);
    let marked = second + SignedDuration::from_micros(mark as i64);
    marked.strftime("%Y-%m-%dT%H:%M:%S.%6f").to_string()
}

pub(crate) const MACHINE: &str = "0af3c8d2f1b34e0d9f6c2b7a5e4d3c21";

/// Returns the machine and the PID namespace in which a process' PID counts, in Claude Code's words.
fn domain(who: &SimProcess) -> String {
    let (machine, namespace) = match who.inside {
        _ if who.is_far() => ("77f3c8d2f1b34e0d9f6c2b7a5e4d3c21", INITIAL_PID_NAMESPACE),
        Some((container, _)) => (MACHINE, namespace_of(container)),
        None => (MACHINE, INITIAL_PID_NAMESPACE),
    };
    format!(r#""pidDomain":"linux:{machine}:pid:[{namespace}]","#)
}

/// Returns the PID namespace of a container.
pub(crate) fn namespace_of(container: u32) -> u64 {
    4_026_530_000 + u64::from(container)
}

/// Returns the name of a process' host.
fn host(who: &SimProcess) -> &'static str {
    if who.is_far() { "far" } else { HOST }
}

pub(crate) fn registry(who: &SimProcess, names_domain: bool, mark: usize) -> String {
    let domain = if names_domain || who.is_far() { domain(who) } else { String::new() };
    format!(
        r#"{{{domain}"pid":{},"sessionId":"{}","cwd":"{}","startedAt":{},"procStart":"{}","version":"2.1.197","kind":"interactive","entrypoint":"cli","name":"n{}","status":"idle"}}"#,
        who.own_pid(),
        who.session,
        who.cwd,
        who.born_at.as_millisecond(),
        who.own_start(),
        mark
    )
}

pub(crate) fn maia(at: Timestamp, mark: usize) -> String {
    format!(
        r#"{{"current_agent":"sre_agent","session_start":"{}","handoff_chain":[],"query":"n{}","version":"1.5"}}"#,
        naive(at, mark),
        mark
    )
}

pub(crate) fn learning(context: &str, at: Timestamp, mark: usize) -> String {
    format!(
        r#"{{"session_id":"s_20260116_092708_a1b2c3","context_id":"{context}","initial_query":"n{}","started_at":"{}","status":"active"}}"#,
        mark,
        naive(at, mark)
    )
}

/// Two lines, as the observability system's files are.
pub(crate) fn lines(first: &str, at: Timestamp, mark: usize) -> String {
    format!("{first}\n{}\n", naive(at, mark))
}

pub(crate) fn leo_session(who: &SimProcess, hook: u32, at: Timestamp, mark: usize) -> String {
    let (session, host) = (&who.session, host(who));
    format!(
        r#"{{"session_id":"{session}","machine_id":"858c8397a35585b3","terminal_id":"{session}","tty":"unknown","pid":{hook},"hostname":"{host}","codebase":"shop","sd_key":"SD-DEMO-{}","track":null,"claimed_at":"{at}","heartbeat_at":"{at}","created_at":"{at}","metadata":{{}}}}"#,
        mark
    )
}

pub(crate) fn leo_marker(who: &SimProcess, pid: u32, at: Timestamp, mark: usize) -> String {
    format!(
        r#"{{"session_id":"{}","sse_port":null,"cc_pid":"{}","source":"startup","model":"m{}","captured_at":"{at}"}}"#,
        who.session, pid, mark
    )
}

pub(crate) fn leo_tick(who: &SimProcess, daemon: u32, at: Timestamp, mark: usize) -> String {
    format!(
        r#"{{"session_id":"{}","tick_pid":{daemon},"cc_parent_pid":{},"started_at":"{at}","hostname":"{HOST}","mark":{}}}"#,
        who.session,
        who.own_pid(),
        mark
    )
}

pub(crate) fn entire(who: &SimProcess, at: Timestamp, mark: usize) -> String {
    format!(
        r#"{{"session_id":"{}","base_commit":"3397a23560d2f07f1d894e0049da6c8fb7a9553b","worktree_path":"{}","started_at":"{at}","phase":"active","last_interaction_time":"{at}","checkpoint_count":0,"files_touched":[],"first_prompt":"n{}","owner":{{"pid":{},"start":"{}","boot":"{BOOT}","host":"{}","name":"claude"}}}}"#,
        who.session,
        who.cwd,
        mark,
        who.own_pid(),
        who.own_start(),
        host(who)
    )
}

pub(crate) fn daemon(who: &SimProcess, mark: usize) -> String {
    format!(
        r#"{{"pid":{},"procStart":"{}","startedAt":{},"origin":"transient","mark":{mark}}}"#,
        who.own_pid(),
        who.own_start(),
        who.born_at.as_millisecond()
    )
}

pub(crate) fn job(host: &SimProcess, worker: &SimProcess, from: &str, since: Timestamp) -> String {
    format!(
        r#""{}":{{"pid":{},"procStart":"{}","sessionId":"{}","replPid":{},"replProcStart":"{}","dispatch":{{"createdAt":{},"launch":{{"mode":"resume","fork":true,"sessionId":"/home/dev/.claude/projects/-home-dev/{from}.jsonl"}}}}}}"#,
        worker.session,
        host.own_pid(),
        host.own_start(),
        worker.session,
        worker.own_pid(),
        worker.own_start(),
        since.as_millisecond()
    )
}

pub(crate) fn roster(who: &SimProcess, jobs: &[String], mark: usize) -> String {
    format!(
        r#"{{"proto":1,"supervisorPid":{},"mark":{mark},"workers":{{{}}}}}"#,
        who.own_pid(),
        jobs.join(",")
    )
}
