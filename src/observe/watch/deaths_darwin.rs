//! Waits for processes to exit, through kqueue(2): no polling, and a death wakes at once.

use std::collections::HashMap;
use std::sync::Arc;

use nix::errno::Errno;
use nix::sys::event::{EvFlags, EventFilter, FilterFlag, KEvent, Kqueue};

use crate::core::model::ProcessId;
use crate::observe::watch::notice::Hint;
use crate::observe::watch::notice::Notice;
use crate::source::os::processes;

/// The most processes that are waited for.
pub(crate) const MAX_PROCESSES: usize = 256;

/// The processes that are waited for.
pub(crate) struct Deaths {
    notice: Notice,
    /// `None` if the system cannot provide one.
    queue: Option<Arc<Kqueue>>,
    /// Whether each is still waited for: not after its exit was reported.
    waiting: HashMap<ProcessId, bool>,
}

impl Deaths {
    /// Prepares to wait.
    pub(crate) fn new(notice: Notice) -> Self {
        let queue = start(notice.clone());
        let queue = queue.map_err(|error| notice.lost(format!("failed to wait for processes: {error}")));
        Self { notice, queue: queue.ok(), waiting: HashMap::new() }
    }

    /// Returns how many processes are waited for.
    pub(crate) fn count(&self) -> usize {
        self.waiting.values().filter(|is_waited_for| **is_waited_for).count()
    }

    /// Waits for these processes and no others.
    pub(crate) fn follow(&mut self, processes: &[ProcessId]) {
        let Some(queue) = &self.queue else { return };
        self.waiting.retain(|id, _| {
            let stays = processes.contains(id);
            if !stays {
                // It fails for one that has exited, which is no longer waited for.
                let _ = change(queue, event(*id, EvFlags::EV_DELETE));
            }
            stays
        });
        for id in processes {
            if self.waiting.contains_key(id) {
                continue;
            }
            if self.waiting.len() >= MAX_PROCESSES {
                return self.notice.lost(format!("more than {MAX_PROCESSES} processes to wait for"));
            }
            match wait_for(queue, *id) {
                Ok(is_there) => {
                    if !is_there {
                        self.notice.send(Hint::Process(*id));
                    }
                    self.waiting.insert(*id, is_there);
                }
                Err(error) => self.notice.lost(format!("failed to wait for processes: {error}")),
            }
        }
    }
}

impl Drop for Deaths {
    fn drop(&mut self) {
        if let Some(queue) = &self.queue {
            // It cannot fail: its reader has registered the event.
            let _ = change(queue, stop(EvFlags::empty(), FilterFlag::NOTE_TRIGGER));
        }
    }
}

fn start(notice: Notice) -> Result<Arc<Kqueue>, std::io::Error> {
    let queue = Arc::new(Kqueue::new()?);
    change(&queue, stop(EvFlags::EV_ADD, FilterFlag::empty()))?;
    let shared = Arc::clone(&queue);
    std::thread::Builder::new().name("deaths".to_owned()).spawn(move || tell_deaths(&shared, &notice))?;
    Ok(queue)
}

/// Begins to wait for one process; returns whether it exists.
fn wait_for(queue: &Kqueue, id: ProcessId) -> Result<bool, Errno> {
    match change(queue, event(id, EvFlags::EV_ADD | EvFlags::EV_ONESHOT)) {
        // The queue came first: if the process is the right one now, it was then.
        Ok(()) => Ok(processes::lives(id) != Some(false)),
        Err(Errno::ESRCH) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the event of a process's exit, which carries its start.
fn event(id: ProcessId, flags: EvFlags) -> KEvent {
    let pid = usize::try_from(id.pid).unwrap_or_default();
    let start = isize::try_from(id.start_ticks).unwrap_or_default();
    KEvent::new(pid, EventFilter::EVFILT_PROC, flags, FilterFlag::NOTE_EXIT, 0, start)
}

/// Returns the event that ends the thread.
fn stop(flags: EvFlags, what: FilterFlag) -> KEvent {
    KEvent::new(0, EventFilter::EVFILT_USER, flags, what, 0, 0)
}

fn change(queue: &Kqueue, event: KEvent) -> Result<(), Errno> {
    queue.kevent(&[event], &mut [], None).map(|_| ())
}

fn tell_deaths(queue: &Kqueue, notice: &Notice) {
    let mut events = [stop(EvFlags::empty(), FilterFlag::empty()); 16];
    loop {
        let count = match queue.kevent(&[], &mut events, None) {
            Ok(count) => count,
            Err(Errno::EINTR) => continue,
            Err(error) => return notice.lost(format!("failed to wait for processes: {error}")),
        };
        for event in events.iter().take(count) {
            if event.filter() == Ok(EventFilter::EVFILT_USER) {
                return;
            }
            let pid = u32::try_from(event.ident()).unwrap_or_default();
            let start_ticks = u64::try_from(event.udata()).unwrap_or_default();
            notice.send(Hint::Process(ProcessId { pid, start_ticks }));
        }
    }
}
