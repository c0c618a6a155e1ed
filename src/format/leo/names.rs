//! The meaning of the names of LEO's files: which file, which PID, which session.

use crate::core::model::StatedPid;

const PID_MARKER: &str = "pid-";
const FALLBACK: &str = "fallback-";
const TICK: &str = "tick-";
const FLEET: &str = "fleet-identity-";

/// Recognises a file of `~/.claude-sessions`.
pub(super) fn in_sessions(name: &str) -> Option<Kind> {
    stem(name).map(|_| Kind::Session)
}

/// Recognises a file of a checkout's `session-identity`. Like LEO's own scan it treats every other JSON file there as
/// a session's marker.
pub(super) fn in_identity(name: &str) -> Option<Kind> {
    match name {
        "current" => return Some(Kind::Current),
        ".lock" => return Some(Kind::IdentityLock),
        name if is_temporary(name) => return Some(Kind::Temp),
        _ => {}
    }
    let stem = stem(name)?;
    Some(if stem.starts_with(PID_MARKER) {
        Kind::PidMarker
    } else if stem.starts_with(FALLBACK) {
        Kind::FallbackMarker
    } else {
        Kind::SessionMarker
    })
}

/// Recognises a file of a checkout's `.claude/pids`. Its log of failed starts is not a record.
pub(super) fn in_pids(name: &str) -> Option<Kind> {
    session_of(name, TICK).map(|_| Kind::Tick)
}

/// Recognises a file of a checkout's `.claude` folder.
pub(super) fn in_claude(name: &str) -> Option<Kind> {
    match name {
        "active-coordinator.json" => Some(Kind::Coordinator),
        "fleet-identity.json" => Some(Kind::SharedFleetIdentity),
        name => session_of(name, FLEET).map(|_| Kind::FleetIdentity),
    }
}

/// Recognises a file of `.worktrees` itself.
pub(super) fn in_worktrees(name: &str) -> Option<Kind> {
    locked_key(name).map(|_| Kind::WorktreeLock)
}

/// Recognises a file of one worktree's folder.
pub(super) fn in_worktree(name: &str) -> Option<Kind> {
    let sheet = match name {
        ".worktree.json" => Sheet::Origin,
        ".ehg-session.json" => Sheet::Work,
        ".session.json" => Sheet::Legacy,
        ".reap-eligible.json" => Sheet::Eligible,
        ".reap-protected.json" => Sheet::Protected,
        _ => return None,
    };
    Some(Kind::Worktree(sheet))
}

/// Returns a JSON file's name without its ending.
pub(super) fn stem(name: &str) -> Option<&str> {
    name.strip_suffix(".json").filter(|stem| !stem.is_empty())
}

/// Returns the PID in the name of a `pid-<PID>.json`.
pub(super) fn marked_pid(name: &str) -> Option<StatedPid> {
    pid(stem(name)?.strip_prefix(PID_MARKER)?)
}

/// Returns the PID in the name of a `fallback-<port>-<PID>.json`.
pub(super) fn fallback_pid(name: &str) -> Option<StatedPid> {
    pid(stem(name)?.strip_prefix(FALLBACK)?.rsplit_once('-')?.1)
}

/// Returns the session in the name of a tick.
pub(super) fn ticking(name: &str) -> Option<&str> {
    session_of(name, TICK)
}

/// Returns the session in the name of a fleet identity.
pub(super) fn named_in_fleet(name: &str) -> Option<&str> {
    session_of(name, FLEET)
}

/// Returns the key in the name of a worktree's lock.
pub(super) fn locked_key(name: &str) -> Option<&str> {
    name.strip_suffix(".lock").filter(|key| !key.is_empty())
}

/// Returns whether text is one or more ASCII digits.
pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn session_of<'a>(name: &'a str, prefix: &str) -> Option<&'a str> {
    stem(name)?.strip_prefix(prefix).filter(|session| !session.is_empty())
}

fn pid(digits: &str) -> Option<StatedPid> {
    is_number(digits)
        .then(|| digits.parse().map_or_else(|_| StatedPid::Bad(digits.into()), StatedPid::from_number))
}

