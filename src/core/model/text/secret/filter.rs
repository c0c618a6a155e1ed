//! A filter that skips most words of a text at the cost of a few shifts.

/// A set of words that may claim to contain a word it does not have, and never the other way round (a Bloom filter).
#[derive(Debug)]
pub(super) struct Filter(Vec<u64>);

impl Default for Filter {
    fn default() -> Self {
        Self(vec![0; 1 << (u16::BITS - 6)])
    }
}

impl Filter {
    pub(super) fn add(&mut self, word: &[u8]) {
        let hash = mix(word);
        if let Some(bits) = self.0.get_mut(usize::from(hash >> 6)) {
            *bits |= 1 << (hash & 63);
        }
    }

    pub(super) fn may_have(&self, word: &[u8]) -> bool {
        let hash = mix(word);
        self.0.get(usize::from(hash >> 6)).is_some_and(|bits| bits >> (hash & 63) & 1 == 1)
    }
}

/// Hashes the letters of a word, whatever their case.
fn mix(word: &[u8]) -> u16 {
    let mixed = word
        .iter()
        .fold(0_u32, |mixed, byte| (mixed ^ u32::from(byte.to_ascii_lowercase())).wrapping_mul(0x9e37_79b1));
    u16::try_from(mixed >> 16).unwrap_or_default()
}
