//! Real files, written by the systems' own code, placed under a home, a temporary folder and a root of their own:
//! every record gets the right format, generation, session, role and verdict.
//!
//! The processes are those of the same capture, so the registry's windows are alive and all other PIDs are gone. The
//! expected results are in `tests/pure/fixtures.txt`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use claimtop::core::assess::assess;
use claimtop::core::judge::window::agent::Signatures;
use claimtop::core::model::{
    Details, InnerPids, Location, Process, ProcessId, ProcessState, ProcessTable, RecordView, Snapshot,
    Untrusted,
};
use claimtop::source::places::Places;
use claimtop::testing::core::INITIAL_PID_NAMESPACE;
use claimtop::testing::observe::Collector;

use crate::common::policy;

/// Where each folder of fixtures goes.
const PLACED: [(&str, &str); 19] = [
    ("maia/gen4_230_home", "home/.maia/sessions"),
    ("maia/gen5_main_home", "home/.maia/sessions"),
    ("maia/variants", "home/.maia/sessions"),
    ("maia/gen1_134_global", "tmp"),
    ("maia/gen2_134_3_context_ppid", "tmp"),
    ("maia/gen3_134_4_ctx", "tmp"),
    ("observability", "tmp"),
    ("agents/claude/home/.claude", "home/.claude"),
    ("agents/claude/registry-cases", "home/.claude/sessions"),
    ("agents/claude/worktree-lock", "root/erepo/.claude"),
    ("agents/codex/home", "home/.codex"),
    ("agents/copilot/home", "home/.copilot"),
    ("leo/claude-sessions", "home/.claude-sessions"),
    ("leo/feb-2026/claude-sessions", "home/.claude-sessions"),
    ("leo/session-identity", "root/erepo/.claude/session-identity"),
    ("leo/pids", "root/erepo/.claude/pids"),
    ("leo/worktrees", "root/erepo"),
    ("entire/git-common-dir", "root/erepo/.git"),
    ("entire/cache-entire", "home/.cache/entire"),
];

/// The time of the capture, and of its machine's boot.
const TAKEN: &str = "2026-11-20T21:48:00Z";
const BOOT_MS: i64 = 1_795_203_628_000;

fn fixtures() -> Option<PathBuf> {
    let root = std::env::var_os("CLAIMTOP_FIXTURES")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/fixtures"), PathBuf::from);
    root.is_dir().then_some(root)
}

fn place(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            place(&entry.path(), &target);
        } else if !target.exists() {
            std::fs::write(&target, std::fs::read(entry.path()).unwrap()).unwrap();
            let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(&target, private).unwrap();
        }
    }
}

fn look(world: &Path) -> Snapshot {
    let places = Places::new(world.join("home"), world.join("tmp"), vec![world.join("root")]);
    // A file copied just now counts as being written until it is a second old.
    std::thread::sleep(Duration::from_millis(1_200));
    let mut snapshot = Collector::new(places, Signatures::built_in().unwrap()).look();
    snapshot.taken_at = TAKEN.parse().unwrap();
    for record in &mut snapshot.records {
        std::sync::Arc::make_mut(record).written_at = snapshot.taken_at;
    }
    snapshot.host.name = "vm".to_owned();
    snapshot.host.boot_id = Some("0b5fb5f8-f561-4d27-8dcc-a78a6f99e24b".to_owned());
    snapshot.host.boot_at = jiff::Timestamp::from_millisecond(BOOT_MS).ok();
    snapshot.host.pid_namespace = Some(INITIAL_PID_NAMESPACE);
    snapshot.host.ticks_per_second = 100;
    snapshot
}

/// Makes the process table of the capture from its copies of `/proc/<pid>`.
fn captured(fixtures: &Path, uid: u32) -> ProcessTable {
    let mut table = ProcessTable::default();
    for case in std::fs::read_dir(fixtures.join("agents/claude")).unwrap() {
        let case = case.unwrap().path();
        let proc = case.join("proc");
        let Ok(stat) = std::fs::read_to_string(proc.join("stat")) else { continue };
        let process = process(&stat, &proc, uid);
        table.listed.insert(process.id.pid);
        table.by_pid.insert(process.id.pid, process);
    }
    table
}

