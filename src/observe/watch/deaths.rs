//! Waits for processes to exit, through their pidfds: no polling, and a death wakes at once.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{Errno, write};

use crate::core::model::ProcessId;
use crate::observe::watch::notice::Hint;
use crate::observe::watch::notice::Notice;
use crate::source::os::processes::pidfd_of;

/// The most processes that are waited for; a program may usually have 1,024 descriptors.
pub(crate) const MAX_PROCESSES: usize = 256;
/// Marks the event that ends the thread; no process started so late.
const STOP: u64 = u64::MAX;
/// How many bits of an event are the PID, which is at most 4,194,304 (`PID_MAX_LIMIT`, proc(5)); the
/// others are the start: enough for 600 years of clock ticks.
const PID_BITS: u32 = 23;

/// The processes that are waited for.
pub(crate) struct Deaths {
    notice: Notice,
    /// `None` if the system cannot provide one.
    waiter: Option<Waiter>,
    /// `None` for one whose exit was reported.
    waiting: HashMap<ProcessId, Option<OwnedFd>>,
}

impl Deaths {
    /// Prepares to wait.
    pub(crate) fn new(notice: Notice) -> Self {
        let waiter = Waiter::start(notice.clone());
        let waiter = waiter.map_err(|error| notice.lost(format!("failed to wait for processes: {error}")));
        Self { notice, waiter: waiter.ok(), waiting: HashMap::new() }
    }

    /// Returns how many processes are waited for.
    pub(crate) fn count(&self) -> usize {
        self.waiting.values().flatten().count()
    }

    /// Waits for these processes and no others.
    pub(crate) fn follow(&mut self, processes: &[ProcessId]) {
        // epoll no longer waits for a closed descriptor (epoll(7)).
        self.waiting.retain(|id, _| processes.contains(id));
        let Some(waiter) = &self.waiter else { return };
        for id in processes {
            if self.waiting.contains_key(id) {
                continue;
            }
            if self.waiting.len() >= MAX_PROCESSES {
                return self.notice.lost(format!("more than {MAX_PROCESSES} processes to wait for"));
            }
            match waiter.wait_for(*id) {
                Ok(pidfd) => {
                    if pidfd.is_none() {
                        self.notice.send(Hint::Process(*id));
                    }
                    self.waiting.insert(*id, pidfd);
                }
                Err(error) => self.notice.lost(format!("failed to wait for processes: {error}")),
            }
        }
    }
}

/// A thread that sleeps until a process exits.
struct Waiter {
    epoll: Arc<OwnedFd>,
    stop: OwnedFd,
}

impl Waiter {
    fn start(notice: Notice) -> io::Result<Self> {
        let epoll = Arc::new(epoll::create(CreateFlags::CLOEXEC)?);
        let stop = eventfd(0, EventfdFlags::CLOEXEC)?;
        epoll::add(&epoll, &stop, EventData::new_u64(STOP), EventFlags::IN)?;
        let shared = Arc::clone(&epoll);
        std::thread::Builder::new().name("deaths".to_owned()).spawn(move || tell_deaths(&shared, &notice))?;
        Ok(Self { epoll, stop })
    }

    /// Begins to wait for one process; `None` if it has exited.
    fn wait_for(&self, id: ProcessId) -> io::Result<Option<OwnedFd>> {
        let pidfd = pidfd_of(id)?;
        if let Some(pidfd) = &pidfd {
            let once = EventFlags::IN | EventFlags::ONESHOT;
            epoll::add(&self.epoll, pidfd, EventData::new_u64(packed(id)), once)?;
        }
        Ok(pidfd)
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        // It cannot fail: the counter is 0 and its reader is there.
        let _ = write(&self.stop, &1_u64.to_ne_bytes());
    }
}

/// Packs a process ID into an event.
fn packed(id: ProcessId) -> u64 {
    id.start_ticks << PID_BITS | u64::from(id.pid)
}

fn unpacked(event: u64) -> ProcessId {
    let pid = u32::try_from(event & ((1 << PID_BITS) - 1)).unwrap_or_default();
    ProcessId { pid, start_ticks: event >> PID_BITS }
}

fn tell_deaths(epoll: &OwnedFd, notice: &Notice) {
    let mut events = Vec::with_capacity(MAX_PROCESSES);
    loop {
        events.clear();
        match epoll::wait(epoll, spare_capacity(&mut events), None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => {
                return notice.lost(format!("failed to wait for processes: {}", io::Error::from(error)));
            }
        }
        for event in &events {
            let event: &epoll::Event = event;
            match event.data.u64() {
                STOP => return,
                event => notice.send(Hint::Process(unpacked(event))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_names_a_process_and_never_the_end() {
        for id in [(1, 0), (4_194_304, 1), (4_194_304, (1 << 40) - 1), (99, 1 << 40)] {
            let id = ProcessId { pid: id.0, start_ticks: id.1 };
            assert_eq!(unpacked(packed(id)), id);
            assert_ne!(packed(id), STOP);
        }
    }
}
