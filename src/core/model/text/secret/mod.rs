//! Texts that are never shown and never logged.

mod alphabet;
mod command;
mod filter;
mod joint;
mod list;
mod names;
mod prose;
mod shapes;
mod span;
mod table;
mod token;
mod url;
mod value;

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;

use crate::core::model::Untrusted;
use crate::core::model::text::secret::command::{Command, secret_in};
use crate::core::model::text::secret::names::{Says, says};
use crate::core::model::text::secret::span::{Span, without};
use crate::core::model::text::secret::value::is_option_value;

/// A text that is never shown and never logged, such as a password.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a secret")
    }
}

/// Returns a text with what looks like a secret removed: tokens by their shape, passwords in URLs, among the arguments
/// of commands and in sentences, and the values after a secret's name, all as defined in `assets/secrets.txt`. It
/// takes time in proportion to the text. Identifiers, such as a path or an ID, are never passed through here, because
/// verdicts rest on them.
pub fn hidden(text: &str) -> Cow<'_, str> {
    without(text, shapes::spans(text)).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Returns whether something in a text looks like a secret.
pub(crate) fn has_secret(text: &str) -> bool {
    matches!(hidden(text), Cow::Owned(_))
}

/// Removes what looks like a secret from a text.
pub(crate) fn hide(text: &mut Untrusted) {
    if let Cow::Owned(hidden) = hidden(text.raw()) {
        *text = hidden.into();
    }
}

/// Removes what looks like a secret from the arguments of a process, including the argument after an option that takes
/// one. The name of the program stays.
pub fn hide_in_arguments(arguments: &mut [Untrusted]) {
    let Some((program, arguments)) = arguments.split_first_mut() else { return };
    let mut command = Command::default();
    command.take(program.raw());
    // The process has overwritten its arguments with a title.
    if program.raw().contains(' ') {
        hide(program);
    }
    let mut before = "".to_owned();
    for argument in arguments {
        let raw = argument.raw().to_owned();
        let mut spans = shapes::spans(&raw);
        spans.extend(as_argument(&mut command, &before, &raw));
        if let Some(hidden) = without(&raw, spans) {
            *argument = hidden.into();
        }
        before = raw;
    }
}

