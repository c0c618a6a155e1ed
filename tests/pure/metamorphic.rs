//! Irrelevant changes have no effect: earlier judgements, other PIDs, other times, another order, strangers, and a
//! second world beside the first.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use claimtop::core::assess::{assess, assess_after};
use claimtop::core::model::{
    Format, GitLock, Record, RecordDetail, RecordView, Report, Snapshot, VerdictState,
};
use claimtop::testing::core::{is_uuid, names_itself, tree_of};

use crate::common::{self, Case};

fn judged(look: &Snapshot) -> Report {
    assess(look, common::policy())
}

/// Returns the results of a report, without names, numbers and order.
fn meaning(report: &Report) -> Vec<String> {
    let records = report.records().map(|record| {
        let verdict = &record.verdict;
        format!("record {:?} {:?} {:?} {:?}", record.format, record.kind, verdict.state, verdict.reason)
    });
    let claims = report
        .claims
        .iter()
        .map(|claim| format!("claim {:?} {:?} {:?}", claim.resource.kind, claim.status, claim.releasable));
    let windows = report.windows.iter().map(|window| format!("window {} {:?}", window.agent, window.state));
    let findings = report.findings.iter().map(|finding| {
        let story = finding.story.as_ref().map(|story| (story.cause, story.events.len()));
        format!("{} {} {:?} {story:?}", finding.code.name(), finding.subjects.len(), finding.remedy)
    });
    let mut all: Vec<String> = records.chain(claims).chain(windows).chain(findings).collect();
    all.sort_unstable();
    all
}

fn snapshot(text: &str) -> Snapshot {
    common::parse(text, text).snapshot()
}

#[track_caller]
fn check_same(case: &Case, changed: &Snapshot, what: &str) {
    let before = meaning(case.report());
    assert_eq!(meaning(&judged(changed)), before, "{}: {what} changes it", case.path.display());
}

/// Replaces whole numbers of a text.
fn renumbered(text: &str, number: impl Fn(u64) -> Option<u64>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len());
        let (digits, after) = from.split_at(end);
        out.push_str(before);
        match digits.parse().ok().and_then(&number) {
            Some(other) => out.push_str(&other.to_string()),
            None => out.push_str(digits),
        }
        rest = after;
    }
    out + rest
}

/// Returns the PIDs of a world's processes.
fn pids(case: &Case) -> BTreeSet<u64> {
    case.snapshot().processes.listed.iter().copied().map(u64::from).collect()
}

#[test]
fn other_pids_change_nothing() {
    for case in common::cases() {
        let own = pids(case);
        let other = |pid: u64| own.contains(&pid).then(|| 4_194_000_u64.checked_sub(pid)).flatten();
        check_same(case, &snapshot(&renumbered(&case.text, other)), "renaming PIDs");
    }
}

#[test]
fn an_earlier_report_changes_nothing() {
    for case in common::cases() {
        let (look, expected) = (case.snapshot(), case.report());
        let mut deserted = look.clone();
        deserted.processes.by_pid.clear();
        deserted.processes.listed.clear();
        for earlier in [judged(&deserted), expected.clone()] {
            let report = assess_after(Some(&earlier), look, common::policy());
            assert_eq!(&report, expected, "{}", case.path.display());
        }
    }
}

#[test]
fn other_times_change_nothing() {
    let mut shifted = 0;
    for case in common::cases() {
        // A world that names an hour or a zone depends on just that.
        let body = case.text.split("[expect]").next().unwrap();
        if body.contains("zone") || body.contains("202") || body.contains("1970") {
            continue;
        }
        for now in ["2027-03-01T04:05:06Z", "2026-11-20T22:00:00.5Z", "2031-12-31T23:59:59Z"] {
            let text = format!("{}\n[host]\nnow = \"{now}\"\n", case.text);
            let text = if body.contains("[host]") {
                case.text.replacen("[host]", &format!("[host]\nnow = \"{now}\""), 1)
            } else {
                text
            };
            check_same(case, &snapshot(&text), "shifting all times");
        }
        shifted += 1;
    }
    assert!(shifted > 100, "only {shifted} worlds can be shifted");
}

#[test]
fn another_order_changes_nothing() {
    for case in common::cases() {
        let mut look = case.snapshot().clone();
        look.records.reverse();
        look.broken.reverse();
        look.repos.reverse();
        look.sources.reverse();
        look.seen_agents.reverse();
        check_same(case, &look, "reversing the input");
        let half = look.records.len() / 2;
        look.records.rotate_left(half);
        check_same(case, &look, "turning the input");
    }
}

