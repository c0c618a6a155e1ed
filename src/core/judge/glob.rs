//! Whether two patterns for files can mean one file: reservations name files that may not exist.

/// The most characters of a pattern that are compared; a longer one means only itself.
const MOST: usize = 256;
/// The most ways in which one pattern is read.
const WAYS: usize = 16;

/// A pattern for paths, as gitignore(5) reads it: `*` and `?` within one name, `**` across
/// folders. A pattern that may name a folder means all that is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Glob {
    ways: Vec<Vec<Token>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    /// This very character.
    Char(char),
    /// Any character but `/`.
    One,
    /// Any number of characters but `/`.
    Within,
    /// Any number of characters.
    Across,
}

impl Glob {
    /// Reads a path in which no character is special.
    pub(crate) fn literal(path: &str) -> Self {
        Self { ways: vec![path.chars().take(MOST).map(Token::Char).collect()] }
    }

    pub(crate) fn pattern(text: &str) -> Self {
        let text = text.trim_start_matches("./").trim_start_matches('/');
        if text.chars().count() > MOST {
            return Self { ways: vec![text.chars().map(Token::Char).collect()] };
        }
        let folder = text.trim_end_matches('/');
        let mut ways = vec![tokens(folder)];
        // `**/` also matches no folder at all.
        while let Some(at) = ways.iter().position(|way| shorter(way).is_some_and(|way| !ways.contains(&way)))
        {
            match ways.get(at).and_then(|way| shorter(way)) {
                Some(way) if ways.len() < WAYS => ways.push(way),
                Some(_) | None => break,
            }
        }
        if !may_be_folder(text) {
            return Self { ways };
        }
        let below = ways.iter().map(|way| [way.as_slice(), &[Token::Char('/'), Token::Across]].concat());
        let below: Vec<Vec<Token>> = below.collect();
        ways.extend(below);
        Self { ways }
    }

    /// Returns whether a path can fit both.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.ways.iter().any(|one| other.ways.iter().any(|two| can_meet(one, two)))
    }
}

/// Returns whether a pattern may name a folder: one with an extension is taken for a file.
fn may_be_folder(text: &str) -> bool {
    text.ends_with('/') || !text.rsplit('/').next().unwrap_or_default().contains('.')
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    for c in text.chars() {
        match (c, tokens.last()) {
            ('*', Some(Token::Within | Token::Across)) => {
                tokens.pop();
                tokens.push(Token::Across);
            }
            ('*', _) => tokens.push(Token::Within),
            ('?', _) => tokens.push(Token::One),
            (c, _) => tokens.push(Token::Char(c)),
        }
    }
    tokens
}

/// Returns a pattern without its first `**/`.
fn shorter(way: &[Token]) -> Option<Vec<Token>> {
    let at = way.windows(2).position(|pair| pair == [Token::Across, Token::Char('/')])?;
    Some(way.iter().take(at).chain(way.iter().skip(at + 2)).copied().collect())
}

/// Returns whether some text fits both, from the ends to the beginnings.
fn can_meet(one: &[Token], two: &[Token]) -> bool {
    // Whether the rest of `one` from a place can meet the rest of `two` from each place.
    let mut below: Vec<bool> = Vec::new();
    for at in (0..=one.len()).rev() {
        let first = one.get(at).copied();
        let mut here = vec![false; two.len() + 1];
        for other in (0..=two.len()).rev() {
            let second = two.get(other).copied();
            let of = |row: &[bool], at: usize| row.get(at).copied().unwrap_or(false);
            let met = match (first, second) {
                (None, None) => true,
                (Some(a), Some(b)) if !is_run(a) && !is_run(b) => fit(a, b) && of(&below, other + 1),
                (a, b) => {
                    // A run matches nothing, or takes one more token of the other side.
                    let a_ends = a.is_some_and(is_run) && of(&below, other);
                    let b_ends = b.is_some_and(is_run) && of(&here, other + 1);
                    let a_takes =
                        a.zip(b).is_some_and(|(a, b)| is_run(a) && takes(a, b)) && of(&here, other + 1);
                    let b_takes =
                        a.zip(b).is_some_and(|(a, b)| is_run(b) && takes(b, a)) && of(&below, other);
                    a_ends || b_ends || a_takes || b_takes
                }
            };
            if let Some(slot) = here.get_mut(other) {
                *slot = met;
            }
        }
        below = here;
    }
    below.first().copied().unwrap_or(false)
}

fn is_run(token: Token) -> bool {
    matches!(token, Token::Within | Token::Across)
}

/// Returns whether a run can take what another token means.
fn takes(run: Token, other: Token) -> bool {
    run == Token::Across || other != Token::Char('/')
}

/// Returns whether two single characters can be one.
fn fit(a: Token, b: Token) -> bool {
    match (a, b) {
        (Token::Char(a), Token::Char(b)) => a == b,
        (Token::One, Token::Char(c)) | (Token::Char(c), Token::One) => c != '/',
        (_, _) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(one: &str, two: &str, expected: bool) {
        let (a, b) = (Glob::pattern(one), Glob::pattern(two));
        assert_eq!((a.overlaps(&b), b.overlaps(&a)), (expected, expected), "{one} {two}");
    }

    #[test]
    fn patterns_meet_in_a_file_that_both_mean() {
        check("src/a.rs", "src/a.rs", true);
        check("src/a.rs", "src/b.rs", false);
        check("src/*.rs", "src/a.rs", true);
        check("src/*.rs", "src/a/b.rs", false);
        check("src/**", "src/a/b.rs", true);
        check("src/**/b.rs", "src/b.rs", true);
        check("src/**/b.rs", "src/ab.rs", false);
        check("**/*.rs", "src/a.rs", true);
        check("**/*.rs", "docs/*", true);
        check("*.md", "*.rs", false);
        check("a*c", "ab*", true);
        check("a?c", "a/c", false);
        check("a?c", "abc", true);
    }

    #[test]
    fn a_folder_means_all_that_is_in_it() {
        check("src", "src/a/b.rs", true);
        check("src/", "src/a.rs", true);
        check("/src", "src/a.rs", true);
        check("src", "srca.rs", false);
        check("src/a.rs", "src/a.rs/b", false);
        check("src/a.d/", "src/a.d/b", true);
        check("src/*", "src/a/b.rs", true);
    }

    #[test]
    fn a_literal_path_has_no_stars() {
        let star = Glob::literal("src/*.rs");
        assert!(!star.overlaps(&Glob::pattern("src/a.rs")));
        assert!(star.overlaps(&Glob::pattern("src/*")));
    }

    proptest::proptest! {
        #[test]
        fn meeting_is_total_and_mutual(a in "[ab/*?]{0,12}", b in "[ab/*?]{0,12}") {
            let (one, two) = (Glob::pattern(&a), Glob::pattern(&b));
            proptest::prop_assert_eq!(one.overlaps(&two), two.overlaps(&one));
            proptest::prop_assert!(one.overlaps(&one));
        }
    }
}
