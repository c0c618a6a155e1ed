//! The processes of the demo: real ones, started here and ended here.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout};

use anyhow::{Context, anyhow};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::hook::Hook;
use super::left_over::{Part, StartRequest};
use super::lifeline;
use super::stage::Stage;
use super::stand_in;
use super::story::{Fate, Role, Story, Trace};
use crate::core::judge::window::agent::Candidates;
use crate::core::model::ProcessId;
use crate::core::model::snapshot::process::has_exited;
use crate::source::os::processes;

/// Everybody who plays. Dropping it ends them all.
pub(super) struct Cast {
    actors: Vec<Actor>,
    ids: BTreeMap<u32, ProcessId>,
    /// What goes on without its window, and what it lives by.
    left: Vec<ProcessId>,
    lifeline: Option<File>,
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
        answer.trim().parse().map_err(|_| anyhow!("it did not report its PID"))
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
    pub(super) fn start(stage: &Stage, story: &Story) -> anyhow::Result<Self> {
        let lifeline = lifeline::hold(&stage.lifeline_path())?;
        let mut cast =
            Self { actors: Vec::new(), ids: BTreeMap::new(), left: Vec::new(), lifeline: Some(lifeline) };
        for role in &story.roles {
            let added = match (story.trace(role.pid), role.parent) {
                (Some(_), Some(_)) => Ok(()),
                (Some(trace), None) => cast.leave(stage, story, (role, trace)),
                (None, _) => cast.add(stage, story, role),
            };
            added.with_context(|| format!("failed to start a stand-in for {}", role.name))?;
        }
        Ok(cast)
    }

    /// Ends those that are to be dead.
    pub(super) fn end_dead(&mut self, story: &Story) {
        let is_dead =
            |actor: &Actor| story.roles.iter().any(|role| role.pid == actor.role && role.state == Fate::Dead);
        self.actors.retain(|actor| !is_dead(actor));
    }

    /// Returns who plays a role, alive or dead.
    ///
    /// # Errors
    /// There is no such role.
    pub(super) fn id(&self, role: u32) -> anyhow::Result<ProcessId> {
        self.ids.get(&role).copied().with_context(|| format!("nobody plays {role}"))
    }

    fn add(&mut self, stage: &Stage, story: &Story, role: &Role) -> anyhow::Result<()> {
        let program = stage.program(&role.name)?;
        let pid = match role.parent {
            Some(parent) => self.helper_of(parent, &program)?,
            None => self.hire(stage, (role, story.leads(role.pid)), &program)?,
        };
        self.ids.insert(role.pid, id_of(pid)?);
        match role.state {
            Fate::Running | Fate::Dead => Ok(()),
            Fate::Stopped => stop(pid),
        }
    }

    /// Has a window start what goes on without it, and what runs below that.
    fn leave(&mut self, stage: &Stage, story: &Story, (role, trace): (&Role, &Trace)) -> anyhow::Result<()> {
        let below: Vec<&Role> = story.roles.iter().filter(|one| one.parent == Some(role.pid)).collect();
        let part = |role: &Role, below: Vec<Part>| -> anyhow::Result<Part> {
            Ok(Part {
                program: stage.program(&role.name)?,
                argv: role.argv.clone(),
                lifeline: stage.lifeline_path(),
                listens: story.trace(role.pid).is_some_and(|trace| !trace.ports.is_empty()),
                below,
                detaches: true,
            })
        };
        let parts = below.iter().map(|role| Ok(Part { detaches: false, ..part(role, Vec::new())? }));
        let parts = parts.collect::<anyhow::Result<_>>()?;
        let output = trace.tasks.first().map(|session| stage.output(session)).transpose()?;
        let env = [
            ("HOME".to_owned(), stage.home().display().to_string()),
            ("CLAUDE_CODE_SESSION_ID".to_owned(), trace.session.clone()),
        ];
        let cwd = stage.place(role.cwd.as_deref().unwrap_or("/home/dev"));
        let order = StartRequest { part: part(role, parts)?, env: env.into(), cwd, output };
        let actor = self.actor(trace.window)?;
        writeln!(actor.orders, "{}", serde_json::to_string(&order)?)?;
        for role in std::iter::once(role).chain(below) {
            let id = id_of(self.actor(trace.window)?.answer()?)?;
            self.ids.insert(role.pid, id);
            self.left.push(id);
        }
        Ok(())
    }

    /// Has a window run a hook, and returns what that printed, as a string of JSON.
    ///
    /// # Errors
    /// There is no such window, or it does not answer.
    pub(super) fn run(&mut self, role: u32, hook: &Hook) -> anyhow::Result<String> {
        let actor = self.actor(role)?;
        writeln!(actor.orders, "{}", serde_json::to_string(hook)?)?;
        let mut answer = String::new();
        actor.answers.read_line(&mut answer)?;
        Ok(answer)
    }

    fn actor(&mut self, role: u32) -> anyhow::Result<&mut Actor> {
        let actor = self.actors.iter_mut().find(|actor| actor.role == role);
        actor.with_context(|| format!("nobody plays {role}"))
    }

    /// Starts a window.
    fn hire(&mut self, stage: &Stage, (role, leads): (&Role, bool), program: &str) -> anyhow::Result<u32> {
        let mut command = stand_in::command(program);
        if leads {
            command.process_group(0);
        }
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
        let actor = self.actor(parent)?;
        writeln!(actor.orders, "{program}")?;
        actor.answer()
    }
}

impl Drop for Cast {
    fn drop(&mut self) {
        self.lifeline = None;
        let is_there = |id: &ProcessId| id_of(id.pid).is_ok_and(|now| now == *id);
        lifeline::wait_until(|| !self.left.iter().any(is_there));
    }
}

/// Returns which process has a PID; one that has exited counts no more.
fn id_of(pid: u32) -> anyhow::Result<ProcessId> {
    let table = processes::chain(pid, &Candidates::default());
    Ok(table.get(pid).filter(|process| !has_exited(process)).context("it exited at once")?.id)
}

/// Stops a child and waits until it is stopped.
fn stop(pid: u32) -> anyhow::Result<()> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).context("it has no PID")?;
    kill_process(pid, Signal::STOP)?;
    waitid(WaitId::Pid(pid), WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT)?;
    Ok(())
}
