//! The words and signs of a shell line.

use std::iter::Peekable;
use std::str::Chars;

/// Stands for what only the shell knows; no argument of a program can have this byte.
pub(crate) const UNKNOWN: char = '\0';

/// How deep substitutions may lie in each other.
const DEEPEST: usize = 8;
/// The most words that braces make of one.
const MOST_WORDS: usize = 64;

/// What stand for `{`, `,` and `}` that the shell takes for itself; no argument of a program is made of them.
const OPEN: char = '\u{1}';
const COMMA: char = '\u{2}';
const CLOSE: char = '\u{3}';

/// Returns whether nothing in a word is for the shell alone to know.
pub(crate) fn is_known(word: &str) -> bool {
    !word.contains(UNKNOWN)
}

pub(super) enum Token {
    /// The words that one makes, with [`UNKNOWN`] for what only the shell knows.
    Words(Vec<String>),
    /// The end of a command that runs in this very shell.
    End,
    /// The end of one that runs beside it, and the beginning of another: `|`; or `&`.
    Fork,
    Open,
    Close,
    /// What follows is read otherwise; nothing after it is understood.
    Lost,
}

/// Reads a line token by token.
pub(super) struct Tokens<'a> {
    chars: Peekable<Chars<'a>>,
    /// The ends of the texts that follow the line: each with whether its tabs are left out.
    texts: Vec<(String, bool)>,
    depth: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn of(line: &'a str) -> Self {
        Self { chars: line.chars().peekable(), texts: Vec::new(), depth: DEEPEST }
    }

    pub(super) fn next(&mut self) -> Option<Token> {
        self.skip_space();
        let first = *self.chars.peek()?;
        Some(match first {
            '#' => {
                while self.chars.next_if(|c| *c != '\n').is_some() {}
                Token::End
            }
            '\n' => {
                self.chars.next();
                self.skip_texts();
                Token::End
            }
            '(' | ')' | ';' | '|' | '&' => {
                self.chars.next();
                match (first, self.chars.peek()) {
                    ('(', Some('(')) => Token::Lost,
                    ('(', _) => Token::Open,
                    (')', _) => Token::Close,
                    // Both outputs into a file.
                    ('&', Some('>')) => self.redirection(),
                    ('|' | '&', Some(&next)) if next == first => {
                        self.chars.next();
                        Token::End
                    }
                    ('|' | '&', _) => Token::Fork,
                    _ => Token::End,
                }
            }
            '<' | '>' => self.redirection(),
            _ => self.word(),
        })
    }

    /// Passes over what stands between words; a line can be gone on with on the next one.
    fn skip_space(&mut self) {
        loop {
            if self.chars.next_if(|c| matches!(c, ' ' | '\t' | '\r')).is_some() {
                continue;
            }
            let mut ahead = self.chars.clone();
            if (ahead.next(), ahead.next()) != (Some('\\'), Some('\n')) {
                return;
            }
            self.chars = ahead;
        }
    }

    /// Passes over the texts that follow a line; one without an end goes on to that of all.
    fn skip_texts(&mut self) {
        for (end, without_tabs) in std::mem::take(&mut self.texts) {
            while self.chars.peek().is_some() {
                let mut line = String::new();
                while let Some(c) = self.chars.next_if(|c| *c != '\n') {
                    line.push(c);
                }
                self.chars.next();
                let line = if without_tabs { line.trim_start_matches('\t') } else { &line };
                if line == end {
                    break;
                }
            }
        }
    }

    /// Passes over a redirection and its target; a text that follows the line is passed over there.
    fn redirection(&mut self) -> Token {
        let mut sign = String::new();
        while let Some(next) = self.chars.next_if(|c| matches!(c, '<' | '>' | '&' | '|')) {
            sign.push(next);
        }
        if self.chars.peek() == Some(&'(') {
            return Token::Lost;
        }
        let without_tabs = sign == "<<" && self.chars.next_if_eq(&'-').is_some();
        self.skip_space();
        let target = self.word();
        if sign == "<<" {
            match target {
                Token::Words(words) => match words.as_slice() {
                    [end] if !end.is_empty() && !end.contains(UNKNOWN) => {
                        self.texts.push((end.clone(), without_tabs))
                    }
                    _ => return Token::Lost,
                },
                Token::End | Token::Fork | Token::Open | Token::Close | Token::Lost => return Token::Lost,
            }
        } else if matches!(target, Token::Lost) {
            return Token::Lost;
        }
        self.next().unwrap_or(Token::End)
    }

    /// Reads a word with its quotes; it is not known where the shell would put something else in its place.
    fn word(&mut self) -> Token {
        let mut text = String::new();
        let is_test = self.chars.peek() == Some(&'[');
        while let Some(&next) = self.chars.peek() {
            match next {
                ' ' | '\t' | '\r' | '\n' | ';' | '|' | '&' | ')' => break,
                '<' | '>' => {
                    // The number of a descriptor is none of its command's words.
                    if !text.is_empty() && text.chars().all(|c| c.is_ascii_digit()) {
                        return self.redirection();
                    }
                    break;
                }
                '\\' => {
                    self.chars.next();
                    match self.chars.next() {
                        Some('\n') => {}
                        Some(other) => text.push(other),
                        None => return Token::Lost,
                    }
                }
                '\'' => {
                    self.chars.next();
                    if self.single_quoted(&mut text).is_none() {
                        return Token::Lost;
                    }
                }
                '"' => {
                    self.chars.next();
                    if self.double_quoted(&mut text).is_none() {
                        return Token::Lost;
                    }
                }
                '`' | '$' => {
                    if self.substitution().is_none() {
                        return Token::Lost;
                    }
                    text.push(UNKNOWN);
                }
                // The values of an array.
                '(' if text.ends_with('=') => {
                    self.chars.next();
                    if self.skip_to_close().is_none() {
                        return Token::Lost;
                    }
                }
                '(' => return Token::Lost,
                other => {
                    text.push(match other {
                        '*' | '?' | '[' => UNKNOWN,
                        '~' if text.is_empty() => UNKNOWN,
                        '{' => OPEN,
                        ',' => COMMA,
                        '}' => CLOSE,
                        other => other,
                    });
                    self.chars.next();
                }
            }
        }
        // Tests of the shell's: there is nothing that these could stand for.
        Token::Words(match text.as_str() {
            "\0" if is_test => vec!["[".to_owned()],
            "\0\0" if is_test => vec!["[[".to_owned()],
            _ => expanded(&text),
        })
    }

    fn single_quoted(&mut self, text: &mut String) -> Option<()> {
        loop {
            match self.chars.next()? {
                '\'' => return Some(()),
                other => text.push(other),
            }
        }
    }

    /// Reads up to the closing quote; `None` where that cannot be found.
    fn double_quoted(&mut self, text: &mut String) -> Option<()> {
        loop {
            match *self.chars.peek()? {
                '"' => {
                    self.chars.next();
                    return Some(());
                }
                '`' | '$' => {
                    self.substitution()?;
                    text.push(UNKNOWN);
                }
                '\\' => {
                    self.chars.next();
                    match self.chars.next()? {
                        '\n' => {}
                        escaped @ ('"' | '\\' | '$' | '`') => text.push(escaped),
                        other => text.extend(['\\', other]),
                    }
                }
                other => {
                    text.push(other);
                    self.chars.next();
                }
            }
        }
    }

    /// Passes over a variable, or over what a command tells; `None` where its end cannot be found.
    fn substitution(&mut self) -> Option<()> {
        if self.chars.next() == Some('`') {
            return self.skip_to('`');
        }
        match self.chars.peek() {
            Some('(') => {
                self.chars.next();
                self.skip_to_close()
            }
            Some('{') => {
                self.chars.next();
                self.skip_to('}')
            }
            Some('\'') => {
                self.chars.next();
                self.skip_to('\'')
            }
            _ => Some(()),
        }
    }

    /// Passes over what ends with a sign, if there is nothing in it that could hide that.
    fn skip_to(&mut self, end: char) -> Option<()> {
        loop {
            match self.chars.next()? {
                next if next == end => return Some(()),
                '\\' => drop(self.chars.next()),
                '"' | '\'' | '$' | '{' if end == '}' => return None,
                _ => {}
            }
        }
    }

    /// Passes over commands, or values, up to the parenthesis that closes them.
    fn skip_to_close(&mut self) -> Option<()> {
        self.depth = self.depth.checked_sub(1)?;
        let mut open = 1_usize;
        let mut is_case = false;
        while open > 0 {
            match self.next()? {
                Token::Open => open += 1,
                Token::Close => open -= 1,
                // Its patterns close what nobody has opened.
                Token::Words(words) => is_case |= words == ["case"],
                Token::End | Token::Fork => {}
                Token::Lost => return None,
            }
        }
        self.depth += 1;
        (!is_case).then_some(())
    }
}

/// Returns the words that braces make of one.
fn expanded(text: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![text.to_owned()];
    while let Some(word) = open.pop() {
        match parts(&word) {
            None => done.push(word.replace(OPEN, "{").replace(COMMA, ",").replace(CLOSE, "}")),
            Some((before, choices, after)) => {
                // The last comes first, for they are taken from the end.
                open.extend(choices.rsplit(COMMA).map(|choice| format!("{before}{choice}{after}")));
            }
        }
        if done.len() + open.len() > MOST_WORDS {
            return vec![UNKNOWN.to_string()];
        }
    }
    done
}

/// Returns the first braces that have a choice in them, with none inside, and what stands around them.
fn parts(word: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(close) = word.get(from..)?.find(CLOSE).map(|at| from + at) {
        let before = word.get(..close)?;
        let open = before
            .rfind(OPEN)
            .filter(|open| before.get(open + 1..).is_some_and(|in_it| in_it.contains(COMMA)));
        if let Some(open) = open {
            return Some((word.get(..open)?, word.get(open + 1..close)?, word.get(close + 1..)?));
        }
        from = close + 1;
    }
    None
}
