//! Ends processes: opens handles to all of them first, checks that they are the confirmed ones, and only then signals
//! one after the other.

use std::time::Duration;

use rustix::io::Errno;

use crate::act::error::ActionError;
use crate::act::stop::newcomer::refusal;
use crate::act::stop::processes::{ProcessHandle, Processes, hindered_now, print_of};
use crate::core::model::{ProcessId, ProcessPrint, Signal};
use crate::source::os::clock;

/// How many times to look for newly started processes before the first signal and while waiting.
const ROUNDS: usize = 8;
const PACE: Duration = Duration::from_millis(500);
/// The most processes that one ending takes on.
const MOST: usize = 512;

/// The results of an ending.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) ended: Vec<ProcessPrint>,
    pub(crate) stayed: Vec<ProcessPrint>,
    /// Further notes for the outcome.
    pub(crate) notes: Vec<String>,
}

/// Ends the confirmed processes, of which the first is above all others, and what they have started since. If one of
/// the others has exited, there is nothing to signal.
///
/// # Errors
/// Something is not as it was confirmed; nothing was signalled.
pub(crate) fn end(
    processes: &dyn Processes,
    confirmed: &[ProcessPrint],
    signal: Signal,
) -> Result<Ending, ActionError> {
    let mut group = Group::held(processes, confirmed, signal)?;
    group.check()?;
    for _ in 0..ROUNDS {
        if group.adopt()? == 0 {
            break;
        }
    }
    group.check()?;
    group.signal_all()?;
    let until = clock::steady() + processes.patience();
    loop {
        // Nothing can be undone any more: a process that must not be ended is left alone.
        if let Err(trouble) = group.adopt() {
            group.note(format!("left alone: {trouble}"));
        }
        group.signal_all()?;
        let left = until.saturating_duration_since(clock::steady());
        match group.members.iter().find(|member| member.lives()) {
            Some(member) if !left.is_zero() => member.held.wait(left.min(PACE)),
            Some(_) | None => break,
        }
    }
    Ok(group.ending())
}

struct Group<'a> {
    processes: &'a dyn Processes,
    signal: Signal,
    members: Vec<Member>,
    has_begun: bool,
    notes: Vec<String>,
}

struct Member {
    print: ProcessPrint,
    held: Box<dyn ProcessHandle>,
    /// Whether it was signalled, or is left alone.
    is_done: bool,
}

impl Member {
    /// Returns whether it may still live.
    fn lives(&self) -> bool {
        self.held.has_exited() != Some(true)
    }
}

impl<'a> Group<'a> {
    /// Opens a handle to every confirmed process.
    fn held(
        processes: &'a dyn Processes,
        confirmed: &[ProcessPrint],
        signal: Signal,
    ) -> Result<Self, ActionError> {
        let mut members = Vec::with_capacity(confirmed.len());
        for (at, print) in confirmed.iter().enumerate() {
            match processes.hold(print.id.pid)? {
                Some(held) => members.push(Member { print: print.clone(), held, is_done: false }),
                None if at == 0 => return Err(gone(print.id.pid)),
                None => {}
            }
        }
        Ok(Self { processes, signal, members, has_begun: false, notes: Vec::new() })
    }

    /// Makes sure that each is the confirmed one. A process that is alive after it was read had its number meanwhile,
    /// so the held process is the one that was read.
    fn check(&self) -> Result<(), ActionError> {
        for (at, Member { print, held, .. }) in self.members.iter().enumerate() {
            let pid = print.id.pid;
            let found = self.processes.print(pid);
            let hindered = hindered_now(self.processes, &**held, print);
            match held.has_exited() {
                Some(false) => {}
                Some(true) if at == 0 => return Err(gone(pid)),
                Some(true) => continue,
                None => {
                    return Err(ActionError::Changed(format!("it is not known whether PID {pid} is alive")));
                }
            }
            if found.as_ref().is_none_or(|found| !print.is_still(found) || found.parent != print.parent) {
                return Err(other(pid));
            }
            hindered.map_or(Ok(()), |why| Err(ActionError::Changed(why)))?;
        }
        Ok(())
    }

