//! Escapes for half a character in JSON, which Node writes of a text that was cut inside one (ECMA-262, JSON.stringify):
//! no character of any text, so that strict readers refuse all of the line.

use bstr::ByteSlice as _;

/// The length of an escape, `\ud83d`.
const ESCAPE: usize = 6;
/// What stands for one, in as many bytes: the sign that a program writes to a file for it.
const REPLACEMENT: &[u8; ESCAPE] = b"\\ufffd";

/// Puts the replacement character in the place of each; returns whether there was any.
pub(crate) fn replace_lone(json: &mut [u8]) -> bool {
    let (mut at, mut is_any) = (0, false);
    // Nearly no text has one.
    while let Some(found) = json.get(at..).and_then(|rest| rest.find_byte(b'\\')) {
        at += found;
        match half(json, at) {
            None => at += 2,
            Some(Half::First) if half(json, at + ESCAPE) == Some(Half::Second) => at += 2 * ESCAPE,
            Some(Half::First | Half::Second) => {
                if let Some(escape) = json.get_mut(at..at + ESCAPE) {
                    escape.copy_from_slice(REPLACEMENT);
                }
                is_any = true;
                at += ESCAPE;
            }
        }
    }
    is_any
}

/// Half of a character beyond the first 65,536.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    First,
    Second,
}

/// Returns which half an escape at a place is.
fn half(json: &[u8], at: usize) -> Option<Half> {
    let digits = json.get(at..at + ESCAPE)?.strip_prefix(b"\\u")?;
    let number = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    match number {
        0xd800..=0xdbff => Some(Half::First),
        0xdc00..=0xdfff => Some(Half::Second),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: &str) {
        let mut bytes = json.as_bytes().to_vec();
        assert_eq!(replace_lone(&mut bytes), json != expected);
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }

    #[test]
    fn half_a_character_is_replaced_and_nothing_else() {
        check(r#"{"a":"cut \ud83d"}"#, r#"{"a":"cut \ufffd"}"#);
        check(r#"{"a":"\uDE00 \uD83D\uD83D\uDE00"}"#, r#"{"a":"\ufffd \ufffd\uD83D\uDE00"}"#);
        check(r#"{"a":"\ud83d\ude00 \\ud83d \\\u00e9"}"#, r#"{"a":"\ud83d\ude00 \\ud83d \\\u00e9"}"#);
        check(r#"{"a":"\ud83d\n\\"}"#, r#"{"a":"\ufffd\n\\"}"#);
        check("\\ud8", "\\ud8");
        check("\\", "\\");
    }
}