fn process(stat: &str, proc: &Path, uid: u32) -> Process {
    let (head, rest) = stat.rsplit_once(')').unwrap();
    let (pid, comm) = head.split_once('(').unwrap();
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let text =
        |name: &str| std::fs::read_to_string(proc.join(name)).ok().map(|text| text.trim_end().to_owned());
    let argv = std::fs::read(proc.join("cmdline.bin")).unwrap_or_default();
    let is_zombie = fields.first() == Some(&"Z");
    Process {
        id: ProcessId {
            pid: pid.trim().parse().unwrap(),
            start_ticks: fields.get(19).unwrap().parse().unwrap(),
        },
        parent: fields.get(1).unwrap().parse().unwrap(),
        state: if is_zombie { ProcessState::Zombie } else { ProcessState::Running },
        comm: comm.into(),
        tty: None,
        group: 0,
        session: 0,
        pidfd_inode: None,
        has_exited: Some(is_zombie),
        inner: InnerPids::default(),
        is_renamed: false,
        details: Some(Details {
            uid: Some(uid),
            exe: text("exe").map(Untrusted::from),
            argv: argv.split(|byte| *byte == 0).map(Untrusted::from_bytes).collect(),
            cwd: text("cwd").map(Untrusted::from),
            ns_pids: vec![pid.trim().parse().unwrap()],
            ..Details::default()
        }),
    }
}

fn line(record: &RecordView, world: &Path) -> String {
    let Location::File(path) = &record.location else { panic!("a row among files") };
    let path = path.text().raw().trim_start_matches(&*world.to_string_lossy());
    let name = |value: serde_json::Value| value.as_str().unwrap_or("-").to_owned();
    let of = |value: Option<&Untrusted>| value.map_or("-".to_owned(), Untrusted::shown);
    let holder = record.holder_view();
    format!(
        "{path} | {} {} {} | session {} | context {} | pid {} {} | {} {}",
        record.format.name(),
        name(serde_json::to_value(record.kind).unwrap()),
        name(serde_json::to_value(record.generation).unwrap()),
        of(record.session_id.as_ref()),
        of(record.context_id.as_ref()),
        holder.and_then(|holder| holder.pid).map_or("-".to_owned(), |pid| pid.to_string()),
        holder.map_or("-".to_owned(), |holder| name(serde_json::to_value(holder.role).unwrap())),
        name(serde_json::to_value(record.verdict.state).unwrap()),
        record.verdict.reason.name(),
    )
}

#[test]
fn every_real_file_is_read_as_what_it_is() {
    let Some(fixtures) = fixtures() else {
        eprintln!("skipped: there is no ../shared/fixtures here");
        return;
    };
    let world = tempfile::tempdir().unwrap();
    for (from, to) in PLACED {
        place(&fixtures.join(from), &world.path().join(to));
    }
    let mut snapshot = look(world.path());
    snapshot.processes = captured(&fixtures, snapshot.host.uid);
    let report = assess(&snapshot, policy());
    let mut found: Vec<String> = report.records().map(|record| line(record, world.path())).collect();
    let broken = snapshot.broken.iter().map(|broken| {
        let path = broken.path.strip_prefix(world.path()).unwrap();
        format!("/{} | {} broken: {}", path.display(), broken.format.name(), broken.problem.message)
    });
    found.extend(broken);
    found.sort();
    let expected_at = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pure/fixtures.txt");
    if std::env::var_os("CLAIMTOP_WRITE_EXPECTED").is_some() {
        std::fs::write(&expected_at, found.join("\n") + "\n").unwrap();
    }
    let expected = std::fs::read_to_string(expected_at).unwrap();
    let expected: Vec<&str> = expected.lines().collect();
    let missing: Vec<&&str> =
        expected.iter().filter(|line| !found.iter().any(|have| have == **line)).collect();
    let extra: Vec<&String> = found.iter().filter(|have| !expected.contains(&have.as_str())).collect();
    assert!(missing.is_empty() && extra.is_empty(), "missing: {missing:#?}\nnot expected: {extra:#?}");
}
