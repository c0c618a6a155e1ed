//! The processor time of judging, stories included: a whole world anew, and one change of a judged world; and how both
//! grow. Processor time, so that a busy machine measures the same.

use std::sync::Arc;

use claimtop::core::assess::{Policy, assess};
use claimtop::core::judge::window::agent::Signatures;
use claimtop::core::model::{
    Binding, Details, Format, Holder, Host, InnerPids, Location, Ownership, Process, ProcessId, ProcessState,
    ProcessTable, Record, RecordKind, Repo, Resource, ResourceKind, Role, Snapshot, StatedClaim, StatedPid,
    Surface, SurfaceState, Worktree,
};
use claimtop::testing::app::{Msg, Options, Press, Size, State, update};
use claimtop::testing::core::{INITIAL_PID_NAMESPACE, INITIAL_TIME_NAMESPACE};
use jiff::{SignedDuration, Timestamp};
use rustix::time::{ClockId, clock_gettime};

const ROUNDS: usize = 21;
const RECORDS_EACH: usize = 10;

/// Runs the benchmark.
pub(crate) fn bench(_: Option<&str>) {
    println!("windows  records   claims  findings   everything   one change");
    for windows in [125, 250, 500, 1_000] {
        measure(windows);
    }
    filter(500);
}

fn measure(windows: usize) {
    let policy = Policy { signatures: Signatures::built_in().expect("signatures") };
    let mut look = world(windows);

    let report = assess(&look, &policy);
    let (claims, findings) = (report.claims.len(), report.findings.len());
    let everything = median(|_| {
        let begun = spent();
        let report = assess(&look, &policy);
        let took = spent() - begun;
        drop(report);
        took
    });
    let one = median(|round| {
        let at = (round * 997 + 3) % look.records.len();
        let record = Arc::make_mut(look.records.get_mut(at).expect("a record"));
        record.written_at += SignedDuration::from_millis(1);
        record.heartbeat_at = Some(record.written_at);
        look.taken_at += SignedDuration::from_millis(5);
        let begun = spent();
        let report = assess(&look, &policy);
        let took = spent() - begun;
        drop(report);
        took
    });
    println!(
        "{windows:>7}  {:>7}  {claims:>7}  {findings:>8}  {everything:>8.1} ms  {one:>8.1} ms",
        look.records.len()
    );
}

/// Prints what a key of the filter costs over the rows of a view, the dearest of a word.
fn filter(windows: usize) {
    let policy = Policy { signatures: Signatures::built_in().expect("signatures") };
    let report = Arc::new(assess(&world(windows), &policy));
    for (view, rows) in [('3', report.records.len()), ('4', report.claims.len())] {
        let mut state = State::new(Options::default(), Size { width: 120, height: 40 }, report.taken_at);
        update(&mut state, Msg::Looked(Arc::clone(&report)));
        for key in [view, '/'] {
            update(&mut state, Msg::Pressed(Press::Char(key)));
        }
        let mut dearest = 0.0_f64;
        for key in "tree-12x".chars() {
            let begun = spent();
            update(&mut state, Msg::Pressed(Press::Char(key)));
            dearest = dearest.max(spent() - begun);
        }
        println!("{rows:>7} rows: {dearest:.1} ms for a key of the filter");
    }
}

/// Returns the processor time that this thread has spent, in milliseconds.
fn spent() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

fn median(mut measure: impl FnMut(usize) -> f64) -> f64 {
    let mut times: Vec<f64> = (0..ROUNDS).map(&mut measure).collect();
    times.sort_by(f64::total_cmp);
    times.get(ROUNDS / 2).copied().expect("a round")
}

fn now() -> Timestamp {
    "2026-11-20T22:00:00Z".parse().expect("a moment")
}

/// Makes a world of this many windows, each with ten records of two claims; one window in ten shares its tree with
/// another one, and every other record's holder is gone.
fn world(windows: usize) -> Snapshot {
    let mut table = ProcessTable::default();
    let (mut records, mut repos) = (Vec::new(), Vec::new());
    for number in 0..windows {
        let process = window(number);
        table.listed.insert(process.id.pid);
        repos.push(repo(number));
        records.extend((0..RECORDS_EACH).map(|kind| Arc::new(record(number, kind, &process))));
        table.by_pid.insert(process.id.pid, process);
    }
    Snapshot {
        taken_at: now(),
        host: Host {
            name: "vm".to_owned(),
            boot_id: Some("0b5fb5f8-f561-4d27-8dcc-a78a6f99e24b".to_owned()),
            pid_namespace: Some(INITIAL_PID_NAMESPACE),
            boot_at: Some(now() - SignedDuration::from_hours(48)),
            machine_id: None,
            time_namespace: Some(INITIAL_TIME_NAMESPACE),
            platform: Default::default(),
            up_by: None,
            clock: Default::default(),
            clock_doubt: SignedDuration::ZERO,
            ticks_per_second: 100,
            uid: 1000,
            zone: jiff::tz::TimeZone::UTC,
        },
        processes: table,
        records,
        bound: claimtop::core::model::Notes::default(),
        homes: Vec::new(),
        session_files: Vec::new(),
        tombstones: Default::default(),
        unread_work: Vec::new(),
        unfinished: Vec::new(),
        git_commands: Vec::new(),
        call_waits: Vec::new(),
        forecasts: Vec::new(),
        plain_folders: Vec::new(),
        traces: Vec::new(),
        work: Vec::new(),
        broken: Vec::new(),
        repos,
        databases: Vec::new(),
        sources: Vec::new(),
        seen_agents: Vec::new(),
    }
}

