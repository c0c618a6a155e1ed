//! What must not matter does not: what was judged before, other PIDs, other times, another order,
//! strangers, and a second world beside the first.

#![expect(clippy::unwrap_used, reason = "tests say by panicking what is wrong")]

#[expect(dead_code, reason = "this test needs only a part of it")]
mod common;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use claimtop::core::assess::{Policy, assess, assess_after};
use claimtop::core::judge::agent::Signatures;
use claimtop::core::model::{
    Format, GitLock, Record, RecordDetail, RecordView, Report, Snapshot, VerdictState,
};
use claimtop::testing::core::{is_uuid, names_itself, tree_of};

/// A world as its file says it.
struct World {
    path: PathBuf,
    text: String,
}

fn worlds() -> Vec<World> {
    common::worlds().into_iter().map(|path| World { text: common::text(&path), path }).collect()
}

fn policy() -> Policy {
    Policy { signatures: Signatures::built_in().unwrap() }
}

fn judged(look: &Snapshot) -> Report {
    assess(look, &policy())
}

/// Returns all that a report comes to, without names, numbers and order.
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
fn check_same(world: &World, changed: &Snapshot, what: &str) {
    let before = meaning(&judged(&snapshot(&world.text)));
    assert_eq!(meaning(&judged(changed)), before, "{}: {what} changes it", world.path.display());
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
fn pids(text: &str) -> BTreeSet<u64> {
    let pids = common::parse(text, text).snapshot().processes.listed;
    pids.into_iter().map(u64::from).collect()
}

#[test]
fn other_pids_change_nothing() {
    for world in worlds() {
        let own = pids(&world.text);
        let other = |pid: u64| own.contains(&pid).then(|| 4_194_000_u64.checked_sub(pid)).flatten();
        check_same(&world, &snapshot(&renumbered(&world.text, other)), "renaming PIDs");
    }
}

#[test]
fn an_earlier_report_changes_nothing() {
    for world in worlds() {
        let look = snapshot(&world.text);
        let expected = judged(&look);
        let mut deserted = look.clone();
        deserted.processes.by_pid.clear();
        deserted.processes.listed.clear();
        for earlier in [judged(&deserted), expected.clone()] {
            let report = assess_after(Some(&earlier), &look, &policy());
            assert_eq!(report, expected, "{}", world.path.display());
        }
    }
}

#[test]
fn other_times_change_nothing() {
    let mut shifted = 0;
    for world in worlds() {
        // A world that names an hour or a zone is about just that.
        let body = world.text.split("[expect]").next().unwrap();
        if body.contains("zone") || body.contains("202") || body.contains("1970") {
            continue;
        }
        for now in ["2027-03-01T04:05:06Z", "2026-11-20T22:00:00.5Z", "2031-12-31T23:59:59Z"] {
            let text = format!("{}\n[host]\nnow = \"{now}\"\n", world.text);
            let text = if body.contains("[host]") {
                world.text.replacen("[host]", &format!("[host]\nnow = \"{now}\""), 1)
            } else {
                text
            };
            check_same(&world, &snapshot(&text), "shifting all times");
        }
        shifted += 1;
    }
    assert!(shifted > 100, "only {shifted} worlds can be shifted");
}

#[test]
fn another_order_changes_nothing() {
    for world in worlds() {
        let mut look = snapshot(&world.text);
        look.records.reverse();
        look.broken.reverse();
        look.repos.reverse();
        look.sources.reverse();
        look.seen_agents.reverse();
        check_same(&world, &look, "reversing the input");
        let half = look.records.len() / 2;
        look.records.rotate_left(half);
        check_same(&world, &look, "turning the input");
    }
}

/// A window whose session is certain, in a repository of its own, with records of its own. It is
/// younger than every write of other worlds: an older one could be the unknown owner of a record
/// that states a helper's PID, and such a record is then rightly no longer dead.
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

/// Returns the stranger's world, its window so old and of this user.
fn stranger(started: &str, user: &str) -> Snapshot {
    snapshot(&STRANGER.replace("STARTED", started).replace("USER", user))
}

/// Returns whether what a world comes to rests on nobody else being there: a record that states a
/// helper's PID is dead only if no living agent could be its owner, and root's could be the owner of all.
fn rests_on_absence(own: &Snapshot) -> bool {
    let old = stranger("47 hours ago", "0");
    both(own, &old) != meaning(&judged(&merged(own.clone(), old)))
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
    one.tombstones = claimtop::testing::core::merged(one.tombstones.to_vec(), &other.tombstones).into();
    one
}

fn both(one: &Snapshot, other: &Snapshot) -> Vec<String> {
    let mut all = meaning(&judged(one));
    all.extend(meaning(&judged(other)));
    all.sort_unstable();
    all
}

/// Returns whether a world's host is the usual one, so that another world can be put on it.
fn is_usual(world: &World) -> bool {
    !world.text.contains("[host]")
}

#[test]
fn strangers_change_nothing() {
    let mut checked = 0;
    for world in worlds().into_iter().filter(is_usual) {
        let own = snapshot(&world.text);
        // Anybody may be in a locked tree of which nobody knows where it is.
        let is_lost = |record: &Arc<Record>| {
            record.detail == RecordDetail::Git(GitLock::Worktree) && tree_of(record, &own.repos).is_none()
        };
        // A younger window may go on with a session of which its agent's registry knows nothing, so
        // that nobody is proven dead by having none.
        let is_of_another = |record: &RecordView| {
            let session = record.record.session_id.as_ref();
            record.verdict.state == VerdictState::Dead
                && session.is_some_and(|session| !is_uuid(session.raw()))
        };
        if own.records.iter().any(is_lost) || judged(&own).records().any(is_of_another) {
            continue;
        }
        let stranger = stranger("3 seconds ago", "1000");
        let expected = both(&own, &stranger);
        let found = meaning(&judged(&merged(own, stranger)));
        // A stranger that has its entry shows that another window's was swept away, which says more
        // than that it has no record.
        let (come, gone) = (without(&found, &expected), without(&expected, &found));
        let is_as_before = come.iter().all(|line| line.starts_with("swept-registry "))
            && gone.iter().all(|line| line.starts_with("no-record "))
            && (gone.is_empty() || !come.is_empty());
        assert!(is_as_before, "{}: a stranger brings {come:?} for {gone:?}", world.path.display());
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
fn elsewhere(world: &World) -> String {
    let own = pids(&world.text);
    let mut text = renumbered(&world.text, |number| own.contains(&number).then_some(1_000_000 + number));
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

/// Returns whether two worlds have nothing in common: no process, no file, no tree, no session;
/// and whether no window of one could be the unknown owner of a record of the other.
fn are_independent(one: &Snapshot, other: &Snapshot) -> bool {
    let places = |look: &Snapshot| -> BTreeSet<String> {
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
        let notes = notes
            .flat_map(|note| [format!("session {}", note.session_id.raw()), format!("pid {}", note.pid)]);
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
        records
            .chain(stones)
            .chain(origins)
            .chain(pids)
            .chain(trees)
            .chain(broken)
            .chain(notes)
            .chain(databases)
            .collect()
    };
    // Some findings are about a machine as a whole: what they count is not the union.
    // A process that cannot be read, or that counts PIDs in a container, could be anybody.
    let is_open = |look: &Snapshot| {
        let mut details = look.processes.by_pid.values().map(|process| process.details.as_ref());
        look.processes.listed.len() == look.processes.by_pid.len()
            && details.all(|details| details.is_some_and(|details| details.ns_pids.len() == 1))
    };
    let is_certain = |look: &Snapshot| {
        let report = judged(look);
        // A sub-agent is a process of its own that could own a record, and no window.
        let signatures = Signatures::built_in().unwrap();
        let agents = look.processes.by_pid.values();
        let agents = agents
            .filter(|process| signatures.classify(process).is_some() || signatures.resembles(process))
            .count();
        is_open(look)
            // A hook's note says what a window runs, and not what it does not run.
            && look.bound.is_whole()
            && look.bound.notes.is_empty()
            && agents == report.windows.len()
            && report.windows.iter().all(|window| window.session_id.is_some())
            && report.findings.iter().all(|finding| {
                !["ambiguous-legacy", "partial-scan", "record-flood"].contains(&finding.code.name())
            })
    };
    let is_free =
        |one: &Snapshot, other: &Snapshot| judged(other).windows.is_empty() || !rests_on_absence(one);
    // A git that runs may hold any lock.
    let runs_git = |look: &Snapshot| look.processes.by_pid.values().any(|one| one.comm.raw() == "git");
    let has_locks = |look: &Snapshot| look.records.iter().any(|record| record.format == Format::Git);
    let may_lock = |one: &Snapshot, other: &Snapshot| runs_git(one) && has_locks(other);
    // An agent that puts no number of its own into what it starts may have started what bears a window's.
    let hands_on = |look: &Snapshot| {
        let signatures = Signatures::built_in().unwrap();
        look.processes.by_pid.values().any(|process| {
            let agent = signatures.classify(process).map(|(signature, _)| names_itself(&signature.name));
            agent.map_or_else(|| signatures.resembles(process), |names_itself| !names_itself)
        })
    };
    let may_start = |one: &Snapshot, other: &Snapshot| hands_on(one) && !other.traces.is_empty();
    places(one).is_disjoint(&places(other))
        && !(may_lock(one, other) || may_lock(other, one))
        && !(may_start(one, other) || may_start(other, one))
        && (is_certain(one) && is_certain(other))
        && (is_free(one, other) && is_free(other, one))
}

#[test]
fn two_independent_worlds_have_the_findings_of_both() {
    let worlds: Vec<World> = worlds().into_iter().filter(is_usual).collect();
    let others: Vec<Snapshot> = worlds.iter().map(|world| snapshot(&elsewhere(world))).collect();
    let mut checked = 0;
    for (at, world) in worlds.iter().enumerate() {
        let one = snapshot(&world.text);
        for (beside, other) in worlds.iter().zip(&others).skip(at % 3).step_by(3) {
            if !are_independent(&one, other) {
                continue;
            }
            let found = meaning(&judged(&merged(one.clone(), other.clone())));
            let names = format!("{} and {}", world.path.display(), beside.path.display());
            assert_eq!(found, both(&one, other), "{names} are more than the two of them");
            checked += 1;
        }
    }
    println!("{checked} pairs of worlds");
    assert!(checked > 500, "only {checked} pairs are independent");
}