/// Finds the secret that an argument is, or has after its name, whatever it contains.
fn as_argument(command: &mut Command, before: &str, argument: &str) -> Option<Span> {
    if let Some((start, reads)) = command.take(argument) {
        let (from, to) = argument.get(start..).and_then(|value| secret_in(value, reads))?;
        return Some((start + from, start + to));
    }
    if before.starts_with('-') && !before.contains('=') && is_option_value(before, argument) {
        return Some((0, argument.len()));
    }
    let is_of_no_name = |c: char| !c.is_ascii_alphanumeric() && !"_-.".contains(c);
    let is_name = |(at, _): &(usize, &str)| {
        let name = argument.get(..*at).and_then(|text| text.rsplit('=').next());
        name.is_some_and(|name| !name.contains(is_of_no_name) && says(name) == Some(Says::Secret))
    };
    let at = argument.match_indices('=').find(is_name).map(|(at, _)| at + 1);
    at.map(|at| (at, argument.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(hidden(text), expected);
        assert_eq!(hidden(expected), expected, "twice");
    }

    #[track_caller]
    fn check_arguments(arguments: &[&str], expected: &[&str]) {
        let mut found: Vec<Untrusted> = arguments.iter().map(|argument| (*argument).into()).collect();
        hide_in_arguments(&mut found);
        assert_eq!(found.iter().map(Untrusted::raw).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn tokens_are_known_by_their_shape() {
        check("use sk-ant-api03-Abc_def-123456789 now", "use sk-*** now");
        check("sk-proj-abcdefghij, sk-0123456789abcdef", "sk-***, sk-***");
        check("push with ghp_0123456789abcdefABCDEF0123456789abcd", "push with ghp_***");
        check("github_pat_11AAAAAAA0aaaaaaaaaaaa_bbbb", "github_pat_***");
        check("xoxb-1234-5678-abcdef and xapp-1-A-123456", "xoxb-*** and xapp-***");
        check("AKIAIOSFODNN7EXAMPLE", "AKIA***");
        check("(eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-DEF_123)", "(eyJ***)");
        check("glpat-abcdefghij0123456789;npm_abcdefghijklmnopqrstuvwxyz0123456789", "glpat-***;npm_***");
        check("AIzaSyA0123456789abcdefghijklmnopqrstuv", "AIza***");
        check("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nx", "***\nx");
    }

    #[test]
    fn what_only_resembles_a_token_stays() {
        for text in [
            "SD-SHOP-014 of sk-learn, task-0123456789abcdef, desk-0123456789ab",
            "/home/dev/risk-2026-analysis-notes/eye.rs",
            "95fe798d-3725-4649-974a-0dec79220193",
            "swarm_session_4711.json written 2026-11-20T21:40:35Z",
            "max_tokens=4096 token-limit: 5000 the tokenizer: fast, keyboard: us",
            "https://github.com/dev/shop.git http://127.0.0.1:8080/a@b",
            "ssh://git@github.com/dev/shop.git git@github.com:dev/shop",
            "session_key of LEO, sd_key: SD-1, AKIA is a prefix",
            "password: $PASSWORD, token=${TOKEN}, the token: null",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn passwords_leave_urls() {
        check("postgres://leo:hush@db.example:5432/leo?x=1", "postgres://leo:***@db.example:5432/leo?x=1");
        check("postgres://leo:hu/sh@h/d", "postgres://leo:***@h/d");
        check("https://user:p%40ss@git.example/shop.git", "https://user:***@git.example/shop.git");
        check("https://0123456789abcdef@git.example/shop", "https://***@git.example/shop");
        check("https://x.example/?access_token=abc&y=1#z", "https://x.example/?access_token=***&y=1#z");
        check("redis://:hush@h", "redis://:***@h");
    }

    #[test]
    fn values_leave_the_names_of_secrets() {
        check("OPENAI_API_KEY=abc codex", "OPENAI_API_KEY=*** codex");
        check("{\"env\":{\"API_KEY\":\"a b\",\"x\":1}}", "{\"env\":{\"API_KEY\":\"***\",\"x\":1}}");
        check("{\\\"token\\\": \\\"abc\\\"}", "{\\\"token\\\": \\\"***\\\"}");
        check("Authorization: Bearer abc.def", "Authorization: ***");
        check("-H 'Authorization: Basic YTpi' x", "-H 'Authorization: ***' x");
        check("X-Api-Key: abc", "X-Api-Key: ***");
        check("codex --api-key abc --model x", "codex --api-key *** --model x");
        check("clientSecret: abc, dbPassword='x y'", "clientSecret: ***, dbPassword='***'");
        check("Bearer abcDEF123456", "Bearer ***");
        check("export GITHUB_TOKEN='a b'", "export GITHUB_TOKEN='***'");
        check("PGPASSWORD=abc psql -p 5432", "PGPASSWORD=*** psql -p 5432");
    }

    #[test]
    fn passwords_leave_the_short_options_of_commands() {
        check("curl -s -u admin:hush https://x.example", "curl -s -u admin:*** https://x.example");
        check("curl -u 'admin:hush'", "curl -u 'admin:***'");
        check("mysql -h db -pHush1 -e x", "mysql -h db -p*** -e x");
        check("sshpass -p hush ssh h; mkdir -p a", "sshpass -p *** ssh h; mkdir -p a");
        check("cd a && /usr/bin/mysqldump -phush", "cd a && /usr/bin/mysqldump -p***");
        for text in ["mkdir -p a/b", "docker run -u 1000:1000 -p 80:80", "ls mysql; cp -pr a b", "mysql -p x"]
        {
            check(text, text);
        }
    }

    #[test]
    fn arguments_lose_secrets_and_keep_what_names_a_session_or_a_script() {
        let id = "95fe798d-3725-4649-974a-0dec79220193";
        check_arguments(
            &["claude", "--api-key", "abc", "--resume", id, "-p", "x"],
            &["claude", "--api-key", "***", "--resume", id, "-p", "x"],
        );
        check_arguments(
            &["node", "/x/.bin/qwen", "--openai-api-key=a b", "--session-id", id],
            &["node", "/x/.bin/qwen", "--openai-api-key=***", "--session-id", id],
        );
        check_arguments(
            &["claude", "--mcp-config", "{\"headers\":{\"Authorization\":\"Bearer abc\"}}"],
            &["claude", "--mcp-config", "{\"headers\":{\"Authorization\":\"***\"}}"],
        );
        check_arguments(&["c", "--token", "--resume", id], &["c", "--token", "--resume", id]);
        check_arguments(&["c", "--password", "-x", "y"], &["c", "--password", "***", "y"]);
        check_arguments(
            &["curl", "-u", "a:b", "-u", "1000:1000"],
            &["curl", "-u", "a:***", "-u", "1000:1000"],
        );
        check_arguments(
            &["c", "--max-tokens", "9", "--token-file", "/x"],
            &["c", "--max-tokens", "9", "--token-file", "/x"],
        );
        check_arguments(&["c", "env", "DB_PASS=x y"], &["c", "env", "DB_PASS=***"]);
    }

    /// The parts of texts with secrets.
    const PIECES: &str = "( ?(password|token|API_KEY|api key|my|pin|is|for|=|:|: | | = |,|\\?|hush|Hunter2|4711|a:b|\
        a7Kq2Zm9Xt4Rw6Lp1Bc8|\\*\\*\\*|://|@|/|h\\.x|sk-|abcdef123456|--password|Authorization|Bearer|\
        \\$|>|[a-z]{1,3})){0,14}";

    proptest::proptest! {
        #[test]
        fn hiding_twice_is_hiding_once(text in PIECES, any in ".*") {
            for text in [text, any] {
                let once = hidden(&text).into_owned();
                proptest::prop_assert_eq!(hidden(&once), once.as_str());
            }
        }
    }
}
