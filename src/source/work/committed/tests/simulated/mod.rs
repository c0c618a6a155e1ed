//! Random ordinary work over simulated hours: the reported state of every edit against the bytes that git and the
//! working tree have.

mod repository;
mod truth;
mod watch;
mod work;

use watch::Counts;
use work::World;

/// How fast windows follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    /// Every command more than a second after the one before it.
    Person,
    /// Also several within one second, as in the shell lines of agents.
    Agent,
}

/// How long one world lasts, in hours.
const WORLD: u64 = 8;

/// A small random number generator, the same for each seed (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) >> 33).unwrap() % most.max(1)
    }

    fn per_cent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Plays worlds of one pace over so many hours, and returns what was counted.
fn play(pace: Pace, hours: u64, first: u64) -> Counts {
    let mut counts = Counts::default();
    for seed in first..first + hours.div_ceil(WORLD) {
        let mut world = World::new(seed, pace);
        while world.hours() < WORLD {
            world.step();
        }
        counts.add(world.end());
    }
    counts
}

fn check(pace: Pace) {
    let hours = number("CLAIMTOP_EDIT_HOURS").unwrap_or(16);
    let counts = play(pace, hours, number("CLAIMTOP_EDIT_FIRST").unwrap_or_default());
    println!("{pace:?}, {hours} hours\n{counts}");
    assert!(counts.is_right(), "{pace:?}, {hours} hours\n{counts}");
}

#[test]
fn what_people_do_to_edits_is_never_reported_wrongly() {
    check(Pace::Person);
}

#[test]
fn what_agents_do_to_edits_within_a_second_is_never_reported_wrongly() {
    check(Pace::Agent);
}
