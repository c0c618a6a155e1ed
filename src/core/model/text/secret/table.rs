//! The shapes of secrets, as data: `assets/secrets.txt`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::core::model::text::secret::alphabet::Alphabet;
use crate::core::model::text::secret::filter::Filter;
use crate::core::model::text::secret::list::{List, Lists};

/// The rules, one on each line.
const RULES: &str = include_str!("../../../../../assets/secrets.txt");

/// The parsed rules.
pub(super) static TABLE: LazyLock<Table> = LazyLock::new(|| Table::new(RULES).0);

/// The sign for any program.
const ANY: &str = "*";

/// All rules.
#[derive(Default)]
pub(super) struct Table {
    /// How tokens begin, by their first byte.
    tokens: Vec<Vec<Token>>,
    /// The texts that follow a word and form a token with it.
    pub(super) joints: Vec<Token>,
    /// How tokens end, and their least length.
    pub(super) tails: Vec<(&'static str, usize)>,
    pub(super) lists: Lists,
    /// The rules of each program.
    programs: BTreeMap<&'static str, Vec<usize>>,
    /// The rules of any program.
    any: Vec<usize>,
    rules: Vec<Rule>,
    /// The words that rules need, each with a bit of its own.
    needed: Vec<&'static str>,
    /// The first letters of words that mark a name as a secret's.
    names: Filter,
    /// The words that may be a program, or an option of any program.
    commands: Filter,
}

/// A token: its prefix, and the parts after it.
#[derive(Debug)]
pub(super) struct Token {
    pub(super) start: &'static str,
    /// Letters, and the joints before further ones.
    pub(super) parts: Vec<Part>,
}

/// A part of a token.
#[derive(Debug)]
pub(super) struct Part {
    /// The text before it.
    pub(super) joint: &'static str,
    pub(super) alphabet: Alphabet,
    /// The least number of letters it has.
    pub(super) least: usize,
    /// Whether it has exactly that many.
    pub(super) is_exact: bool,
}

/// The options of some programs.
#[derive(Debug)]
pub(super) struct Rule {
    /// Any one of these words must have been seen, as bits; 0 if no word is needed.
    pub(super) needs: u64,
    pub(super) options: Vec<CommandOption>,
    pub(super) reads: Reads,
}

/// The kind of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    /// A secret as a whole.
    Secret,
    /// A secret after the first of this sign.
    Behind(char),
    /// A secret between the first colon and the last `@`.
    BeforeHost,
    /// A secret with these letters before it (openssl-passphrase-options(1)).
    Scheme(&'static str),
    /// None.
    Nothing,
    /// The name of the word after it.
    Name,
    /// None, but the command reads a secret from its input.
    Fed,
}

/// An option of a command.
#[derive(Debug)]
pub(super) struct CommandOption {
    pub(super) name: &'static str,
    /// Whether other letters may precede its own.
    pub(super) is_clustered: bool,
    pub(super) is_apart: bool,
    pub(super) is_attached: bool,
    /// How many words there are between it and the secret.
    pub(super) skips: usize,
}

impl Table {
    /// Parses the rules, and returns the lines that are not rules.
    fn new(text: &'static str) -> (Self, Vec<&'static str>) {
        let mut table = Self { tokens: (0..128).map(|_| Vec::new()).collect(), ..Self::default() };
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let bad = lines.filter(|line| table.take(line).is_none()).collect();
        table.any = table.programs.remove(ANY).unwrap_or_default();
        let Self { lists, programs, any, rules, names, commands, .. } = &mut table;
        let words = List::ALL.iter().filter(|(list, _)| list.is_telling());
        let words = words.flat_map(|(list, _)| lists.entries(*list)).chain(&["key"]);
        words.for_each(|word| names.add(word.as_bytes().get(..3).unwrap_or(word.as_bytes())));
        let of_any = any.iter().filter_map(|at| rules.get(*at));
        let of_any = of_any.flat_map(|rule| &rule.options).map(|option| option.name);
        programs.keys().copied().chain(of_any).for_each(|word| commands.add(word.as_bytes()));
        (table, bad)
    }

