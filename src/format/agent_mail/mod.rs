//! mcp_agent_mail's file reservations: the rows of its database, and the archive that it keeps of
//! them, `~/.mcp_agent_mail_git_mailbox_repo/projects/<slug>/file_reservations/*.json`.
//!
//! A reservation is advisory and ends by itself. It names an agent by a name of its own (GreenCastle) and no process,
//! so it is unknown whether its holder lives.

mod reservation;
mod rows;

use jiff::Timestamp;

use self::reservation::Reservation;
pub use self::rows::{is_copied, rows};
use crate::core::model::{FileImage, Format, RecordKind};
use crate::format::reading::json;
use crate::format::reading::json::Object;
use crate::format::reading::place::place;
use crate::format::reading::{FileContents, Reading};
use crate::format::reading::{draft, time};
use crate::format::spec::Spec;

/// Where the database usually is, below the home: beside the archive, and where its installer puts
/// the program, in whose folder it begins.
pub(crate) const DATABASES: [&str; 2] =
    [".mcp_agent_mail_git_mailbox_repo/storage.sqlite3", "mcp_agent_mail/storage.sqlite3"];

/// How claimtop reads it.
pub(crate) const SPEC: Spec = Spec::of_files(&[
    place!(AgentMail, Home, ".mcp_agent_mail_git_mailbox_repo/projects/*/file_reservations", in_reservations => read),
]);

fn in_reservations(name: &str) -> Option<()> {
    name.ends_with(".json").then_some(())
}

/// Reads one reservation of the archive; one that was released or expired long ago holds nothing.
fn read(_: (), file: &FileImage, reading: &Reading<'_>) -> FileContents {
    let object = match json::object(Format::AgentMail, file, reading) {
        Ok(object) => object,
        Err(broken) => return FileContents::Broken(broken),
    };
    let ends_at = instant(&object, "expires_ts");
    let is_over = reservation::is_over(ends_at, reading.now);
    if is_over || object.text("released_ts").is_some() || is_copy(&object, file.name()) {
        return FileContents::Ignored;
    }
    let mut record = draft::record(Format::AgentMail, RecordKind::Metadata, file, reading);
    archived(&object, ends_at).fill(&mut record);
    record.problems.extend(json::ownership_problems(file, reading, None));
    FileContents::Record(record.into())
}

/// Returns whether a file is the older name of a reservation that also has a file named by its number.
fn is_copy(object: &Object<'_>, name: &str) -> bool {
    object.has("id") && !name.starts_with("id-")
}

fn archived(object: &Object<'_>, ends_at: Option<Timestamp>) -> Reservation {
    Reservation {
        pattern: object.text("path_pattern").unwrap_or_default(),
        agent: object.text("agent"),
        tree: object.str("worktree").filter(|path| path.starts_with('/')).map(Into::into),
        project: object.str("project").map(Into::into),
        is_exclusive: !matches!(object.get("exclusive"), Some(json::Value::Bool(false))),
        reason: object.str("reason").map(Into::into),
        branch: object.text("branch"),
        created_at: instant(object, "created_ts"),
        ends_at,
        surface: "archive",
    }
}

/// Reads a time, which is in UTC if it names no zone.
fn instant(object: &Object<'_>, name: &str) -> Option<Timestamp> {
    time::any(object.str(name)?, &jiff::tz::TimeZone::UTC)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::{Code, ResourceKind};
    use crate::format::testing;

    fn reservation(name: &str, text: &str) -> FileContents {
        let file = testing::image(name, text.as_bytes(), 60);
        testing::read(|reading| read((), &file, reading))
    }

    /// A reservation until a moment; the look is at 21:48.
    fn until(at: &str, more: &str) -> String {
        format!(
            r#"{{"id":7,"project":"/src/shop","agent":"GreenCastle","path_pattern":"src/**","exclusive":true,"created_ts":"2026-11-20T20:00:00+00:00","expires_ts":"{at}"{more}}}"#
        )
    }

    #[test]
    fn a_reservation_holds_files_until_it_ends() {
        let record = testing::record(reservation("id-7.json", &until("2026-11-20T22:00:00+00:00", "")));
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
        assert_eq!(reservation("id-7.json", &released), FileContents::Ignored);
        assert_eq!(reservation("id-7.json", &until("2026-11-18T22:00:00Z", "")), FileContents::Ignored);
        let twice = until("2026-11-20T22:00:00Z", "");
        assert_eq!(
            reservation("0123456789abcdef0123456789abcdef01234567.json", &twice),
            FileContents::Ignored
        );
    }

    #[test]
    fn a_reservation_without_an_end_is_told() {
        let endless = r#"{"agent":"a","path_pattern":"x","exclusive":false}"#;
        let record = testing::record(reservation("01.json", endless));
        assert_eq!(record.problems.first().map(|problem| problem.code), Some(Code::BadTimestamp));
        assert!(record.facts.contains(&("mode", "shared".into())));
    }

    proptest::proptest! {
        #[test]
        fn reading_is_total(bytes: Vec<u8>) {
            let file = testing::image("id-7.json", &bytes, 60);
            testing::read(|reading| read((), &file, reading));
        }
    }
}
