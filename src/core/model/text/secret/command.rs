//! Secrets among the arguments of commands: the values of programs' options, and the input that a command is given.

use crate::core::model::text::secret::names::{Says, says};
use crate::core::model::text::secret::span::{QUOTES, Span, may_begin};
use crate::core::model::text::secret::table::{CommandOption, Reads, Rule, TABLE};
use crate::core::model::text::secret::url::is_number;
use crate::core::model::text::secret::value::is_nothing;

/// The letters of curl's options without a value, which may precede one with a value (curl(1)).
const FLAGS: &str = "0123456#fgGiIjJklLnNOpqRsSvZ";

/// The commands that print their arguments, as a secret for the command that they are piped into.
const PRINTERS: [&str; 2] = ["echo", "printf"];

/// The operator before a text that becomes a command's input (bash(1), "Here Strings").
const HERE: &str = "<<<";

/// A command, as far as its words have been read.
#[derive(Default)]
pub(super) struct Command {
    setting: Setting,
    /// The values that follow after some more words.
    awaited: Vec<OptionValue>,
    /// Whether it reads a secret from its input.
    is_fed: bool,
}

/// The rules for the options of a command.
#[derive(Clone, Copy, Default)]
struct Setting {
    /// The rules of the program that was named last.
    rules: &'static [usize],
    /// The words seen that rules need, as bits.
    named: u64,
}

/// A value that an option takes.
struct OptionValue {
    skips: usize,
    reads: Reads,
    /// Whether it belongs to a word without a hyphen, which options may follow.
    is_bare: bool,
}

impl Command {
    /// Reads the next word. Returns where the value of an option begins in it, and the kind of value.
    pub(super) fn take(&mut self, word: &str) -> Option<(usize, Reads)> {
        if let Some(reads) = self.due(word) {
            if reads == Reads::Name && says(word) == Some(Says::Secret) {
                self.awaited.push(OptionValue { skips: 0, reads: Reads::Secret, is_bare: true });
            }
            return Some((0, reads));
        }
        let name = word.rsplit('/').next().unwrap_or_default();
        let bit = TABLE.bit(word);
        let is_needed = TABLE.rules(self.setting.rules).any(|rule| rule.needs & bit != 0);
        if let Some(rules) = TABLE.program(name).filter(|_| !is_needed) {
            self.setting = Setting { rules, named: 0 };
            self.is_fed |= TABLE.rules(rules).any(|rule| rule.reads == Reads::Fed && rule.options.is_empty());
        }
        self.setting.named |= bit;
        let rule = self.rule(word)?;
        if rule.reads == Reads::Fed {
            self.is_fed = true;
            return None;
        }
        for (option, at) in rule.options.iter().filter_map(|option| Some((option, value_in(option, word)?))) {
            if let Some(at) = at {
                return Some((at, rule.reads));
            }
            let is_bare = !option.name.starts_with('-');
            self.awaited.push(OptionValue { skips: option.skips, reads: rule.reads, is_bare });
        }
        None
    }

    /// Returns the kind of value that a word is for an option before it.
    fn due(&mut self, word: &str) -> Option<Reads> {
        let is_option = word.starts_with('-') && word.len() > 1;
        let mut due = None;
        self.awaited.retain_mut(|awaited| match awaited.skips {
            _ if is_option && awaited.is_bare => true,
            0 if is_option => false,
            0 => {
                due = Some(awaited.reads);
                false
            }
            _ => {
                awaited.skips -= 1;
                true
            }
        });
        due
    }

    /// Returns the first rule that has a word as an option.
    fn rule(&self, word: &str) -> Option<&'static Rule> {
        let named = self.setting.named;
        let is_met = |rule: &&Rule| rule.needs == 0 || rule.needs & named != 0;
        let has = |rule: &&Rule| rule.options.iter().any(|option| value_in(option, word).is_some());
        TABLE.rules(self.setting.rules).filter(is_met).chain(TABLE.of_any()).find(has)
    }
}

/// Returns where the value of an option begins in a word that is this option; the inner `None` means in the next word.
fn value_in(option: &CommandOption, word: &str) -> Option<Option<usize>> {
    let Some(rest) = word.strip_prefix(option.name) else {
        return if option.is_clustered { clustered(option, word) } else { None };
    };
    let is_short = option.name.len() == 2 && option.name.starts_with('-') && option.skips == 0;
    let length = option.name.len();
    match rest.bytes().next() {
        None => option.is_apart.then_some(None),
        Some(b'=') if option.is_attached => Some(Some(length + 1)),
        Some(_) if option.is_attached && (is_short || !option.is_apart || option.name.ends_with(':')) => {
            Some(Some(length))
        }
        Some(_) => None,
    }
}

/// Like [`value_in`], for letters before the option's own, as in `-su`.
fn clustered(option: &CommandOption, word: &str) -> Option<Option<usize>> {
    let letter = option.name.strip_prefix('-')?;
    let (flags, value) = word.strip_prefix('-')?.split_once(letter)?;
    let at = (!value.is_empty()).then(|| word.len() - value.len());
    flags.chars().all(|flag| FLAGS.contains(flag)).then_some(at)
}