    fn take(&mut self, line: &'static str) -> Option<()> {
        let (sort, rest) = line.split_once(' ')?;
        match sort {
            "token" => {
                let token = Token::parse(rest)?;
                self.tokens.get_mut(usize::from(*token.start.as_bytes().first()?))?.push(token);
            }
            "joint" => self.joints.push(Token::parse(rest)?),
            "tail" => {
                let (end, least) = rest.split_once(' ')?;
                self.tails.push((end, least.parse().ok()?));
            }
            "option" | "stdin" => self.rule(rest, sort == "stdin")?,
            _ => self.lists.add(sort, rest.split(' '))?,
        }
        Some(())
    }

    fn rule(&mut self, line: &'static str, is_fed: bool) -> Option<()> {
        let mut fields = line.split(" | ");
        let words = fields.next()?.split(' ');
        let options = fields.next().map(|options| options.split(' ').map(CommandOption::parse).collect());
        let reads = match fields.next() {
            None if is_fed => Reads::Fed,
            None => Reads::Secret,
            Some("none") => Reads::Nothing,
            Some("@") => Reads::BeforeHost,
            Some("name") => Reads::Name,
            Some(sign) if sign.len() == 1 => Reads::Behind(sign.chars().next()?),
            Some(scheme) => Reads::Scheme(scheme),
        };
        let (needed, programs): (Vec<_>, Vec<_>) = words.partition(|word| word.starts_with('+'));
        let mut needs = 0;
        for word in needed.iter().filter_map(|word| word.strip_prefix('+')) {
            let bit = self.needed.iter().position(|known| *known == word).unwrap_or_else(|| {
                self.needed.push(word);
                self.needed.len() - 1
            });
            needs |= 1_u64.checked_shl(u32::try_from(bit).ok()?)?;
        }
        for program in programs {
            self.programs.entry(program).or_default().push(self.rules.len());
        }
        self.rules.push(Rule { needs, options: options.unwrap_or_default(), reads });
        Some(())
    }

    /// Returns the tokens that may begin a text.
    pub(super) fn tokens(&self, text: &str) -> impl Iterator<Item = &Token> {
        let mut bytes = text.bytes();
        let (first, second) = (bytes.next(), bytes.next());
        let tokens = first.and_then(|first| self.tokens.get(usize::from(first)));
        tokens.into_iter().flatten().filter(move |token| token.start.as_bytes().get(1).copied() == second)
    }

    /// Returns whether a word may be the name of a secret, or introduce one: only then is it looked up.
    pub(super) fn may_name(&self, word: &str) -> bool {
        let bytes = word.as_bytes();
        let end = bytes.len().checked_sub(2).and_then(|at| bytes.get(at..)).unwrap_or_default();
        bytes.windows(3).any(|three| self.names.may_have(three))
            || !end.is_empty() && self.names.may_have(end)
    }

    /// Returns whether a word may be a program, or an option of any program.
    pub(super) fn is_of_command(&self, word: &str) -> bool {
        let is_option = |option: &CommandOption| option.name == word;
        let mut of_any = self.of_any().flat_map(|rule| &rule.options);
        self.commands.may_have(word.as_bytes()) && (self.programs.contains_key(word) || of_any.any(is_option))
    }

    /// Returns the rules of a program; `None` if it is not one.
    pub(super) fn program(&self, name: &str) -> Option<&[usize]> {
        let is_one = self.commands.may_have(name.as_bytes());
        if is_one { self.programs.get(name).map(Vec::as_slice) } else { None }
    }

    /// Returns the rules of any program.
    pub(super) fn of_any(&self) -> impl Iterator<Item = &Rule> {
        self.rules(&self.any)
    }

    /// Returns these rules.
    pub(super) fn rules<'a>(&'a self, which: &'a [usize]) -> impl Iterator<Item = &'a Rule> {
        which.iter().filter_map(|at| self.rules.get(*at))
    }

    /// Returns the bit of a word that rules need; 0 for any other.
    pub(super) fn bit(&self, word: &str) -> u64 {
        let bit = self.needed.iter().position(|known| *known == word).and_then(|bit| u32::try_from(bit).ok());
        bit.and_then(|bit| 1_u64.checked_shl(bit)).unwrap_or_default()
    }

