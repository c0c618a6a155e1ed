//! Verdicts by the PID that a record itself states.

use jiff::civil::DateTime;

use crate::core::judge::clock::SLACK;
use crate::core::judge::liveness::absent::{absent, gone, is_untouched_since_boot, named_elsewhere};
use crate::core::judge::liveness::answer::{Answer, Trail, alive, unknown};
use crate::core::judge::liveness::machine::elsewhere;
use crate::core::judge::liveness::reach::is_of_other_user;
use crate::core::judge::liveness::tombstone::by_tombstone;
use crate::core::judge::window::agent::Role as ProcessRole;
use crate::core::judge::window::window_of;
use crate::core::judge::world::{Birth, World};
use crate::core::model::snapshot::process::has_exited;
use crate::core::model::{Binding, Evidence, Holder, Process, Reason, Record, Role, StatedPid, Untrusted};

/// Decides on a PID that its process had before the recorded one began.
fn counts_elsewhere(trail: &mut Trail) -> Option<Answer> {
    let value = "this process had the PID before the recorded start, so the PID is from elsewhere";
    trail.add_other_namespace(value, "start ticks");
    unknown(Reason::OtherNamespace)
}

/// Judges by the record's own PID; `None` when that PID cannot decide.
pub(crate) fn own_verdict(record: &Record, world: &World<'_>, trail: &mut Trail) -> Option<Answer> {
    let holder = record.holder.as_ref()?;
    elsewhere(record, holder, world, trail).or_else(|| by_stated_pid(record, world, trail))
}

/// Judges by the record's own PID, which counts here.
pub(crate) fn by_stated_pid(record: &Record, world: &World<'_>, trail: &mut Trail) -> Option<Answer> {
    let holder = record.holder.as_ref()?;
    if holder.binding == Binding::Lock {
        return held(record, world, trail);
    }
    let pid = match holder.pid.as_ref()? {
        StatedPid::Valid(pid) => *pid,
        StatedPid::Bad(text) => {
            trail.add("pid", text.clone(), "record");
            return unknown(Reason::BadPid);
        }
    };
    trail.facts.push(Evidence::pid(pid, holder.role));
    if let Some(answer) = by_tombstone(holder, pid, world, trail) {
        return Some(answer);
    }
    match world.snapshot.processes.get(pid) {
        Some(process) => present(record, holder, process, world, trail),
        None => absent(record, holder, pid, world, trail),
    }
}

/// Judges a lock that the kernel reported as held, which is never dead: the process that took it may have left it to
/// a child (flock(2)). Its file's age proves nothing about its holder.
fn held(record: &Record, world: &World<'_>, trail: &mut Trail) -> Option<Answer> {
    let source = "/proc/locks and /proc/<pid>/fdinfo";
    let Some(pid) = record.pid() else {
        trail.add("lock", "held by a process that the system does not name", source);
        return alive(Reason::ProcessPresent);
    };
    let process = world.snapshot.processes.get(pid).filter(|process| !has_exited(process));
    let Some(process) = process else {
        trail.add(
            "lock",
            format!("held a moment ago by PID {pid}, which may have passed it to a child"),
            source,
        );
        return unknown(Reason::ProcessPresent);
    };
    trail.add("lock", format!("held by {} {pid}", process.comm), source);
    if let Some(window) = window_of(&world.snapshot.processes, &world.windows, pid) {
        trail.add("window", format!("{} {}", window.agent, window.process.id.pid), "parent chain");
    }
    alive(Reason::ProcessPresent)
}

/// Judges a PID that is there.
pub(crate) fn present(
    record: &Record,
    holder: &Holder,
    process: &Process,
    world: &World<'_>,
    trail: &mut Trail,
) -> Option<Answer> {
    let pid = holder.pid.as_ref()?.valid()?;
    let source = Untrusted::new(world.snapshot.host.process_source(process.id.pid));
    trail.add_from(
        "process",
        format!("{} started at {}", process.comm, world.snapshot.host.start_words(process.id.start_ticks)),
        source.clone(),
    );
    if process.id.pid != pid {
        trail.add(
            "thread",
            format!("{pid} is one of the threads of process {}", process.id.pid),
            "Tgid of /proc/<pid>/status",
        );
    }
    let is_same = match holder.start_ticks {
        Some(start) => {
            let words = || world.snapshot.host.start_words(start);
            trail.add("recorded start", holder.local_start().map_or_else(words, in_local_time), "record");
            let Some(is_same) = has_start(record, process, start, world, trail) else {
                return unknown(Reason::OtherNamespace);
            };
            if !is_same && process.id.pid != pid {
                let value = "the PID is a thread's, but the start is the process's";
                trail.add_from("thread", value, source);
                return unknown(Reason::ProcessPresent);
            }
            if !is_same && process.id.start_ticks < start {
                if let Some(answer) = named_elsewhere(holder, pid, world, trail) {
                    return Some(answer);
                }
                return counts_elsewhere(trail);
            }
            is_same
        }
        None => match born_beside(record, holder, process, world, trail) {
            Birth::Before => true,
            Birth::After => false,
            Birth::Unclear => return unknown(Reason::OtherClock),
        },
    };
    if !is_same {
        let reason = if holder.start_ticks.is_some() { Reason::OtherProcess } else { Reason::BornLater };
        return gone(record, holder, process.id.pid, reason, world, trail);
    }
    if process.details.as_ref().is_some_and(|details| details.is_kernels) {
        return taken_by_kernel(record, holder, process, world, trail);
    }
    if has_exited(process) {
        trail.add("exited", "it has exited and waits to be reaped", "pidfd, or state Z with one thread");
        return gone(record, holder, process.id.pid, Reason::Exited, world, trail);
    }
    if holder.start_ticks.is_some() {
        return alive(Reason::SameProcess);
    }
    if holder.role == Role::Agent && is_of_other_user(record, process, world) {
        // It had the PID when the record was written: root can write that for any process it starts.
        trail.add_from("user", "the process belongs to another user than the record", source);
        return unknown(Reason::ProcessPresent);
    }
    let window = window_of(&world.snapshot.processes, &world.windows, process.id.pid);
    if let Some(window) = window {
        trail.add("window", format!("{} {}", window.agent, window.process.id.pid), "parent chain");
    } else if holder.binding == Binding::File
        && matches!(holder.role, Role::Agent | Role::Unknown)
        && let Some((agent, ProcessRole::Daemon | ProcessRole::Spare)) = world.signatures.classify(process)
    {
        // A writer that looked for the agent above itself has found the server of all of them (firstmate#3398).
        let value =
            format!("{} is {}'s daemon, or waits for a session: it holds nothing itself", pid, agent.name);
        trail.add_from("role", value, source);
        return unknown(Reason::WrongRole);
    }
    alive(Reason::ProcessPresent)
}