/// A window whose session is certain, in a repository of its own, with records of its own. It is younger than every
/// write of other worlds: an older one could be the unknown owner of a record that states a helper's PID, and such a
/// record is then rightly no longer dead.
const STRANGER: &str = r#"
title = "a stranger"
[[repo]]
root = "/home/dev/elsewhere"
branch = "main"
[[process]]
pid = 2000001
name = "claude"
started = "STARTED"
uid = USER
cwd = "/home/dev/elsewhere"
[[process]]
pid = 2000002
name = "vim"
started = "7 hours ago"
[[file]]
path = "~/.claude/sessions/2000001.json"
written = "STARTED"
text = '''{"pid":2000001,"sessionId":"77777777-0000-4000-8000-000000000001","cwd":"/home/dev/elsewhere","startedAt":0,"procStart":"{{tick STARTED}}","version":"2.1.197","kind":"interactive","entrypoint":"cli","name":"stranger","status":"idle"}'''
[[file]]
path = "~/.maia/sessions/swarm_session_2000001.json"
written = "STARTED"
text = '''{"current_agent":"stranger_agent","session_start":"{{naive STARTED}}"}'''
[expect]
findings = []
"#;

/// Returns the stranger's world, with its window of this age and user.
fn stranger(started: &str, user: &str) -> Snapshot {
    snapshot(&STRANGER.replace("STARTED", started).replace("USER", user))
}

/// Returns whether a world's result depends on the absence of other processes: a record that states a helper's PID is
/// dead only if no living agent could be its owner. Root's could be the owner of all, and one that is not tied to a
/// session could run any.
fn rests_on_absence(own: &Snapshot, meant: &[String]) -> bool {
    static OLD: LazyLock<[(Snapshot, Vec<String>); 2]> = LazyLock::new(|| {
        let known = stranger("47 hours ago", "0");
        let untied = Snapshot { records: Vec::new(), ..known.clone() };
        [known, untied].map(|old| {
            let meant = meaning(&judged(&old));
            (old, meant)
        })
    });
    OLD.iter().any(|(old, meant_by_old)| {
        both(meant, meant_by_old) != meaning(&judged(&merged(own.clone(), old.clone())))
    })
}

/// Returns both worlds on one machine: that of the first.
fn merged(mut one: Snapshot, other: Snapshot) -> Snapshot {
    one.processes.listed.extend(other.processes.listed);
    one.processes.by_pid.extend(other.processes.by_pid);
    one.records.extend(other.records);
    one.broken.extend(other.broken);
    one.repos.extend(other.repos);
    one.sources.extend(other.sources);
    one.seen_agents.extend(other.seen_agents);
    one.databases.extend(other.databases);
    one.bound.notes.extend(other.bound.notes);
    one.bound.waits.extend(other.bound.waits);
    one.bound.contexts.extend(other.bound.contexts);
    one.bound.unreadable.extend(other.bound.unreadable);
    one.bound.partial = one.bound.partial.or(other.bound.partial);
    one.homes.extend(other.homes);
    one.session_files.extend(other.session_files);
    one.work.extend(other.work);
    one.plain_folders.extend(other.plain_folders);
    one.traces.extend(other.traces);
    one.unfinished.extend(other.unfinished);
    one.git_commands.extend(other.git_commands);
    one.call_waits.extend(other.call_waits);
    one.forecasts.extend(other.forecasts);
    one.tombstones = claimtop::testing::core::merged(one.tombstones.to_vec(), &other.tombstones).into();
    one
}

/// Returns the combined meaning of two worlds if they do not affect each other.
fn both(one: &[String], other: &[String]) -> Vec<String> {
    let mut all = [one, other].concat();
    all.sort_unstable();
    all
}

/// Returns whether a world's host is the usual one, so that another world can be put on it.
fn is_usual(case: &&Case) -> bool {
    !case.text.contains("[host]")
}