    /// Adds the processes started below a member since, and returns how many.
    fn adopt(&mut self) -> Result<usize, ActionError> {
        let all = self.processes.parents()?;
        let mut taken = 0;
        loop {
            let before = taken;
            for (id, parent) in &all {
                if self.is_new(*id, *parent)
                    && let Some(member) = self.newcomer(*id, *parent)?
                {
                    match refusal(self.processes, &member.print) {
                        // Nothing is known of a process that has exited.
                        Some(_) if !member.lives() => {}
                        Some(why) => return Err(ActionError::Changed(why)),
                        None => {
                            self.members.push(member);
                            taken += 1;
                        }
                    }
                }
            }
            if taken == before || self.members.len() > MOST {
                return Ok(taken);
            }
        }
    }

    /// Returns whether a process is new and was seen below a member. A live member has had its number all the while,
    /// so no other process was meant by it.
    fn is_new(&self, id: ProcessId, parent: u32) -> bool {
        self.members.iter().all(|member| member.print.id != id)
            && self.members.iter().any(|member| member.print.id.pid == parent && member.lives())
    }

    /// Opens a handle to it; `None` if it has exited, or is no longer below that member.
    fn newcomer(&self, id: ProcessId, parent: u32) -> Result<Option<Member>, ActionError> {
        let Some(held) = self.processes.hold(id.pid)? else { return Ok(None) };
        let print = print_of(self.processes, &*held, id);
        if held.has_exited() != Some(false) {
            return Ok(None);
        }
        let Some(print) = print else {
            return Err(ActionError::Changed(format!(
                "PID {} has just started and cannot be identified",
                id.pid
            )));
        };
        // Its parent may have gone meanwhile.
        let is_below = print.parent == parent && self.is_new(id, parent);
        Ok(is_below.then_some(Member { print, held, is_done: false }))
    }

    /// Signals the remaining processes: asks the deepest to end first, so that a process that waits for them misses
    /// none; kills the topmost first, so that it starts nothing more.
    fn signal_all(&mut self) -> Result<(), ActionError> {
        let mut order: Vec<usize> = (0..self.members.len()).collect();
        order.sort_by_key(|at| std::cmp::Reverse(self.members.get(*at).map(|member| self.depth(member))));
        if self.signal == Signal::Kill {
            order.reverse();
        }
        for at in order {
            let Some(member) = self.members.get_mut(at).filter(|member| !member.is_done) else { continue };
            member.is_done = true;
            match signalled(self.processes, member, self.signal) {
                Ok(was_sent) => self.has_begun |= was_sent,
                Err(trouble) if !self.has_begun => return Err(trouble),
                Err(trouble) => self.note(format!("left alone: {trouble}")),
            }
        }
        Ok(())
    }

    /// Returns the number of members above one.
    fn depth(&self, member: &Member) -> usize {
        let parent =
            |member: &Member| self.members.iter().find(|other| other.print.id.pid == member.print.parent);
        std::iter::successors(parent(member), |above| parent(above)).take(MOST).count()
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn ending(self) -> Ending {
        let (stayed, ended): (Vec<_>, Vec<_>) = self.members.into_iter().partition(Member::lives);
        let prints = |members: Vec<Member>| members.into_iter().map(|member| member.print).collect();
        Ending { ended: prints(ended), stayed: prints(stayed), notes: self.notes }
    }
}

/// Signals a process if it still is what it was, and returns whether it was there to be signalled.
fn signalled(processes: &dyn Processes, member: &Member, signal: Signal) -> Result<bool, ActionError> {
    let pid = member.print.id.pid;
    // A process that is about to exit cannot be read either.
    let found = print_of(processes, &*member.held, member.print.id);
    let hindered = hindered_now(processes, &*member.held, &member.print);
    if !member.lives() {
        return Ok(false);
    }
    if found.is_none_or(|found| !member.print.is_still(&found)) {
        return Err(other(pid));
    }
    hindered.map_or(Ok(()), |why| Err(ActionError::Changed(why)))?;
    match member.held.signal(signal) {
        Ok(()) => Ok(true),
        Err(Errno::SRCH) => Ok(false),
        Err(errno) => Err(ActionError::Failed { what: format!("signal PID {pid}"), errno }),
    }
}

fn other(pid: u32) -> ActionError {
    ActionError::Changed(format!("PID {pid} has changed"))
}

fn gone(pid: u32) -> ActionError {
    ActionError::Changed(format!("PID {pid} has exited"))
}
