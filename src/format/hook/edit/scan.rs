//! Where each part of a JSON text lies, so that a few bytes of it can change and all others stay. Comments and trailing
//! commas are taken, as some agents take them.

use std::fmt;
use std::ops::Range;

use serde_json::value::RawValue;

/// How deep values may be nested, as in serde_json.
const DEEPEST: usize = 128;

/// A value, and where it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) value: Value,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Object(Vec<Item>),
    Array(Vec<Item>),
    Text(String),
    /// `true` or `false`.
    Switch(bool),
    /// A number or `null`.
    Other,
}

/// A member of an object, or an element of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// The name of a member, with its escapes resolved; empty for an element.
    pub(crate) key: String,
    /// Where it begins: a member at its name.
    pub(crate) start: usize,
    pub(crate) node: Node,
    /// Where the comma behind it is, if there is one.
    pub(crate) comma: Option<usize>,
}

impl Item {
    /// Returns where it ends.
    pub(crate) fn end(&self) -> usize {
        self.node.span.end
    }
}

impl Node {
    /// Returns the members of an object, or the elements of an array.
    pub(crate) fn items(&self) -> &[Item] {
        match &self.value {
            Value::Object(items) | Value::Array(items) => items,
            Value::Text(_) | Value::Switch(_) | Value::Other => &[],
        }
    }

    /// Returns the value of an object's member; of several with one name the last, which is what agents read.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let Value::Object(members) = &self.value else { return None };
        members.iter().rev().find(|member| member.key == key).map(|member| &member.node)
    }

    /// Returns a string.
    pub(crate) fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }
}

/// A scanned text.
#[derive(Debug)]
pub(crate) struct SettingsText {
    /// The value; `None` if there is only white space or comments.
    pub(crate) root: Option<Node>,
    /// What is not JSON, though some agents take it, in the order of the text.
    pub(crate) extras: Vec<Extra>,
}

/// Something that is not JSON, though some agents take it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extra {
    pub(crate) span: Range<usize>,
    pub(crate) kind: ExtraKind,
}

/// What is not JSON, though some agents take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExtraKind {
    Bom,
    /// From `//` to the end of the line.
    LineComment,
    BlockComment,
    TrailingComma,
}

impl ExtraKind {
    /// Returns its name for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bom => "a byte order mark (BOM)",
            Self::LineComment | Self::BlockComment => "a comment",
            Self::TrailingComma => "a trailing comma",
        }
    }
}

/// A place in a text, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SettingsFault {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) what: String,
}

impl fmt::Display for SettingsFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.what)
    }
}

/// Returns the fault at a byte of a text.
pub(crate) fn fault_at(text: &[u8], at: usize, what: impl Into<String>) -> SettingsFault {
    let before = text.get(..at).unwrap_or(text);
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    let column = String::from_utf8_lossy(before.get(start..).unwrap_or_default()).chars().count() + 1;
    SettingsFault { line, column, what: what.into() }
}

/// The mark that some editors put before UTF-8.
pub(crate) const BOM: &str = "\u{FEFF}";

