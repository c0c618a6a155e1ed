//! Processes as they truly are: each life is separate, whatever its PID.

use std::collections::BTreeMap;

use claimtop::core::model::{
    Credentials, Details, InnerPids, Process, ProcessId, ProcessState, ProcessTable, Untrusted,
};
use jiff::Timestamp;

use crate::local::files::USER;
use crate::local::kin::Kin;
use crate::local::programs::Sort;

/// One life of a process; never used twice.
pub(crate) type Life = usize;

/// The state of a process.
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

/// How a process of another user writes our files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Power {
    None,
    /// It has a capability.
    Capability,
    /// Its user namespace maps users.
    Mapping,
    /// It is a set-user-ID program: its saved user is another one.
    SavedUser,
    /// It was started by root, which is still its real user.
    Root,
}

impl Power {
    pub(crate) const SOME: [Self; 4] = [Self::Capability, Self::Mapping, Self::SavedUser, Self::Root];

    fn credentials(self, uid: u32) -> Credentials {
        let plain = Credentials { users: vec![uid; 4], ..Credentials::default() };
        match self {
            Self::None => plain,
            Self::Capability => Credentials { has_capabilities: true, ..plain },
            Self::Mapping => Credentials { is_mapped: true, ..plain },
            Self::SavedUser => Credentials { users: vec![uid, uid, USER, uid], ..plain },
            Self::Root => Credentials { users: vec![0, uid, uid, uid], ..plain },
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
    /// By the wall clock at that time.
    pub(crate) born_at: Timestamp,
    pub(crate) uid: u32,
    /// How it may write as another user, if it may.
    pub(crate) power: Power,
    pub(crate) is_hidden: bool,
    pub(crate) session: String,
    pub(crate) cwd: &'static str,
    /// Whether its arguments name its session.
    pub(crate) names_session: bool,
    /// How many ticks its time namespace is ahead of the machine's first one.
    pub(crate) clock: i64,
    pub(crate) kin: Kin,
}

/// The number that stands for another machine among the containers: it is not visible from here.
pub(crate) const OTHER_MACHINE: u32 = 9;

impl SimProcess {
    /// Returns the PID by which it knows itself.
    pub(crate) fn own_pid(&self) -> u32 {
        self.inside.map_or(self.pid, |(_, pid)| pid)
    }

    /// Returns the start by which it knows itself.
    pub(crate) fn own_start(&self) -> u64 {
        self.start_ticks.wrapping_add_signed(self.clock)
    }

    /// Returns the user whose files it writes.
    pub(crate) fn writes_as(&self) -> u32 {
        if self.power == Power::None { self.uid } else { USER }
    }

    /// Returns whether it runs on another machine.
    pub(crate) fn is_far(&self) -> bool {
        self.inside.is_some_and(|(container, _)| container == OTHER_MACHINE)
    }
}

/// Where an observer is, and what is hidden from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Visibility {
    /// The container of claimtop itself.
    pub(crate) container: Option<u32>,
    /// Whether the list of processes lacks those of others (`hidepid`).
    pub(crate) is_partial: bool,
    /// Whether the kernel has pidfds.
    pub(crate) has_pidfd: bool,
    /// How many ticks claimtop's own time namespace is ahead of the machine's first one.
    pub(crate) clock: i64,
}

impl Visibility {
    /// Returns whether the open files of a process are visible: only those of one's own user's processes, in one's own
    /// PID namespace and below (proc(5)).
    pub(crate) fn sees_into(self, who: &SimProcess) -> bool {
        let is_here = self.container.is_none_or(|own| who.inside.is_some_and(|(inside, _)| inside == own));
        is_here && !who.is_far() && who.uid == USER && !who.is_hidden
    }
}

/// Every process that ever lived.
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

    /// Returns a free PID, from a range small enough that PIDs are soon reused.
    pub(crate) fn free(
        &self,
        wanted: usize,
        range: std::ops::Range<u32>,
        inside: Option<u32>,
    ) -> Option<u32> {
        let taken = |pid: u32| {
            let there = self.all.iter().filter(|person| person.state != State::Gone);
            // Nor is one given out that a process group still has.
            let leaders = there.clone().filter_map(|person| self.all.get(person.kin.group?));
            there.chain(leaders).any(|person| match inside {
                None => person.pid == pid,
                Some(container) => person.inside == Some((container, pid)),
            })
        };
        let free: Vec<u32> = range.filter(|pid| !taken(*pid)).collect();
        if free.is_empty() { None } else { free.get(wanted % free.len()).copied() }
    }

