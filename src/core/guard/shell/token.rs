//! The words and signs of a shell line.

use std::str::Chars;

/// Stands for a part that only the shell knows; no argument of a program can have this byte.
pub(crate) const UNKNOWN: char = '\0';

/// How deeply substitutions may nest.
const DEEPEST: usize = 8;
/// The most words that brace expansion makes of one.
const MOST_WORDS: usize = 64;

/// The longest word for brace expansion, in bytes.
const MOST_LETTERS: usize = 4 << 10;

/// Placeholders for `{`, `,` and `}` that the shell interprets itself.
const OPEN: char = '\u{1}';
const COMMA: char = '\u{2}';
const CLOSE: char = '\u{3}';

/// Markers before the name of a variable, with and without word splitting of its value, and after it.
pub(super) const BARE: char = '\u{4}';
pub(super) const QUOTED: char = '\u{5}';
pub(super) const END: char = '\u{6}';

/// Placeholders for `*` and `?` that the shell itself expands to file names (glob(7)).
pub(crate) const MANY: char = '\u{e}';
pub(crate) const ANY: char = '\u{f}';

/// The variable for the top of the working tree, if a line asks git for it.
pub(super) const TOP: &str = "git rev-parse --show-toplevel";

/// The variable for the files that git lists as changed: a pathspec of the whole tree, which takes the same.
pub(super) const CHANGED: &str = "git diff --name-only";

/// Commands whose output is known, and the variable of that value.
const KNOWN: [(&str, &str); 6] = [
    ("(pwd)", "PWD"),
    ("(git rev-parse --show-toplevel)", TOP),
    ("(git rev-parse --show-toplevel 2>/dev/null)", TOP),
    ("(git diff --name-only)", CHANGED),
    ("(git diff --name-only HEAD)", CHANGED),
    ("(git ls-files -m)", CHANGED),
];

/// Returns whether no part of a word is known to the shell alone.
pub(crate) fn is_known(word: &str) -> bool {
    !word.contains([UNKNOWN, BARE, QUOTED, MANY, ANY])
}

/// Returns whether a line has one of the characters that have a special meaning here.
pub(super) fn has_signs(line: &str) -> bool {
    line.contains(|c| matches!(c, UNKNOWN..=END | MANY | ANY))
}

/// The unread part of a line.
#[derive(Clone)]
struct Rest<'a>(Chars<'a>);

impl<'a> Rest<'a> {
    fn peek(&self) -> Option<char> {
        self.0.clone().next()
    }

    fn next(&mut self) -> Option<char> {
        self.0.next()
    }

    fn next_if(&mut self, is_that: impl FnOnce(&char) -> bool) -> Option<char> {
        self.peek().filter(is_that)?;
        self.next()
    }

    fn next_if_eq(&mut self, that: &char) -> Option<char> {
        self.next_if(|c| c == that)
    }

    /// Passes over a text if it comes next.
    fn skip(&mut self, text: &str) -> bool {
        let after = self.0.as_str().strip_prefix(text);
        self.0 = after.map_or_else(|| self.0.clone(), str::chars);
        after.is_some()
    }

    /// Returns the text read since an earlier state of this.
    fn since(&self, before: &Self) -> &'a str {
        let (before, rest) = (before.0.as_str(), self.0.as_str());
        before.get(..before.len() - rest.len()).unwrap_or_default()
    }
}

pub(super) enum Token {
    /// The expansions of one word, with [`UNKNOWN`] for parts that only the shell knows.
    Words(Vec<String>),
    /// The end of a command that runs in this very shell.
    End,
    /// The end of one, and the beginning of another that runs only if it succeeded: `&&`.
    And,
    /// The same of one that runs only if it failed: `||`.
    Or,
    /// The end of one that runs beside it, and the beginning of another: `|`; or `&`.
    Fork,
    Open,
    Close,
    /// The rest is read in another mode; nothing after it is understood.
    Lost,
}

/// A text that follows the line.
struct Text {
    /// Its closing line.
    end: String,
    /// Whether the tabs before its lines are removed.
    without_tabs: bool,
    /// Whether it is taken literally; otherwise a backslash continues a line on the next one.
    is_plain: bool,
}

/// Reads a line token by token.
pub(super) struct Tokens<'a> {
    chars: Rest<'a>,
    texts: Vec<Text>,
    depth: usize,
    /// The lines that subshells run for the words read.
    inner: Vec<&'a str>,
    /// The words that name the files which the redirections read overwrite.
    outputs: Vec<String>,
    /// The texts that follow the line read, if they are taken literally.
    bodies: Vec<String>,
}

