//! Which kept versions are brought back, and what is prepared for that.

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use crate::act::error::ActionError;
use crate::act::fs::disk::Disk;
use crate::act::fs::files::shown;
use crate::act::preflight::inspect::{Inspector, NewFile, is_as_committed};
use crate::act::preflight::prepared::PreparedStep;
use crate::act::preflight::preview::Preview;
use crate::act::rules::Rules;
use crate::act::state::journal_store::Lock;
use crate::core::model::text::diff::unified;
use crate::core::model::{
    Edit, EditFate, EditState, Key, Report, Request, RescueFile, RescueTarget, RescueWay, Untrusted, Work,
};
use crate::core::plan::rescue::{PlannedRescue, RescueKind, plan_rescue, stashed};
use crate::source::database::sqlite::copies::Copies;
use crate::source::git::merge::merge;
use crate::source::os::fence::Fence;
use crate::source::own::kept::KeptFiles;
use crate::source::own::ledger::Tree;
use crate::source::repos::objects::{Kind, name_of, parse_name};
use crate::source::versions::base::{BaseQuestion, base_of};
use crate::source::versions::found::{FoundVersion, VersionSource, kept};
use crate::source::versions::search::{Search, Subject};
use crate::source::versions::stored::SessionStore;

impl Preview {
    /// Prepares to bring files back; one that cannot be brought back now is left out, unless that is all.
    pub(super) fn of_rescue<D: Disk>(
        lock: &Lock<'_, D>,
        report: &Report,
        (lost, way): (&RescueTarget, RescueWay),
        request: Request,
        (rules, now): (&Rules, Timestamp),
    ) -> Result<Self, ActionError> {
        let inspector = Inspector { files: lock.files(), rules, now, wait: RefCell::default() };
        let rescuer = Rescuer { kept: kept_folder(lock.files().parked_path), way, inspector };
        let files = match lost {
            RescueTarget::Files(files) => files,
            RescueTarget::By(key) => &rescuer.lost_by(report, key)?,
        };
        let (mut prepared, mut planned, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        for file in files {
            match rescuer.prepare(file) {
                Ok((step, kind)) => {
                    prepared.push(step);
                    planned.push(PlannedRescue { file: file.clone(), kind });
                }
                Err(error) => left_out.push(error),
            }
        }
        if prepared.is_empty() && !left_out.is_empty() {
            return Err(all_of(left_out));
        }
        let mut plan = plan_rescue(&planned, way);
        if let Some(refusal) = &plan.refusal {
            return Err(ActionError::Never(refusal.to_string()));
        }
        let wait = rescuer.inspector.wait.into_inner();
        plan.why.extend(left_out.iter().map(|error| format!("not brought back: {error}")));
        if let RescueTarget::By(key) = lost {
            plan.why.extend(stashed(report, key));
        }
        plan.why.extend(wait.as_ref().map(ActionError::to_string));
        plan.is_in_the_way = left_out.iter().any(|error| matches!(error, ActionError::Taken(_)));
        Ok(Self { wait, left_out, ..Self::new(plan, request, rules, prepared, None) })
    }
}

/// Makes one refusal of several. That a file is in the way is the kind that a person can do something about.
fn all_of(mut refused: Vec<ActionError>) -> ActionError {
    if refused.len() == 1 {
        return refused.remove(0);
    }
    let is_in_the_way = refused.iter().any(|error| matches!(error, ActionError::Taken(_)));
    let words = |error: &ActionError| {
        if let ActionError::Taken(why) = error { why.clone() } else { error.to_string() }
    };
    let why = refused.iter().map(words).collect::<Vec<_>>().join("; ");
    if is_in_the_way { ActionError::Taken(why) } else { ActionError::Never(why) }
}

/// Finds and prepares what is brought back.
struct Rescuer<'a, D: Disk> {
    /// The folder of all that is kept.
    kept: PathBuf,
    way: RescueWay,
    inspector: Inspector<'a, D>,
}