    /// Returns the process with a number, as the observer sees it.
    pub(crate) fn life_at(&self, pid: u32, visibility: Visibility) -> Option<Life> {
        let is_it =
            |person: &SimProcess| person.state != State::Gone && number(person, visibility) == Some(pid);
        self.all.iter().position(is_it)
    }

    /// Returns the number of a process, as the observer sees it.
    pub(crate) fn number(&self, life: Life, visibility: Visibility) -> Option<u32> {
        number(self.all.get(life)?, visibility)
    }

    /// Returns the ID of a process, as the observer sees it.
    pub(crate) fn id(&self, life: Life, visibility: Visibility) -> Option<ProcessId> {
        let person = self.all.get(life)?;
        let start_ticks = person.start_ticks.wrapping_add_signed(visibility.clock);
        Some(ProcessId { pid: number(person, visibility)?, start_ticks })
    }

    /// Lists the processes as the kernel would.
    pub(crate) fn table(&self, visibility: Visibility) -> ProcessTable {
        let mut table = ProcessTable::default();
        if visibility.is_partial {
            table.partial = Some("hidepid".to_owned());
        }
        for person in self.all.iter().filter(|person| person.state != State::Gone) {
            let Some(pid) = number(person, visibility) else { continue };
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
        let (comm, exe, arguments) = person.sort.look();
        let is_own = person.uid == USER;
        let mut argv: Vec<Untrusted> = arguments.iter().map(|argument| (*argument).into()).collect();
        if person.names_session {
            argv.extend(["--resume".into(), person.session.as_str().into()]);
        }
        let ns_pids = match (visibility.container, person.inside) {
            (None, Some((_, inner))) => vec![pid, inner],
            (None, None) | (Some(_), _) => vec![pid],
        };
        Process {
            id: ProcessId { pid, start_ticks: person.start_ticks.wrapping_add_signed(visibility.clock) },
            parent: parent.map_or(1, |parent| number(parent, visibility).unwrap_or(0)),
            state: match person.state {
                State::Running => ProcessState::Running,
                State::Stopped => ProcessState::Stopped,
                State::LeaderExited => ProcessState::LeaderExited,
                State::Zombie | State::Gone => ProcessState::Zombie,
            },
            comm: comm.into(),
            tty: None,
            group: self.group(person, pid, visibility),
            session: self.group(person, pid, visibility),
            pidfd_inode: None,
            has_exited: visibility.has_pidfd.then_some(!person.state.is_alive()),
            inner: InnerPids::from_ns_pids(&ns_pids),
            is_renamed: false,
            details: Some(Details {
                uid: Some(person.uid),
                credentials: Some(person.power.credentials(person.uid)),
                // Of another user's process the executable may not be read (proc(5)).
                exe: is_own.then(|| exe.into()),
                argv,
                cwd: is_own.then(|| person.cwd.into()),
                is_cwd_gone: false,
                is_cwd_elsewhere: false,
                cwd_here: None,
                cwd_id: None,
                ns_pids,
                has_other_clock: is_own && person.clock != visibility.clock,
                has_unread_clock: !is_own,
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

impl Processes {
    /// Returns the number of a process's group, even if its leader is gone; 0 if that is outside.
    fn group(&self, person: &SimProcess, pid: u32, visibility: Visibility) -> u32 {
        let Some(leader) = person.kin.group.and_then(|life| self.all.get(life)) else { return pid };
        number(leader, visibility).unwrap_or(0)
    }
}

fn number(person: &SimProcess, visibility: Visibility) -> Option<u32> {
    match (visibility.container, person.inside) {
        _ if person.is_far() => None,
        (None, _) => Some(person.pid),
        (Some(own), Some((container, pid))) if own == container => Some(pid),
        (Some(_), _) => None,
    }
}