/// Returns whether a name ends in `.tmp.<PID>.<ms>`.
fn is_temporary(name: &str) -> bool {
    let mut parts = name.rsplitn(4, '.');
    let mut next = || parts.next().unwrap_or_default();
    is_number(next()) && is_number(next()) && next() == "tmp" && !next().is_empty()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// `~/.claude-sessions/<session>.json`: this machine's copy of the session's row.
    Session,
    /// `session-identity/pid-<PID>.json`: which session a Claude Code process runs.
    PidMarker,
    /// `session-identity/<session>.json`: the same, named by the session.
    SessionMarker,
    /// `session-identity/fallback-<port>-<PID>.json`: an ID that a lost helper made up.
    FallbackMarker,
    /// `session-identity/current`: the session that started last in this checkout.
    Current,
    /// `session-identity/.lock`: held while a session's identity is put in order.
    IdentityLock,
    /// `session-identity/*.tmp.<PID>.<ms>`: a write on its way.
    Temp,
    /// `pids/tick-<session>.json`: the daemon that watches a session's Claude Code.
    Tick,
    /// `.worktrees/<key>.lock`: held while a worktree is made.
    WorktreeLock,
    /// A file in a worktree itself.
    Worktree(Sheet),
    /// `.claude/active-coordinator.json`: the session that coordinates the others.
    Coordinator,
    /// `.claude/fleet-identity-<session>.json`: a session's name and colour.
    FleetIdentity,
    /// `.claude/fleet-identity.json`: the same for sessions without an ID.
    SharedFleetIdentity,
}

/// A file in the folder of a worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Sheet {
    /// `.worktree.json`: how it was made.
    Origin,
    /// `.ehg-session.json`: the work that it is for.
    Work,
    /// `.session.json`: the file that older code wrote instead.
    Legacy,
    /// `.reap-eligible.json`: it may be removed.
    Eligible,
    /// `.reap-protected.json`: it may not.
    Protected,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(recognise: fn(&str) -> Option<Kind>, names: &[&str], expected: Option<Kind>) {
        for name in names {
            assert_eq!(recognise(name), expected, "{name}");
        }
    }

    #[test]
    fn an_identity_folder_has_six_kinds_of_files() {
        check(in_identity, &["pid-12832.json", "pid-x.json"], Some(Kind::PidMarker));
        check(in_identity, &["0b8f4c1e-2d3a-4f5b-9c6d-7e8f9a0b1c2d.json"], Some(Kind::SessionMarker));
        check(in_identity, &["port-39623.json"], Some(Kind::SessionMarker));
        check(in_identity, &["fallback-39623-13566.json"], Some(Kind::FallbackMarker));
        check(in_identity, &["current"], Some(Kind::Current));
        check(in_identity, &[".lock"], Some(Kind::IdentityLock));
        check(in_identity, &["current.tmp.12.1763673127926", "x.json.tmp.1.2"], Some(Kind::Temp));
        check(in_identity, &["README.md", ".json", "x.tmp.1", ".tmp.1.2", "x.tmp.a.2", "current2"], None);
    }

    #[test]
    fn a_checkout_has_ticks_pointers_and_names() {
        check(in_pids, &["tick-0b8f4c1e.json"], Some(Kind::Tick));
        check(in_pids, &["tick-.json", "spawn-errors.log", "spawn-errors.log.1", "tock-1.json"], None);
        check(in_claude, &["active-coordinator.json"], Some(Kind::Coordinator));
        check(in_claude, &["fleet-identity-487c.json"], Some(Kind::FleetIdentity));
        check(in_claude, &["fleet-identity.json"], Some(Kind::SharedFleetIdentity));
        check(in_claude, &["settings.json", "fleet-identity-.json", "fleet-dashboard-state.json"], None);
    }

    #[test]
    fn worktrees_have_locks_and_sheets() {
        check(in_worktrees, &["SD-DEMO-001.lock"], Some(Kind::WorktreeLock));
        check(in_worktrees, &[".lock", "SD-DEMO-001", "x.lock~"], None);
        check(in_worktree, &[".ehg-session.json"], Some(Kind::Worktree(Sheet::Work)));
        check(in_worktree, &["package.json", ".worktree-nm-mode"], None);
        check(in_sessions, &["session_a6b42b36_unknown_11444.json"], Some(Kind::Session));
        check(in_sessions, &[".json", "notes.txt", "x.json.bak"], None);
    }

    #[test]
    fn pids_are_read_from_names() {
        assert_eq!(marked_pid("pid-12832.json"), Some(StatedPid::Valid(12832)));
        assert_eq!(marked_pid("pid-1.json"), Some(StatedPid::Bad("1".into())));
        assert_eq!(marked_pid("pid--5.json"), None);
        assert_eq!(fallback_pid("fallback-39623-13566.json"), Some(StatedPid::Valid(13566)));
        assert_eq!(fallback_pid("fallback-13566.json"), None);
        let huge = format!("pid-{}.json", "9".repeat(60));
        assert!(matches!(marked_pid(&huge), Some(StatedPid::Bad(_))));
    }
}