/// Returns which part of an option's value is secret.
pub(super) fn secret_in(value: &str, reads: Reads) -> Option<Span> {
    let end = value.len();
    let (start, end) = match reads {
        Reads::Nothing | Reads::Name | Reads::Fed => return None,
        Reads::Secret => (0, end),
        // URLs have a form of their own.
        Reads::Behind(_) | Reads::BeforeHost if value.contains("://") => return None,
        Reads::Behind(sign) => {
            let at = value.find(sign).filter(|at| *at > 0 || sign == ':')?;
            let (user, secret) = (value.get(..at)?, value.get(at + sign.len_utf8()..)?);
            // A user and a group, or a port.
            let are_ids = sign == ':' && is_number(user) && is_number(secret);
            (if are_ids { end } else { at + sign.len_utf8() }, end)
        }
        Reads::BeforeHost => (value.find(':')? + 1, value.rfind('@')?),
        Reads::Scheme(scheme) => (value.strip_prefix(scheme).map(|_| scheme.len())?, end),
    };
    let secret = value.get(start..end)?;
    (!secret.is_empty() && !is_nothing(secret)).then_some((start, end))
}

/// Finds the secrets among the words of commands in a text.
pub(super) fn in_text(text: &str, found: &mut Vec<Span>) {
    let mut line = Line { text, ..Line::default() };
    // Where the current word began, its quotes, and the rules for words outside of them.
    let (mut start, mut quote, mut outer) = (None, None, Setting::default());
    let mut before = b' ';
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().copied().enumerate() {
        let next = bytes.get(at + 1).copied();
        let is_redirection = byte == b'&' && (before == b'>' || next == Some(b'>'));
        let is_end = b"|;&()`\n".contains(&byte) && !is_redirection;
        if is_end || byte.is_ascii_whitespace() {
            line.word(start.take(), at, found);
        } else if start.is_none() {
            start = Some(at);
        }
        if is_end {
            line.end(byte == b'|' && next != Some(b'|') && before != b'|', found);
        }
        match quote {
            None if matches!(byte, b'"' | b'\'') && before != b'\\' => {
                (quote, outer) = (Some(byte), line.command.setting);
            }
            Some(open) if open == byte && before != b'\\' => {
                line.word(start.take(), at, found);
                (quote, line.command.setting) = (None, outer);
            }
            Some(_) | None => {}
        }
        before = byte;
    }
    line.word(start, text.len(), found);
    line.end(false, found);
}

/// A command in a text.
#[derive(Default)]
struct Line<'a> {
    text: &'a str,
    command: Command,
    /// Whether a word of it was read.
    is_begun: bool,
    /// The words that it prints, if it does only that.
    printed: Option<Vec<Span>>,
    /// Whether the next word is its input.
    is_here: bool,
    /// Its input, from itself or from the command before it.
    fed: Vec<Span>,
}

impl Line<'_> {
    /// Reads a word, if one has begun.
    fn word(&mut self, start: Option<usize>, end: usize, found: &mut Vec<Span>) {
        let Some((start, raw)) = start.and_then(|start| Some((start, self.text.get(start..end)?))) else {
            return;
        };
        let bare = raw.trim_start_matches(QUOTES);
        let at_bare = start + raw.len() - bare.len();
        let bare = bare.trim_end_matches(QUOTES);
        if std::mem::take(&mut self.is_here) {
            self.fed.push(value_at(self.text, start));
        } else if let Some(value) = bare.strip_prefix(HERE) {
            self.is_here = value.is_empty();
            self.fed.push(value_at(self.text, at_bare + HERE.len()));
        } else if let Some((at, reads)) = self.command.take(bare) {
            let (start, end) = value_at(self.text, if at == 0 { start } else { at_bare + at });
            let value = self.text.get(start..end).unwrap_or_default();
            let secret =
                secret_in(value, reads).filter(|(from, _)| value.get(*from..).is_some_and(may_begin));
            found.extend(secret.map(|(from, to)| (start + from, start + to)));
        }
        if let Some(printed) = self.printed.as_mut().filter(|_| !bare.starts_with(['-', '%', '$'])) {
            printed.push(value_at(self.text, start));
        }
        if !std::mem::replace(&mut self.is_begun, true) && PRINTERS.contains(&bare) {
            self.printed = Some(Vec::new());
        }
    }

    /// Ends a command, which may be the beginning of a pipe.
    fn end(&mut self, is_pipe: bool, found: &mut Vec<Span>) {
        let printed = self.printed.take().filter(|_| is_pipe).unwrap_or_default();
        let before = std::mem::replace(self, Line { text: self.text, fed: printed, ..Line::default() });
        let is_told = |(start, end): &Span| {
            self.text.get(*start..*end).is_some_and(|value| may_begin(value) && !is_nothing(value))
        };
        if before.command.is_fed {
            found.extend(before.fed.into_iter().filter(is_told));
        }
    }
}

/// Returns the word that begins at a position, without its quotes.
fn value_at(text: &str, from: usize) -> Span {
    let rest = text.get(from..).unwrap_or_default();
    let bare = rest.trim_start_matches(QUOTES);
    let start = from + rest.len() - bare.len();
    let ends = |c: char| c.is_whitespace() || "|;&)".contains(c) || QUOTES.contains(&c);
    let end = match text.get(from..start) {
        Some("") | None => bare.find(ends),
        Some(quote) => bare.find(quote).or_else(|| bare.find(QUOTES)),
    };
    (start, start + end.unwrap_or(bare.len()))
}
