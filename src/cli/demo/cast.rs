//! The processes of the demo: real ones, started here and ended here.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout};

use anyhow::{Context, anyhow};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::stage::Stage;
use super::stand_in;
use super::story::{Fate, Role};
use crate::core::judge::agent::Candidates;
use crate::core::model::ProcessId;
use crate::source::os::processes;

/// Everybody who plays. Dropping it ends them all.
pub(super) struct Cast {
    /// The name of this host, for records that state one.
    pub(super) host: String,
    actors: Vec<Actor>,
    ids: BTreeMap<u32, ProcessId>,
}

/// A process that was started here.
struct Actor {
    role: u32,
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Actor {
    /// Reads the next PID that it says.
    fn answer(&mut self) -> anyhow::Result<u32> {
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        answer.trim().parse().map_err(|_| anyhow!("it did not say that it runs"))
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        // It fails only when the process has gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Cast {
    /// Starts a process for each role, each under its own name.
    ///
    /// # Errors
    /// A process cannot be started.
    pub(super) fn start(stage: &Stage, roles: &[Role], host: String) -> anyhow::Result<Self> {
        let mut cast = Self { host, actors: Vec::new(), ids: BTreeMap::new() };
        for role in roles {
            cast.add(stage, role).with_context(|| format!("failed to start a stand-in for {}", role.name))?;
        }
        Ok(cast)
    }

    /// Returns who plays a role, alive or dead.
    ///
    /// # Errors
    /// There is no such role.
    pub(super) fn id(&self, role: u32) -> anyhow::Result<ProcessId> {
        self.ids.get(&role).copied().with_context(|| format!("nobody plays {role}"))
    }

    fn add(&mut self, stage: &Stage, role: &Role) -> anyhow::Result<()> {
        let program = stage.program(&role.name)?;
        let pid = match role.parent {
            Some(parent) => self.helper_of(parent, &program)?,
            None => self.hire(stage, role, &program)?,
        };
        let table = processes::chain(pid, &Candidates::default());
        let id = table.get(pid).context("it has gone at once")?.id;
        self.ids.insert(role.pid, id);
        match role.state {
            Fate::Running => {}
            Fate::Stopped => stop(pid)?,
            Fate::Dead => self.actors.retain(|actor| actor.role != role.pid),
        }
        Ok(())
    }

    /// Starts a window.
    fn hire(&mut self, stage: &Stage, role: &Role, program: &str) -> anyhow::Result<u32> {
        let mut command = stand_in::command(program);
        if let [name, arguments @ ..] = role.argv.as_slice() {
            command.arg0(name).args(arguments);
        }
        let cwd = role.cwd.as_deref().unwrap_or("/home/dev");
        let mut child = command.envs(&role.env).current_dir(stage.place(cwd)).spawn()?;
        let orders = child.stdin.take().context("it takes no orders")?;
        let answers = BufReader::new(child.stdout.take().context("it gives no answers")?);
        self.actors.push(Actor { role: role.pid, child, orders, answers });
        self.actors.last_mut().context("it was just hired")?.answer()
    }

    /// Has a window start a helper and returns the helper's PID.
    fn helper_of(&mut self, parent: u32, program: &str) -> anyhow::Result<u32> {
        let actor = self.actors.iter_mut().find(|actor| actor.role == parent);
        let actor = actor.with_context(|| format!("nobody plays {parent}"))?;
        writeln!(actor.orders, "{program}")?;
        actor.answer()
    }
}

/// Stops a child and waits until it is stopped.
fn stop(pid: u32) -> anyhow::Result<()> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).context("it has no PID")?;
    kill_process(pid, Signal::STOP)?;
    waitid(WaitId::Pid(pid), WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT)?;
    Ok(())
}
