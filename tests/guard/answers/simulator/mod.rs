//! Plays windows in working trees and records the events, the questions, and the truth for each call: whose
//! uncommitted bytes were there, independent of any guard.

mod hooks;
mod lines;
mod machine;
mod truth;
mod windows;
mod work;

use serde_json::{Value, json};

use self::machine::Machine;

/// Plays some worlds and returns the recording of them.
pub(crate) fn recording(seeds: impl Iterator<Item = u64>, steps: u32) -> String {
    let mut lines = vec![json!({"schema": "claimtop.guard-recording.v1"}).to_string()];
    for seed in seeds {
        let mut machine = Machine::begin(seed);
        for _ in 0..steps {
            machine.step();
        }
        lines.extend(machine.end().iter().map(Value::to_string));
    }
    lines.join("\n") + "\n"
}

/// A small random number generator, the same for each seed (splitmix64).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) >> 33).unwrap() % most.max(1)
    }

    pub(crate) fn per_cent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    pub(crate) fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}
