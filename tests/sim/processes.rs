//! Processes as they truly are: each life is its own, whatever its PID.

use std::collections::BTreeMap;

use claimtop::core::model::{Details, InnerPids, Process, ProcessId, ProcessState, ProcessTable, Untrusted};
use jiff::Timestamp;

use crate::files::USER;

/// One life of a process; never used twice.
pub(crate) type Life = usize;

/// What a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Claude,
    Codex,
    /// A shell that an agent runs a hook in.
    Shell,
    Sleep,
}

/// How it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Running,
    Stopped,
    /// The main thread has ended, others run on.
    LeaderExited,
    Zombie,
    Gone,
}

impl State {
    pub(crate) fn is_alive(self) -> bool {
        match self {
            Self::Running | Self::Stopped | Self::LeaderExited => true,
            Self::Zombie | Self::Gone => false,
        }
    }
}

/// A process.
#[derive(Clone, Debug)]
pub(crate) struct SimProcess {
    pub(crate) pid: u32,
    /// Its container and its PID there.
    pub(crate) inside: Option<(u32, u32)>,
    pub(crate) parent: Option<Life>,
    pub(crate) sort: Sort,
    pub(crate) state: State,
    pub(crate) start_ticks: u64,
    /// By the wall clock of then.
    pub(crate) born_at: Timestamp,
    pub(crate) uid: u32,
    pub(crate) is_hidden: bool,
    pub(crate) session: String,
    pub(crate) cwd: &'static str,
    /// Whether its arguments name its session.
    pub(crate) names_session: bool,
    /// By how many ticks its time namespace is ahead of the machine's first one.
    pub(crate) clock: i64,
}

/// The number by which another machine counts as a container: one into which nobody here sees.
pub(crate) const OTHER_MACHINE: u32 = 9;

impl SimProcess {
    /// Returns the PID that it knows itself by.
    pub(crate) fn own_pid(&self) -> u32 {
        self.inside.map_or(self.pid, |(_, pid)| pid)
    }

    /// Returns the start by which it knows itself.
    pub(crate) fn own_start(&self) -> u64 {
        self.start_ticks.wrapping_add_signed(self.clock)
    }

    /// Returns whether it runs on another machine.
    pub(crate) fn is_far(&self) -> bool {
        self.inside.is_some_and(|(container, _)| container == OTHER_MACHINE)
    }
}

/// Who looks, and what hides from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Visibility {
    /// The container of claimtop itself.
    pub(crate) container: Option<u32>,
    /// Whether the list of processes lacks those of others (`hidepid`).
    pub(crate) is_partial: bool,
    /// Whether the kernel has pidfds.
    pub(crate) has_pidfd: bool,
    /// By how many ticks claimtop's own time namespace is ahead of the machine's first one.
    pub(crate) clock: i64,
}

impl Visibility {
    /// Returns whether it can be seen which files somebody has open: only of one's own user's
    /// processes, and of those in one's own PID namespace and below (proc(5)).
    pub(crate) fn sees_into(self, who: &SimProcess) -> bool {
        let is_here = self.container.is_none_or(|own| who.inside.is_some_and(|(inside, _)| inside == own));
        is_here && !who.is_far() && who.uid == USER && !who.is_hidden
    }
}

/// Everybody who ever lived.
#[derive(Default)]
pub(crate) struct Processes {
    pub(crate) all: Vec<SimProcess>,
}

impl Processes {
    pub(crate) fn alive(&self) -> impl Iterator<Item = (Life, &SimProcess)> {
        self.all.iter().enumerate().filter(|(_, person)| person.state.is_alive())
    }

    pub(crate) fn is_alive(&self, life: Life) -> bool {
        self.all.get(life).is_some_and(|person| person.state.is_alive())
    }

    /// Returns a PID that nobody has, of a range small enough that PIDs come again soon.
    pub(crate) fn free(
        &self,
        wanted: usize,
        range: std::ops::Range<u32>,
        inside: Option<u32>,
    ) -> Option<u32> {
        let taken = |pid: u32| {
            self.all.iter().filter(|person| person.state != State::Gone).any(|person| match inside {
                None => person.pid == pid,
                Some(container) => person.inside == Some((container, pid)),
            })
        };
        let free: Vec<u32> = range.filter(|pid| !taken(*pid)).collect();
        if free.is_empty() { None } else { free.get(wanted % free.len()).copied() }
    }

    /// Lists the processes as the kernel would.
    pub(crate) fn table(&self, visibility: Visibility) -> ProcessTable {
        let mut table = ProcessTable::default();
        if visibility.is_partial {
            table.partial = Some("hidepid".to_owned());
        }
        for person in self.all.iter().filter(|person| person.state != State::Gone) {
            let pid = match (visibility.container, person.inside) {
                _ if person.is_far() => continue,
                (None, _) => person.pid,
                (Some(own), Some((container, pid))) if own == container => pid,
                (Some(_), _) => continue,
            };
            let is_foreign = person.uid != USER;
            if is_foreign && visibility.is_partial {
                continue;
            }
            table.listed.insert(pid);
            if !person.is_hidden {
                table.by_pid.insert(pid, self.process(person, pid, visibility));
            }
        }
        table
    }

    fn process(&self, person: &SimProcess, pid: u32, visibility: Visibility) -> Process {
        let parent = person.parent.and_then(|life| self.all.get(life)).filter(|p| p.state != State::Gone);
        let (comm, exe) = match person.sort {
            Sort::Claude => ("claude", "/opt/node_modules/@anthropic-ai/claude-code/bin/claude.exe"),
            Sort::Codex => ("codex", "/opt/node_modules/@openai/codex-linux-x64/vendor/x/bin/codex"),
            Sort::Shell => ("bash", "/usr/bin/bash"),
            Sort::Sleep => ("sleep", "/usr/bin/sleep"),
        };
        let is_own = person.uid == USER;
        let mut argv: Vec<Untrusted> = vec![comm.into()];
        if person.names_session {
            argv.extend(["--resume".into(), person.session.as_str().into()]);
        }
        let ns_pids = match (visibility.container, person.inside) {
            (None, Some((_, inner))) => vec![pid, inner],
            (None, None) | (Some(_), _) => vec![pid],
        };
        Process {
            id: ProcessId { pid, start_ticks: person.start_ticks.wrapping_add_signed(visibility.clock) },
            parent: parent.map_or(1, |parent| parent.pid),
            state: match person.state {
                State::Running => ProcessState::Running,
                State::Stopped => ProcessState::Stopped,
                State::LeaderExited => ProcessState::LeaderExited,
                State::Zombie | State::Gone => ProcessState::Zombie,
            },
            comm: comm.into(),
            tty: None,
            session: pid,
            pidfd_inode: None,
            has_exited: visibility.has_pidfd.then_some(!person.state.is_alive()),
            inner: InnerPids::from_ns_pids(&ns_pids),
            details: Some(Details {
                uid: Some(person.uid),
                // Of another user's process the executable may not be read (proc(5)).
                exe: is_own.then(|| exe.into()),
                argv,
                cwd: is_own.then(|| person.cwd.into()),
                ns_pids,
                has_other_clock: person.clock != visibility.clock,
                homes: None,
                has_certain_homes: false,
                is_kernels: false,
                is_stand_in: false,
                env: BTreeMap::new(),
                cpu_percent: None,
                memory_bytes: None,
            }),
        }
    }
}
