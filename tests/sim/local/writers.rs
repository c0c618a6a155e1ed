//! The systems that write: whole files beside the old ones, or into the old ones; some writes are interrupted. Each is
//! a step of the world, so that a claimtop can come in between.

use std::path::{Path, PathBuf};

use crate::local::files::USER;
use crate::local::kin::{Kin, Whose};
use crate::local::processes::{Life, SimProcess, State};
use crate::local::programs::Sort;
use crate::local::texts;
use crate::local::world::World;

/// A write that is under way.
#[derive(Clone, Debug)]
pub(crate) enum Pending {
    /// A file was written beside and takes the place of the old one next.
    Rename { life: Life, from: PathBuf, to: PathBuf, lock: Option<u64> },
    /// A file was opened and emptied, and is filled next.
    Fill { life: Life, inode: u64, bytes: Vec<u8> },
}

impl Pending {
    fn life(&self) -> Life {
        match self {
            Self::Rename { life, .. } | Self::Fill { life, .. } => *life,
        }
    }
}

/// One system's file.
struct Sheet {
    path: PathBuf,
    /// The path where it is written first, unless it is written in place.
    beside: Option<PathBuf>,
    text: String,
}

/// Continues one write, or drops those of the dead.
pub(crate) fn go_on(world: &mut World) {
    let all: Vec<usize> = (0..world.pending.len()).collect();
    let Some(at) = world.rng.pick(&all).copied() else { return };
    let life = world.pending[at].life();
    let state = world.processes.all[life].state;
    if state != State::Stopped {
        finish(world, at);
    }
}

/// Completes a write, unless its writer is dead.
fn finish(world: &mut World, at: usize) {
    let pending = world.pending.swap_remove(at);
    let life = pending.life();
    let is_alive = world.processes.all[life].state.is_alive();
    match pending {
        Pending::Rename { from, to, lock, .. } => {
            if let Some(lock) = lock {
                world.locks.remove(&lock);
            }
            if is_alive {
                rename_over(world, &from, &to);
            }
        }
        Pending::Fill { inode, bytes, .. } if is_alive => {
            world.note(|| format!("life {life} fills inode {inode}"));
            let old = world.files.inodes.get(&inode).and_then(|inode| inode.version);
            world.ledger.retire(old);
            let version = world.ledger.add(life, &bytes);
            world.fill(inode, &bytes);
            if is_its_own_fault(world, inode) {
                world.ledger.retire(Some(version));
            }
        }
        Pending::Fill { .. } => {}
    }
}

/// Returns whether the content of a file is unreachable, and no claimtop has removed it: its own system has removed or
/// replaced it.
fn is_its_own_fault(world: &World, inode: u64) -> bool {
    let has_name = world.files.all().any(|(_, own, _)| own == inode);
    !has_name && !world.removed.contains(&inode)
}

/// Returns a live process that visibly has a file open for writing.
pub(crate) fn writer_of(world: &World, inode: u64) -> Option<u32> {
    let all = world.pending.iter().filter_map(|pending| match pending {
        Pending::Fill { life, inode: open, .. } if *open == inode => Some(&world.processes.all[*life]),
        Pending::Fill { .. } | Pending::Rename { .. } => None,
    });
    let mut seen = all.filter(|who| who.state.is_alive() && world.fault_model.visibility.sees_into(who));
    seen.next().map(|who| who.pid)
}

/// Replaces a file, as its own system does.
fn rename_over(world: &mut World, from: &Path, to: &Path) {
    world.note(|| format!("rename {} over {}", from.display(), to.display()));
    let old = world.files.inode(to).and_then(|inode| inode.version);
    let now = world.now();
    if world.files.rename(from, to, now).is_ok() {
        world.ledger.retire(old);
    }
}

/// Lets some agent's hook do something.
pub(crate) fn write_something(world: &mut World) {
    let is_able =
        |p: &SimProcess| p.sort == Sort::Claude && matches!(p.state, State::Running | State::LeaderExited);
    let Some(life) = world.somebody(is_able) else { return };
    if world.processes.all[life].is_far() {
        return write_from_afar(world, life);
    }
    match world.rng.roll(16) {
        0..=2 => put(world, life, registry),
        3..=4 => put(world, life, maia),
        5 => by_shell(world, life),
        6 => put(world, life, legacy),
        7 => put(world, life, global),
        8 => put(world, life, learning),
        9 => put(world, life, slot),
        10 => put(world, life, correlation),
        11 => put(world, life, leo_session),
        12 => put(world, life, if life % 2 == 0 { leo_marker } else { leo_tick }),
        13 => {
            let who = world.processes.all[life].clone();
            entire(world, life, &who);
        }
        14 => migrate(world, life),
        _ => leave(world, life),
    }
}

