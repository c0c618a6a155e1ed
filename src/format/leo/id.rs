//! Session IDs by the rules of LEO's readers.

use super::facts;
use crate::core::model::{Code, Problem, Untrusted};
use crate::format::reading::json::Object;

/// The value that an unset session ID once became in the database: LEO's code now refuses it everywhere.
const NIL: &str = "00000000-0000-0000-0000-000000000000";

/// How long a session ID may be.
const LONGEST: usize = 128;

/// Judges a session ID: `^[A-Za-z0-9_-]{1,128}$`, as LEO demands before it builds a path of
/// one, and not the nil UUID.
///
/// # Errors
/// The problem with it.
pub(super) fn judged(text: &str) -> Result<Untrusted, Problem> {
    let may_be = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    if text == NIL {
        Err(unknown("the session ID is the nil UUID, which names no session".to_owned()))
    } else if text.is_empty() || text.len() > LONGEST || !text.bytes().all(may_be) {
        Err(unknown(format!(
            "the session ID cannot be one: {}",
            crate::format::reading::excerpt::excerpt(text, 40)
        )))
    } else {
        Ok(text.into())
    }
}

/// Reads the session ID of a file that must have one.
pub(super) fn required(object: &Object<'_>, name: &str, problems: &mut Vec<Problem>) -> Option<Untrusted> {
    if facts::stated(object, name).is_none() {
        problems.push(unknown(format!("states no {name}")));
        return None;
    }
    optional(object, name, problems)
}

/// Reads the session ID of a file that may have one.
pub(super) fn optional(object: &Object<'_>, name: &str, problems: &mut Vec<Problem>) -> Option<Untrusted> {
    let stated = facts::stated(object, name)?;
    let judged = match object.str(name) {
        Some(text) => judged(text),
        None => Err(unknown(format!(
            "{name} is not text: {}",
            crate::format::reading::excerpt::excerpt(&stated, 40)
        ))),
    };
    judged.map_err(|problem| problems.push(problem)).ok()
}

/// Compares a file's name with its content; a difference is a split identity.
pub(super) fn split<T: PartialEq>(
    named: Option<T>,
    stated: Option<T>,
    shown: impl Fn(&T) -> String,
) -> Option<Problem> {
    let (named, stated) = named.zip(stated).filter(|(named, stated)| named != stated)?;
    let message = format!("the file is named for {} but states {}", shown(&named), shown(&stated));
    Some(Problem::new(Code::IdentitySplit, message))
}

/// Returns whether text has the shape of a UUID, as a conversation's ID does.
pub(super) fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.splitn(6, '-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn unknown(message: String) -> Problem {
    Problem::new(Code::UnknownSession, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leos_own_ids_pass() {
        for text in ["487c6af6-a8cc-45f2-9dfb-6c45eed8934e", "session_a6b42b36_unknown_11444", "a"] {
            assert_eq!(judged(text), Ok(text.into()));
        }
    }

    #[test]
    fn what_cannot_be_an_id_is_told() {
        for (text, expected) in [
            (NIL, "the session ID is the nil UUID, which names no session"),
            ("", "the session ID cannot be one: "),
            ("../../etc/passwd", "the session ID cannot be one: ../../etc/passwd"),
            ("a b\x1b", "the session ID cannot be one: a b\\x1B"),
        ] {
            assert_eq!(judged(text).map_err(|problem| problem.message), Err(expected.into()));
        }
        assert!(judged(&"a".repeat(128)).is_ok() && judged(&"a".repeat(129)).is_err());
    }

    #[test]
    fn only_five_groups_of_hex_are_a_uuid() {
        assert!(is_uuid("487c6af6-a8cc-45f2-9dfb-6c45eed8934e"));
        for text in
            ["", "487c6af6", "g87c6af6-a8cc-45f2-9dfb-6c45eed8934e", "487c6af6-a8cc-45f2-9dfb-6c45eed8934e-1"]
        {
            assert!(!is_uuid(text), "{text}");
        }
    }
}
