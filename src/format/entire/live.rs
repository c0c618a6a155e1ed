//! The live registry: sessions that are active in any repository, and those that adopt one.

use super::names;
use crate::core::model::report::context::is_valid_id;
use crate::core::model::{
    BrokenFile, Entire, Expiry, FileImage, Format, Record, RecordDetail, RecordKind, ResourceKind,
    StatedClaim, Untrusted,
};
use crate::format::reading::Reading;
use crate::format::reading::json;
use crate::format::reading::json::Object;
use crate::format::reading::{draft, time};

/// An entry expires 12 h after the last interaction.
const KEPT_SECONDS: i64 = 12 * 3_600;
/// A claim to adopt a session is good for 1 h.
const ADOPTION_SECONDS: i64 = 3_600;

/// Reads an entry.
///
/// # Errors
/// The broken file: not readable, torn or corrupt.
pub(super) fn read(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let object = json::object(Format::Entire, file, reading)?;
    let id = file.name().trim_end_matches(".json");
    let mut record = draft::record(Format::Entire, RecordKind::Marker, file, reading);
    record.variant = "live registry";
    record.context_id = Some(id.into());
    record.session_id = Some(names::agent_id(id)).filter(|id| is_valid_id(id)).map(Untrusted::from);
    record.title = title(&object, id);
    record.heartbeat_at = object.str("last_interaction_time").and_then(time::rfc3339);
    record.cwd = object.str("worktree_path").map(Into::into);
    record.has_ended = object.str("phase") == Some("ended");
    record.expiry = Some(Expiry {
        at: record.heartbeat_at.map_or(record.written_at, |last| time::add_seconds(last, KEPT_SECONDS)),
        rule: "more than 12 h after the last interaction",
    });
    record.claims = adoption(&object, &record, reading).into_iter().collect();
    let repository = object.text("common_dir");
    record.detail =
        RecordDetail::Entire(Box::new(Entire { repository: repository.clone(), ..Default::default() }));
    record.facts = draft::known([
        ("phase", object.text("phase")),
        ("repository", repository),
        ("adoption", object.object("adopt_claim").map(|_| "another repository claims it".into())),
    ]);
    record.problems = json::ownership_problems(file, reading, None);
    Ok(record)
}

fn title(object: &Object<'_>, id: &str) -> Untrusted {
    let folder = object.str("worktree_path").and_then(|path| path.rsplit('/').next());
    folder.filter(|name| !name.is_empty()).unwrap_or(id).into()
}

/// A claim of another repository to adopt the session, while it is good.
fn adoption(object: &Object<'_>, record: &Record, reading: &Reading<'_>) -> Option<StatedClaim> {
    let claim = object.object("adopt_claim")?;
    let since = ["at", "claimed_at"].iter().find_map(|name| claim.str(name).and_then(time::rfc3339))?;
    if time::add_seconds(since, ADOPTION_SECONDS) < reading.now {
        return None;
    }
    let session = record.session_id.clone()?;
    Some(StatedClaim::new(ResourceKind::Session, session, "live registry", Some(since)))
}
