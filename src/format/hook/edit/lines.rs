//! Adds claimtop's lines to a text file, or removes them.
//!
//! One line end stands before the lines, whatever the file ended with, so that they can be cut out again to the byte. A
//! file without that line end was made for them.

use std::ops::Range;

use crate::core::model::{TextLines, TextSyntax};
use crate::format::hook::edit::own::{EditedSettings, SettingsChange};
use crate::format::hook::edit::scan::{SettingsFault, fault_at};
use crate::format::hook::settings::is_claimtop;

/// The first and the last of the lines for a model.
const MARKS: (&str, &str) = ("<!-- claimtop: ", "<!-- /claimtop -->");

/// Adds the lines, or gives them their present form.
///
/// # Errors
/// The file cannot be read, or they cannot be added to it.
pub(super) fn added(bytes: Option<&[u8]>, lines: &TextLines) -> Result<EditedSettings, SettingsFault> {
    let text = read(bytes.unwrap_or_default())?;
    let end = line_end(text);
    let own = lines.text.replace('\n', end);
    let change = |new: String, verb: &str| {
        let done = format!("{verb} {}", name(lines.syntax));
        Ok(EditedSettings { change: SettingsChange::New(new.into_bytes()), done, notes: Vec::new() })
    };
    let known = known_lines(text, lines)?;
    if let Some(span) = known {
        return match text.get(span.clone()) {
            Some(there) if there != own => {
                let (before, after) = (text.get(..span.start), text.get(span.end..));
                change([before.unwrap_or_default(), &own, after.unwrap_or_default()].concat(), "update")
            }
            Some(_) | None => Ok(EditedSettings::same(Vec::new())),
        };
    }
    let before = if bytes.is_some() { format!("{text}{end}") } else { String::new() };
    let new = before + &own;
    if lines.syntax == TextSyntax::CodexToml {
        match server_command(text, bytes)? {
            Some(command) if is_claimtop(&command) => return Ok(EditedSettings::same(Vec::new())),
            Some(_) => {
                return Ok(EditedSettings::same(vec!["its own server `claimtop` stays".to_owned()]));
            }
            None => {}
        }
        if let Err(fault) = server_command(&new, Some(new.as_bytes())) {
            let what = format!("claimtop cannot add its server to this file ({})", fault.what);
            return Err(SettingsFault { what, ..fault });
        }
    }
    change(new, "add")
}

/// Removes the lines.
///
/// # Errors
/// The file cannot be read.
pub(super) fn removed(bytes: &[u8], lines: &TextLines) -> Result<EditedSettings, SettingsFault> {
    let text = read(bytes)?;
    let Some(span) = known_lines(text, lines)? else { return Ok(EditedSettings::same(Vec::new())) };
    let before = text.get(..span.start).unwrap_or_default();
    let after = text.get(span.end..).unwrap_or_default();
    let done = format!("remove {}", name(lines.syntax));
    let is_made_for_them = before.is_empty() && after.is_empty();
    let change = match before.strip_suffix(line_end(text)) {
        None if is_made_for_them => SettingsChange::Gone,
        before_end => SettingsChange::New([before_end.unwrap_or(before), after].concat().into_bytes()),
    };
    Ok(EditedSettings { change, done, notes: Vec::new() })
}

/// Returns claimtop's lines in a file.
pub(super) fn own_lines(bytes: &[u8], lines: &TextLines) -> Option<Vec<String>> {
    let text = read(bytes).ok()?;
    let span = known_lines(text, lines).ok()?;
    Some(span.and_then(|span| text.get(span)).map(|lines| lines.replace("\r\n", "\n")).into_iter().collect())
}

fn name(syntax: TextSyntax) -> &'static str {
    match syntax {
        TextSyntax::Markdown => "the lines for the model",
        TextSyntax::CodexToml => "the MCP server",
    }
}

fn read(bytes: &[u8]) -> Result<&str, SettingsFault> {
    std::str::from_utf8(bytes).map_err(|error| fault_at(bytes, error.valid_up_to(), "this file is not UTF-8"))
}

fn line_end(text: &str) -> &'static str {
    let first = text.find('\n').and_then(|at| text.get(..at)).unwrap_or_default();
    if first.ends_with('\r') { "\r\n" } else { "\n" }
}

/// Returns where claimtop's lines are.
fn known_lines(text: &str, lines: &TextLines) -> Result<Option<Range<usize>>, SettingsFault> {
    match lines.syntax {
        TextSyntax::Markdown => marked_lines(text),
        TextSyntax::CodexToml => {
            let own = lines.text.replace('\n', line_end(text));
            let is_at_line = |at: &usize| {
                text.get(..*at).is_some_and(|before| before.is_empty() || before.ends_with('\n'))
            };
            let ends_table = |at: &usize| {
                // Keys that follow belong to claimtop's table, which is then not as it was added.
                let after = text.get(at + own.len()..).unwrap_or_default().trim_start();
                after.is_empty() || after.starts_with(['[', '#'])
            };
            let found =
                text.match_indices(&own).map(|(at, _)| at).find(|at| is_at_line(at) && ends_table(at));
            Ok(found.map(|at| at..at + own.len()))
        }
    }
}