#[test]
fn strangers_change_nothing() {
    let mut checked = 0;
    for case in common::cases().iter().filter(is_usual) {
        let own = case.snapshot();
        // Any agent may be in a locked tree whose place is unknown.
        let is_lost = |record: &Arc<Record>| {
            record.detail == RecordDetail::Git(GitLock::Worktree) && tree_of(record, &own.repos).is_none()
        };
        // A younger window may continue a session that its agent's registry does not know, so a missing entry does not
        // prove a process dead.
        let is_of_another = |record: &RecordView| {
            let session = record.record.session_id.as_ref();
            record.verdict.state == VerdictState::Dead
                && session.is_some_and(|session| !is_uuid(session.raw()))
        };
        // Any window may just have turned to a session whose record was written a moment ago, or lies ahead.
        let is_ahead = |record: &Arc<Record>| record.written_at > own.taken_at;
        if own.records.iter().any(|record| is_lost(record) || is_ahead(record))
            || case.report().records().any(is_of_another)
        {
            continue;
        }
        let stranger = stranger("3 seconds ago", "1000");
        let expected = both(&meaning(case.report()), &meaning(&judged(&stranger)));
        let found = meaning(&judged(&merged(own.clone(), stranger)));
        // A stranger that has its entry shows that another window's was swept away, which is stronger evidence than a
        // missing record.
        let (come, gone) = (without(&found, &expected), without(&expected, &found));
        let is_as_before = come.iter().all(|line| line.starts_with("swept-registry "))
            && gone.iter().all(|line| line.starts_with("no-record "))
            && (gone.is_empty() || !come.is_empty());
        assert!(is_as_before, "{}: a stranger brings {come:?} for {gone:?}", case.path.display());
        checked += 1;
    }
    println!("{checked} worlds");
    assert!(checked > 200, "only {checked} worlds");
}

/// Returns some lines without others, each as often as it is there.
fn without(lines: &[String], others: &[String]) -> Vec<String> {
    let mut left = lines.to_vec();
    for other in others {
        if let Some(at) = left.iter().position(|line| line == other) {
            left.swap_remove(at);
        }
    }
    left
}

/// Gives a world other PIDs, folders, sessions and terminals.
fn elsewhere(case: &Case) -> String {
    let own = pids(case);
    let mut text = renumbered(&case.text, |number| own.contains(&number).then_some(1_000_000 + number));
    for (name, other) in [
        ("shop", "mall"),
        ("alpha", "omega"),
        ("95fe798d", "15fe798d"),
        ("db4e04a8", "1b4e04a8"),
        ("3f6c1f0a", "1f6c1f0a"),
        ("0b7c9c1e", "1b7c9c1e"),
        ("43ea1cf4", "13ea1cf4"),
        ("08408d20", "18408d20"),
        ("39623", "49623"),
        ("win-session-1", "win-session-2"),
        ("SD-DEMO", "SD-OTHER"),
        ("SD-SHOP", "SD-MALL"),
        ("=morning", "=evening"),
        ("\"morning\"", "\"evening\""),
        ("\"work\"", "\"play\""),
    ] {
        text = text.replace(name, other);
    }
    text
}

/// One of two worlds: its meaning, and the facts that decide whether another can stand beside it.
struct Side {
    look: Snapshot,
    meaning: Vec<String>,
    /// Its processes, files, trees and sessions.
    places: BTreeSet<String>,
    has_windows: bool,
    has_traces: bool,
    has_locks: bool,
    /// Whether everything about its agents is known.
    is_certain: bool,
    rests_on_absence: bool,
    /// A git that runs may hold any lock.
    runs_git: bool,
    /// While entire runs, a missing branch may be about to be written.
    runs_entire: bool,
    /// An agent that passes no number of its own to its children may have started a process with a window's number.
    hands_on: bool,
}

impl Side {
    fn new(look: Snapshot) -> Self {
        let report = judged(&look);
        let meaning = meaning(&report);
        let signatures = &common::policy().signatures;
        let mut processes = look.processes.by_pid.values();
        let hands_on = processes.clone().any(|process| {
            let agent = signatures.classify(process).map(|(signature, _)| names_itself(&signature.name));
            agent.map_or_else(|| signatures.resembles(process), |names_itself| !names_itself)
        });
        Self {
            places: places(&look),
            has_windows: !report.windows.is_empty(),
            has_traces: !look.traces.is_empty(),
            has_locks: look.records.iter().any(|record| record.format == Format::Git),
            is_certain: is_certain(&look, &report),
            rests_on_absence: rests_on_absence(&look, &meaning),
            runs_entire: processes.clone().any(|one| one.comm.raw() == "entire"),
            runs_git: processes.any(|one| one.comm.raw() == "git"),
            hands_on,
            meaning,
            look,
        }
    }
}

impl Side {
    fn lacks_branches(&self) -> bool {
        self.meaning.iter().any(|line| line.starts_with("lost-checkpoint "))
    }
}

