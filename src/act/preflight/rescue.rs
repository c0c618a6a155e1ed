//! Which kept versions are brought back, and what is prepared for that.

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use crate::act::error::ActionError;
use crate::act::fs::disk::Disk;
use crate::act::preflight::inspect::Inspector;
use crate::act::preflight::prepared::PreparedStep;
use crate::act::preflight::preview::Preview;
use crate::act::rules::Rules;
use crate::act::state::journal_store::Lock;
use crate::core::model::text::hex;
use crate::core::model::{Edit, Key, Report, Request, RescueFile, Untrusted, Work};
use crate::core::plan::rescue::plan_rescue;
use crate::source::database::sqlite::copies::Copies;
use crate::source::os::fence::Fence;
use crate::source::own::kept::KeptFiles;
use crate::source::own::ledger::Tree;
use crate::source::repos::objects::{Kind, name_of, parse_name};
use crate::source::versions::found::from_transcript;

/// How much of the newest lists of kept versions is read, in bytes.
const NEWEST: usize = 8 << 20;

impl Preview {
    /// Prepares to bring files back; one that cannot be brought back now is named in the plan, unless that is all.
    pub(super) fn of_rescue<D: Disk>(
        lock: &Lock<'_, D>,
        files: &[RescueFile],
        request: Request,
        (rules, now): (&Rules, Timestamp),
    ) -> Result<Self, ActionError> {
        let inspector = Inspector { files: lock.files(), rules, now, wait: RefCell::default() };
        let kept = kept_folder(lock.files().parked_path);
        let (mut prepared, mut planned, mut obstacles) = (Vec::new(), Vec::new(), Vec::new());
        for file in files {
            match content(&kept, file).and_then(|content| inspector.bring_back(file, content)) {
                Ok(step) => {
                    prepared.push(step);
                    planned.push(file.clone());
                }
                Err(error) => obstacles.push(error),
            }
        }
        if prepared.is_empty()
            && let Some(first) = obstacles.first().cloned()
        {
            return Err(first);
        }
        let replaces: Vec<bool> =
            prepared.iter().map(|one| matches!(one, PreparedStep::End { .. })).collect();
        let mut plan = plan_rescue(&planned, &replaces);
        if let Some(refusal) = &plan.refusal {
            return Err(ActionError::Never(refusal.to_string()));
        }
        let wait = inspector.wait.into_inner();
        plan.why.extend(obstacles.iter().map(|error| format!("not brought back: {error}")));
        plan.why.extend(wait.as_ref().map(ActionError::to_string));
        Ok(Self { wait, ..Self::new(plan, request, rules, prepared, None) })
    }
}

/// Finds the newest versions of what a window has lost.
///
/// # Errors
/// There is no such window, it has lost nothing, or nothing is kept of that.
pub(super) fn lost_by(parked: &Path, report: &Report, key: &Key) -> Result<Vec<RescueFile>, ActionError> {
    let never = |why: &str| ActionError::Never(why.to_owned());
    let owner = report.owner_of_edits(key).ok_or_else(|| {
        ActionError::Changed("that window is gone, or no session file of it is known".to_owned())
    })?;
    let gone: Vec<&Edit> = owner.1.doing.edits.iter().filter(|edit| edit.is_gone()).collect();
    if gone.is_empty() {
        return Err(never("nothing that this window wrote is gone"));
    }
    let kept = kept_folder(parked);
    let files: Vec<RescueFile> = gone.iter().filter_map(|edit| version(&kept, &owner, edit)).collect();
    if files.is_empty() {
        return Err(never("no hook has kept what is gone, and the session's file does not have it"));
    }
    Ok(files)
}

/// Returns the newest version of a file that a window's session wrote: a kept one, else from its transcript.
fn version(kept: &Path, (name, work): &(Untrusted, &Work), edit: &Edit) -> Option<RescueFile> {
    let path = Path::new(edit.path.raw());
    let tree = path.parent().and_then(Tree::find)?;
    let found = KeptFiles::of_tree(kept, tree.text()?).newest_of(&HashSet::from([edit.path.raw()]), NEWEST);
    let is_its = |session: &Untrusted| *session == work.session || Some(session) == edit.from.as_ref();
    let newest = found.into_iter().rev().find(|one| is_its(&one.session) && one.blob.is_some());
    let file = RescueFile::new(path.into(), Untrusted::from_path(&tree.top), name.clone());
    if let Some(newest) = newest {
        return Some(RescueFile { blob: newest.blob?, size: newest.size, mode: Some(newest.mode), ..file });
    }
    let copies = Copies::in_folder(&kept.with_file_name("copies"));
    let found = from_transcript(work, &[path.to_path_buf()], (&Fence::default(), &copies)).ok()?;
    let newest = found.into_iter().max_by_key(|version| version.at)?;
    let (blob, size, content) = (hex(&newest.blob).into(), newest.size, newest.bytes());
    Some(RescueFile { blob, size, content, ..file })
}

/// What is kept lies beside the parked files.
fn kept_folder(parked: &Path) -> PathBuf {
    parked.parent().unwrap_or(parked).join("kept")
}

/// Reads the content of a version.
fn content(kept: &Path, file: &RescueFile) -> Result<Vec<u8>, ActionError> {
    let is_plain =
        file.path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    if !is_plain || !file.path.starts_with(file.tree.raw()) {
        let why = format!("{} does not lie in {}", file.path.text(), file.tree);
        return Err(ActionError::Never(why));
    }
    let name = parse_name(file.blob.raw().as_bytes());
    let given = file.content.as_ref().filter(|content| Some(name_of(Kind::Blob, content)) == name);
    let content = match given {
        Some(content) => Some(Arc::unwrap_or_clone(Arc::clone(content))),
        None => name.and_then(|name| KeptFiles::of_tree(kept, file.tree.raw()).content(&name)),
    };
    let missing = || ActionError::Changed(format!("the kept version of {} is gone", file.path.text()));
    content.ok_or_else(missing)
}