/// Returns the lines between the marks.
fn marked_lines(text: &str) -> Result<Option<Range<usize>>, SettingsFault> {
    let mut start = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let next = at + line.len();
        match start {
            None if line.starts_with(MARKS.0) => start = Some(at),
            Some(start) if line.trim_end() == MARKS.1 => return Ok(Some(start..next)),
            None | Some(_) => {}
        }
        at = next;
    }
    match start {
        None => Ok(None),
        Some(start) => {
            Err(fault_at(text.as_bytes(), start, format!("claimtop's lines have no end (`{}`)", MARKS.1)))
        }
    }
}

/// Returns the command of the server `claimtop`, if there is one.
fn server_command(text: &str, bytes: Option<&[u8]>) -> Result<Option<String>, SettingsFault> {
    let plain = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let table: toml::Table = plain.parse().map_err(|error: toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start) + (text.len() - plain.len());
        fault_at(bytes.unwrap_or_default(), at, error.message().lines().next().unwrap_or_default())
    })?;
    let server = table.get("mcp_servers").and_then(|servers| servers.get("claimtop"));
    Ok(server.map(|server| {
        let command = server.get("command").and_then(toml::Value::as_str);
        command.unwrap_or_default().to_owned()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn markdown() -> TextLines {
        let text = "<!-- claimtop: x -->\nAsk first.\n<!-- /claimtop -->\n".to_owned();
        TextLines { syntax: TextSyntax::Markdown, text }
    }

    fn codex() -> TextLines {
        let text = "[mcp_servers.claimtop]\ncommand = \"claimtop\"\nargs = [\"mcp\"]\n".to_owned();
        TextLines { syntax: TextSyntax::CodexToml, text }
    }

    #[track_caller]
    fn new_text(edited: EditedSettings) -> String {
        let SettingsChange::New(new) = edited.change else { panic!("{edited:?}") };
        String::from_utf8(new).unwrap()
    }

    #[test]
    fn lines_are_added_and_removed_to_the_byte() {
        let texts = [
            "",
            "\n",
            "a = 1",
            "a = 1\n",
            "a = 1\n\n\n",
            "# x\r\na = 1\r\n",
            "\u{FEFF}",
            "\u{FEFF}# x\n",
            "[mcp_servers.x]\ncommand = \"y\"",
        ];
        for lines in [markdown(), codex()] {
            for text in texts {
                let new = new_text(added(Some(text.as_bytes()), &lines).unwrap());
                assert!(new.starts_with(text), "{new:?}");
                assert_eq!(new.contains("\r\n"), new.matches('\n').count() == new.matches("\r\n").count());
                assert_eq!(
                    added(Some(new.as_bytes()), &lines).unwrap().change,
                    SettingsChange::Same,
                    "{new:?}"
                );
                assert_eq!(new_text(removed(new.as_bytes(), &lines).unwrap()), text);
                let more = format!("{new}[more]\n");
                assert_eq!(new_text(removed(more.as_bytes(), &lines).unwrap()), format!("{text}[more]\n"));
            }
            let made = new_text(added(None, &lines).unwrap());
            assert_eq!(made, lines.text);
            assert_eq!(removed(made.as_bytes(), &lines).unwrap().change, SettingsChange::Gone);
        }
    }

    #[test]
    fn an_earlier_form_is_updated_in_its_place() {
        let earlier = "one\n\n<!-- claimtop: old -->\nold\n<!-- /claimtop -->\ntwo\n";
        let edited = added(Some(earlier.as_bytes()), &markdown()).unwrap();
        assert_eq!(edited.done, "update the lines for the model");
        assert_eq!(new_text(edited), format!("one\n\n{}two\n", markdown().text));
        assert_eq!(new_text(removed(earlier.as_bytes(), &markdown()).unwrap()), "one\ntwo\n");
    }

    #[test]
    fn what_is_not_as_it_must_be_is_refused_with_its_place() {
        let check = |text: &[u8], lines: TextLines, expected: &str| {
            let fault = added(Some(text), &lines).unwrap_err().to_string();
            assert!(fault.starts_with(expected), "{fault}");
        };
        check(b"a\n<!-- claimtop: x -->\n", markdown(), "line 2, column 1: claimtop's lines have no end");
        check(b"a\n\xFF", markdown(), "line 2, column 1: this file is not UTF-8");
        check(b"a = 1\nb = \n", codex(), "line 2, column 5: ");
        check(
            b"mcp_servers = {}\n",
            codex(),
            "line 3, column 2: claimtop cannot add its server to this file",
        );
    }

    #[test]
    fn a_persons_own_server_stays() {
        let own = "[mcp_servers.claimtop]\ncommand = \"/opt/claimtop\"\n";
        let kept = added(Some(own.as_bytes()), &codex()).unwrap();
        assert_eq!((kept.change, kept.notes.len()), (SettingsChange::Same, 0));
        let other = added(Some(b"mcp_servers.claimtop.command = \"node\"\n"), &codex()).unwrap();
        assert_eq!((other.change, other.notes.len()), (SettingsChange::Same, 1));
        let longer = format!("{}env = {{}}\n", codex().text);
        assert_eq!(removed(longer.as_bytes(), &codex()).unwrap().change, SettingsChange::Same);
    }
}