fn pid(number: usize) -> u32 {
    10_000 + number as u32
}

fn tree(number: usize) -> String {
    // Every tenth works in its neighbour's.
    let own = if number % 10 == 9 { number - 1 } else { number };
    format!("/home/dev/project-{own}")
}

fn window(number: usize) -> Process {
    Process {
        id: ProcessId { pid: pid(number), start_ticks: 1_000_000 + number as u64 },
        parent: 1,
        state: ProcessState::Running,
        comm: "claude".into(),
        tty: None,
        group: 0,
        session: pid(number),
        pidfd_inode: None,
        has_exited: None,
        inner: InnerPids::default(),
        is_renamed: false,
        details: Some(Details {
            uid: Some(1000),
            exe: Some("/opt/node_modules/@anthropic-ai/claude-code/bin/claude.exe".into()),
            argv: vec!["claude".into()],
            cwd: Some(tree(number).into()),
            ns_pids: vec![pid(number)],
            ..Details::default()
        }),
    }
}

fn repo(number: usize) -> Repo {
    let path = format!("/home/dev/project-{number}");
    let worktree = Worktree { path: path.clone().into(), exists: true, ..Worktree::default() };
    Repo { common_dir: format!("{path}/.git").into(), worktrees: vec![worktree], ..Repo::default() }
}

/// Makes a record of a window's ten: four of its own in four formats, and six that others left.
fn record(number: usize, kind: usize, process: &Process) -> Record {
    let (format, binding) = match kind {
        0 => (Format::ClaudeCode, Binding::Registry),
        1 => (Format::Maia, Binding::File),
        2 | 5 | 6 => (Format::Entire, Binding::Owner),
        _ => (Format::Leo, Binding::File),
    };
    let is_own = kind < 4;
    let holder_pid = if is_own { process.id.pid } else { 2_000_000 + (number * 10 + kind) as u32 };
    let mut holder = Holder::new(StatedPid::Valid(holder_pid), Role::Agent, binding);
    holder.start_ticks =
        matches!(format, Format::ClaudeCode | Format::Entire).then_some(process.id.start_ticks);
    let session = format!("95fe798d-3725-4649-{kind:04}-{number:012}");
    let own_session = format!("95fe798d-3725-4649-0000-{number:012}");
    let at = now() - SignedDuration::from_secs(60 + number as i64 % 600);
    let path = std::path::PathBuf::from(format!("/home/dev/{}/{session}.json", format.name()));
    let ownership = Ownership::new(1000, 0o600);
    Record {
        variant: "session file",
        session_id: Some(if is_own { own_session } else { session.clone() }.into()),
        context_id: Some(holder_pid.to_string().into()),
        title: format!("title {number} {kind}").into(),
        holder: Some(holder),
        started_at: Some(now() - SignedDuration::from_hours(1)),
        heartbeat_at: Some(at),
        claims: [claim(ResourceKind::WorkItem, number, kind), claim(ResourceKind::Branch, number, kind)]
            .into(),
        cwd: (format == Format::Entire).then(|| std::path::PathBuf::from(tree(number)).into()),
        files: if kind == 2 {
            ["main.go".into(), format!("file-{number}.go").into()].into_iter().collect()
        } else {
            Vec::new()
        },
        facts: [("phase", "active".into())].into(),
        ..Record::blank((format, RecordKind::Session), Location::File(path.into()), ownership, at)
    }
}

fn claim(kind: ResourceKind, number: usize, record: usize) -> StatedClaim {
    // One work item in a hundred windows is claimed by the next window too.
    let item = if record == 3 && number % 100 == 99 { number - 1 } else { number };
    StatedClaim {
        resource: Resource { kind, id: format!("SD-{item:05}-{record}").into() },
        since: None,
        surfaces: [Surface { name: "file", state: SurfaceState::Agrees }].into(),
    }
}
