//! Runs seeds, one after another and on every core.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use claimtop::core::model::Medium;
use claimtop::testing::act::{Patience, StateFolder};
use jiff::SignedDuration;

use crate::local::claimtop::{Manner, live};
use crate::local::disk::{DiskFault, SimDisk};
use crate::local::files::Mount;
use crate::local::machine::SimMachine;
use crate::local::observer::{Credit, ScanMode};
use crate::local::oracle;
use crate::local::processes::Visibility;
use crate::local::scheduler::Scheduler;
use crate::local::tally::Tally;
use crate::local::world::{FaultModel, STATE, World};
use crate::rng::Rng;

/// The result of one seed.
pub(crate) struct Outcome {
    pub(crate) seed: u64,
    pub(crate) breaches: Vec<String>,
    pub(crate) tally: Tally,
    pub(crate) fault_model: FaultModel,
    pub(crate) trace: String,
}

/// What the trace of a seed contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trace {
    Last,
    All,
}

/// How far another machine's clock is ahead, in seconds.
const AHEAD: [i64; 8] = [-7_200, -300, -60, -3, 0, 3, 300, 7_200];

fn mount(rng: &mut Rng) -> Mount {
    let ahead = SignedDuration::from_secs(AHEAD[rng.roll(AHEAD.len())]);
    match rng.roll(10) {
        0..=1 => Mount { medium: Medium::Mapped, ..Mount::LOCAL },
        2..=3 => Mount { medium: Medium::Shared, ahead },
        _ => Mount::LOCAL,
    }
}

/// Returns how many ticks a time namespace is ahead: set back by some hours, or not another one.
fn clock(rng: &mut Rng, hours: i64) -> i64 {
    if rng.happens(150) { -360_000 * hours - rng.roll(360_000) as i64 } else { 0 }
}

fn fault_model(rng: &mut Rng) -> FaultModel {
    let containers = rng.happens(400);
    let container = Some(1).filter(|_| containers && rng.happens(250));
    // A process outside of all containers has been up for 40 hours.
    let containers_clock = clock(rng, 38);
    let own_clock = clock(rng, 40);
    FaultModel {
        faults: [0, 0, 10, 40][rng.roll(4)],
        crashes: [0, 0, 10, 30][rng.roll(4)],
        clock_steps: rng.happens(300),
        loses_journal: rng.happens(150),
        foreigners: rng.happens(300),
        containers,
        churn: rng.happens(400),
        mount: mount(rng),
        gives_away: rng.happens(300),
        names_domain: rng.happens(500),
        containers_clock,
        tells_taken_first: rng.happens(300),
        claimtops: 1 + rng.roll(3),
        background: rng.happens(500),
        visibility: Visibility {
            container,
            is_partial: rng.happens(60),
            has_pidfd: rng.happens(800),
            clock: if container.is_some() { containers_clock } else { own_clock },
        },
    }
}

/// Runs one seed from its first step to the last recovery.
pub(crate) fn run(seed: u64, manner: Manner, trace: Trace) -> Outcome {
    // The events by which a control is detected are made common there.
    let has_foreigners = manner == Manner::Real(ScanMode::Credulous(Credit::Users));
    let fault_model = |rng: &mut Rng| match has_foreigners {
        true => FaultModel { foreigners: true, mount: Mount::LOCAL, ..fault_model(rng) },
        false => fault_model(rng),
    };
    let mut world = World::new(seed, fault_model, trace == Trace::All);
    world.files.belief = manner.belief();
    let fault_model = world.fault_model;
    let scheduler = Arc::new(Scheduler::new(world));
    thread::scope(|scope| {
        for me in 0..fault_model.claimtops {
            let scheduler = &scheduler;
            scope.spawn(move || live(scheduler, me, manner));
        }
    });
    let Some(mut world) = Arc::into_inner(scheduler).map(Scheduler::into_world) else {
        unreachable!("everybody has left");
    };
    if manner != Manner::Naive {
        world = recover_twice(world, manner.disk_fault());
        oracle::check_rest(&mut world);
    }
    Outcome { seed, fault_model, trace: world.trace(), breaches: world.breaches, tally: world.tally }
}

/// Lets one last claimtop put everything right, and another one find nothing left to do.
fn recover_twice(mut world: World, disk_fault: DiskFault) -> World {
    world.fault_model.claimtops = 1;
    let mut before = None;
    for time in 1..=2 {
        world.note(|| format!("recovery {time}"));
        let scheduler = Arc::new(Scheduler::new(world));
        let disk = SimDisk { scheduler: Arc::clone(&scheduler), me: 0, disk_fault };
        let now = scheduler.with(|world| world.now());
        let machine = SimMachine { scheduler: Arc::clone(&scheduler), is_by_number: false };
        let opened = StateFolder::open(disk, Path::new(STATE));
        let recovered = opened
            .map(|mut state| {
                state.processes = Box::new(machine);
                state
            })
            .and_then(|state| state.lock(Patience::Wait, now).map(drop));
        let Some(after) = Arc::into_inner(scheduler).map(Scheduler::into_world) else {
            unreachable!("nobody else has it");
        };
        world = after;
        if let Err(trouble) = recovered {
            world.breach(format!("recovery {time}: {trouble}"));
        }
        let lies: Vec<_> =
            world.files.all().map(|(path, number, i)| (path.to_owned(), number, i.clone())).collect();
        if before.as_ref().is_some_and(|before| *before != lies) {
            world.breach("the second recovery changed something".to_owned());
        }
        before = Some(lies);
    }
    world
}

/// Runs many seeds on every core, until `enough` are broken in the expected way; returns all counts, and every seed
/// that broke something.
pub(crate) fn run_all(
    seeds: std::ops::Range<u64>,
    manner: Manner,
    enough: usize,
    is_wanted: impl Fn(&Outcome) -> bool + Sync,
) -> (Tally, Vec<Outcome>) {
    let (next, found) = (AtomicU64::new(seeds.start), AtomicUsize::new(0));
    let worker = || {
        let (mut tally, mut broken) = (Tally::default(), Vec::new());
        while found.load(Ordering::Relaxed) < enough {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                break;
            }
            let mut outcome = run(seed, manner, Trace::Last);
            tally.add(std::mem::take(&mut outcome.tally));
            if !outcome.breaches.is_empty() {
                found.fetch_add(usize::from(is_wanted(&outcome)), Ordering::Relaxed);
                broken.push(outcome);
            }
        }
        (tally, broken)
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let all = thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect::<Vec<_>>()
    });
    let (mut tally, mut broken) = (Tally::default(), Vec::new());
    for (own, found) in all {
        tally.add(own);
        broken.extend(found);
    }
    broken.sort_by_key(|outcome| outcome.seed);
    (tally, broken)
}
