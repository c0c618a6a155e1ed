//! Expansion of the variables in a line's words.

use crate::core::guard::shell::state::State;
use crate::core::guard::shell::token::{BARE, CHANGED, END, QUOTED, TOP, UNKNOWN, is_known};
use crate::core::guard::shell::variables::Value;

/// Expands variables in words, within a budget for each line.
pub(super) struct Expander<'a> {
    pub(super) place: &'a ShellContext<'a>,
    /// How many bytes may still be made.
    pub(super) room: usize,
}

impl Expander<'_> {
    /// Returns the expanded words: several times if one contains a loop's variable.
    pub(super) fn expand(&mut self, words: Vec<String>, state: &State) -> Vec<Vec<String>> {
        if !words.iter().any(|word| word.contains([BARE, QUOTED])) {
            return vec![words];
        }
        let is_each = |name: &&str| matches!(state.variables.get(name), Some(Value::Each(_)));
        let mut loops = words.iter().flat_map(|word| names(word)).filter(is_each);
        let first = loops.next();
        // Of two nested loops not every pair comes up.
        let bound = first.filter(|first| loops.all(|other| other == *first));
        match bound.and_then(|name| Some((name, state.variables.get(name)?))) {
            Some((name, Value::Each(values))) if self.spend(values.len() * length(&words)).is_some() => {
                values.iter().map(|value| self.fields(&words, state, Some((name, value)))).collect()
            }
            _ => vec![self.fields(&words, state, None)],
        }
    }

    /// Returns a text without word splitting.
    pub(super) fn text(&mut self, text: &str, state: &State) -> Option<String> {
        let mut whole = String::new();
        for piece in pieces(text) {
            match piece {
                Piece::Plain(text) => whole.push_str(text),
                Piece::Variable { name, .. } => whole.push_str(&self.value(name, state, None)?),
            }
        }
        is_known(&whole).then_some(whole)
    }

    /// Returns the value of a variable.
    pub(super) fn value(&mut self, name: &str, state: &State, bound: Option<(&str, &str)>) -> Option<String> {
        let value = match (state.variables.get(name), bound) {
            (_, Some((of, value))) if of == name => value.to_owned(),
            (Some(Value::Text(value)), _) => value.clone(),
            (Some(Value::Each(_) | Value::Unknown), _) => return None,
            (None, _) => match name {
                "PWD" => state.folder.as_deref()?.to_owned(),
                "OLDPWD" => state.previous.as_deref()?.to_owned(),
                "HOME" if !state.variables.are_lost() => self.place.home?.to_owned(),
                TOP => (self.place.top_of)(state.folder.as_deref()?)?,
                CHANGED => ":/".to_owned(),
                _ => return None,
            },
        };
        self.spend(value.len())?;
        Some(value)
    }

    /// Takes that many bytes from the budget; `None` if too few are left.
    pub(super) fn spend(&mut self, bytes: usize) -> Option<()> {
        self.room = self.room.checked_sub(bytes)?;
        Some(())
    }

    fn fields(&mut self, words: &[String], state: &State, bound: Option<(&str, &str)>) -> Vec<String> {
        let is_cut_otherwise = state.variables.get("IFS").is_some();
        let mut fields = Vec::new();
        for word in words {
            let (mut field, mut is_one) = (String::new(), false);
            let mut has_variable = false;
            for piece in pieces(word) {
                match piece {
                    Piece::Plain(text) => field.push_str(text),
                    Piece::Variable { name, is_quoted } => {
                        has_variable = true;
                        is_one |= is_quoted;
                        match self.value(name, state, bound) {
                            Some(value) if is_quoted => field.push_str(&value),
                            // Names behind other names are not resolved.
                            Some(value) if !is_cut_otherwise && !value.contains(['*', '?', '[', '\\']) => {
                                let mut parts = value.split([' ', '\t', '\n']);
                                field.push_str(parts.next().unwrap_or_default());
                                for part in parts {
                                    let whole = std::mem::replace(&mut field, part.to_owned());
                                    fields.extend((!whole.is_empty()).then_some(whole));
                                }
                            }
                            _ => field.push(UNKNOWN),
                        }
                    }
                }
            }
            if !has_variable || is_one || !field.is_empty() {
                fields.push(field);
            }
        }
        fields
    }
}

/// Returns the cost of words, by their bytes and their number.
fn length(words: &[String]) -> usize {
    words.iter().map(|word| word.len() + size_of::<String>()).sum()
}

enum Piece<'a> {
    Plain(&'a str),
    Variable { name: &'a str, is_quoted: bool },
}

fn pieces(word: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let at = rest.find([BARE, QUOTED]).unwrap_or(rest.len());
        let (plain, after) = rest.split_at(at);
        if !plain.is_empty() {
            rest = after;
            return Some(Piece::Plain(plain));
        }
        let (variable, after) = rest.split_once(END)?;
        rest = after;
        let is_quoted = variable.starts_with(QUOTED);
        Some(Piece::Variable { name: variable.trim_start_matches([BARE, QUOTED]), is_quoted })
    })
}

fn names(word: &str) -> impl Iterator<Item = &str> {
    pieces(word).filter_map(|piece| match piece {
        Piece::Variable { name, .. } => Some(name),
        Piece::Plain(_) => None,
    })
}

/// Where a line runs.
pub(crate) struct ShellContext<'a> {
    /// The folder, absolute.
    pub(crate) folder: &'a str,
    /// The value of `HOME`.
    pub(crate) home: Option<&'a str>,
    /// Returns the top of the working tree that a folder lies in.
    pub(crate) top_of: &'a dyn Fn(&str) -> Option<String>,
}
