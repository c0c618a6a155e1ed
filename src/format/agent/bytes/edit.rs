//! Replacing a text by another one, as the edit tools of agents do.

use bstr::ByteSlice;

/// The longest text that is made, in bytes.
const MOST: usize = 64 << 20;

/// Replaces the first occurrence or all; `None` if there is none, or too much would come of it. Only an empty file has
/// an empty text to replace.
pub(crate) fn replaced(base: &[u8], old: &[u8], new: &[u8], is_all: bool) -> Option<Vec<u8>> {
    if old.is_empty() {
        return base.is_empty().then(|| new.to_vec());
    }
    let count = if is_all { base.find_iter(old).count() } else { usize::from(base.find(old).is_some()) };
    let length = count.saturating_mul(new.len()).saturating_add(base.len());
    if count == 0 || length > MOST {
        return None;
    }
    Some(if is_all { base.replace(old, new) } else { base.replacen(old, new, 1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_or_all_are_replaced() {
        assert_eq!(replaced(b"a b a", b"a", b"$&", false).as_deref(), Some(&b"$& b a"[..]));
        assert_eq!(replaced(b"a b a", b"a", b"", true).as_deref(), Some(&b" b "[..]));
        assert_eq!(replaced(b"a", b"x", b"y", true), None);
        assert_eq!(replaced(b"", b"", b"new", false).as_deref(), Some(&b"new"[..]));
        assert_eq!(replaced(b"a", b"", b"new", false), None);
        let large = vec![b'a'; 1 << 20];
        assert_eq!(replaced(&large, b"a", &large, true), None);
    }
}
