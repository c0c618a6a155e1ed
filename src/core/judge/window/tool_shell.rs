//! Commands of shells that an agent's tool has started: their arguments hold far more than a person wants to see.

use crate::core::model::Untrusted;

/// What the arguments of a shell name that Claude Code's Bash tool has started.
const SNAPSHOT: &str = "/shell-snapshots/snapshot-";
/// Where the command begins in them, and what may follow it (as of Claude Code 2.1.330).
const BEGINS: &str = " eval '";
const ENDS: [&str; 2] = ["' < /dev/null", "' && pwd -P"];

/// Returns whether the Bash tool of Claude Code has started a process.
pub(crate) fn is_tool_shell(argv: &[Untrusted]) -> bool {
    argv.iter().any(|argument| argument.raw().contains(SNAPSHOT))
}

/// Returns the command that the tool was given.
pub(crate) fn tool_command(argv: &[Untrusted]) -> Option<String> {
    let script = argv.iter().map(Untrusted::raw).find(|argument| argument.contains(SNAPSHOT))?;
    let (_, rest) = script.split_once(BEGINS)?;
    let end = ENDS.iter().filter_map(|end| rest.rfind(end)).min()?;
    // A quote within is written as `'\''` or `'"'"'`.
    Some(rest.get(..end)?.replace(r"'\''", "'").replace(r#"'"'"'"#, "'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(eval: &str, expected: Option<&str>) {
        let script =
            format!("source /h/.claude/shell-snapshots/snapshot-bash-1-a.sh 2>/dev/null || true && {eval}");
        let argv = ["/bin/bash", "-c", &script].map(Untrusted::from);
        assert!(is_tool_shell(&argv));
        assert_eq!(tool_command(&argv).as_deref(), expected, "{eval}");
    }

    #[test]
    fn the_command_of_a_tools_shell_is_what_the_tool_was_given() {
        check(
            "eval 'python3 -m http.server 3000' < /dev/null && pwd -P >| /tmp/claude-1-cwd",
            Some("python3 -m http.server 3000"),
        );
        check("eval 'cd a && b' && pwd -P >| /tmp/claude-1-cwd", Some("cd a && b"));
        check(r#"eval 'echo '"'"'a'"'"'' < /dev/null && pwd -P >| /tmp/x"#, Some("echo 'a'"));
        check(r"eval 'echo '\''a'\''' < /dev/null && pwd -P >| /tmp/x", Some("echo 'a'"));
        check("exec something", None);
        assert!(!is_tool_shell(&["sleep", "600"].map(Untrusted::from)));
    }
}
