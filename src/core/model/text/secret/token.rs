//! Tokens that are recognized by their shape anywhere.

use crate::core::model::text::secret::alphabet::{Alphabet, is_of_name};
use crate::core::model::text::secret::span::Span;
use crate::core::model::text::secret::table::{Part, TABLE, Token};

/// The fewest letters of a token that no dot or other joint follows: `SK` and 32 more.
const SHORTEST: usize = 10;

/// The shortest word that a token ends with.
const LONG: usize = 30;

/// The markers around a private key.
const PEM: (&str, &str) = ("-----BEGIN", "-----END");

/// Finds a token that begins with a name; its prefix is not hidden.
pub(super) fn token(rest: &str, name: &str) -> Option<Span> {
    let next = rest.as_bytes().get(name.len());
    let is_joined = matches!(next, Some(b'.' | b'~' | b'!' | b'/' | b':'));
    if name.len() < SHORTEST && !is_joined {
        return None;
    }
    let known = TABLE.tokens(rest).find_map(|token| Some((kept(token), end(token, rest)?)));
    known
        .map(|(kept, end)| (kept, word_end(rest, end)))
        .or_else(|| if is_joined { joined(rest, name) } else { None })
        .or_else(|| unnamed(name))
}

/// Returns how much of a token is not hidden: for OpenAI's and similar ones, the prefix that identifies the service.
fn kept(token: &Token) -> usize {
    if token.start.starts_with("sk-") { 3 } else { token.start.len() }
}

/// Returns where a token at the beginning of a text ends.
fn end(token: &Token, rest: &str) -> Option<usize> {
    let body = rest.strip_prefix(token.start)?;
    let mut end = token.start.len();
    let mut body = body;
    for (number, part) in token.parts.iter().enumerate() {
        let after = body.strip_prefix(part.joint)?;
        let run = fits(part, after, number + 1 == token.parts.len())?;
        end += part.joint.len() + run;
        body = after.get(run..)?;
    }
    Some(end)
}

/// Returns how many letters of a part are at the beginning of a text, if they are enough. After the last part the word
/// must end.
fn fits(part: &Part, text: &str, is_last: bool) -> Option<usize> {
    let run = part.alphabet.run(text);
    let has_end = || !is_last || !text.as_bytes().get(run).is_some_and(|byte| is_of_name(*byte));
    let is_one = if part.is_exact { run == part.least && has_end() } else { run >= part.least };
    is_one.then_some(run)
}

/// Returns the end of the name within which a token ends.
fn word_end(rest: &str, end: usize) -> usize {
    end + rest.get(end..).map_or(0, |more| Alphabet::Word.run(more))
}

/// Finds a token that consists of a name and a joined part: of a Telegram or Discord bot, or a JWT.
fn joined(rest: &str, name: &str) -> Option<Span> {
    let after = rest.get(name.len()..)?;
    let joint = TABLE.joints.iter().find_map(|joint| end(joint, after));
    if let Some(end) = joint {
        return Some((0, name.len() + end));
    }
    let (sign, more) = after.split_at_checked(1)?;
    let run = Alphabet::Word.run(more);
    let end = name.len() + 1 + run;
    match (sign, name.as_bytes().first()?) {
        // <https://core.telegram.org/bots/features#generating-an-authentication-token>
        (":", b'0'..=b'9') => {
            let is_bots = (6..=12).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_digit());
            (is_bots && run >= 30 && more.starts_with("AA")).then_some((0, end))
        }
        // A user's number in base64, a time and a checksum.
        (".", b'M' | b'N' | b'O') if name.len() >= 20 && run == 6 => {
            let last = more.get(run..)?.strip_prefix('.').map(|last| Alphabet::Word.run(last))?;
            (last >= 27).then_some((0, end + 1 + last))
        }
        // A JSON object in base64, and a second part: a JWT (RFC 7519).
        (".", b'e') if name.starts_with("eyJ") && name.len() >= SHORTEST => {
            let end = Alphabet::Dot.run(rest);
            (end > name.len() + 4).then_some((3, end))
        }
        _ => None,
    }
}

/// Finds tokens without a name of their service.
fn unnamed(name: &str) -> Option<Span> {
    if let Some(body) = name.strip_prefix("sk-").filter(|body| body.len() >= 12) {
        let is_odd = body.contains(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase());
        return (is_odd && body.split('-').any(|part| part.len() >= 8)).then_some((3, name.len()));
    }
    if name.len() < LONG {
        return None;
    }
    let body = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_tail = |(tail, least): &&(&str, usize)| name.len() >= *least && body.ends_with(tail);
    TABLE.tails.iter().find(is_tail).map(|_| (0, name.len()))
}

/// Finds a private key of any writer (RFC 7468, RFC 9580).
pub(super) fn pem(rest: &str) -> Option<Span> {
    let (begin, end) = PEM;
    let head = rest.strip_prefix(begin)?.split("-----").next()?;
    if !head.ends_with("PRIVATE KEY") && !head.ends_with("PRIVATE KEY BLOCK") {
        return None;
    }
    let closing = rest.find(end).and_then(|at| {
        let from = at + end.len();
        Some(from + rest.get(from..)?.find("-----")? + 5)
    });
    Some((0, closing.unwrap_or(rest.len())))
}
