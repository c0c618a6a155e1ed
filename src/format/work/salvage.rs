//! The readable rest of a damaged line: a crash leaves runs of NULs, and a record that is cut off has the next one on
//! its line.

use serde::Deserializer as _;
use serde::de::IgnoredAny;
use serde_json::Deserializer;

use crate::format::reading::json;
use crate::format::reading::json::Object;

/// How many bytes are parsed in search of the records of one line, each as often as it is parsed.
const EFFORT: usize = 32 << 20;
/// The bytes before an object that is part of another one.
const INSIDE: [u8; 3] = *b":,[";
/// The bytes after such an object.
const AFTER: [u8; 3] = *b"},]";
/// Keys of which every record of the agents that write such lines has one, unlike any object inside them.
const OWN: [&str; 3] = ["sessionId", "payload", "parentId"];

/// The contents of a damaged line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Salvage<'a> {
    /// Its whole records, in their order.
    pub(super) records: Vec<&'a [u8]>,
    /// Whether there was anything else.
    pub(super) is_lossy: bool,
}

/// Returns the whole records of a line that is not one record.
pub(super) fn salvage(line: &[u8]) -> Salvage<'_> {
    let mut found = Salvage { records: Vec::new(), is_lossy: line.contains(&0) };
    let mut effort = EFFORT;
    for piece in line.rsplit(|byte| *byte == 0) {
        let mut rest = piece.trim_ascii();
        let mut first = Vec::new();
        while let Some((record, behind)) = first_record(rest, &mut effort) {
            first.push(record);
            rest = behind.trim_ascii_start();
        }
        while let Some(at) = last_record(rest, &mut effort) {
            found.records.extend(rest.get(at..));
            rest = rest.get(..at).unwrap_or_default().trim_ascii_end();
        }
        found.is_lossy |= !rest.is_empty();
        found.records.extend(first.into_iter().rev());
    }
    found.records.reverse();
    found
}

/// Returns the record at the beginning of a text, and the rest.
fn first_record<'a>(text: &'a [u8], effort: &mut usize) -> Option<(&'a [u8], &'a [u8])> {
    let length = length(text, effort)?.filter(|_| text.starts_with(b"{"))?;
    let (record, behind) = text.split_at_checked(length)?;
    let is_inside = behind.trim_ascii_start().first().is_some_and(|byte| AFTER.contains(byte));
    (!is_inside).then_some((record, behind))
}

/// Returns the length of the object at the beginning of a text, if there is one; `None` if that has cost too much.
#[expect(clippy::option_option, reason = "no object, and no answer")]
fn length(text: &[u8], effort: &mut usize) -> Option<Option<usize>> {
    let mut reader = Deserializer::from_slice(text);
    let is_object = reader.deserialize_map(IgnoredAny).is_ok();
    let length = if is_object { reader.into_iter::<IgnoredAny>().byte_offset() } else { text.len() };
    *effort = effort.checked_sub(length)?;
    Some(is_object.then_some(length))
}

/// Returns where the record at the end of a text begins.
fn last_record(text: &[u8], effort: &mut usize) -> Option<usize> {
    let mut end = text.len();
    loop {
        let at = text.get(..end)?.windows(2).rposition(|pair| pair == b"{\"")?;
        let object = text.get(at..)?;
        if is_record(object, text.get(..at).unwrap_or_default(), effort)? {
            return Some(at);
        }
        end = at + 1;
    }
}

/// Returns whether a text is one object that is not part of another; `None` if that has cost too much.
fn is_record(text: &[u8], before: &[u8], effort: &mut usize) -> Option<bool> {
    if length(text, effort)? != Some(text.len()) {
        return Some(false);
    }
    let is_inside = before.trim_ascii_end().last().is_some_and(|byte| INSIDE.contains(byte));
    Some(!is_inside || json::parse(text).is_ok_and(|record| is_own(&record)))
}

fn is_own(record: &Object<'_>) -> bool {
    record.has("timestamp") && OWN.iter().any(|key| record.has(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = r#"{"type":"user","timestamp":"t","sessionId":"s","message":{"content":[{"a":"x, {\"b\":1}"},{}]},"n":{"k":1}}"#;
    const TWO: &str = r#"{"type":"assistant","timestamp":"t","sessionId":"s","message":{"content":[]}}"#;

    #[track_caller]
    fn check(line: &str, records: &[&str], is_lossy: bool) {
        let records = records.iter().map(|record| record.as_bytes()).collect();
        assert_eq!(salvage(line.as_bytes()), Salvage { records, is_lossy }, "{line}");
    }

    #[test]
    fn records_on_one_line_are_all_there() {
        check(&format!("{ONE}{TWO}"), &[ONE, TWO], false);
        check(&format!("{TWO} {ONE}{TWO}"), &[TWO, ONE, TWO], false);
    }

    #[test]
    fn nulls_are_a_loss_and_what_stands_beside_them_is_read() {
        check("\0\0\0", &[], true);
        check(&format!("\0\0{ONE}"), &[ONE], true);
        check(&format!("{ONE}\0\0{TWO}\0"), &[ONE, TWO], true);
    }

    #[test]
    fn what_stands_behind_a_cut_record_is_read_wherever_that_was_cut() {
        for end in 1..ONE.len() {
            let cut = &ONE[..end];
            check(&format!("{cut}{TWO}"), &[TWO], true);
            check(&format!("{cut}{TWO}{ONE}"), &[TWO, ONE], true);
            check(&format!("{TWO}{cut}"), &[TWO], true);
            check(cut, &[], true);
            check(&ONE[end..], &[], true);
        }
    }

    #[test]
    fn a_line_that_costs_too_much_is_given_up() {
        let line = format!("{}1", "{\"a\":".repeat(20_000));
        assert_eq!(salvage(line.as_bytes()), Salvage { records: Vec::new(), is_lossy: true });
    }
}
