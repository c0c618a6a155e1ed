//! This machine's processes, by pidfds: a number alone is never signalled.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{self, pidfd_send_signal};

use crate::act::error::ActionError;
use crate::act::stop::processes::{Agent, ProcessHandle, Processes};
use crate::core::judge::window::agent::{Candidates, Signatures};
use crate::core::model::{Hindrance, Interaction, Load, Port, ProcessId, ProcessPrint, Signal};
use crate::source::os::processes::linux::handles::hindrance;
use crate::source::os::processes::linux::proc::Proc;
use crate::source::os::processes::linux::sockets::tcp::listening;
use crate::source::os::processes::linux::{chain, interactions, loads, pidfd, ports, print};
use crate::source::os::processes::own::own_pid;

/// How long processes that were asked to end have for it.
const PATIENCE: Duration = Duration::from_secs(5);

/// This machine.
pub struct Machine {
    /// How agents look; without this, any process may be one.
    signatures: Option<Signatures>,
    candidates: Candidates,
    /// The folder that must contain a program or its working folder, if one is given.
    stage: Option<PathBuf>,
}

impl Machine {
    /// Recognizes agents by these signatures. With a stage, only processes of the stage are ended.
    pub fn new(signatures: Option<Signatures>, stage: Option<PathBuf>) -> Self {
        let candidates = signatures.as_ref().map(Signatures::candidates).unwrap_or_default();
        Self { signatures, candidates, stage }
    }

    fn is_on_stage(&self, print: &ProcessPrint) -> bool {
        let Some(stage) = &self.stage else { return true };
        let places = [Some(&print.exe), print.folder.as_ref()];
        places.into_iter().flatten().any(|place| Path::new(place.raw()).starts_with(stage))
    }
}

impl Processes for Machine {
    fn own_pid(&self) -> u32 {
        own_pid()
    }

    fn parents(&self) -> Result<Vec<(ProcessId, u32)>, ActionError> {
        Proc::open().and_then(|mut proc| print::parents(&mut proc)).map_err(ActionError::Refused)
    }

    fn print(&self, pid: u32) -> Option<ProcessPrint> {
        print::read(&mut Proc::open().ok()?, pid).filter(|print| self.is_on_stage(print))
    }

    fn agent(&self, id: ProcessId) -> Agent {
        let table = chain(id.pid, &self.candidates);
        let process = table.get(id.pid).filter(|process| process.id == id);
        let Some((process, signatures)) = process.zip(self.signatures.as_ref()) else { return Agent::Maybe };
        match signatures.classify(process) {
            Some((agent, role)) => Agent::Is(agent.name.clone(), role),
            None if signatures.resembles(process) => Agent::Maybe,
            None => Agent::No,
        }
    }

    fn hindrance(&self, id: ProcessId) -> Option<Hindrance> {
        hindrance::read(&mut Proc::open().ok()?, id)
    }

    fn interaction(&self, id: ProcessId) -> Option<Interaction> {
        interactions(&[id]).remove(&id)
    }

    fn ports(&self, those: &[ProcessId]) -> BTreeMap<ProcessId, Vec<Port>> {
        ports(those)
    }

    fn loads(&self, those: &[ProcessId]) -> BTreeMap<ProcessId, Load> {
        loads(those).into_iter().filter_map(|(id, load)| Some((id, load?))).collect()
    }

    fn listening(&self) -> Option<BTreeSet<u16>> {
        listening()
    }

    fn hold(&self, pid: u32) -> Result<Option<Box<dyn ProcessHandle>>, ActionError> {
        match pidfd::open(pid) {
            Ok(pidfd) => Ok(Some(Box::new(Pidfd(pidfd)))),
            Err(Errno::SRCH) => Ok(None),
            Err(Errno::NOSYS) => Err(ActionError::Never(
                "this kernel has no pidfds (Linux 5.3 and later do), and a PID alone can mean another process"
                    .to_owned(),
            )),
            Err(errno) => Err(ActionError::Failed { what: format!("open a pidfd of PID {pid}"), errno }),
        }
    }

    fn patience(&self) -> Duration {
        PATIENCE
    }
}

struct Pidfd(OwnedFd);

impl ProcessHandle for Pidfd {
    fn has_exited(&self) -> Option<bool> {
        pidfd::has_exited(&self.0)
    }

    fn wait(&self, at_most: Duration) {
        let time = Timespec::try_from(at_most).ok();
        // The caller asks afterwards whether it has exited.
        let _ = poll(&mut [PollFd::new(&self.0, PollFlags::IN)], time.as_ref());
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    fn signal(&self, signal: Signal) -> Result<(), Errno> {
        let signal = match signal {
            Signal::Term => process::Signal::TERM,
            Signal::Kill => process::Signal::KILL,
        };
        pidfd_send_signal(&self.0, signal)
    }
}
