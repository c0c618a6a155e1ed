//! Lenient JSON: one object, read once; every oddity is reported and none is fatal.

use jiff::Timestamp;

pub(crate) use super::value::{Object, Value};
use crate::core::model::snapshot::file::SETTLED_AFTER_MS;
use crate::core::model::{
    BrokenFile, Code, Content, FileImage, Format, Ownership, Problem, Refusal, StatedPid, Untrusted,
};
use crate::format::reading::excerpt::excerpt;
use crate::format::reading::strict;
use crate::format::reading::{FileContents, Reading};

/// How many characters of a value that is not a PID are kept: it can be all of the file.
const PID_SHOWN: usize = 40;

/// Returns the bytes of a readable file, or its problem as a broken file.
///
/// # Errors
/// The broken file that describes why there are no bytes.
pub(crate) fn bytes<'a>(
    format: Format,
    file: &'a FileImage,
    reading: &Reading<'_>,
) -> Result<&'a [u8], BrokenFile> {
    let problem = match &file.content {
        Content::Bytes(bytes) => return Ok(bytes),
        Content::Refused(Refusal::Special(sort)) => {
            Problem::new(Code::SpecialFile, format!("not a plain file but a {sort}; not opened"))
        }
        Content::Refused(Refusal::TooBig(size)) => Problem::new(
            Code::UnreadableRecord,
            format!("{size} bytes, more than a session file can have; not read"),
        ),
        Content::Refused(Refusal::Linked(links)) => {
            Problem::new(Code::SpecialFile, format!("has {links} hard links; not read"))
        }
        Content::Refused(Refusal::ForeignOwner(uid)) => Problem::new(
            Code::ForeignOwner,
            format!("belongs to user {uid}, not to user {}; not read", reading.host.uid),
        ),
        Content::Failed(error) => Problem::new(Code::UnreadableRecord, format!("cannot be read: {error}")),
    };
    Err(broken(format, file, problem))
}

/// Describes a file that gives no record.
pub(crate) fn broken(format: Format, file: &FileImage, problem: Problem) -> BrokenFile {
    BrokenFile {
        format,
        path: file.path.clone(),
        problem,
        ownership: file.ownership(),
        written_at: file.meta.map(|meta| meta.modified_at),
    }
}

/// Reads the one JSON object of a file.
///
/// # Errors
/// The broken file: not readable, torn (young or still being written) or corrupt.
pub(crate) fn object<'a>(
    format: Format,
    file: &'a FileImage,
    reading: &Reading<'_>,
) -> Result<Object<'a>, BrokenFile> {
    let bytes = bytes(format, file, reading)?;
    parse(bytes).map_err(|why| {
        let problem = if is_settled(file, reading.now) {
            Problem::new(Code::CorruptRecord, why)
        } else {
            Problem::new(Code::TornRecord, format!("being written just now: {why}"))
        };
        broken(format, file, problem)
    })
}

/// Returns whether a file has been untouched long enough to be judged corrupt: 1 s by the
/// later of its two change times.
pub(crate) fn is_settled(file: &FileImage, now: Timestamp) -> bool {
    file.meta.is_none_or(|meta| {
        let touched = meta.touched_at();
        now.duration_since(touched).as_millis() >= i128::from(SETTLED_AFTER_MS)
    })
}

/// Parses bytes as one JSON object. A byte order mark is skipped; anything else that is not one object is an error.
///
/// # Errors
/// The problem, as text.
pub(crate) fn parse(bytes: &[u8]) -> Result<Object<'_>, String> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err("the file is empty".to_owned());
    }
    match strict::from_slice(bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(Value::Array(_)) => Err("a JSON list where an object belongs".to_owned()),
        Ok(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            Err("a bare JSON value where an object belongs".to_owned())
        }
        Err(error) if error.is_eof() => {
            Err(format!("the JSON breaks off at line {} column {}", error.line(), error.column()))
        }
        Err(error) => Err(format!("not JSON: {error}")),
    }
}

/// Reads fields leniently: a value of another type than requested counts as absent.
impl<'a> Object<'a> {
    /// Returns whether the key is there, also with null.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(crate) fn str(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_str)
    }

    /// Returns a string that is not empty, as text from outside.
    pub(crate) fn text(&self, name: &str) -> Option<Untrusted> {
        self.str(name).filter(|text| !text.is_empty()).map(Untrusted::from)
    }

    /// Returns a whole number.
    pub(crate) fn int(&self, name: &str) -> Option<i64> {
        self.get(name).and_then(Value::as_i64)
    }

    /// Returns whether a key is `true`.
    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.get(name).and_then(Value::as_bool) == Some(true)
    }

    pub(crate) fn object(&self, name: &str) -> Option<&Object<'a>> {
        self.get(name).and_then(Value::as_object)
    }

    /// Returns the strings of a list; other elements are passed over.
    pub(crate) fn strings(&self, name: &str) -> impl Iterator<Item = &str> {
        let list = self.get(name).and_then(Value::as_array).unwrap_or_default();
        list.iter().filter_map(Value::as_str)
    }

    /// Returns a PID as it is stated: a JSON number, or a string of digits if `digits_allowed`. Any other value is a
    /// bad PID.
    pub(crate) fn pid(&self, name: &str, digits_allowed: bool) -> Option<StatedPid> {
        match self.get(name)? {
            Value::Null => None,
            Value::Number(number) => Some(match number.as_i128() {
                Some(pid) => StatedPid::from_number(pid),
                None => StatedPid::Bad(Untrusted::new(number.to_string())),
            }),
            Value::String(text)
                if digits_allowed && !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) =>
            {
                Some(
                    text.parse()
                        .map_or_else(|_| StatedPid::Bad(excerpt(text, PID_SHOWN)), StatedPid::from_number),
                )
            }
            other @ (Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_)) => {
                Some(StatedPid::Bad(excerpt(&other.to_string(), PID_SHOWN)))
            }
        }
    }
}

