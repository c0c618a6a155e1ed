//! Windows that have ended.

use std::path::PathBuf;
use std::process::Command;

use crate::program;
use crate::world::World;

/// The session of a window if any will do.
pub(crate) const SESSION: &str = "95fe798d-3725-4649-974a-0dec79220193";

/// Writes the registry entry of an ended process; returns its PID and the file.
pub(crate) fn ended_window(world: &World, name: &str, session: &str) -> (u32, PathBuf) {
    let (pid, ticks) = ended_process();
    let registry = format!(
        r#"{{"pid":{pid},"sessionId":"{session}","cwd":"/x","startedAt":1,"procStart":"{ticks}","kind":"interactive","name":"{name}","status":"idle"}}"#
    );
    (pid, world.write(&format!("home/.claude/sessions/{pid}.json"), &registry))
}

/// Returns the PID of an ended process, and its start in ticks.
pub(crate) fn ended_process() -> (u32, String) {
    let mut child = program::spawn(Command::new("/bin/sleep").arg("600"));
    let pid = child.id();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let ticks = stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap().to_owned();
    child.kill().unwrap();
    child.wait().unwrap();
    (pid, ticks)
}