fn places(look: &Snapshot) -> BTreeSet<String> {
    let records = look.records.iter().flat_map(|record| {
        let session = record.session_id.as_ref().map(|id| format!("session {}", id.raw()));
        let named = record.context_id.as_ref().map(|id| format!("context {}", id.raw()));
        let terminal = record.terminal_id.as_ref().map(|id| format!("terminal {}", id.raw()));
        let pid = record.holder.as_ref().and_then(|holder| holder.pid.as_ref()?.valid());
        let pid = pid.map(|pid| format!("pid {pid}"));
        let place = Some(format!("file {}", record.location.text().raw()));
        [session, named, terminal, pid, place].into_iter().flatten()
    });
    let pids = look.processes.listed.iter().map(|pid| format!("pid {pid}"));
    let trees = look.repos.iter().flat_map(|repo| &repo.worktrees);
    let trees = trees.map(|tree| format!("tree {}", tree.path.display()));
    let broken = look.broken.iter().map(|broken| format!("file {}", broken.path.text().raw()));
    let waits = look.bound.waits.iter().map(|wait| &wait.by);
    let notes = look.bound.notes.iter().map(|note| &**note).chain(waits);
    let notes =
        notes.flat_map(|note| [format!("session {}", note.session_id.raw()), format!("pid {}", note.pid)]);
    let databases = look.databases.iter().map(|database| format!("database {}", database.name.raw()));
    let stones = look.tombstones.iter().flat_map(|stone| {
        let session = stone.session_id.as_ref().map(|id| format!("session {}", id.raw()));
        session.into_iter().chain([format!("pid {}", stone.id.pid)])
    });
    let origins = look.traces.iter().filter_map(|trace| trace.origin.as_ref());
    let origins = origins.flat_map(|origin| {
        let session = origin.session.as_ref().map(|id| format!("session {}", id.raw()));
        session.into_iter().chain(origin.pid.map(|pid| format!("pid {pid}")))
    });
    let all = records.chain(stones).chain(origins).chain(pids).chain(trees);
    all.chain(broken).chain(notes).chain(databases).collect()
}

fn is_certain(look: &Snapshot, report: &Report) -> bool {
    // A process that cannot be read, or that counts PIDs in a container, could be any process.
    let mut details = look.processes.by_pid.values().map(|process| process.details.as_ref());
    let is_open = look.processes.listed.len() == look.processes.by_pid.len()
        && details.all(|details| details.is_some_and(|details| details.ns_pids.len() == 1));
    // A sub-agent is a process of its own that could own a record, and is not a window.
    let signatures = &common::policy().signatures;
    let agents = look.processes.by_pid.values();
    let agents = agents
        .filter(|process| signatures.classify(process).is_some() || signatures.resembles(process))
        .count();
    is_open
        // A hook's note shows what a window runs, and not what it does not run.
        && look.bound.is_whole()
        && look.bound.notes.is_empty()
        && agents == report.windows.len()
        && report.windows.iter().all(|window| window.session_id.is_some())
        // Some findings are about a machine as a whole: their counts are not the union.
        && report.findings.iter().all(|finding| {
            !["ambiguous-legacy", "partial-scan", "record-flood"].contains(&finding.code.name())
        })
}

/// Returns whether two worlds have nothing in common: no process, no file, no tree, no session; and whether no window
/// of one could be the unknown owner of a record of the other.
fn are_independent(one: &Side, other: &Side) -> bool {
    let both_ways = |holds: fn(&Side, &Side) -> bool| holds(one, other) && holds(other, one);
    both_ways(|one, _| one.is_certain)
        && both_ways(|one, other| !(one.runs_git && other.has_locks))
        && both_ways(|one, other| !(one.runs_entire && other.lacks_branches()))
        && both_ways(|one, other| !(one.hands_on && other.has_traces))
        && both_ways(|one, other| !(one.rests_on_absence && other.has_windows))
        && one.places.is_disjoint(&other.places)
}

#[test]
fn two_independent_worlds_have_the_findings_of_both() {
    let worlds: Vec<&Case> = common::cases().iter().filter(is_usual).collect();
    let ones: Vec<Side> = worlds.iter().map(|case| Side::new(case.snapshot().clone())).collect();
    let others: Vec<Side> = worlds.iter().map(|case| Side::new(snapshot(&elsewhere(case)))).collect();
    let mut checked = 0;
    for (at, (case, one)) in worlds.iter().zip(&ones).enumerate() {
        for (beside, other) in worlds.iter().zip(&others).skip(at % 3).step_by(3) {
            if !are_independent(one, other) {
                continue;
            }
            let found = meaning(&judged(&merged(one.look.clone(), other.look.clone())));
            let names = format!("{} and {}", case.path.display(), beside.path.display());
            assert_eq!(found, both(&one.meaning, &other.meaning), "{names} are more than the two of them");
            checked += 1;
        }
    }
    println!("{checked} pairs of worlds");
    assert!(checked > 500, "only {checked} pairs are independent");
}
