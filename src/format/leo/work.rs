//! The claim that a session file hints at; only the database knows it.

use jiff::Timestamp;

use crate::core::model::{Resource, ResourceKind, StatedClaim, Surface, SurfaceState, Untrusted};

/// The mirror: a session's own row names the item that it works on.
pub(super) const MIRROR: &str = "claude_sessions.sd_key";
const DIRECTIVE_OWNER: &str = "strategic_directives_v2.claiming_session_id";
const QUICK_FIX_OWNER: &str = "quick_fixes.claiming_session_id";

/// Returns the claim of a session file. A session that claims writes the database and not this file, so a file without
/// a key leaves the claim unknown: it never means "none".
pub(super) fn claim(key: Option<&Untrusted>, since: Option<Timestamp>) -> StatedClaim {
    let (id, file, owners) = match key {
        Some(key) => (key.clone(), SurfaceState::Agrees, owner(key.raw())),
        None => {
            ("unknown (no database)".into(), SurfaceState::Missing, &[DIRECTIVE_OWNER, QUICK_FIX_OWNER][..])
        }
    };
    let unread = [MIRROR].iter().chain(owners).map(|name| surface(name, SurfaceState::Unread));
    StatedClaim {
        resource: Resource { kind: ResourceKind::WorkItem, id },
        since,
        surfaces: [surface("file", file)].into_iter().chain(unread).collect(),
    }
}

fn owner(key: &str) -> &'static [&'static str] {
    if key.starts_with("QF-") { &[QUICK_FIX_OWNER] } else { &[DIRECTIVE_OWNER] }
}

/// Returns the place in which an item of work names its owner.
pub(super) fn owner_surface(key: &str) -> &'static str {
    if key.starts_with("QF-") { QUICK_FIX_OWNER } else { DIRECTIVE_OWNER }
}

/// Returns one surface of a claim.
pub(super) fn surface(name: &'static str, state: SurfaceState) -> Surface {
    Surface { name, state }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(key: Option<&str>, expected: &str) {
        let claim = claim(key.map(Untrusted::from).as_ref(), None);
        let surfaces: Vec<String> =
            claim.surfaces.iter().map(|surface| format!("{} {:?}", surface.name, surface.state)).collect();
        assert_eq!(format!("{}: {}", claim.resource.id, surfaces.join(", ")), expected);
    }

    #[test]
    fn a_key_is_a_hint_and_its_absence_is_unknown() {
        check(
            Some("SD-DEMO-001"),
            "SD-DEMO-001: file Agrees, claude_sessions.sd_key Unread, \
             strategic_directives_v2.claiming_session_id Unread",
        );
        check(
            Some("QF-20260822-001"),
            "QF-20260822-001: file Agrees, claude_sessions.sd_key Unread, \
             quick_fixes.claiming_session_id Unread",
        );
        check(
            None,
            "unknown (no database): file Missing, claude_sessions.sd_key Unread, \
             strategic_directives_v2.claiming_session_id Unread, quick_fixes.claiming_session_id Unread",
        );
    }
}
