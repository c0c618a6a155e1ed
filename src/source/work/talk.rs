//! What was said in a session lately: reads the end of its file.

use std::path::Path;

use crate::core::model::{Format, Talk, Untrusted};
use crate::format::reading::json;
use crate::format::spec;
use crate::format::work::talk::ReadTalk;
use crate::source::database::sqlite::copies::Copies;
use crate::source::os::open::error::errno_text;
use crate::source::os::open::plain::{open_plain, read_at};
use crate::source::work::{document, opencode};

/// How much of the end is read at first, in bytes: some fifty lines.
const FIRST: u64 = 256 << 10;
/// How much is read at most, in bytes: lines of 541 kB were seen.
const MOST: u64 = 8 << 20;

/// Reads what was said lately in a session of a file or a database.
///
/// # Errors
/// It cannot be read; in words.
pub(crate) fn read_talk(
    format: Format,
    (path, session): (&Path, &Untrusted),
    copies: &Copies,
) -> Result<Talk, String> {
    if let Some(document) = spec(format).and_then(|spec| spec.document) {
        return document::talk(path, document.talk);
    }
    match spec(format).and_then(|spec| spec.transcripts) {
        Some(transcripts) => of_file(path, transcripts.talk),
        None if format == Format::OpenCode => opencode::talk(path, session, copies),
        None => Err(format!("claimtop does not read what is said in {}", format.name())),
    }
}

/// Reads the end of a transcript, as much as it takes to find a prompt and an answer.
fn of_file(path: &Path, read: ReadTalk) -> Result<Talk, String> {
    let failed = |errno| format!("the session's file cannot be read: {}", errno_text(errno));
    let (fd, meta) = open_plain(path).map_err(failed)?;
    let mut length = FIRST;
    loop {
        let from = meta.size.saturating_sub(length);
        let bytes = read_at(&fd, from, usize::try_from(length).unwrap_or_default(), 0).map_err(failed)?;
        // The first line may lack its beginning.
        let start = match from {
            0 => Some(0),
            _ => bytes.iter().position(|byte| *byte == b'\n'),
        };
        let whole = start.and_then(|start| bytes.get(start..)).unwrap_or_default();
        let mut talk = Talk::default();
        for line in whole.split(|byte| *byte == b'\n').filter_map(|line| json::parse(line).ok()) {
            read(&mut talk, &line);
        }
        let is_enough = talk.prompt().is_some() && !talk.answer().is_empty();
        let is_empty = talk.prompt().is_none() && talk.answer().is_empty();
        if is_empty && from > 0 && length >= MOST {
            return Err(format!(
                "nothing is said in the last {} MB of its file; more was not read",
                MOST >> 20
            ));
        }
        if is_enough || from == 0 || length >= MOST {
            return Ok(talk);
        }
        length = length.saturating_mul(4).min(MOST);
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        format!(
            r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{text}"}}]}},"timestamp":"2026-11-22T11:00:01Z"}}"#
        )
    }

    #[test]
    fn the_last_answer_is_found_however_far_back_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let read = spec(Format::ClaudeCode).unwrap().transcripts.unwrap().talk;
        let prompt = r#"{"type":"user","message":{"content":"Fix it"}}"#;
        // Results without a word of the agent's.
        let result = format!(r#"{{"type":"user","toolUseResult":"{}"}}"#, "x".repeat(200_000));
        let text = [prompt, &said("first"), &said("last"), &result, &result, &result].join("\n");
        std::fs::write(&path, text + "\n{\"type\":\"assis").unwrap();
        let talk = of_file(&path, read).unwrap();
        let answer: Vec<&str> = talk.answer().iter().map(|one| one.text.raw()).collect();
        assert_eq!(answer, ["first", "last"]);
        assert_eq!(talk.prompt().map(|one| one.text.raw()), Some("Fix it"));
    }

    #[test]
    fn what_is_no_plain_file_is_an_error_in_words() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("s.jsonl");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        let read = spec(Format::ClaudeCode).unwrap().transcripts.unwrap().talk;
        assert!(of_file(&link, read).unwrap_err().starts_with("the session's file cannot be read: "));
    }
}
