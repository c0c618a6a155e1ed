//! The reason for the lock of a working tree, if an agent wrote it.

use crate::core::model::report::context::is_valid_id;
use crate::core::model::text::is_uuid;
use crate::core::model::{Binding, Holder, Platform, Role, StatedPid, Untrusted};
use crate::format::agent::claude_code::stated::with_start;

#[derive(Debug, Default, PartialEq)]
pub(super) struct LockReason {
    /// The process, if it names one.
    pub(super) holder: Option<Holder>,
    /// The session, if it names one by its ID.
    pub(super) session: Option<Untrusted>,
}

/// Reads a reason as Claude Code writes it: for a sub-agent `claude agent <id> (pid N start TICKS)`, for a session
/// `claude session <name> (pid N)`; others write `pid=N` or `pid N`. A reason written by a person names no process.
pub(super) fn parse(reason: &str, here: Platform) -> LockReason {
    let words: Vec<&str> =
        reason.split(|c: char| c.is_whitespace() || "()=:,;".contains(c)).filter(|w| !w.is_empty()).collect();
    let after = |name: &str| {
        let at = words.iter().position(|word| word.eq_ignore_ascii_case(name))?;
        Some(*words.get(at + 1)?)
    };
    let session = words.iter().find(|word| is_uuid(word) && is_valid_id(word));
    let holder = after("pid").and_then(|pid| pid.parse::<u64>().ok()).map(|pid| {
        let is_claudes = words.first() == Some(&"claude");
        // Another writer of a PID may be a script that exited a moment later.
        let role = if is_claudes { Role::Agent } else { Role::Unknown };
        let holder = Holder::new(StatedPid::from_number(pid.into()), role, Binding::Owner);
        // On a Mac the start is the words of `ps`: if another system wrote the lock, its PID is another process's
        // here.
        let start = reason.rsplit_once(" start ").map(|(_, start)| start.trim_end_matches(')'));
        match start.filter(|_| is_claudes) {
            Some(start) => with_start(holder, start, here),
            None => holder,
        }
    });
    LockReason { holder, session: session.map(|id| Untrusted::from(*id)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::Domain;

    #[track_caller]
    fn check(reason: &str, expected: Option<(u32, Role, Option<u64>)>) {
        let holder = parse(reason, Platform::Linux).holder;
        let found =
            holder.and_then(|holder| Some((holder.pid.as_ref()?.valid()?, holder.role, holder.start_ticks)));
        assert_eq!(found, expected, "{reason}");
    }

    #[test]
    fn an_agents_reason_names_its_process() {
        check("claude agent a1b2 (pid 4711 start 686753)", Some((4711, Role::Agent, Some(686_753))));
        check("claude session fix-login (pid 4711)", Some((4711, Role::Agent, None)));
        check("pid=4711", Some((4711, Role::Unknown, None)));
        check("hermes worker pid: 4711 start 5", Some((4711, Role::Unknown, None)));
    }

    #[test]
    fn a_start_in_the_words_of_another_system_says_where_it_was_written() {
        let domain = |here| {
            let holder = parse("claude agent a1b2 (pid 7 start Fri Jun 19 21:37:40 2026)", here).holder;
            holder.and_then(|holder| holder.domain().cloned())
        };
        assert_eq!(
            (domain(Platform::Linux), domain(Platform::MacOs)),
            (Some(Domain::Darwin), Some(Domain::Darwin))
        );
    }

    #[test]
    fn a_persons_reason_names_nobody() {
        for reason in ["", "on a portable drive", "ask pid first", "pid", "rapid 7", "claude start 5"] {
            check(reason, None);
        }
    }

    #[test]
    fn a_session_is_named_by_its_whole_id() {
        let id = "95fe798d-3725-4649-974a-0dec79220193";
        assert_eq!(parse(&format!("claude session {id} (pid 7)"), Platform::Linux).session, Some(id.into()));
        assert_eq!(parse("claude session fix (pid 7)", Platform::Linux).session, None);
    }

    proptest::proptest! {
        #[test]
        fn reading_is_total(text: String) {
            parse(&text, Platform::Linux);
        }
    }
}