impl<'a> Tokens<'a> {
    pub(super) fn from_line(line: &'a str) -> Self {
        Self {
            chars: Rest(line.chars()),
            texts: Vec::new(),
            depth: DEEPEST,
            inner: Vec::new(),
            outputs: Vec::new(),
            bodies: Vec::new(),
        }
    }

    pub(super) fn next(&mut self) -> Option<Token> {
        loop {
            self.skip_space();
            let first = self.chars.peek()?;
            return Some(match first {
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
                        // A number: nothing in it runs or prints.
                        ('(', Some('(')) if self.skip_number().is_some() => {
                            Token::Words(vec!["((".to_owned()])
                        }
                        // Its content runs later, or never.
                        ('(', Some('(' | ')')) => Token::Lost,
                        ('(', _) => Token::Open,
                        (')', _) => Token::Close,
                        // Both outputs into a file.
                        ('&', Some('>')) if self.skip_redirection().is_some() => continue,
                        ('&', Some('>')) => Token::Lost,
                        ('|' | '&', Some(next)) if next == first => {
                            self.chars.next();
                            if first == '|' { Token::Or } else { Token::And }
                        }
                        ('|' | '&', _) => Token::Fork,
                        _ => Token::End,
                    }
                }
                '<' | '>' => match self.skip_process() {
                    Some(true) => Token::Words(vec![UNKNOWN.to_string()]),
                    Some(false) if self.skip_redirection().is_some() => continue,
                    Some(false) | None => Token::Lost,
                },
                _ => match self.word() {
                    // The number of a descriptor is not a word of its command.
                    Some(Token::End) => continue,
                    token => token.unwrap_or(Token::Lost),
                },
            });
        }
    }

    /// Returns the lines that run for the text read since the last call, in their order.
    pub(super) fn inner(&mut self) -> Vec<&'a str> {
        std::mem::take(&mut self.inner)
    }

    /// Returns the words for the files that the redirections read since the last call overwrite.
    pub(super) fn outputs(&mut self) -> Vec<String> {
        std::mem::take(&mut self.outputs)
    }

    /// Returns the literal texts that have followed the line since the last call.
    pub(super) fn bodies(&mut self) -> Vec<String> {
        std::mem::take(&mut self.bodies)
    }

    fn next_two(&self) -> (Option<char>, Option<char>) {
        let mut ahead = self.chars.clone();
        (ahead.next(), ahead.next())
    }

    /// Passes over the space between words; a backslash continues a line on the next one.
    fn skip_space(&mut self) {
        loop {
            if self.chars.next_if(|c| matches!(c, ' ' | '\t' | '\r')).is_some() {
                continue;
            }
            if self.next_two() != (Some('\\'), Some('\n')) {
                return;
            }
            self.chars.0.nth(1);
        }
    }

    /// Passes over the texts that follow a line; one without an end extends to the end of everything.
    fn skip_texts(&mut self) {
        for Text { end, without_tabs, is_plain } in std::mem::take(&mut self.texts) {
            let (mut goes_on, mut body) = (false, String::new());
            while self.chars.peek().is_some() {
                let mut line = String::new();
                while let Some(c) = self.chars.next_if(|c| *c != '\n') {
                    line.push(c);
                }
                self.chars.next();
                let line = if without_tabs { line.trim_start_matches('\t') } else { &line };
                if line == end && !goes_on {
                    break;
                }
                let escapes = line.chars().rev().take_while(|c| *c == '\\').count();
                goes_on = !is_plain && escapes % 2 == 1;
                body.extend([line, "\n"]);
            }
            // The shell makes another text of one with these.
            let is_literal = is_plain || !body.contains(['$', '`', '\\']);
            self.bodies.extend(Some(body).filter(|_| is_literal));
        }
    }

    /// Passes over a redirection and its target, and notes a text that follows the line; `None` if its end cannot be
    /// found.
    fn skip_redirection(&mut self) -> Option<()> {
        let mut sign = String::new();
        while let Some(next) = self.chars.next_if(|c| matches!(c, '<' | '>' | '&' | '|')) {
            sign.push(next);
            if self.next_two() == (Some('<'), Some('(')) {
                break;
            }
        }
        let without_tabs = sign == "<<" && self.chars.next_if_eq(&'-').is_some();
        self.skip_space();
        if self.skip_process()? {
            return Some(());
        }
        let ahead = self.chars.clone();
        let is_plain = ahead
            .0
            .take_while(|c| !c.is_whitespace() && !matches!(c, ';' | '|' | '&' | ')' | '<' | '>'))
            .any(|c| matches!(c, '\'' | '"' | '\\'));
        let target = self.word()?;
        if sign != "<<" {
            if let (">" | ">|" | ">&", Token::Words(words)) = (sign.as_str(), target) {
                // A number, or a dash, stands for a descriptor.
                let is_file =
                    |word: &String| sign != ">&" || word.contains(|c: char| !matches!(c, '0'..='9' | '-'));
                self.outputs.extend(words.into_iter().filter(is_file));
            }
            return Some(());
        }
        let Token::Words(words) = target else { return None };
        let [end] = words.as_slice() else { return None };
        if end.is_empty() || !is_known(end) {
            return None;
        }
        self.texts.push(Text { end: end.clone(), without_tabs, is_plain });
        Some(())
    }

    /// Passes over process substitutions, if they come next.
    fn skip_process(&mut self) -> Option<bool> {
        if !matches!(self.next_two(), (Some('<' | '>'), Some('('))) {
            return Some(false);
        }
        self.chars.0.nth(1);
        self.skip_commands().map(|()| true)
    }

    /// Passes over an arithmetic expression, from the second of its parentheses on.
    fn skip_number(&mut self) -> Option<()> {
        let mut ahead = self.chars.clone();
        let mut open = 1_usize;
        while open > 0 {
            match ahead.next()? {
                '(' => open += 1,
                ')' => open -= 1,
                '\'' | '"' | '`' | '\n' => return None,
                _ => {}
            }
        }
        self.chars = ahead;
        Some(())
    }

    /// Passes over a test of the shell's, which runs nothing.
    fn skip_test(&mut self) -> Option<()> {
        let mut before = Some(' ');
        loop {
            let piece = self.piece()?;
            let is_apart = before.is_some_and(char::is_whitespace);
            if is_apart && piece == Some(']') && self.chars.next_if_eq(&']').is_some() {
                return Some(());
            }
            before = piece;
        }
    }

    /// Passes over a character, or over a whole quotation or substitution; returns it if it is a plain character.
    fn piece(&mut self) -> Option<Option<char>> {
        let mut text = String::new();
        if matches!(self.chars.peek()?, '`' | '$') {
            self.substitution(&mut text, BARE)?;
            return Some(None);
        }
        match self.chars.next()? {
            '\\' => drop(self.chars.next()),
            '"' => self.double_quoted(&mut text)?,
            '\'' => self.single_quoted(&mut text)?,
            plain => return Some(Some(plain)),
        }
        Some(None)
    }

    /// Reads a word with its quotes; it is unknown if the shell would substitute something.
    ///
    /// `None` if its end cannot be found, [`Token::End`] if it was the number of a redirection's descriptor.
    fn word(&mut self) -> Option<Token> {
        let mut text = String::new();
        let is_test = self.chars.peek() == Some('[');
        while let Some(next) = self.chars.peek() {
            match next {
                ' ' | '\t' | '\r' | '\n' | ';' | '|' | '&' | ')' => break,
                '<' | '>' => {
                    if !text.is_empty() && text.chars().all(|c| c.is_ascii_digit()) {
                        return self.skip_redirection().map(|()| Token::End);
                    }
                    break;
                }
                '\\' => {
                    self.chars.next();
                    match self.chars.next()? {
                        '\n' => {}
                        other => text.push(other),
                    }
                }
                '\'' => {
                    self.chars.next();
                    self.single_quoted(&mut text)?;
                }
                '"' => {
                    self.chars.next();
                    self.double_quoted(&mut text)?;
                }
                '`' | '$' => self.substitution(&mut text, BARE)?,
                '~' if text.is_empty() || is_name(text.strip_suffix('=')) => {
                    self.chars.next();
                    self.home(&mut text);
                }
                // The values of an array.
                '(' if text.ends_with('=') => {
                    self.chars.next();
                    self.skip_to_close()?;
                }
                '(' => return None,
                other => {
                    text.push(match other {
                        '*' => MANY,
                        '?' => ANY,
                        '[' => UNKNOWN,
                        '{' => OPEN,
                        ',' => COMMA,
                        '}' => CLOSE,
                        other => other,
                    });
                    self.chars.next();
                }
            }
        }
        // Tests of the shell's: these have no meaning there.
        Some(Token::Words(match text.as_str() {
            "\0" if is_test => vec!["[".to_owned()],
            "\0\0" if is_test => {
                self.skip_test()?;
                vec!["[[".to_owned()]
            }
            _ => expanded(&text),
        }))
    }

    fn single_quoted(&mut self, text: &mut String) -> Option<()> {
        loop {
            match self.chars.next()? {
                '\'' => return Some(()),
                other => text.push(other),
            }
        }
    }

    /// Reads up to the closing quote; `None` if that cannot be found.
    fn double_quoted(&mut self, text: &mut String) -> Option<()> {
        loop {
            match self.chars.peek()? {
                '"' => {
                    self.chars.next();
                    return Some(());
                }
                '`' | '$' => self.substitution(text, QUOTED)?,
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

    /// Reads a variable, or a command substitution; `None` if its end cannot be found.
    fn substitution(&mut self, text: &mut String, sign: char) -> Option<()> {
        if self.chars.next() == Some('`') {
            text.push(UNKNOWN);
            let before = self.chars.clone();
            self.skip_to('`')?;
            let line = self.chars.since(&before).strip_suffix('`');
            // With escapes it is not the text that is run.
            self.inner.extend(line.filter(|line| !line.contains('\\')));
            return Some(());
        }
        if let Some(name) = self.variable() {
            text.extend([sign]);
            text.push_str(name);
            text.push(END);
            return Some(());
        }
        text.push(UNKNOWN);
        match self.chars.peek() {
            Some('(') => {
                self.chars.next();
                match self.chars.peek() {
                    Some('(') => self.skip_number(),
                    _ => self.skip_commands(),
                }
            }
            Some('{') => {
                self.chars.next();
                self.depth = self.depth.checked_sub(1)?;
                // The default of an unset variable runs only then.
                let noted = self.inner.len();
                self.skip_braces()?;
                self.inner.truncate(noted);
                self.depth += 1;
                Some(())
            }
            Some('\'') => {
                self.chars.next();
                self.skip_to('\'')
            }
            _ => Some(()),
        }
    }

    /// Reads the name of a variable, or of the one for a command's output, if there is nothing else.
    fn variable(&mut self) -> Option<&'a str> {
        if let Some((_, name)) = KNOWN.iter().find(|(command, _)| self.chars.skip(command)) {
            return Some(name);
        }
        let mut ahead = self.chars.clone();
        let is_braced = ahead.skip("{");
        let before = ahead.clone();
        while ahead.next_if(|c| is_of_name(*c)).is_some() {}
        let name = Some(ahead.since(&before)).filter(|name| is_name(Some(name)))?;
        if is_braced && !ahead.skip("}") {
            return None;
        }
        self.chars = ahead;
        Some(name)
    }

    /// Reads the text after `~`: nothing, or a path in the home; otherwise it belongs to another user.
    fn home(&self, text: &mut String) {
        match self.chars.peek() {
            None | Some('/' | ' ' | '\t' | '\r' | '\n' | ';' | '|' | '&' | ')' | '<' | '>') => {
                text.extend([QUOTED]);
                text.push_str("HOME");
                text.push(END);
            }
            Some(_) => text.push(UNKNOWN),
        }
    }

    /// Passes over a variable in braces, with its default.
    fn skip_braces(&mut self) -> Option<()> {
        while self.piece()? != Some('}') {}
        Some(())
    }

    /// Passes over text up to a closing sign.
    fn skip_to(&mut self, end: char) -> Option<()> {
        loop {
            match self.chars.next()? {
                next if next == end => return Some(()),
                '\\' => drop(self.chars.next()),
                _ => {}
            }
        }
    }

    /// Passes over the commands of a subshell, and notes them.
    fn skip_commands(&mut self) -> Option<()> {
        let before = self.chars.clone();
        let (inner, outputs) = (self.inner.len(), self.outputs.len());
        self.skip_to_close()?;
        // Deeper ones are found when these are read.
        self.inner.truncate(inner);
        self.outputs.truncate(outputs);
        self.inner.extend(self.chars.since(&before).strip_suffix(')'));
        Some(())
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
                // Its patterns have closing parentheses without opening ones.
                Token::Words(words) => is_case |= words == ["case"],
                Token::End | Token::And | Token::Or | Token::Fork => {}
                Token::Lost => return None,
            }
        }
        self.depth += 1;
        (!is_case).then_some(())
    }
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns whether a text can be the name of a variable.
fn is_name(text: Option<&str>) -> bool {
    text.is_some_and(|text| {
        text.starts_with(|c: char| is_of_name(c) && !c.is_ascii_digit()) && text.chars().all(is_of_name)
    })
}

/// Returns the words that brace expansion makes of one.
fn expanded(text: &str) -> Vec<String> {
    if !text.contains([OPEN, COMMA, CLOSE]) {
        return vec![text.to_owned()];
    }
    if text.len() > MOST_LETTERS {
        return vec![UNKNOWN.to_string()];
    }
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

/// Returns the first braces that contain a choice and no other braces, and the text around them.
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
