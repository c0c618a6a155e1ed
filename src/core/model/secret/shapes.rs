//! Where secrets stand in a text: their own shapes, URLs, and what follows a secret's name.

use crate::core::model::secret::names::{HIDDEN, is_header, is_secret, is_user};

/// How tokens begin, and how many more characters they have at least. The form is that of each
/// service's own documentation and of the scanners for leaked secrets.
const TOKENS: [(&str, usize); 28] = [
    ("sk-ant-", 8),
    ("sk-proj-", 8),
    ("sk-svcacct-", 8),
    ("sk-or-", 8),
    ("sk_live_", 8),
    ("sk_test_", 8),
    ("rk_live_", 8),
    ("whsec_", 8),
    ("ghp_", 10),
    ("gho_", 10),
    ("ghu_", 10),
    ("ghs_", 10),
    ("ghr_", 10),
    ("github_pat_", 10),
    ("glpat-", 10),
    ("xoxa-", 8),
    ("xoxb-", 8),
    ("xoxe-", 8),
    ("xoxp-", 8),
    ("xoxr-", 8),
    ("xoxs-", 8),
    ("xapp-", 8),
    ("npm_", 20),
    ("pypi-", 16),
    ("hf_", 16),
    ("AIza", 30),
    ("ya29.", 16),
    ("dop_v1_", 16),
];

/// How long the name is at least that a token begins with; only that of `ya29.` is shorter.
const SHORTEST: usize = 10;

/// The word before a token (RFC 6750).
const BEARER: &str = "bearer";

/// Between these a private key stands.
const PEM: (&str, &str) = ("-----BEGIN", "PRIVATE KEY-----");

/// Begin and end of a part of a text, in bytes.
type Span = (usize, usize);

/// Finds secrets, in order and apart from each other.
pub(crate) fn spans(text: &str) -> Vec<Span> {
    let mut found: Vec<Span> = Vec::new();
    let mut at = 0;
    let begins = |byte: &u8| *byte == b':' || is_of_name(*byte);
    while let Some(passed) = text.as_bytes().get(at..).and_then(|rest| rest.iter().position(begins)) {
        at += passed;
        let rest = text.get(at..).unwrap_or_default();
        let name = rest.get(..run(rest)).unwrap_or_default();
        let span = match name.as_bytes().first() {
            None => url(rest),
            Some(b'-') => pem(rest).or_else(|| at_name(text, at, name)),
            Some(_) if may_begin(name, rest.as_bytes().get(name.len())) => at_name(text, at, name),
            Some(_) => None,
        };
        match span {
            Some((start, end)) if end > start => {
                if rest.get(start..end) != Some(HIDDEN) {
                    found.push((at + start, at + end));
                }
                at += end;
            }
            Some(_) | None => at += name.len().max(1),
        }
    }
    found
}

/// Returns whether a secret can begin with a word, or follow it: most words of a text are too short for
/// a token, and nothing that a value stands behind follows them.
fn may_begin(word: &str, next: Option<&u8>) -> bool {
    let is_before_value = matches!(next, Some(b':' | b'=' | b'"' | b'\'' | b'\\'));
    is_before_value || word.len() >= SHORTEST || word == "ya29" || word.eq_ignore_ascii_case(BEARER)
}

/// Returns whether a byte can stand in a name; no part of a longer character does.
fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Returns how long the name is that a text begins with.
fn run(rest: &str) -> usize {
    rest.bytes().position(|byte| !is_of_name(byte)).unwrap_or(rest.len())
}

