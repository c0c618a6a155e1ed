//! The files in the folder of a worktree: how it was made, for which session, and whether it may be removed.

use jiff::Timestamp;

use crate::core::model::{
    BrokenFile, Code, Content, Expiry, FileImage, Format, Generation, Leo, Problem, Record, RecordDetail,
    RecordKind, Untrusted,
};
use crate::format::leo::names::Sheet;
use crate::format::leo::{facts, id, moment};
use crate::format::reading::Reading;
use crate::format::reading::json;
use crate::format::reading::json::Object;
use crate::format::reading::{draft, time};

/// For how many seconds after its last write a sheet that names a session keeps its worktree
/// in use.
const IN_USE_FOR: i64 = 600;

/// Reads one sheet of a worktree.
///
/// # Errors
/// The broken file: not readable, torn or corrupt; but a protection stays a record.
pub(super) fn read(sheet: Sheet, file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let mut record = blank(sheet, file, reading);
    match json::object(Format::Leo, file, reading) {
        Ok(object) => fill(&mut record, sheet, &object, reading.now),
        Err(broken) => record.problems.push(still_protects(sheet, file, broken)?),
    }
    record.problems.extend(json::ownership_problems(file, reading, None));
    Ok(record)
}

/// Drafts the facts in the name and the place of a sheet.
fn blank(sheet: Sheet, file: &FileImage, reading: &Reading<'_>) -> Record {
    let mut record = draft::record(Format::Leo, RecordKind::Metadata, file, reading);
    record.variant = variant(sheet);
    record.detail = RecordDetail::Leo(Leo::Sheet { is_protected: sheet == Sheet::Protected });
    record.cwd = file.path.parent().map(Into::into);
    record.title = folder(file).unwrap_or_else(|| file.name().into());
    if sheet == Sheet::Legacy {
        record.generation = Generation::Legacy;
        let message = "written as .session.json, which .ehg-session.json has replaced";
        record.problems.push(Problem::new(Code::LegacyRecord, message));
    }
    record
}

/// Takes over the fields of a sheet.
fn fill(record: &mut Record, sheet: Sheet, object: &Object<'_>, now: Timestamp) {
    if let Some(key) = facts::first_text(object, &["workKey", "sdKey", "sd_key"]) {
        record.title = key;
    }
    record.session_id = session(sheet, object, &mut record.problems);
    record.started_at = moment::past(object, made_at(sheet), now, &mut record.problems);
    record.facts = facts::from_fields(object, &FACTS);
    if sheet == Sheet::Work && record.session_id.is_some() {
        let at = time::add_seconds(record.written_at, IN_USE_FOR);
        record.expiry = Some(Expiry { at, rule: "not written for 10 min" });
    }
}

const FACTS: [(&str, &str); 9] = [
    ("work type", "workType"),
    ("branch", "expectedBranch"),
    ("base", "baseRef"),
    ("repository", "repoRoot"),
    ("host", "hostname"),
    ("merged PR", "merged_pr"),
    ("reason", "reason"),
    ("protected by", "protected_by"),
    ("expires at (advisory)", "expires_at"),
];

/// Returns the problem of a protection that cannot be parsed: LEO's reaper only checks whether the file exists.
fn still_protects(sheet: Sheet, file: &FileImage, broken: BrokenFile) -> Result<Problem, BrokenFile> {
    match (sheet, &file.content) {
        (Sheet::Protected, Content::Bytes(_)) => {
            let message = format!("{}; it protects the worktree all the same", broken.problem.message);
            Ok(Problem::new(broken.problem.code, message))
        }
        (Sheet::Protected, Content::Refused(_) | Content::Failed(_))
        | (Sheet::Origin | Sheet::Work | Sheet::Legacy | Sheet::Eligible, _) => Err(broken),
    }
}

/// Returns the session that a sheet names. A protection may also be a role's, such as the
/// coordinator's.
fn session(sheet: Sheet, object: &Object<'_>, problems: &mut Vec<Problem>) -> Option<Untrusted> {
    match sheet {
        Sheet::Origin | Sheet::Work | Sheet::Legacy => id::optional(object, "sessionId", problems)
            .or_else(|| id::optional(object, "session_id", problems)),
        Sheet::Eligible => id::optional(object, "marked_by_session", problems),
        Sheet::Protected => object
            .text("protected_by")
            .filter(|who| id::is_uuid(who.raw()) || who.raw().starts_with("session_"))
            .and_then(|_| id::optional(object, "protected_by", problems)),
    }
}

fn variant(sheet: Sheet) -> &'static str {
    match sheet {
        Sheet::Origin => "worktree",
        Sheet::Work => "worktree's work",
        Sheet::Legacy => "worktree's branch",
        Sheet::Eligible => "worktree that may be reaped",
        Sheet::Protected => "worktree that may not be reaped",
    }
}

fn made_at(sheet: Sheet) -> &'static str {
    match sheet {
        Sheet::Origin | Sheet::Work | Sheet::Legacy => "createdAt",
        Sheet::Eligible => "marked_at",
        Sheet::Protected => "protected_at",
    }
}

fn folder(file: &FileImage) -> Option<Untrusted> {
    file.path.parent()?.file_name().map(|name| Untrusted::from_path(name.as_ref()))
}
