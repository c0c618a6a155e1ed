//! Processes that come and go while claimtop looks: they prove nothing, and they hide no death.

use std::process::{Child, Command, Stdio};

use crate::namespaces::stage::{World, check};

/// How many looks are taken while they come and go.
const LOOKS: usize = 25;

/// A shell that starts children without end, each with the name of an agent or of a helper of one.
struct Churn(Child);

impl Churn {
    fn start(world: &World) -> Self {
        let folder = world.path("churn/@anthropic-ai/claude-code");
        std::fs::create_dir_all(&folder).unwrap();
        for name in ["claude", "copilot", "codex", "codex-code-mode-host", "MainThread", "claude-hook"] {
            crate::program::copy("/bin/sleep", folder.join(name));
        }
        let script = "while :; do for name in *; do ./$name 0.02 & ./$name 0 & done; wait; done";
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", script]).current_dir(folder).stdin(Stdio::null());
        Self(shell.spawn().unwrap())
    }
}

impl Drop for Churn {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_proven_death_stays_proven_while_others_come_and_go() {
    let world = World::new();
    let mut agent = world.agent(&[]);
    world.register(&agent);
    agent.end();
    check(&world.look(&[]), "claude-code", ("dead", "no-process"));
    let _churn = Churn::start(&world);
    for _ in 0..LOOKS {
        check(&world.look(&[]), "claude-code", ("dead", "no-process"));
    }
}

#[test]
fn a_living_holder_stays_alive_while_others_come_and_go() {
    let world = World::new();
    let agent = world.agent(&[]);
    world.register(&agent);
    let _churn = Churn::start(&world);
    for _ in 0..LOOKS {
        check(&world.look(&[]), "claude-code", ("alive", "same-process"));
    }
}

/// A helper process of an agent is not an agent, and its namespace shows that another one's numbers cannot be its own.
#[test]
fn a_lasting_helper_with_an_agents_name_hides_no_death() {
    let world = World::new();
    let mut agent = world.agent(&[]);
    world.register(&agent);
    agent.end();
    crate::program::copy("/bin/sleep", world.path("bin/codex-code-mode-host"));
    let mut helper = crate::program::spawn(Command::new(world.path("bin/codex-code-mode-host")).arg("3600"));
    let report = world.look(&[]);
    helper.kill().unwrap();
    helper.wait().unwrap();
    check(&report, "claude-code", ("dead", "no-process"));
}
