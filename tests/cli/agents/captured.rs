//! The captured processes of real agents, each with its expected classification.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use claimtop::core::judge::window::agent::Signatures;
use claimtop::core::model::{Details, InnerPids, Process, ProcessId, ProcessState, ProcessTable, Untrusted};
use claimtop::testing::core::windows;

use super::classified;

/// Every captured process, by its folder: its agent and role, and whether it is a window.
const CAPTURED: [(&str, &str, Shown); 23] = [
    ("amp/main/proc", "amp Agent", Shown::Window),
    ("claude/bg-daemon/proc", "claude-code Daemon", Shown::No),
    ("claude/bg-pty-host/proc", "claude-code Daemon", Shown::No),
    ("claude/bg-session/proc", "claude-code Spare", Shown::Window),
    ("claude/bg-spare-idle/proc", "claude-code Spare", Shown::No),
    ("claude/native-path-named-session/proc", "claude-code Agent", Shown::Window),
    ("claude/native-symlink-claude.exe/proc", "claude-code Agent", Shown::Window),
    ("claude/native-under-bash/proc", "claude-code Agent", Shown::Window),
    ("claude/node-1.0.128/proc", "claude-code Agent", Shown::Window),
    ("claude/npm-exec-parent/proc", "-", Shown::No),
    ("claude/resumed-twice-a/proc", "claude-code Agent", Shown::Window),
    ("claude/resumed-twice-b/proc", "claude-code Agent", Shown::Window),
    ("claude/teams-lead/proc", "claude-code Agent", Shown::Window),
    ("claude/zombie-after-sigkill", "-", Shown::No),
    ("codex/app-server-daemon/proc", "codex Daemon", Shown::No),
    ("codex/daemon-updater/proc", "codex Daemon", Shown::No),
    ("codex/native/proc", "codex Agent", Shown::Window),
    ("codex/node-launcher/proc", "codex Launcher", Shown::No),
    ("copilot/launcher/proc", "copilot Launcher", Shown::No),
    ("copilot/native/proc", "copilot Agent", Shown::Window),
    ("gemini/worker/proc", "gemini Agent", Shown::Window),
    ("opencode/main/proc", "opencode Agent", Shown::Window),
    ("qwen/worker/proc", "qwen Agent", Shown::Window),
];

/// Launchers that look like their agents; only the leaf of each pair is a window.
const LEAF_PAIRS: [(&str, &str); 2] =
    [("gemini/launcher/proc", "gemini Agent"), ("qwen/launcher/proc", "qwen Agent")];

/// Whether a process is a window of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Window,
    No,
}

/// The claimed background session: the agent's own registry names its PID.
const CLAIMED: u32 = 7451;

fn fixtures() -> Option<PathBuf> {
    let given = std::env::var_os("CLAIMTOP_FIXTURES").map(PathBuf::from);
    let root = given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/fixtures"));
    let agents = root.join("agents");
    if !agents.is_dir() {
        eprintln!("skipped: {} is not there", agents.display());
    }
    agents.is_dir().then_some(agents)
}

/// Reads a captured process as the scanner would.
fn captured(folder: &Path) -> Process {
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    let stat = text("stat");
    let (head, tail) = stat.rsplit_once(") ").unwrap_or_else(|| panic!("{}", folder.display()));
    let (pid, comm) = head.split_once(" (").unwrap();
    let fields: Vec<&str> = tail.split_whitespace().collect();
    let cmdline = std::fs::read(folder.join("cmdline.bin")).unwrap();
    let argv = cmdline.strip_suffix(&[0]).unwrap_or(&cmdline).split(|byte| *byte == 0);
    let line = |name: &str| Some(text(name).trim_end().to_owned()).filter(|text| !text.is_empty());
    Process {
        id: ProcessId { pid: pid.parse().unwrap(), start_ticks: fields[19].parse().unwrap() },
        parent: fields[1].parse().unwrap(),
        state: if fields[0] == "Z" { ProcessState::Zombie } else { ProcessState::Running },
        comm: comm.into(),
        tty: Some(fields[4].to_owned()).filter(|tty| tty != "0"),
        group: 0,
        session: fields[3].parse().unwrap(),
        pidfd_inode: None,
        has_exited: None,
        inner: InnerPids::default(),
        is_renamed: false,
        details: Some(Details {
            uid: Some(1000),
            exe: line("exe").map(Untrusted::from),
            argv: if cmdline.is_empty() { Vec::new() } else { argv.map(Untrusted::from_bytes).collect() },
            cwd: line("cwd").map(Untrusted::from),
            ..Details::default()
        }),
    }
}

fn folders(at: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(at).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            folders(&path, out);
        } else if path.file_name().is_some_and(|name| name == "stat") {
            out.extend(path.parent().map(Path::to_path_buf));
        }
    }
}

#[test]
fn every_captured_process_is_classified_right() {
    let Some(root) = fixtures() else { return };
    let known = CAPTURED.iter().map(|(folder, what, _)| (*folder, *what)).chain(LEAF_PAIRS);
    let mut wrong = Vec::new();
    for (folder, expected) in known {
        let found = classified(&captured(&root.join(folder)));
        if found != expected {
            wrong.push(format!("{folder}: {found}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_captured_process_is_left_out() {
    let Some(root) = fixtures() else { return };
    let mut all = Vec::new();
    folders(&root, &mut all);
    let named = |folder: &Path| {
        let folder = folder.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        CAPTURED.iter().any(|(known, ..)| *known == folder)
            || LEAF_PAIRS.iter().any(|(known, _)| *known == folder)
    };
    let missed: Vec<_> = all.iter().filter(|folder| !named(folder)).collect();
    assert!(!all.is_empty() && missed.is_empty(), "{missed:?}");
}

#[test]
fn the_windows_are_exactly_what_a_person_sees() {
    let Some(root) = fixtures() else { return };
    let mut table = ProcessTable::default();
    let mut expected = BTreeSet::new();
    let captures = CAPTURED.iter().filter(|(folder, ..)| !folder.contains("zombie"));
    for (folder, _, shown) in captures {
        let process = captured(&root.join(folder));
        expected.extend((*shown == Shown::Window).then_some(process.id.pid));
        table.by_pid.insert(process.id.pid, process);
    }
    for (folder, _) in LEAF_PAIRS {
        let process = captured(&root.join(folder));
        table.by_pid.insert(process.id.pid, process);
    }
    let signatures = Signatures::built_in().unwrap();
    let found: BTreeSet<u32> = windows(&table, &signatures, &BTreeSet::from([CLAIMED]))
        .iter()
        .map(|window| window.process.id.pid)
        .collect();
    assert_eq!(found, expected);
}
