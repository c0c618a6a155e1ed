//! Which names say that their value is a secret.

/// Words that say so wherever they stand in a name.
const WORDS: [&str; 7] =
    ["passphrase", "credential", "credentials", "authorization", "cookie", "jwt", "bearer"];

/// Endings of words that say so wherever they stand in a name, as in `PGPASSWORD`.
const ENDINGS: [&str; 5] = ["token", "secret", "password", "passwd", "apikey"];

/// Words that say so only as the last of several.
const LAST: [&str; 4] = ["auth", "pass", "pwd", "pat"];

/// Words of which `key` is a secret one.
const KEYS: [&str; 22] = [
    "api", "access", "private", "secret", "auth", "signing", "encryption", "account", "master", "service",
    "deploy", "license", "openai", "anthropic", "gemini", "google", "aws", "azure", "github", "gitlab",
    "stripe", "xai",
];

/// Last words by which a name is that of something about a secret, and not of the secret.
const ABOUT: [&str; 26] = [
    "file", "path", "dir", "limit", "limits", "count", "budget", "type", "name", "id", "env", "ttl",
    "expiry", "length", "size", "mode", "helper", "command", "provider", "endpoint", "url", "usage",
    "window", "used", "left", "source",
];

/// Returns whether what a name stands for is a secret: `--api-key`, `GITHUB_TOKEN`, `clientSecret`.
pub(crate) fn is_secret(name: &str) -> bool {
    // None of these words has fewer letters than three; a date has no word at all.
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || !byte.is_ascii();
    if !name.as_bytes().windows(3).any(|three| three.iter().all(is_letter)) {
        return false;
    }
    let words = words(name);
    let Some(last) = words.last().map(String::as_str) else { return false };
    if ABOUT.contains(&last) {
        return false;
    }
    let before = words.len().checked_sub(2).and_then(|at| words.get(at));
    let is_one =
        |word: &String| WORDS.contains(&word.as_str()) || ENDINGS.iter().any(|ending| word.ends_with(ending));
    words.iter().any(is_one)
        || before
            .is_some_and(|before| LAST.contains(&last) || last == "key" && KEYS.contains(&before.as_str()))
        || name.starts_with('-') && LAST.contains(&last)
}

/// Returns whether the value is all that follows on the line, as in a header.
pub(crate) fn is_header(name: &str) -> bool {
    words(name).last().is_some_and(|last| matches!(last.as_str(), "authorization" | "cookie"))
}

/// Returns whether an option takes a user with a password.
pub(crate) fn is_user(option: &str) -> bool {
    matches!(option, "-u" | "--user" | "--proxy-user" | "--basic-auth")
}

/// Splits a name at `-`, `_`, `.` and where small letters turn to capitals.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in name.chars() {
        let begins = c.is_ascii_uppercase() && was_small;
        if !c.is_alphanumeric() || begins {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        was_small = c.is_ascii_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// What stands in place of a secret.
pub(crate) const HIDDEN: &str = "***";
