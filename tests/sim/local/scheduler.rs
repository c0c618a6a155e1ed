//! The scheduler: exactly one claimtop runs at a time, and the seed determines which is next.
//!
//! Each claimtop is a thread of its own, because it runs the real code. Before every call on the disk and every look
//! it yields to the one that the generator names, which may be itself. Nothing ever depends on time or on the system's
//! scheduler, so a seed replays step by step.

use std::panic::resume_unwind;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use jiff::SignedDuration;

use crate::local::world::World;

/// The panic payload of a killed claimtop.
pub(crate) struct Killed;

/// Whether a claimtop can continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Actor {
    Ready,
    /// It waits for the lock on this inode.
    Waiting(u64),
    Finished,
}

struct Stage {
    world: World,
    turn: usize,
    actors: Vec<Actor>,
    /// The claimtop that is killed at its next step.
    doomed: Option<usize>,
}

/// The world, and whose turn it is.
pub(crate) struct Scheduler {
    stage: Mutex<Stage>,
    turns: Vec<Condvar>,
}

/// The result of a try that may have to wait.
pub(crate) enum Tried<T> {
    Done(T),
    /// Another claimtop holds the lock on this inode.
    Held(u64),
}

impl Scheduler {
    pub(crate) fn new(world: World) -> Self {
        let count = world.fault_model.claimtops;
        let turns = (0..count).map(|_| Condvar::new()).collect();
        let stage = Stage { world, turn: 0, actors: vec![Actor::Ready; count], doomed: None };
        Self { stage: Mutex::new(stage), turns }
    }

    fn lock(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the first turn.
    pub(crate) fn join(&self, me: usize) {
        drop(self.wait(me, self.lock()));
    }

    fn wait<'a>(&'a self, me: usize, mut stage: MutexGuard<'a, Stage>) -> MutexGuard<'a, Stage> {
        while stage.turn != me {
            stage = self.turns[me].wait(stage).unwrap_or_else(PoisonError::into_inner);
        }
        stage
    }

    /// Hands the turn to a claimtop that can continue.
    fn hand_on<'a>(&'a self, me: usize, mut stage: MutexGuard<'a, Stage>) -> MutexGuard<'a, Stage> {
        let ready: Vec<usize> =
            (0..stage.actors.len()).filter(|at| stage.actors[*at] == Actor::Ready).collect();
        match stage.world.rng.pick(&ready).copied() {
            Some(next) => stage.turn = next,
            None if stage.actors.iter().all(|actor| *actor == Actor::Finished) => return stage,
            None => panic!("deadlock: {:?}\n{}", stage.actors, stage.world.trace()),
        }
        self.turns[stage.turn].notify_one();
        self.wait(me, stage)
    }

    /// Does one step of a claimtop, after the other events that happen first.
    pub(crate) fn step<T>(&self, me: usize, act: impl FnOnce(&mut World) -> T) -> T {
        let mut act = Some(act);
        let tried = self.try_step(me, |world| Tried::Done(act.take().map(|act| act(world))));
        tried.unwrap_or_else(|| unreachable!("a step is done once"))
    }

    /// Does one step as soon as no other claimtop holds the lock that it needs.
    pub(crate) fn try_step<T>(&self, me: usize, mut act: impl FnMut(&mut World) -> Tried<T>) -> T {
        loop {
            let mut stage = self.hand_on(me, self.begin(me));
            match act(&mut stage.world) {
                Tried::Done(done) => {
                    crate::local::oracle::check_bytes(&mut stage.world);
                    return done;
                }
                Tried::Held(inode) => stage.actors[me] = Actor::Waiting(inode),
            }
            drop(stage);
        }
    }

    /// Advances the world, unless all is over, and kills the doomed claimtop.
    fn begin(&self, me: usize) -> MutexGuard<'_, Stage> {
        let mut stage = self.lock();
        let world = &mut stage.world;
        if world.steps_left == 0 {
            return stage;
        }
        world.steps_left -= 1;
        let moment = world.rng.roll(40) as i64;
        world.pass(SignedDuration::from_millis(moment));
        while world.rng.happens(250) {
            world.happen();
        }
        let crashes = world.fault_model.crashes;
        let is_killed = world.rng.happens(crashes);
        if is_killed || stage.doomed == Some(me) {
            stage.doomed = None;
            stage.actors[me] = Actor::Ready;
            stage.world.tally.count("killed");
            stage.world.note(|| format!("claimtop {me} is killed"));
            drop(stage);
            resume_unwind(Box::new(Killed));
        }
        stage
    }

    /// Looks at the world between two steps.
    pub(crate) fn with<T>(&self, act: impl FnOnce(&mut World) -> T) -> T {
        act(&mut self.lock().world)
    }

    /// Kills a claimtop at its next step.
    pub(crate) fn doom(&self, me: usize) {
        self.lock().doomed = Some(me);
    }

    /// Releases a lock.
    pub(crate) fn unlock(&self, inode: u64, hold: u64) {
        let mut stage = self.lock();
        if stage.world.locks.get(&inode) == Some(&hold) {
            stage.world.locks.remove(&inode);
        }
        for actor in stage.actors.iter_mut().filter(|actor| **actor == Actor::Waiting(inode)) {
            *actor = Actor::Ready;
        }
    }

    /// Leaves for good.
    pub(crate) fn leave(&self, me: usize) {
        let mut stage = self.lock();
        stage.actors[me] = Actor::Finished;
        let ready = stage.actors.iter().position(|actor| *actor == Actor::Ready);
        if let Some(next) = ready {
            stage.turn = next;
            self.turns[next].notify_one();
        }
    }

    /// Takes the world back after all claimtops have left.
    pub(crate) fn into_world(self) -> World {
        self.stage.into_inner().unwrap_or_else(PoisonError::into_inner).world
    }
}