/// Returns whether a process has the start that a record states; `None` if another time namespace may give it another
/// number. If that cannot be read, the answer is no for a kernel thread, for a process with a boot between it and the
/// record, and for another user's process that is not an agent.
fn has_start(
    record: &Record,
    process: &Process,
    start: u64,
    world: &World<'_>,
    trail: &mut Trail,
) -> Option<bool> {
    let has_start = process.has_start(start);
    if has_start.is_some() {
        return has_start;
    }
    let clock = "/proc/<pid>/ns/time";
    match &process.details {
        Some(details) if !details.has_unread_clock => {
            trail.add("other clock", "the process is in another time namespace", clock);
            return None;
        }
        Some(details) if details.is_kernels || is_untouched_since_boot(record, world) => return Some(false),
        Some(_) if is_of_other_user(record, process, world) && !world.may_be_agents(process) => {
            trail.add("user", "the process belongs to another user than the record", "/proc/<pid>/status");
            return Some(false);
        }
        Some(_) | None => {}
    }
    let unread = "the process may be in another time namespace, which cannot be read";
    trail.add("other clock", unread, clock);
    None
}

/// Judges a PID that is now a kernel thread's: the holder is gone if the thread began after the record did; a number
/// that was the thread's all along counts elsewhere.
fn taken_by_kernel(
    record: &Record,
    holder: &Holder,
    thread: &Process,
    world: &World<'_>,
    trail: &mut Trail,
) -> Option<Answer> {
    trail.add(
        "kernel",
        "the process is a thread of the kernel, which runs no program and holds nothing",
        "flags of /proc/<pid>/stat",
    );
    let pid = thread.id.pid;
    let began =
        record.started_at.filter(|_| holder.start_ticks.is_none() && record.medium().is_this_machines());
    if began.is_some_and(|began| world.is_born_after(thread, began)) {
        return gone(record, holder, pid, Reason::NotAnAgent, world, trail);
    }
    named_elsewhere(holder, pid, world, trail).or_else(|| counts_elsewhere(trail))
}

/// States a start that was recorded in local time.
fn in_local_time(start: DateTime) -> String {
    format!("{start} in local time, to the second")
}

/// Does the same if a start in local time, without its zone, decides nothing.
fn born_beside(
    record: &Record,
    holder: &Holder,
    process: &Process,
    world: &World<'_>,
    trail: &mut Trail,
) -> Birth {
    if let Some(start) = holder.local_start() {
        let value = format!("{}: the start of this process in some time zone", in_local_time(start));
        trail.add("recorded start", value, "record");
    }
    born(record, process, world, trail)
}

/// Describes what is known of the clock if it may have been set since the machine booted.
fn clock_words(world: &World<'_>) -> Option<String> {
    let clock = world.clock();
    let set_by = clock.set_by();
    if !clock.has_stamp() {
        Some("it may have been set since the machine booted, so the times cannot be compared".to_owned())
    } else if set_by > SLACK {
        Some(format!(
            "it was set by {} s since the machine booted, so the times cannot be compared",
            set_by.as_secs()
        ))
    } else {
        None
    }
}

/// Returns how the start of the PID's process relates to the record's last write.
fn born(record: &Record, process: &Process, world: &World<'_>, trail: &mut Trail) -> Birth {
    let born = world.birth(process, record);
    let is_younger_than_write = || world.born(process, (record.written_at, record.medium())) == Birth::After;
    let changed_at = record.changed_at.filter(|_| born == Birth::Unclear && is_younger_than_write());
    if let Some(changed_at) = changed_at {
        trail.add(
            "last change",
            format!(
                "{changed_at}, after the last write: by a copy that kept its time, or by a rename or chmod"
            ),
            "inode",
        );
    }
    if born != Birth::Before {
        let started = world.snapshot.host.wall_clock(process.id.start_ticks);
        let started = started.map_or_else(|| "in the future".to_owned(), |at| at.to_string());
        trail.add("process start", started, "start tick and boot time");
        trail.add("last write", record.written_at.to_string(), "file time");
    }
    if born == Birth::Unclear
        && let Some(words) = clock_words(world)
    {
        trail.add("clock", words, "age of the device nodes, and what claimtop noted");
    }
    if born == Birth::Unclear && !record.medium().is_this_machines() {
        trail.add(
            "file system",
            "networked, shared or removable: its times may be another machine's",
            "statfs",
        );
    }
    born
}
