//! Obra's logs: the sessions that its code considered abandoned.

/// The places of its logs below a home or a working directory: Python's own, which it writes where it is started, its
/// author's, and that of its commands.
pub(crate) const LOGS: [&str; 3] =
    ["logs/obra.log", "obra-runtime/logs/orchestrator.log", "obra-runtime/logs/production.jsonl"];

/// The message when the code abandons a session; 8 characters of the session's ID follow.
const SAYS: &str = "SESSION ABANDONED: session_id=";

/// The fewest characters of an ID that name a session.
const FEWEST: usize = 8;

/// Returns the ID prefixes of the sessions that a log calls abandoned.
pub(crate) fn abandoned(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.split_once(SAYS));
    let ids = lines.map(|(_, rest)| {
        let end = rest.find(|c: char| !c.is_ascii_hexdigit() && c != '-').unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default()
    });
    let mut ids: Vec<String> = ids.filter(|id| id.len() >= FEWEST).map(str::to_owned).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(abandoned(text), expected, "{text:?}");
    }

    #[test]
    fn a_line_names_the_beginning_of_an_id() {
        check("2026 - orchestrator - WARNING - SESSION ABANDONED: session_id=00000008...\n", &["00000008"]);
        check("{\"message\":\"SESSION ABANDONED: session_id=00000008-58d1\"}", &["00000008-58d1"]);
        check(
            "SESSION ABANDONED: session_id=0000000a...\nx\nSESSION ABANDONED: session_id=0000000a...",
            &["0000000a"],
        );
        check("SESSION ABANDONED: session_id=0000...", &[]);
        check("SESSION ABANDONED: session_id=\u{e9}\u{e9}", &[]);
        check("SESSION STARTED: session_id=00000008...", &[]);
    }
}