/// Writes a record that names its machine, as an agent of another one does. Without that name its PID is judged
/// as one of this machine.
fn write_from_afar(world: &mut World, life: Life) {
    world.tally.count("written on another machine");
    match world.rng.roll(4) {
        0..=1 => put(world, life, registry),
        2 => put(world, life, leo_session),
        _ => {
            let who = world.processes.all[life].clone();
            entire(world, life, &who);
        }
    }
}

fn put(world: &mut World, life: Life, sheet: fn(&World, &SimProcess) -> Sheet) {
    let sheet = sheet(world, &world.processes.all[life]);
    write(world, life, sheet, None);
}

fn write(world: &mut World, life: Life, sheet: Sheet, lock: Option<u64>) {
    let (now, uid) = (world.now(), world.processes.all[life].writes_as());
    let target = sheet.beside.clone().unwrap_or_else(|| sheet.path.clone());
    let old = world.files.inode(&target).map(|inode| inode.version);
    let is_in_place = sheet.beside.is_none();
    let may_write =
        |path| world.files.inode(path).is_none_or(|inode| world.files.may_write(inode, uid, is_in_place));
    if !may_write(&target) || !may_write(&sheet.path) {
        return;
    }
    let folder = target.parent().unwrap_or(Path::new("/"));
    let _ = world.files.make_folder(folder);
    let inode = world.files.at(&target).map_or_else(|| world.files.create(&target, uid, now), Ok).unwrap();
    if old.is_none() && world.fault_model.gives_away && world.rng.happens(200) {
        world.files.inodes.entry(inode).and_modify(|inode| inode.mode = 0o666);
    }
    count_odd(world, inode, uid);
    if uid != world.processes.all[life].uid {
        world.tally.count("written by power");
    }
    world.ledger.retire(old.flatten());
    world.fill(inode, b"");
    world.note(|| format!("life {life} opens {} (inode {inode})", target.display()));
    let bytes = sheet.text.into_bytes();
    if sheet.beside.is_none() && world.rng.happens(300) {
        let half = bytes.len() / 2;
        world.fill(inode, bytes.get(..half).unwrap_or_default());
        world.pending.push(Pending::Fill { life, inode, bytes });
        return;
    }
    world.ledger.add(life, &bytes);
    world.fill(inode, &bytes);
    match sheet.beside {
        // Most writes are over before any process can look.
        Some(from) if lock.is_none() && world.rng.happens(600) => rename_over(world, &from, &sheet.path),
        Some(from) => world.pending.push(Pending::Rename { life, from, to: sheet.path, lock }),
        None => {}
    }
}

/// Counts writes whose owner or date is not what it seems.
fn count_odd(world: &mut World, inode: u64, uid: u32) {
    let Some(inode) = world.files.inodes.get(&inode) else { return };
    let is_other_clock = !world.files.mount_of(inode).ahead.is_zero();
    if inode.uid != uid {
        world.tally.count("written under another owner");
    }
    if is_other_clock {
        world.tally.count("dated by another clock");
    }
}

fn beside(path: &Path, end: &str) -> Option<PathBuf> {
    Some(path.with_file_name(format!("{}{end}", path.file_name()?.to_str()?)))
}

fn registry(world: &World, who: &SimProcess) -> Sheet {
    let path = World::path("/home/dev/.claude/sessions", format!("{}.json", who.own_pid()));
    let text = texts::registry(who, world.fault_model.names_domain, world.ledger.mark());
    Sheet { beside: beside(&path, ".tmp").filter(|_| who.pid.is_multiple_of(2)), path, text }
}

/// Lets the hook of a turn write the record of the session that a window has turned to.
pub(crate) fn tell_hook(world: &mut World, life: Life) {
    put(world, life, leo_session);
}

/// Updates the registry entry of a window for its other session, if it has one.
pub(crate) fn follow(world: &mut World, life: Life) {
    let who = &world.processes.all[life];
    let path = World::path("/home/dev/.claude/sessions", format!("{}.json", who.own_pid()));
    let Some(inode) = world.files.at(&path) else { return };
    let is_entrys = |pending: &Pending| match pending {
        Pending::Rename { life: own, to, .. } => *own == life && *to == path,
        Pending::Fill { life: own, inode: open, .. } => *own == life && *open == inode,
    };
    // Its pending write there is completed first.
    while let Some(at) = world.pending.iter().position(is_entrys) {
        finish(world, at);
    }
    put(world, life, registry);
    while let Some(at) = world.pending.iter().position(is_entrys) {
        finish(world, at);
    }
}

