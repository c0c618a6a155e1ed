//! When agents delete the files from which versions are rebuilt.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};

use crate::core::model::{Format, Work};
use crate::source::os::open::folder::look_at;
use crate::source::os::open::plain::small;
use crate::source::versions::SessionFiles;
use crate::source::versions::around::copies_of;

/// After how many days Claude Code, Qwen Code and Gemini CLI delete a file of a session, unless a person has set another
/// number (seen for Claude Code's files, and in the code of the others).
const DAYS: i64 = 30;
/// After how many days opencode's snapshots lose an object (`git gc --prune=7.days`).
const SNAPSHOT_DAYS: i64 = 7;
/// The largest file of settings that is read, in bytes.
const MOST_SETTINGS: usize = 1 << 20;

/// Returns when an agent deletes the first of the files that hold what a session wrote: each goes by its own time. `None`
/// if no clean-up of that agent is known.
pub(crate) fn first_deleted_at(work: &Work) -> Option<Timestamp> {
    let file = work.path.to_path_buf();
    let (days, first) = match work.format {
        Format::ClaudeCode | Format::Qwen => {
            let days = configured_days(work).unwrap_or(DAYS);
            let helpers = file.with_extension("");
            let session =
                SessionFiles { format: work.format, session: work.session.clone(), file: file.clone() };
            let all = [Some(file), Some(helpers), copies_of(&session)];
            (days, all.iter().flatten().filter_map(|path| Some(look_at(path)?.modified_at)).min())
        }
        Format::Gemini => (DAYS, look_at(&file).map(|meta| meta.modified_at)),
        Format::OpenCode => {
            let open = work.doing.edits.iter().filter(|edit| !edit.has_ended() || edit.is_gone());
            (SNAPSHOT_DAYS, open.filter_map(|edit| edit.at).min())
        }
        Format::Codex
        | Format::Copilot
        | Format::Pi
        | Format::Kimi
        | Format::Continue
        | Format::Cline
        | Format::Maia
        | Format::Observability
        | Format::Entire
        | Format::Leo
        | Format::Obra
        | Format::Git
        | Format::Beads
        | Format::AgentMail
        | Format::Described(_) => return None,
    };
    first?.checked_add(SignedDuration::from_hours(24 * days)).ok()
}

/// Returns after how many days a person lets Claude Code delete files; it takes 1 at least.
fn configured_days(work: &Work) -> Option<i64> {
    // `projects/<slug>/<session>.jsonl`
    let home = work.path.ancestors().nth(3).filter(|_| work.format == Format::ClaudeCode)?;
    let text = small(&Path::new(home).join("settings.json"), MOST_SETTINGS).ok()?;
    let settings: serde_json::Value = serde_json::from_slice(&text).ok()?;
    let days = settings.get("cleanupPeriodDays")?.as_i64()?;
    Some(days.clamp(1, 36_500))
}