impl<D: Disk> Rescuer<'_, D> {
    /// Finds the newest versions of what a window has lost.
    ///
    /// # Errors
    /// There is no such window, it has lost nothing, or nothing is kept of that.
    fn lost_by(&self, report: &Report, key: &Key) -> Result<Vec<RescueFile>, ActionError> {
        let never = |why: &str| ActionError::Never(why.to_owned());
        let owner = report.owner_of_edits(key).ok_or_else(|| {
            ActionError::Changed("that window is gone, or no session file of it is known".to_owned())
        })?;
        let (name, work) = owner;
        if !work.is_partly_known() && !work.doing.edits.iter().any(Edit::is_gone) {
            let nothing = "nothing that this window wrote is gone".to_owned();
            let all: Vec<String> = std::iter::once(nothing).chain(stashed(report, key)).collect();
            return Err(ActionError::Never(all.join("; ")));
        }
        let files = self.newest_lost(&name, work);
        if files.is_empty() {
            let why = "no hook has kept what is gone, and the session's file does not have it, or it lies in no \
                       repository: claimtop rescue with its path";
            return Err(never(why));
        }
        Ok(files)
    }

    /// Returns the newest versions that a window's session wrote of what it has lost: as the look says, and what is too
    /// far back in its session for the look.
    fn newest_lost(&self, name: &Untrusted, work: &Arc<Work>) -> Vec<RescueFile> {
        let (fence, copies) = (Fence::default(), self.copies());
        let (now, home) = (self.inspector.now, self.inspector.rules.home.as_path());
        let works = std::slice::from_ref(work);
        let search = Search { works, now, home, fence: &fence, copies: &copies };
        let edits = &work.doing.edits;
        let gone = edits.iter().filter(|edit| edit.is_gone()).map(|edit| PathBuf::from(edit.path.raw()));
        let own = Subject::all_of(work);
        let files: Vec<Subject> = gone.map(|path| Subject::File([path.clone(), path])).collect();
        let asked = if work.is_partly_known() { &own } else { &files };
        let found = search.find(asked, (kept(&self.kept), SessionStore::default()), &[]);
        let mut known: HashSet<PathBuf> = HashSet::new();
        let lost = |(version, fate): &(FoundVersion, EditFate)| {
            let is_its = own.iter().any(|subject| subject.is_session(&version.session));
            let edit = edits.iter().find(|edit| Path::new(edit.path.raw()) == version.path);
            let is_gone = edit.map_or(fate, |edit| &edit.fate).state == EditState::Gone;
            if !is_its || !known.insert(version.path.clone()) || !is_gone {
                return None;
            }
            let tree = version.path.parent().and_then(Tree::find)?;
            // A transcript may name any path; elsewhere a person has to name it.
            if version.from == VersionSource::Transcript && !tree.is_repository() {
                return None;
            }
            let file = version.to_rescue(name.clone(), &tree);
            let is_merged = self.way == RescueWay::Merge;
            let base = is_merged.then(|| self.base((&version.path, &version.session), &file, work)).flatten();
            Some(RescueFile { base, ..file })
        };
        found.versions.iter().filter_map(lost).collect()
    }

    fn base(
        &self,
        (path, session): (&Path, &Untrusted),
        file: &RescueFile,
        work: &Work,
    ) -> Option<Arc<Vec<u8>>> {
        let blob = parse_name(file.blob.raw().as_bytes())?;
        let wanted =
            BaseQuestion { path, session, blob, work: Some(work).filter(|work| work.session == *session) };
        let when = (self.inspector.now, self.inspector.rules.home.as_path());
        base_of(&wanted, &self.kept, when, (&Fence::default(), &self.copies()))
    }

    fn copies(&self) -> Copies {
        Copies::in_folder(&self.kept.with_file_name("copies"))
    }

    /// Prepares to bring one version back.
    fn prepare(&self, file: &RescueFile) -> Result<(PreparedStep, RescueKind), ActionError> {
        let new = NewFile { bytes: self.content(file)?, mode: file.mode };
        let (path, inspector) = (&*file.path, &self.inspector);
        self.expect_no_link(file)?;
        let in_place = |new| {
            let step = inspector.bring_back(path, new)?;
            let replaces = matches!(step, PreparedStep::End { .. });
            Ok((step, RescueKind::InPlace { replaces }))
        };
        match (self.way, &file.base) {
            (RescueWay::Place, _) => in_place(new),
            (RescueWay::Beside, _) => {
                let step = inspector.beside(path, new)?;
                let to = if let PreparedStep::Create { path, .. } = &step { path.as_path() } else { path };
                let kind = RescueKind::Beside(to.into());
                Ok((step, kind))
            }
            (RescueWay::Merge, None) => {
                if path.symlink_metadata().is_ok()
                    && !is_as_committed(path, inspector.now, &inspector.rules.home)
                {
                    let why = "what its edits began from is not known, so nothing can be merged: \
                               --beside writes the version beside it";
                    return Err(ActionError::Taken(format!("{}: {why}", shown(path))));
                }
                in_place(new)
            }
            (RescueWay::Merge, Some(base)) => self.merge(file, base, new),
        }
    }

    /// Prepares to merge one version into its file.
    fn merge(
        &self,
        file: &RescueFile,
        base: &[u8],
        new: NewFile,
    ) -> Result<(PreparedStep, RescueKind), ActionError> {
        let path = &*file.path;
        let whose = file.whose.to_string();
        let merge = |own: &[u8]| {
            let texts = [("now", own), ("before", base), (whose.as_str(), new.bytes.as_slice())];
            merge(&self.inspector.rules.programs, &self.copies(), texts).map_err(|why| {
                let why = format!("{}: {why}: --beside writes the version beside it", shown(path));
                ActionError::Taken(why)
            })
        };
        let Some((step, own, merged)) = self.inspector.merge(path, &new.bytes, merge)? else {
            let step = self.inspector.bring_back(path, new)?;
            return Ok((step, RescueKind::InPlace { replaces: false }));
        };
        let names = [format!("{} now", shown(path)), format!("{} merged", shown(path))];
        let diff = unified((&own, &names[0]), (&merged.text, &names[1])).unwrap_or_default();
        let size = u64::try_from(merged.text.len()).unwrap_or(u64::MAX);
        Ok((step, RescueKind::Merged { size, conflicts: merged.conflicts, diff }))
    }

    /// Makes sure that no folder between a file and the top of its working tree is a link: what lies behind it may be
    /// anybody's.
    fn expect_no_link(&self, file: &RescueFile) -> Result<(), ActionError> {
        let tree = Path::new(file.tree.raw());
        let folder = file.path.parent().unwrap_or(tree);
        let disk = self.inspector.files.disk;
        let inside = folder.strip_prefix(tree).unwrap_or(Path::new(""));
        if disk.resolved(folder) == disk.resolved(tree).join(inside) {
            return Ok(());
        }
        let why = format!("the way to {} now leads through a link, and none is followed", file.path.text());
        Err(ActionError::Never(why))
    }

    /// Reads the content of a version.
    fn content(&self, file: &RescueFile) -> Result<Vec<u8>, ActionError> {
        // What lies in git's own folder may run: hooks, settings.
        let is_plain = |part: Component<'_>| match part {
            Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
            Component::RootDir => true,
            Component::Prefix(_) | Component::CurDir | Component::ParentDir => false,
        };
        if !file.path.components().all(is_plain) || !file.path.starts_with(file.tree.raw()) {
            let why = format!("{} is not a file of the working tree {}", file.path.text(), file.tree);
            return Err(ActionError::Never(why));
        }
        let name = parse_name(file.blob.raw().as_bytes());
        let given = file.content.as_ref().filter(|content| Some(name_of(Kind::Blob, content)) == name);
        let content = match given {
            Some(content) => Some(Arc::unwrap_or_clone(Arc::clone(content))),
            None => name.and_then(|name| KeptFiles::of_tree(&self.kept, file.tree.raw()).content(&name)),
        };
        let missing = || ActionError::Changed(format!("the kept version of {} is gone", file.path.text()));
        content.ok_or_else(missing)
    }
}

/// What is kept lies beside the parked files.
fn kept_folder(parked: &Path) -> PathBuf {
    parked.parent().unwrap_or(parked).join("kept")
}
