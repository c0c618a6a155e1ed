//! The processes as an ending finds them: the world advances before every call.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use claimtop::core::judge::window::agent::Signatures;
use claimtop::core::model::{Hindrance, Interaction, Port, ProcessId, ProcessPrint};
use claimtop::testing::act::{ActionError, Agent, ProcessHandle, Processes};
use claimtop::testing::core::Signal;
use rustix::io::Errno;

use crate::local::files::USER;
use crate::local::processes::{Life, State};
use crate::local::scheduler::Scheduler;
use crate::local::world::World;
use crate::local::{background, observer, whose};

/// One claimtop's access to the processes.
#[derive(Clone)]
pub(crate) struct SimMachine {
    pub(crate) scheduler: Arc<Scheduler>,
    /// Whether it signals by numbers; a control that must be detected.
    pub(crate) is_by_number: bool,
}

impl SimMachine {
    /// Lets an event happen, and looks.
    fn call<T>(&self, act: impl FnOnce(&mut World) -> T) -> T {
        self.scheduler.with(|world| {
            if world.steps_left > 0 && world.rng.happens(60) {
                world.tally.count("changes while it is ended");
                if world.rng.happens(100) { background::become_an_agent(world) } else { world.change_kin() }
            }
            act(world)
        })
    }

    fn signatures() -> &'static Signatures {
        &observer::policy().signatures
    }
}

fn life_of(world: &World, id: ProcessId) -> Option<Life> {
    let visibility = world.fault_model.visibility;
    let life = world.processes.life_at(id.pid, visibility)?;
    (world.processes.id(life, visibility) == Some(id)).then_some(life)
}

impl Processes for SimMachine {
    fn own_pid(&self) -> u32 {
        3
    }

    fn parents(&self) -> Result<Vec<(ProcessId, u32)>, ActionError> {
        self.call(|world| {
            let table = world.processes.table(world.fault_model.visibility);
            Ok(table.by_pid.values().map(|process| (process.id, process.parent)).collect())
        })
    }

    fn print(&self, pid: u32) -> Option<ProcessPrint> {
        self.call(|world| {
            let visibility = world.fault_model.visibility;
            let life = world.processes.life_at(pid, visibility)?;
            let person = &world.processes.all[life];
            let is_read = matches!(person.state, State::Running | State::Stopped) && !person.is_hidden;
            if !is_read || person.uid != USER {
                return None;
            }
            let process = world.processes.table(visibility).by_pid.remove(&pid)?;
            let (comm, exe, argv) = person.sort.look();
            Some(ProcessPrint {
                id: process.id,
                parent: process.parent,
                name: comm.into(),
                exe: exe.into(),
                command: argv.join(" ").as_str().into(),
                program: format!("{:?}", person.sort),
                folder: None,
                environment: Vec::new(),
            })
        })
    }

    fn agent(&self, id: ProcessId) -> Agent {
        let process = self.scheduler.with(|world| {
            let mut table = world.processes.table(world.fault_model.visibility);
            table.by_pid.remove(&id.pid).filter(|process| process.id == id)
        });
        let Some(process) = process else { return Agent::Maybe };
        match Self::signatures().classify(&process) {
            Some((agent, role)) => Agent::Is(agent.name.clone(), role),
            None if Self::signatures().resembles(&process) => Agent::Maybe,
            None => Agent::No,
        }
    }

    fn hindrance(&self, id: ProcessId) -> Option<Hindrance> {
        self.scheduler.with(|world| life_of(world, id).map(|_| Hindrance::Nothing))
    }

    fn interaction(&self, id: ProcessId) -> Option<Interaction> {
        self.scheduler.with(|world| life_of(world, id).map(|_| Interaction::Nothing))
    }

    fn ports(&self, those: &[ProcessId]) -> BTreeMap<ProcessId, Vec<Port>> {
        let port = |number| Port {
            number,
            address: Ipv4Addr::LOCALHOST.into(),
            clients: Some(u32::from(number % 2)),
        };
        self.call(|world| {
            let known = those.iter().filter_map(|id| Some((*id, life_of(world, *id)?)));
            let known = known.map(|(id, life)| (id, world.processes.all[life].kin.port));
            known.map(|(id, number)| (id, number.map(port).into_iter().collect())).collect()
        })
    }

    fn listening(&self) -> Option<BTreeSet<u16>> {
        self.scheduler
            .with(|world| Some(world.processes.alive().filter_map(|(_, one)| one.kin.port).collect()))
    }

    fn hold(&self, pid: u32) -> Result<Option<Box<dyn ProcessHandle>>, ActionError> {
        let machine = self.clone();
        self.call(|world| {
            let life = world.processes.life_at(pid, world.fault_model.visibility);
            Ok(life.map(|life| -> Box<dyn ProcessHandle> { Box::new(Hold { machine, pid, life }) }))
        })
    }

    fn patience(&self) -> Duration {
        Duration::ZERO
    }
}

struct Hold {
    machine: SimMachine,
    pid: u32,
    life: Life,
}

impl ProcessHandle for Hold {
    fn has_exited(&self) -> Option<bool> {
        self.machine.scheduler.with(|world| Some(!world.processes.is_alive(self.life)))
    }

    fn wait(&self, _at_most: Duration) {}

    fn signal(&self, signal: Signal) -> Result<(), Errno> {
        self.machine.scheduler.with(|world| {
            // A process may end just before, and its number be given to another; no program can see what a process
            // becomes between the last look at it and the signal.
            if world.steps_left > 0 && world.rng.happens(100) {
                world.set(self.life, State::Gone);
                for _ in 0..10 {
                    if world.processes.life_at(self.pid, world.fault_model.visibility).is_none() {
                        world.birth();
                    }
                }
            }
            let life = match self.machine.is_by_number {
                false => Some(self.life),
                true => world.processes.life_at(self.pid, world.fault_model.visibility),
            };
            let Some(life) = life.filter(|life| world.processes.is_alive(*life)) else {
                return Err(Errno::SRCH);
            };
            world.note(|| format!("{signal:?} to life {life}"));
            whose::check_signal(world, life);
            if signal == Signal::Kill || !world.processes.all[life].kin.is_rude {
                world.set(life, State::Gone);
            }
            Ok(())
        })
    }
}