/// Converts a failed reading into the result of [`crate::format::read`].
pub(crate) fn parsed(result: Result<crate::core::model::Record, BrokenFile>) -> FileContents {
    match result {
        Ok(record) => FileContents::Record(record.into()),
        Err(broken) => FileContents::Broken(broken),
    }
}

/// Adds the problems that every plain file can have: wide permissions and a foreign owner.
pub(crate) fn ownership_problems(
    file: &FileImage,
    reading: &Reading<'_>,
    expected_mode: Option<u16>,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let Some(meta) = file.meta else { return problems };
    let Ownership { uid, mode, medium: _ } = meta.ownership;
    if uid != reading.host.uid {
        problems.push(Problem::new(
            Code::ForeignOwner,
            format!("belongs to user {uid}, not to user {}", reading.host.uid),
        ));
    }
    if let Some(expected) = expected_mode.filter(|expected| mode & 0o777 & !expected != 0) {
        problems.push(Problem::new(
            Code::WideMode,
            format!("mode {:04o}, wider than the {expected:04o} that its system intends", mode & 0o777),
        ));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_documents_are_errors_in_words() {
        for (bytes, expected) in [
            (&b""[..], "the file is empty"),
            (b" \n", "the file is empty"),
            (b"[5]", "a JSON list where an object belongs"),
            (b"5", "a bare JSON value where an object belongs"),
            (b"{\"a\": 1", "the JSON breaks off at line 1 column 7"),
        ] {
            assert_eq!(parse(bytes).err().as_deref(), Some(expected));
        }
        for bytes in [&b"{\"a\":NaN}"[..], b"{} {}", b"{\"a\":\"\x1b\"}", b"\xff\xfe{\0}\0", b"{\"a\":1e400}"]
        {
            assert!(parse(bytes).is_err_and(|why| why.starts_with("not JSON")), "{bytes:?}");
        }
        let deep = format!("{}{}", "{\"a\":".repeat(100_000), "1");
        assert!(parse(deep.as_bytes()).is_err());
    }

    #[test]
    fn a_byte_order_mark_is_passed_over() {
        let object = parse(b"\xEF\xBB\xBF{\"a\":\"x\"}").unwrap_or_default();
        assert_eq!(object.str("a"), Some("x"));
    }

    #[test]
    fn a_key_may_stand_only_once_at_any_level() {
        for bytes in [&br#"{"a":1,"a":2}"#[..], br#"{"b":{"a":1,"a":1}}"#, br#"{"b":[{"a":1,"a":1}]}"#] {
            assert!(parse(bytes).is_err_and(|why| why.contains("the key a appears twice")));
        }
        assert!(parse(br#"{"a":{"a":[{"a":1}]}}"#).is_ok());
        let many: Vec<String> = (0..200).map(|n| format!("\"k{n}\":1")).collect();
        assert!(parse(format!("{{{}}}", many.join(",")).as_bytes()).is_ok());
        let twice = format!("{{{},\"k7\":2}}", many.join(","));
        assert!(parse(twice.as_bytes()).is_err_and(|why| why.contains("the key k7 appears twice")));
    }

    #[test]
    fn pids_that_cannot_be_one_are_told_as_bad() {
        let object = parse(
            br#"{"a":0,"b":1,"c":-1,"d":18446744073709551616,"e":"12","f":12,"g":5.0,"h":null,"i":[1]}"#,
        )
        .unwrap_or_default();
        for name in ["a", "b", "c", "d", "e", "g", "i"] {
            assert!(matches!(object.pid(name, false), Some(StatedPid::Bad(_))), "{name}");
        }
        assert_eq!(object.pid("e", true), Some(StatedPid::Valid(12)));
        assert_eq!(object.pid("f", false), Some(StatedPid::Valid(12)));
        assert_eq!(object.pid("h", false), None);
        assert_eq!(object.pid("missing", false), None);
    }

    proptest::proptest! {
        #[test]
        fn parsing_is_total(bytes: Vec<u8>) {
            let _ = parse(&bytes);
        }
    }
}