/// Finds where each part of a text lies.
///
/// # Errors
/// It is not JSON, even with comments and trailing commas.
pub(crate) fn scan(bytes: &[u8]) -> Result<SettingsText, SettingsFault> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let what = match bytes {
            [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => "this is UTF-16, not UTF-8",
            _ => "this is not UTF-8",
        };
        fault_at(bytes, error.valid_up_to(), what)
    })?;
    let mut scanner = Scanner { text, at: 0, extras: Vec::new() };
    if text.starts_with(BOM) {
        scanner.extra(0..BOM.len(), ExtraKind::Bom);
        scanner.at = BOM.len();
    }
    scanner.skip()?;
    let root = (scanner.at < text.len()).then(|| scanner.node(0)).transpose()?;
    scanner.skip()?;
    if scanner.at < text.len() {
        return Err(scanner.unexpected("the end"));
    }
    Ok(SettingsText { root, extras: scanner.extras })
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    extras: Vec<Extra>,
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn fault(&self, at: usize, what: impl Into<String>) -> SettingsFault {
        fault_at(self.text.as_bytes(), at, what)
    }

    fn extra(&mut self, span: Range<usize>, kind: ExtraKind) {
        self.extras.push(Extra { span, kind });
    }

    fn unexpected(&self, wanted: &str) -> SettingsFault {
        let found = match self.peek() {
            None => "the end".to_owned(),
            Some(c) if c.is_control() => format!("the character U+{:04X}", u32::from(c)),
            Some(c) => format!("`{c}`"),
        };
        self.fault(self.at, format!("expected {wanted}, found {found}"))
    }

    /// Skips white space and comments.
    fn skip(&mut self) -> Result<(), SettingsFault> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
            self.at += blank;
            let (start, rest) = (self.at, self.rest());
            let (length, kind) = if rest.starts_with("//") {
                (rest.find(['\n', '\r']).unwrap_or(rest.len()), ExtraKind::LineComment)
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let end =
                    comment.find("*/").ok_or_else(|| self.fault(start, "a comment that does not end"))?;
                (end + 4, ExtraKind::BlockComment)
            } else {
                return Ok(());
            };
            self.at += length;
            self.extra(start..self.at, kind);
        }
    }

    fn node(&mut self, depth: usize) -> Result<Node, SettingsFault> {
        let start = self.at;
        if depth > DEEPEST {
            return Err(self.fault(start, format!("more than {DEEPEST} values in each other")));
        }
        let value = match self.peek() {
            Some('{') => Value::Object(self.items('}', depth)?),
            Some('[') => Value::Array(self.items(']', depth)?),
            Some('"') => Value::Text(self.string()?),
            _ => self.word()?,
        };
        Ok(Node { span: start..self.at, value })
    }

    /// Reads what is between two brackets.
    fn items(&mut self, close: char, depth: usize) -> Result<Vec<Item>, SettingsFault> {
        self.at += 1;
        let mut items: Vec<Item> = Vec::new();
        loop {
            self.skip()?;
            if self.peek() == Some(close) {
                self.at += 1;
                if let Some(comma) = items.last().and_then(|last| last.comma) {
                    self.extra(comma..comma + 1, ExtraKind::TrailingComma);
                }
                return Ok(items);
            }
            if items.last().is_some_and(|last| last.comma.is_none()) {
                return Err(self.unexpected(&format!("`,` or `{close}`")));
            }
            let start = self.at;
            let key = if close == '}' { self.key()? } else { String::new() };
            let node = self.node(depth + 1)?;
            self.skip()?;
            let comma = (self.peek() == Some(',')).then_some(self.at);
            self.at += usize::from(comma.is_some());
            items.push(Item { key, start, node, comma });
        }
    }

    /// Reads the name of a member and what separates it from its value.
    fn key(&mut self) -> Result<String, SettingsFault> {
        if self.peek() != Some('"') {
            return Err(self.unexpected("a name in quotes"));
        }
        let key = self.string()?;
        self.skip()?;
        if self.peek() != Some(':') {
            return Err(self.unexpected("`:`"));
        }
        self.at += 1;
        self.skip()?;
        Ok(key)
    }

    fn string(&mut self) -> Result<String, SettingsFault> {
        let start = self.at;
        let mut is_escaped = false;
        let end = self.rest().char_indices().skip(1).find(|(_, c)| {
            let ends = *c == '"' && !is_escaped;
            is_escaped = *c == '\\' && !is_escaped;
            ends
        });
        let Some((length, _)) = end else {
            return Err(self.fault(start, "a string that does not end"));
        };
        let literal = self.rest().get(..=length).unwrap_or_default();
        let read = serde_json::from_str(literal).or_else(|error| {
            // JavaScript takes half of a pair alone.
            serde_json::from_str(&without_halves(literal)).map_err(|_| error)
        });
        let read = read.map_err(|error| {
            let at = start + error.column().saturating_sub(1).min(length);
            self.fault(at, "a string that is not JSON")
        })?;
        self.at += length + 1;
        Ok(read)
    }

    /// Reads a number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<Value, SettingsFault> {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let word = rest.get(..rest.find(|c| !is_part(c)).unwrap_or(rest.len())).unwrap_or_default();
        let value = match word {
            "" => return Err(self.unexpected("a value")),
            "true" => Value::Switch(true),
            "false" => Value::Switch(false),
            "null" => Value::Other,
            number if number.starts_with(|c: char| c == '-' || c.is_ascii_digit()) && is_json(number) => {
                Value::Other
            }
            _ => return Err(self.unexpected("a value")),
        };
        self.at += word.len();
        Ok(value)
    }
}

/// Returns whether a text is one value; a number may have any size.
fn is_json(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

/// Replaces the escapes of halves of a surrogate pair.
fn without_halves(literal: &str) -> String {
    let mut out = String::with_capacity(literal.len());
    let mut rest = literal;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let is_half = escape.get(..6).is_some_and(|escape| {
            let digits = escape.strip_prefix("\\u").and_then(|digits| u32::from_str_radix(digits, 16).ok());
            digits.is_some_and(|digits| (0xD800..0xE000).contains(&digits))
        });
        let length = if is_half { 6 } else { 1 + escape.chars().nth(1).map_or(0, char::len_utf8) };
        let (escape, after) = escape.split_at(length.min(escape.len()));
        out.push_str(if is_half { "\\ufffd" } else { escape });
        rest = after;
    }
    out + rest
}
