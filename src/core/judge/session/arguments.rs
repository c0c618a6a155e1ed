//! The session that an agent was started with, from its arguments.

use crate::core::model::Untrusted;
use crate::core::model::report::context::is_valid_id;

/// The words after which each agent takes a session: options, or a command's own argument.
const WORDS: [(&str, &[&str]); 8] = [
    ("claude-code", &["--session-id", "--resume", "-r"]),
    ("codex", &["resume"]),
    ("gemini", &["--resume", "-r", "--session-id"]),
    ("qwen", &["--resume", "-r", "--session-id"]),
    ("opencode", &["--session", "-s"]),
    ("copilot", &["--resume", "--session-id"]),
    ("amp", &["continue"]),
    ("cline", &["--id"]),
];

/// Options that make a new session from the one that is named.
const FORKS: [&str; 3] = ["--fork-session", "--fork", "fork"];

/// Returns the session in an agent's arguments, the last if there are several.
pub(crate) fn named(agent: &str, argv: &[Untrusted]) -> Option<Untrusted> {
    let (_, words) = WORDS.iter().find(|(name, _)| *name == agent)?;
    let own: Vec<&str> = own(argv).collect();
    if forks(argv) {
        return None;
    }
    let after = own.windows(2).filter_map(|pair| match pair {
        [word, value] if words.contains(word) => Some(*value),
        _ => None,
    });
    let joined = own.iter().filter_map(|arg| arg.split_once('=')).filter(|(word, _)| words.contains(word));
    let found = after.chain(joined.map(|(_, value)| value)).rfind(|value| is_session(value))?;
    Some(found.into())
}

/// Returns an agent's own arguments: what follows `--` is a prompt, and so is every argument that is not an option's
/// value.
fn own(argv: &[Untrusted]) -> impl Iterator<Item = &str> {
    argv.iter().skip(1).map(Untrusted::raw).take_while(|arg| *arg != "--")
}

/// Returns whether an agent was started to make a copy of a session.
pub(super) fn forks(argv: &[Untrusted]) -> bool {
    own(argv).any(|arg| FORKS.contains(&arg))
}

/// Returns whether an agent was started to continue a session, whichever it is.
pub(super) fn resumes(argv: &[Untrusted]) -> bool {
    own(argv).any(|arg| ["--resume", "-r"].contains(&arg) || arg.starts_with("--resume="))
}

/// Returns whether a value is a session and not a prompt, a number or `latest`: a UUID, an agent's own prefix before
/// many characters, or Cline's milliseconds and letters.
fn is_session(value: &str) -> bool {
    let is_number = |text: &str| text.len() >= 13 && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_clines = value.split_once('_').is_some_and(|(time, rest)| is_number(time) && !rest.is_empty());
    let is_prefixed = ["ses_", "T-"].iter().any(|prefix| value.starts_with(prefix)) && value.len() >= 20;
    is_valid_id(value) && (is_prefixed || is_clines || crate::core::model::text::is_uuid(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "95fe798d-3725-4649-974a-0dec79220193";

    #[track_caller]
    fn check(agent: &str, arguments: &str, expected: Option<&str>) {
        let argv: Vec<Untrusted> = arguments.split(' ').map(|arg| arg.replace("ID", ID).into()).collect();
        assert_eq!(named(agent, &argv).as_ref().map(Untrusted::raw), expected, "{arguments}");
    }

    #[test]
    fn each_agent_names_its_session_in_its_own_way() {
        check("claude-code", "claude --resume ID", Some(ID));
        check("claude-code", "claude --resume=ID -p x", Some(ID));
        check("claude-code", "claude --session-id ID", Some(ID));
        check("codex", "codex resume ID", Some(ID));
        check("cline", "cline -i --id 1795997484703_ititi", Some("1795997484703_ititi"));
        check("cline", "cline --id 7", None);
        check("qwen", "node /x/.bin/qwen --resume ID", Some(ID));
        check("copilot", "copilot --resume=ID", Some(ID));
        check(
            "opencode",
            "opencode -s ses_e0515a879ffeeCvFT1faoBtJOy",
            Some("ses_e0515a879ffeeCvFT1faoBtJOy"),
        );
        check(
            "amp",
            "amp threads continue T-5928a90d-d53b-488f-a829-4e36442142ee",
            Some("T-5928a90d-d53b-488f-a829-4e36442142ee"),
        );
    }

    #[test]
    fn what_only_looks_like_it_names_none() {
        check("claude-code", "claude --resume", None);
        check("claude-code", "claude --resume alpha", None);
        check("claude-code", "claude --resume ID --fork-session", None);
        check("claude-code", "claude -p -- --resume ID", None);
        check("gemini", "node gemini --resume latest", None);
        check("codex", "codex ID", None);
        check("vim", "vim --resume ID", None);
    }
}
