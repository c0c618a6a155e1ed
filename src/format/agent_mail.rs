//! mcp_agent_mail's file reservations, as its archive keeps them beside its database:
//! `~/.mcp_agent_mail_git_mailbox_repo/projects/<slug>/file_reservations/*.json`.
//!
//! A reservation is advisory and ends by itself. It names an agent by a name of its own
//! (GreenCastle) and no process, so nobody can tell whether its holder lives.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::json::{self, Object};
use super::{Base, FileKind, Parsed, Place, Reading, draft, time};
use crate::core::file::FileImage;
use crate::core::finding::Code;
use crate::core::record::{
    Expiry, Format, Problem, Record, RecordKind, Resource, ResourceKind, StatedClaim, Surface, SurfaceState,
};
use crate::core::shared::Shared;
use crate::core::text::Untrusted;

/// Where the files are.
pub const PLACES: &[Place] = &[Place {
    format: Format::AgentMail,
    base: Base::Home,
    dir: ".mcp_agent_mail_git_mailbox_repo/projects/*/file_reservations",
    recognise: |name| name.ends_with(".json").then_some(FileKind::AgentMail),
}];

/// For how long a reservation is shown after it has run out; the archive keeps all of them.
const SHOWN_FOR: SignedDuration = SignedDuration::from_hours(24);

/// Reads one reservation; one that was released or has long run out holds nothing.
pub fn read(file: &FileImage, reading: &Reading<'_>) -> Parsed {
    let object = match json::object(Format::AgentMail, file, reading) {
        Ok(object) => object,
        Err(broken) => return Parsed::Broken(broken),
    };
    let ends_at = instant(&object, "expires_ts");
    let is_over = ends_at.is_some_and(|at| reading.now.duration_since(at) > SHOWN_FOR);
    if is_over || object.text("released_ts").is_some() || is_copy(&object, file.name()) {
        return Parsed::Ignored;
    }
    Parsed::Record(Arc::new(reservation(&object, ends_at, file, reading)))
}

/// Returns whether a file is the older name of a reservation that has a file by its number too.
fn is_copy(object: &Object<'_>, name: &str) -> bool {
    object.has("id") && !name.starts_with("id-")
}

fn reservation(
    object: &Object<'_>,
    ends_at: Option<Timestamp>,
    file: &FileImage,
    reading: &Reading<'_>,
) -> Record {
    let mut record = draft::record(Format::AgentMail, RecordKind::Metadata, file, reading);
    let pattern = object.text("path_pattern").unwrap_or_default();
    let agent = object.text("agent").unwrap_or_else(|| "(nobody)".into());
    let tree = object.str("worktree").filter(|path| path.starts_with('/'));
    record.variant = "file reservation";
    record.title = format!("{}: {}", agent.raw(), draft::excerpt(pattern.raw(), 60).raw()).into();
    record.cwd =
        tree.or_else(|| object.str("project").filter(|path| path.starts_with('/'))).map(PathBuf::from);
    record.started_at = instant(object, "created_ts");
    record.expiry = ends_at.map(|at| Expiry { at, rule: "past its own expires_ts" });
    record.claims = claim(&pattern, &record).into_iter().collect();
    record.files = vec![pattern];
    let is_exclusive = !matches!(object.get("exclusive"), Some(json::Value::Bool(false)));
    record.facts = draft::known([
        ("owner", Some(agent)),
        ("mode", Some(if is_exclusive { "exclusive" } else { "shared" }.into())),
        (
            "reason",
            object.str("reason").filter(|text| !text.is_empty()).map(|text| draft::excerpt(text, 200)),
        ),
        ("ends", ends_at.map(|at| at.to_string().into())),
        ("branch", object.text("branch")),
    ]);
    record.problems = json::ownership_problems(file, reading, None);
    if ends_at.is_none() {
        record.problems.push(Problem::new(Code::BadTimestamp, "states no usable end (expires_ts)"));
    }
    record
}

fn claim(pattern: &Untrusted, record: &Record) -> Option<StatedClaim> {
    let tree = record.cwd.as_deref().map(Untrusted::from_path).unwrap_or_default();
    let id = match tree.raw() {
        "" => pattern.clone(),
        tree => format!("{tree}/{}", pattern.raw()).into(),
    };
    (!pattern.raw().is_empty()).then(|| StatedClaim {
        resource: Resource { kind: ResourceKind::Files, id },
        since: record.started_at,
        surfaces: Shared::from([Surface { name: "archive", state: SurfaceState::Agrees }]),
    })
}

/// Reads a time, which is in UTC where it names no zone.
fn instant(object: &Object<'_>, name: &str) -> Option<Timestamp> {
    time::any(object.str(name)?, &jiff::tz::TimeZone::UTC)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::draft::sample;

    fn reservation(name: &str, text: &str) -> Parsed {
        let file = sample::image(name, text.as_bytes(), 60);
        sample::read(|reading| read(&file, reading))
    }

    /// A reservation until a moment; the look is at 21:48.
    fn until(at: &str, more: &str) -> String {
        format!(
            r#"{{"id":7,"project":"/src/shop","agent":"GreenCastle","path_pattern":"src/**","exclusive":true,"created_ts":"2026-11-20T20:00:00+00:00","expires_ts":"{at}"{more}}}"#
        )
    }

    #[test]
    fn a_reservation_holds_files_until_it_ends() {
        let record = sample::record(reservation("id-7.json", &until("2026-11-20T22:00:00+00:00", "")));
        let claim = record.claims.first().map(|claim| (claim.resource.kind, claim.resource.id.raw()));
        assert_eq!(claim, Some((ResourceKind::Files, "/src/shop/src/**")));
        assert_eq!(
            record.expiry.map(|expiry| expiry.at.to_string()),
            Some("2026-11-20T22:00:00Z".to_owned())
        );
        assert!(record.facts.contains(&("mode", "exclusive".into())));
    }

    #[test]
    fn what_was_released_has_long_ended_or_is_there_twice_is_left_out() {
        let released = until("2026-11-20T22:00:00", r#","released_ts":"2026-11-20T21:00:00""#);
        assert_eq!(reservation("id-7.json", &released), Parsed::Ignored);
        assert_eq!(reservation("id-7.json", &until("2026-11-18T22:00:00Z", "")), Parsed::Ignored);
        let twice = until("2026-11-20T22:00:00Z", "");
        assert_eq!(reservation("0123456789abcdef0123456789abcdef01234567.json", &twice), Parsed::Ignored);
    }

    #[test]
    fn a_reservation_without_an_end_is_told() {
        let endless = r#"{"agent":"a","path_pattern":"x","exclusive":false}"#;
        let record = sample::record(reservation("01.json", endless));
        assert_eq!(record.problems.first().map(|problem| problem.code), Some(Code::BadTimestamp));
        assert!(record.facts.contains(&("mode", "shared".into())));
    }

    proptest::proptest! {
        #[test]
        fn reading_is_total(bytes: Vec<u8>) {
            let file = sample::image("id-7.json", &bytes, 60);
            sample::read(|reading| read(&file, reading));
        }
    }
}