fn maia(world: &World, who: &SimProcess) -> Sheet {
    maia_at(world, &named(world, who).to_string())
}

/// Returns the number by which an agent is known to stores without start times: its own, or that of the script that
/// started it.
fn named(world: &World, who: &SimProcess) -> u32 {
    let script = who.kin.group.filter(|_| who.kin.is_named_by_group).map(|life| &world.processes.all[life]);
    script.unwrap_or(who).own_pid()
}

fn maia_at(world: &World, context: &str) -> Sheet {
    let path = World::path("/home/dev/.maia/sessions", format!("swarm_session_{context}.json"));
    let text = texts::maia(world.now(), world.ledger.mark());
    Sheet { beside: Some(path.with_extension("tmp")), path, text }
}

/// Starts the shell that an agent runs a hook in.
fn hook_shell(world: &mut World, life: Life) -> Option<Life> {
    let agent = world.processes.all[life].clone();
    let container = agent.inside.map(|(container, _)| container);
    let shell = |pid, inside, start_ticks, born_at| SimProcess {
        pid,
        inside,
        parent: Some(life),
        sort: Sort::Shell,
        start_ticks,
        born_at,
        state: State::Running,
        is_hidden: false,
        names_session: false,
        kin: Kin { env: agent.handed_down(), whose: Whose::Of(vec![life]), ..Kin::default() },
        ..agent.clone()
    };
    world.add(shell, container)
}

/// Writes as a hook that runs in a shell whose PID it takes for the window's.
fn by_shell(world: &mut World, life: Life) {
    let Some(shell) = hook_shell(world, life) else { return };
    let who = world.processes.all[shell].clone();
    let context = who.own_pid().to_string();
    match world.rng.roll(10) {
        0..=4 => {
            let sheet = maia_at(world, &context);
            write(world, life, sheet, None);
        }
        5..=6 => {
            let path = World::path("/tmp", format!("maia_active_swarm_session_context_{context}.json"));
            let sheet = Sheet { beside: None, path, text: texts::maia(world.now(), world.ledger.mark()) };
            write(world, life, sheet, None);
        }
        7 => {
            let sheet = leo_tick(world, &who);
            write(world, life, sheet, None);
        }
        _ => entire(world, life, &who),
    }
    if world.rng.happens(800) {
        world.set(shell, State::Gone);
    }
}

fn legacy(world: &World, who: &SimProcess) -> Sheet {
    let path = World::path("/tmp", format!("maia_active_swarm_session_{}.json", named(world, who)));
    Sheet { beside: None, path, text: texts::maia(world.now(), world.ledger.mark()) }
}

fn global(world: &World, _: &SimProcess) -> Sheet {
    let path = World::path("/tmp", "maia_active_swarm_session.json");
    Sheet { beside: None, path, text: texts::maia(world.now(), world.ledger.mark()) }
}

fn learning(world: &World, who: &SimProcess) -> Sheet {
    let context = named(world, who).to_string();
    let path = World::path("/home/dev/.maia/sessions", format!("learning_session_{context}.json"));
    Sheet { beside: None, path, text: texts::learning(&context, world.now(), world.ledger.mark()) }
}

fn slot(world: &World, who: &SimProcess) -> Sheet {
    let project = who.cwd.trim_start_matches("/home/dev/");
    let path = World::path("/tmp", format!("claude_session_{project}"));
    let text = texts::lines(&who.session, world.now(), world.ledger.mark());
    Sheet { beside: beside(&path, "_abcdefgh.tmp"), path, text }
}

fn correlation(world: &World, who: &SimProcess) -> Sheet {
    let project = who.cwd.trim_start_matches("/home/dev/");
    let path = World::path("/tmp", format!("claude_correlation_{project}_Bash"));
    let mark = world.ledger.mark();
    Sheet { beside: None, path, text: texts::lines(&format!("c{mark}"), world.now(), mark) }
}

fn leo_session(world: &World, who: &SimProcess) -> Sheet {
    let path = World::path("/home/dev/.claude-sessions", format!("{}.json", who.session));
    Sheet { beside: None, path, text: texts::leo_session(who, 777, world.now(), world.ledger.mark()) }
}

fn leo_marker(world: &World, who: &SimProcess) -> Sheet {
    let folder = "/home/dev/shop/.claude/session-identity";
    let path = World::path(folder, format!("pid-{}.json", named(world, who)));
    Sheet {
        beside: None,
        path,
        text: texts::leo_marker(who, named(world, who), world.now(), world.ledger.mark()),
    }
}

