//! Ends a session state, with only the intended change, and names the lock that is held meanwhile.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::value::RawValue;

/// The fields of a state, each as it appears in the text.
type Fields<'a> = BTreeMap<String, &'a RawValue>;

/// Returns a session state that has ended: the phase and the end change, every other byte stays. `None` if it does not
/// have the form that the CLI writes.
pub(crate) fn ended(bytes: &[u8], now: Timestamp) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let fields: Fields<'_> = serde_json::from_str(text).ok()?;
    let seen = fields.get("last_interaction_time").map(|raw| raw.get()).filter(|raw| raw.starts_with('"'));
    let at = seen.map_or_else(|| format!("\"{now}\""), str::to_owned);
    let phase = span(text, fields.get("phase")?)?;
    let mut edits = vec![(phase.clone(), "\"ended\"".to_owned())];
    match fields.get("ended_at") {
        Some(raw) => edits.push((span(text, raw)?, at)),
        None => {
            // The new field stands after the phase, written as that one is.
            let before = text.get(..phase.start)?;
            let colon = before.get(before.rfind("\"phase\"")? + "\"phase\"".len()..)?;
            let indent = before.get(..before.rfind("\"phase\"")?)?;
            let indent = indent.get(indent.trim_end().len()..)?;
            edits.push((phase.end..phase.end, format!(",{indent}\"ended_at\"{colon}{at}")));
        }
    }
    edits.sort_by_key(|(span, _)| std::cmp::Reverse((span.start, span.end)));
    let mut text = text.to_owned();
    for (span, new) in edits {
        text.replace_range(span, &new);
    }
    serde_json::from_str::<Fields<'_>>(&text).ok()?;
    Some(text.into_bytes())
}

/// Returns the range in `text` of a value that was read from it without a copy.
fn span(text: &str, raw: &RawValue) -> Option<std::ops::Range<usize>> {
    let start = (raw.get().as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let span = start..start + raw.get().len();
    (text.get(span.clone()) == Some(raw.get())).then_some(span)
}

/// Returns the lock file of a session state: beside its folder, in one of its own.
pub(crate) fn lock_of(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| folder.ends_with("entire-sessions"))?;
    let name = format!("{}.lock", path.file_stem()?.to_str()?);
    Some(folder.parent()?.join("entire-session-locks").join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, after: Option<&str>) {
        let now = "2026-11-20T22:00:00Z".parse().unwrap();
        let ended = ended(before.as_bytes(), now).map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(ended.as_deref(), after);
    }

    #[test]
    fn only_phase_and_end_change() {
        check(
            r#"{"a":1.50,"phase":"active","last_interaction_time":"2026-11-20T21:00:00+01:00","z":[ 1 ]}"#,
            Some(
                r#"{"a":1.50,"phase":"ended","ended_at":"2026-11-20T21:00:00+01:00","last_interaction_time":"2026-11-20T21:00:00+01:00","z":[ 1 ]}"#,
            ),
        );
        check(
            "{\n  \"phase\": \"idle\",\n  \"x\": 18446744073709551617\n}\n",
            Some(
                "{\n  \"phase\": \"ended\",\n  \"ended_at\": \"2026-11-20T22:00:00Z\",\n  \"x\": 18446744073709551617\n}\n",
            ),
        );
        check(
            r#"{"ended_at":null,"phase":"idle"}"#,
            Some(r#"{"ended_at":"2026-11-20T22:00:00Z","phase":"ended"}"#),
        );
    }

    #[test]
    fn what_the_cli_does_not_write_is_left_alone() {
        check("[5]", None);
        check(r#"{"session_id":"x"}"#, None);
        check(r#"{"phase":"idle""#, None);
    }

    #[test]
    fn the_lock_is_beside_the_states() {
        let path = Path::new("/r/.git/entire-sessions/abc.json");
        assert_eq!(lock_of(path), Some("/r/.git/entire-session-locks/abc.lock".into()));
        assert_eq!(lock_of(Path::new("/r/.git/abc.json")), None);
    }
}