/// Finds a password, or a token in place of a user, where a text begins with `://`.
fn url(rest: &str) -> Option<Span> {
    let after = rest.strip_prefix("://")?;
    let word = after.split(|c: char| c.is_whitespace() || "\"'<>`".contains(c)).next()?;
    let authority = word.split(['/', '?', '#']).next()?;
    let colon = authority.find(':');
    let is_port = colon.and_then(|at| authority.get(at + 1..)).is_none_or(is_number);
    let end = authority.rfind('@').or_else(|| word.rfind('@').filter(|_| !is_port))?;
    match colon.filter(|colon| *colon < end) {
        Some(colon) => Some((3 + colon + 1, 3 + end)),
        None if end >= 16 => Some((3, 3 + end)),
        None => None,
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn pem(rest: &str) -> Option<Span> {
    let (begin, end) = PEM;
    let head = rest.strip_prefix(begin)?.split("-----").next()?;
    if !head.ends_with("PRIVATE KEY") {
        return None;
    }
    let closing = rest.match_indices(end).nth(1).map_or(rest.len(), |(at, _)| at + end.len());
    Some((0, closing))
}

/// Finds what stands where a name begins.
fn at_name(text: &str, at: usize, name: &str) -> Option<Span> {
    let rest = text.get(at..)?;
    let before = text.get(..at)?.bytes().next_back();
    if before.is_some_and(is_of_name) {
        return None;
    }
    let found = token(rest, name).or_else(|| bearer(rest, name)).or_else(|| value(rest, name));
    if found.is_some() || name.as_bytes().first() != Some(&b'-') {
        return found;
    }
    user(rest, name).or_else(|| short_option(text.get(..at)?, rest, name))
}

/// Returns the word that a text begins with, as a shell would end it.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| c.is_whitespace() || "\"'`;|&)".contains(c));
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

/// Finds the password after an option that takes a user with it, as curl's; two numbers are a user and
/// a group.
fn user(rest: &str, name: &str) -> Option<Span> {
    let after = rest.get(name.len()..).filter(|_| is_user(name))?;
    let value = after.trim_start_matches([' ', '=', '"', '\'']);
    let told = word(value);
    let (user, password) = told.split_once(':').filter(|_| value.len() < after.len())?;
    let end = rest.len() - value.len() + told.len();
    let are_ids = is_number(user) && is_number(password);
    (!are_ids && !password.is_empty()).then(|| (end - password.len(), end))
}

/// Finds the password of `-p`, which is one to these programs and a port or a path to others.
fn short_option(before: &str, rest: &str, name: &str) -> Option<Span> {
    let attached = name.strip_prefix("-p").filter(|more| !more.starts_with('-'))?;
    let command = before.rsplit(['|', ';', '&', '\n', '(', '`']).next()?;
    let runs = |program: &str| command.split([' ', '/']).any(|word| word.starts_with(program));
    let is_database = runs("mysql") || runs("mariadb");
    let from = match attached {
        "" if runs("sshpass") => name.len() + rest.get(name.len()..)?.find(|c| c != ' ')?,
        "" => return None,
        _ if is_database || runs("sshpass") => 2,
        _ => return None,
    };
    let end = from + word(rest.get(from..)?.trim_start_matches(['"', '\''])).len();
    (end > from && !rest.get(from..)?.starts_with(['$', '"', '\''])).then_some((from, end))
}

/// Finds a token by its shape; how it begins is left.
fn token(rest: &str, name: &str) -> Option<Span> {
    if name.len() < SHORTEST && name != "ya29" {
        return None;
    }
    let first = rest.bytes().next();
    let begins_alike = |(start, _): &&(&str, usize)| start.bytes().next() == first;
    if let Some(keep) = TOKENS.iter().filter(begins_alike).find_map(|(start, least)| {
        let body = rest.strip_prefix(start)?;
        (run(body) >= *least).then_some(if start.starts_with("sk-") { 3 } else { start.len() })
    }) {
        let dotted = if name.len() < keep { keep + run(rest.get(keep..)?) } else { name.len() };
        return Some((keep, dotted));
    }
    match first {
        Some(b's') => {
            let body = name.strip_prefix("sk-").filter(|body| body.len() >= 12)?;
            let is_drawn = body.contains(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase())
                && body.split('-').any(|part| part.len() >= 8);
            is_drawn.then_some((3, name.len()))
        }
        Some(b'A') => {
            let begins = ["AKIA", "ASIA"].iter().any(|start| name.starts_with(start));
            (begins && name.len() == 20 && !has_small(name)).then_some((4, name.len()))
        }
        // A JSON object in base64, and a second part: a JWT (RFC 7519).
        Some(b'e') if name.starts_with("eyJ") && name.len() >= 10 => {
            let end = rest.bytes().position(|byte| !is_of_name(byte) && byte != b'.').unwrap_or(rest.len());
            rest.get(name.len()..end).filter(|more| more.len() > 4).map(|_| (3, end))
        }
        Some(_) | None => None,
    }
}

fn has_small(name: &str) -> bool {
    name.contains(|c: char| c.is_ascii_lowercase())
}

/// Finds what is said to be a token by the word before it.
fn bearer(rest: &str, name: &str) -> Option<Span> {
    let after = rest.get(name.len()..).filter(|_| name.eq_ignore_ascii_case(BEARER))?;
    let body = after.strip_prefix(' ')?;
    let end = body.find(|c: char| c.is_whitespace() || "\"'\\,;)".contains(c)).unwrap_or(body.len());
    let is_token =
        end >= 8 && body.get(..end)?.contains(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase());
    is_token.then(|| (name.len() + 1, name.len() + 1 + end))
}

/// Finds the value after the name of a secret: `NAME=value`, `"name": "value"`, `--name value`.
fn value(rest: &str, name: &str) -> Option<Span> {
    let after = rest.get(name.len()..)?;
    // Most words of a text are followed by nothing that a value stands behind.
    if !matches!(after.as_bytes().first()?, b':' | b'=' | b' ' | b'"' | b'\'' | b'\\') {
        return None;
    }
    let quoted = after.trim_start_matches(['"', '\'', '\\']);
    let is_option = after.as_bytes().first() == Some(&b' ') && name.starts_with("--");
    let separated = match quoted.strip_prefix([':', '=']) {
        Some(value) => value.trim_start_matches(' '),
        None if is_option => after.trim_start_matches(' '),
        None => return None,
    };
    if !is_secret(name) {
        return None;
    }
    let quote = separated.get(..separated.len() - separated.trim_start_matches(['"', '\'', '\\']).len())?;
    let value = separated.get(quote.len()..)?;
    let end = match quote {
        "" if is_header(name) => value.find(['"', '\'', '\n', '\\']),
        "" => value.find(|c: char| c.is_whitespace() || "\"'\\,;&)]}#".contains(c)),
        quote => value.find(quote).or_else(|| value.find(['"', '\''])),
    };
    let value = value.get(..end.unwrap_or(value.len()))?;
    if !may_be_secret(value) || is_option && value.starts_with('-') {
        return None;
    }
    let start = value.as_ptr().addr() - rest.as_ptr().addr();
    Some((start, start + value.len()))
}

/// Returns whether a value may be one, and not the name of a variable or none at all.
fn may_be_secret(value: &str) -> bool {
    !value.is_empty()
        && !value.starts_with(['$', '<', '{', '['])
        && !matches!(value.to_ascii_lowercase().as_str(), "null" | "none" | "true" | "false" | "undefined")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_token_is_found_from_its_least_length_on() {
        for (start, least) in TOKENS {
            let of = |length| format!("{start}{}", "a".repeat(length));
            assert_eq!(spans(&of(least)).len(), 1, "{start}");
            assert_eq!(spans(&of(least - 1)), [], "{start}");
        }
    }
}