fn leo_tick(world: &World, who: &SimProcess) -> Sheet {
    let path = World::path("/home/dev/shop/.claude/pids", format!("tick-{}.json", who.session));
    Sheet { beside: None, path, text: texts::leo_tick(who, 778, world.now(), world.ledger.mark()) }
}

/// Writes a state as the entire CLI does: under its lock, with the process that it takes for the agent.
fn entire(world: &mut World, life: Life, who: &SimProcess) {
    let lock = World::path("/home/dev/shop/.git/entire-session-locks", format!("{}.lock", who.session));
    let now = world.now();
    let inode =
        world.files.at(&lock).map_or_else(|| world.files.create(&lock, who.writes_as(), now), Ok).unwrap();
    if world.locks.contains_key(&inode) {
        return;
    }
    let hold = world.new_hold();
    world.locks.insert(inode, hold);
    let path = World::path("/home/dev/shop/.git/entire-sessions", format!("{}.json", who.session));
    let text = texts::entire(who, world.now(), world.ledger.mark());
    let count = world.pending.len();
    write(world, life, Sheet { beside: beside(&path, ".tmp"), path, text }, Some(inode));
    if world.pending.len() == count {
        world.locks.remove(&inode);
    }
}

/// Maia moves a legacy file to the window that starts next, and keeps its time. From then on it has no owner: its
/// writer has lost it, and the window has inherited a stranger's.
fn migrate(world: &mut World, life: Life) {
    let who = &world.processes.all[life];
    let context = who.own_pid();
    let to = World::path("/home/dev/.maia/sessions", format!("swarm_session_{context}.json"));
    let own = World::path("/tmp", format!("maia_active_swarm_session_{context}.json"));
    let from = match world.files.at(&own) {
        Some(_) => own,
        None => World::path("/tmp", "maia_active_swarm_session.json"),
    };
    let Some(old) = world.files.inode(&from).cloned() else { return };
    if world.files.at(&to).is_some() || old.uid != USER || who.writes_as() != USER || old.version.is_none() {
        return;
    }
    let now = world.now();
    let _ = world.files.make_folder(Path::new("/home/dev/.maia/sessions"));
    world.note(|| format!("life {life} moves {} to {}", from.display(), to.display()));
    let Ok(inode) = world.files.create(&to, USER, now) else { return };
    world.fill(inode, &old.bytes);
    if let Some(copy) = world.files.inodes.get_mut(&inode) {
        copy.modified_at = old.modified_at;
    }
    world.ledger.disown(old.version);
    let _ = world.files.unlink(&from);
    // A claimtop was killed between two copies and one of them is carried off: nothing shows any more that the other
    // is needless.
    if world.files.all().filter(|(_, _, inode)| inode.version == old.version).count() > 1 {
        world.ledger.retire(old.version);
    }
}

/// Writes the roster as Claude Code's daemon does: that it runs, and its sessions.
pub(crate) fn write_roster(world: &mut World, daemon: Life) {
    put(world, daemon, |world, who| {
        let path = World::path("/home/dev/.claude", "daemon.lock");
        Sheet { beside: None, path, text: texts::daemon(who, world.ledger.mark()) }
    });
    let jobs = world.jobs.iter().filter(|job| job.daemon == daemon && world.processes.is_alive(job.worker));
    let sessions: Vec<String> = jobs
        .map(|job| {
            let [host, worker] = [job.host, job.worker].map(|life| &world.processes.all[life]);
            texts::job(host, worker, &job.from, job.since)
        })
        .collect();
    let who = &world.processes.all[daemon];
    let path = World::path("/home/dev/.claude/daemon", "roster.json");
    let text = texts::roster(who, &sessions, world.ledger.mark());
    write(world, daemon, Sheet { beside: None, path, text }, None);
}

/// Ends an agent in good order, which removes its registry file.
fn leave(world: &mut World, life: Life) {
    let who = world.processes.all[life].clone();
    let path = World::path("/home/dev/.claude/sessions", format!("{}.json", who.own_pid()));
    let owned = world.files.inode(&path).filter(|inode| world.files.may_write(inode, who.writes_as(), false));
    if let Some(version) = owned.map(|inode| inode.version) {
        world.note(|| format!("life {life} (user {}) leaves and removes {}", who.uid, path.display()));
        world.ledger.retire(version);
        let _ = world.files.unlink(&path);
    }
    crate::local::deaths::exit(world, life);
}
