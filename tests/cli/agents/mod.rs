//! Which processes are agents' windows: every captured process of real agents, and programs that only look like one;
//! and the databases in which agents' tools keep claims.

mod captured;
mod lookalikes;
mod more;
mod stores;

use claimtop::core::judge::window::agent::Signatures;
use claimtop::core::model::{Details, InnerPids, Process, ProcessId, ProcessState};

/// Makes a running process of its own terminal.
fn process(pid: u32, parent: u32, comm: &str, exe: &str, argv: &[&str]) -> Process {
    Process {
        id: ProcessId { pid, start_ticks: 1 },
        parent,
        state: ProcessState::Running,
        comm: comm.into(),
        tty: Some(format!("pts/{pid}")),
        group: 0,
        session: pid,
        pidfd_inode: None,
        has_exited: Some(false),
        inner: InnerPids::default(),
        is_renamed: false,
        details: Some(Details {
            uid: Some(1000),
            exe: Some(exe.into()),
            argv: argv.iter().map(|arg| (*arg).into()).collect(),
            ns_pids: vec![pid],
            ..Details::default()
        }),
    }
}

/// Returns `agent role`, or `-` for a process that is not an agent's.
fn classified(process: &Process) -> String {
    let signatures = Signatures::built_in().unwrap();
    match signatures.classify(process) {
        Some((agent, role)) => format!("{} {role:?}", agent.name),
        None => "-".to_owned(),
    }
}

/// People write TOML; JSON is read in a tenth of the time, and `context-id` runs in every hook.
#[test]
fn the_signatures_that_are_read_are_those_that_people_write() {
    let assets = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let written = std::fs::read_to_string(assets.join("agents.toml")).unwrap();
    let expected = serde_json::to_string(&toml::from_str::<toml::Table>(&written).unwrap()).unwrap() + "\n";
    let path = assets.join("agents.json");
    if std::env::var_os("CLAIMTOP_WRITE_EXPECTED").is_some() {
        std::fs::write(&path, &expected).unwrap();
    }
    let read = std::fs::read_to_string(&path).unwrap();
    assert_eq!(read, expected, "CLAIMTOP_WRITE_EXPECTED=1 cargo test --test cli agents writes it again");
}
