//! Texts that are never shown and never logged.

pub(crate) mod names;
pub(crate) mod shapes;

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;

use crate::core::model::Untrusted;
use crate::core::model::secret::names::{HIDDEN, is_secret, is_user};

/// A text that is never shown and never logged, such as a password.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a secret")
    }
}

/// Returns a text without what looks like a secret in it: tokens by their shape, passwords in URLs,
/// and the values that follow a secret's name. What names a thing, such as a path or an ID, is never
/// passed through here, for verdicts rest on it.
pub(crate) fn hidden(text: &str) -> Cow<'_, str> {
    let spans = shapes::spans(text);
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (start, end) in spans {
        out.push_str(text.get(from..start).unwrap_or_default());
        out.push_str(HIDDEN);
        from = end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(out)
}

/// Returns whether something in a text looks like a secret.
pub(crate) fn has_secret(text: &str) -> bool {
    !shapes::spans(text).is_empty()
}

/// Takes what looks like a secret out of a text.
pub(crate) fn hide(text: &mut Untrusted) {
    if let Cow::Owned(hidden) = hidden(text.raw()) {
        *text = hidden.into();
    }
}

/// Takes what looks like a secret out of the arguments of a process: also the argument after an
/// option that asks for one. The name of the program stays.
pub fn hide_in_arguments(arguments: &mut [Untrusted]) {
    let mut before = "".to_owned();
    for argument in arguments.iter_mut().skip(1) {
        let raw = argument.raw().to_owned();
        match without_secret(&before, &raw) {
            Some(hidden) => *argument = hidden.into(),
            None => hide(argument),
        }
        before = raw;
    }
}

/// Returns what is left of an argument that is a secret as a whole.
fn without_secret(before: &str, argument: &str) -> Option<String> {
    let is_option = before.starts_with('-') && !before.contains('=');
    if let Some((name, value)) = argument.split_once('=').filter(|(name, _)| is_secret(name)) {
        return (!value.is_empty()).then(|| format!("{name}={HIDDEN}"));
    }
    if is_option && is_secret(before) && !argument.starts_with("--") && !argument.is_empty() {
        return Some(HIDDEN.to_owned());
    }
    // As curl takes them; two numbers are a user and a group.
    let (user, password) = argument.split_once(':').filter(|_| is_option && is_user(before))?;
    let is_number = !password.is_empty() && password.bytes().all(|byte| byte.is_ascii_digit());
    let is_id = is_number && user.bytes().all(|byte| byte.is_ascii_digit());
    (!is_id).then(|| format!("{user}:{HIDDEN}"))
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

    proptest::proptest! {
        #[test]
        fn hiding_twice_is_hiding_once(text in "[a-zA-Z0-9:=/@ \"'_.-]{0,80}|.*") {
            let once = hidden(&text).into_owned();
            proptest::prop_assert_eq!(hidden(&once), once.as_str());
        }
    }
}
