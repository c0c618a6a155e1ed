//! Randomness, all of it from one seed.

/// A small generator (splitmix64), so that a seed replays everywhere.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x0123_4567_89AB_CDEF)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `sides`.
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        (self.next() % (sides.max(1) as u64)) as usize
    }

    /// Returns whether something happens that happens `permille` times in a thousand.
    pub(crate) fn happens(&mut self, permille: usize) -> bool {
        self.roll(1000) < permille
    }

    /// Returns one of them; `None` when there is none.
    pub(crate) fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        if all.is_empty() { None } else { all.get(self.roll(all.len())) }
    }
}