    /// Returns whether a list has a word, whatever its case.
    pub(super) fn has(&self, list: List, word: &str) -> bool {
        self.lists.has(list, word)
    }
}

impl Token {
    /// Parses `START ALPHABET LEAST [JOINT ALPHABET LEAST]...`.
    fn parse(line: &'static str) -> Option<Self> {
        let words: Vec<&str> = line.split(' ').collect();
        let (start, first) = words.split_first()?;
        let (first, more) = first.split_at_checked(2)?;
        let mut parts = vec![Part::parse("", first)?];
        for part in more.chunks(3) {
            let (joint, letters) = part.split_first()?;
            parts.push(Part::parse(joint, letters)?);
        }
        Some(Self { start, parts })
    }
}

impl Part {
    fn parse(joint: &'static str, letters: &[&'static str]) -> Option<Self> {
        let [alphabet, least] = letters else { return None };
        let is_exact = least.starts_with('=');
        let least = least.trim_start_matches('=').parse().ok()?;
        Some(Self { joint, alphabet: Alphabet::parse(alphabet)?, least, is_exact })
    }
}

impl CommandOption {
    /// Parses `-p`, `-u*`, `-p+`, `-a~` and `put/1`.
    fn parse(text: &'static str) -> Self {
        let (text, skips) = match text.rsplit_once('/') {
            Some((text, skips)) if !text.is_empty() => (text, skips.parse().unwrap_or_default()),
            Some(_) | None => (text, 0),
        };
        let name = text.trim_end_matches(['*', '+', '~']);
        let has = |mark| text.ends_with(mark);
        Self { name, is_clustered: has('*'), is_apart: !has('+'), is_attached: !has('~'), skips }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::text::secret::list::LONGEST;

    #[test]
    fn every_line_is_understood() {
        let (table, bad) = Table::new(RULES);
        assert_eq!(bad, Vec::<&str>::new());
        assert!(table.needed.len() <= 64, "each has a bit");
        let comments: Vec<&str> = RULES.lines().filter(|line| line.starts_with('#')).collect();
        for (list, name) in List::ALL {
            let words = table.lists.entries(*list);
            assert!(!words.is_empty(), "{name}");
            assert!(
                words.iter().all(|word| word.len() <= LONGEST && **word == word.to_lowercase()),
                "{name}"
            );
            let is_told = |line: &&str| line.contains(&format!(" {name}: "));
            assert!(comments.iter().any(is_told), "no comment says what {name} is");
        }
    }

    #[test]
    fn what_the_table_knows_is_never_passed_over() {
        for (list, _) in List::ALL.iter().filter(|(list, _)| list.is_telling()) {
            for word in TABLE.lists.entries(*list) {
                let is_known = |word: &str| TABLE.may_name(word);
                assert!(is_known(word) && is_known(&format!("X_{}", word.to_uppercase())), "{word}");
            }
        }
        for program in TABLE.programs.keys() {
            assert!(TABLE.is_of_command(program), "{program}");
        }
    }

    #[test]
    fn each_token_is_found_from_its_least_length_on() {
        use crate::core::model::text::secret::shapes::spans;
        let letters = |alphabet, count| match alphabet {
            Alphabet::Hex | Alphabet::Alnum | Alphabet::Word | Alphabet::Dot => "a".repeat(count),
            Alphabet::Upper | Alphabet::Base64 | Alphabet::Path => "A".repeat(count),
        };
        for token in TABLE.tokens.iter().flatten() {
            let text = |less: usize| {
                let part =
                    |part: &Part| format!("{}{}", part.joint, letters(part.alphabet, part.least - less));
                format!("{}{}", token.start, token.parts.iter().map(part).collect::<String>())
            };
            assert_eq!(spans(&text(0)).len(), 1, "{}", text(0));
            // Another option may begin the same way.
            let is_sole =
                TABLE.tokens(token.start).filter(|other| text(1).starts_with(other.start)).count() == 1;
            assert!(!is_sole || spans(&text(1)).is_empty(), "{}", text(1));
        }
    }
}
