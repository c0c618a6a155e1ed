//! The terminal's clipboard, by its own control sequence (OSC 52).

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Returns the sequence that puts `text` on the clipboard. The text is encoded, so nothing in
/// it can end the sequence early.
pub(crate) fn copy_sequence(text: &str) -> String {
    format!("\u{1b}]52;c;{}\u{7}", base64(text.as_bytes()))
}

/// Encodes as RFC 4648, section 4 says.
fn base64(bytes: &[u8]) -> String {
    bytes.chunks(3).flat_map(quartet).collect()
}

fn quartet(chunk: &[u8]) -> [char; 4] {
    let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
    let group = byte(0) << 16 | byte(1) << 8 | byte(2);
    let digit = |at: usize| {
        let index = (group >> (18 - 6 * at)) & 63;
        let digit = ALPHABET.get(index as usize).copied().unwrap_or(b'=');
        if at > chunk.len() { '=' } else { char::from(digit) }
    };
    [digit(0), digit(1), digit(2), digit(3)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encoding_is_that_of_the_rfc() {
        for (plain, encoded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(plain.as_bytes()), encoded);
        }
    }

    #[test]
    fn text_cannot_leave_the_sequence() {
        let sequence = copy_sequence("a\u{7}\u{1b}]0;b\u{7}");
        assert_eq!(sequence.matches(['\u{7}', '\u{1b}']).count(), 2);
    }
}
