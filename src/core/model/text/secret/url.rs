//! Secrets in URLs: a password, or a token in place of a user.

use crate::core::model::text::secret::alphabet::{Alphabet, is_mixed, is_of_name};
use crate::core::model::text::secret::span::{Span, beginning};

/// How many bytes of a URL to search for the end of a password that contains a slash.
const LONGEST: usize = 256;

/// The least length of a user that is a token.
const TOKEN: usize = 16;

/// Finds a password, or a token in place of a user, if a text begins with `://`.
pub(super) fn user_info(rest: &str) -> Option<Span> {
    let after = rest.strip_prefix("://")?;
    let ends = |c: char| c.is_whitespace() || "\"'<>`".contains(c);
    let authority = after.split(|c| ends(c) || "/?#".contains(c)).next()?;
    let colon = authority.find(':');
    let is_port = colon.and_then(|at| authority.get(at + 1..)).is_none_or(is_number);
    let near = || beginning(after, LONGEST).split(ends).next();
    let end = authority.rfind('@').or_else(|| near()?.rfind('@').filter(|_| !is_port))?;
    match colon.filter(|colon| *colon < end) {
        Some(colon) if is_place(after.get(colon + 1..end)?) => None,
        Some(colon) => Some((3 + colon + 1, 3 + end)),
        None if end >= TOKEN => Some((3, 3 + end)),
        None => None,
    }
}

/// Finds the password of `user:password@host` without a scheme, if a text begins with the user.
pub(super) fn user_at_host(rest: &str, name: &str) -> Option<Span> {
    let after = rest.get(name.len()..)?.strip_prefix(':')?;
    let ends = |c: char| c.is_whitespace() || "\"'<>`/:@,;".contains(c);
    if name == "thin" {
        return oracles(after, name.len() + 1);
    }
    let password = after.split(ends).next()?;
    let host = after.get(password.len()..)?.strip_prefix('@')?;
    let end = name.len() + 1 + password.len();
    let is_go_s = host.starts_with("tcp(") || host.starts_with("unix(");
    let run = Alphabet::Dot.run(host);
    // The text before an image's checksum, a version or an email address is not a password.
    let is_host = host.get(..run)?.contains('.') && host.get(run..)?.starts_with([':', '/']);
    let is_password = is_go_s && !password.is_empty() || is_host && is_mixed(password, 6);
    (is_password && !is_place(password)).then_some((name.len() + 1, end))
}

/// Finds the password of `thin:user/password@host`, the form of Oracle's driver.
fn oracles(after: &str, from: usize) -> Option<Span> {
    let word = beginning(after, LONGEST).split(|c: char| c.is_whitespace() || "\"'".contains(c)).next()?;
    let (user, more) = word.split_once('/')?;
    let start = from + user.len() + 1;
    Some((start, start + more.find('@')?))
}

/// Returns whether a text is a placeholder for a password: `$PASSWORD`, `{password}`.
fn is_place(text: &str) -> bool {
    let name = text.strip_prefix('$').unwrap_or_default();
    let is_variable = !name.is_empty() && name.bytes().all(is_of_name);
    is_variable
        || text.starts_with("${")
        || text.starts_with('{') && text.ends_with('}')
        || text.starts_with('<')
}

/// Returns whether a text has only digits.
pub(super) fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}
