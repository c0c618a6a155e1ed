//! Plans that bring back what a window wrote.

use std::path::Path;

use crate::core::model::action::PUT_BACK;
use crate::core::model::report::need::quoted;
use crate::core::model::{
    Confirmation, EditFate, EditState, FilePath, Key, Plan, Report, RescueFile, RescueWay, Step, Untrusted,
};

/// Plans to bring back what a window has lost, as far as a report says all about it.
pub(crate) fn plan_lost(report: &Report, key: &Key) -> Plan {
    let Some((name, work)) = report.owner_of_edits(key) else {
        return Plan::refused(
            key,
            "this is not a window whose session is known",
            "claimtop rescue lists what is gone",
        );
    };
    let gone = work.doing.edits.iter().filter(|edit| edit.is_gone());
    let file =
        |path: &Untrusted| RescueFile::new(Path::new(path.raw()).into(), Untrusted::default(), name.clone());
    let files: Vec<PlannedRescue> = gone
        .map(|edit| {
            let kind = RescueKind::InPlace { replaces: edit.fate.is_clean };
            PlannedRescue { file: file(&edit.path), kind }
        })
        .collect();
    if files.is_empty() {
        return Plan::refused(
            key,
            "nothing that this window wrote is gone",
            "claimtop rescue lists all versions",
        );
    }
    plan_rescue(&files, RescueWay::Place)
}

/// Says of what a window wrote and is stashed how git brings it back: a stash is one for all working trees, and applying it
/// is a person's decision.
pub(crate) fn stashed(report: &Report, key: &Key) -> Vec<String> {
    let owner = report.owner_of_edits(key);
    let edits = owner.into_iter().flat_map(|(_, work)| &work.doing.edits);
    edits.filter_map(|edit| stash_command(&edit.path, &edit.fate)).collect()
}

/// Says how git brings back what a stash entry has.
pub(crate) fn stash_command(path: &Untrusted, fate: &EditFate) -> Option<String> {
    let stash = fate.stash.as_ref().filter(|_| fate.state == EditState::Stashed)?;
    let folder = Path::new(path.raw()).parent().map(Untrusted::from_path).unwrap_or_default();
    let folder = quoted(&folder.to_string());
    Some(format!("{path} is stashed: git -C {folder} stash apply {}", stash.raw()))
}

/// What would be done with one version.
#[derive(Clone, Debug)]
pub(crate) struct PlannedRescue {
    /// The version.
    pub(crate) file: RescueFile,
    /// How it is brought back.
    pub(crate) kind: RescueKind,
}

/// How one version is brought back.
#[derive(Clone, Debug)]
pub(crate) enum RescueKind {
    /// In its file's place.
    InPlace {
        /// Whether there is a file now.
        replaces: bool,
    },
    /// As a new file beside its own.
    Beside(FilePath),
    /// Merged into its file.
    Merged {
        /// The size of the result in bytes.
        size: u64,
        /// How many conflicts the result has.
        conflicts: usize,
        /// How the result differs from the file.
        diff: Vec<String>,
    },
}

/// Plans to bring versions back.
pub(crate) fn plan_rescue(files: &[PlannedRescue], way: RescueWay) -> Plan {
    let Some(PlannedRescue { file: first, .. }) = files.first() else {
        return Plan::refused(&Key::typed("rescue"), "no version is named", "claimtop rescue lists them");
    };
    let more = match files.len() {
        1 => String::new(),
        many => format!(" and {} more", many - 1),
    };
    let (path, whose) = (first.path.text(), &first.whose);
    let mut plan = Plan {
        name: path.to_string(),
        what: match way {
            RescueWay::Place => format!("bring back {path}{more} as {whose} left it"),
            RescueWay::Beside => format!("write {path}{more} as {whose} left it beside what is there"),
            RescueWay::Merge => format!("merge what {whose} wrote into {path}{more}"),
        },
        inverse: PUT_BACK.to_owned(),
        refuses_when: match way {
            RescueWay::Place => vec!["the file has other uncommitted work", CHANGED, NOT_PLAIN, BUSY],
            RescueWay::Beside => vec!["anything has that name", BUSY],
            RescueWay::Merge => vec!["git cannot merge them within 2 s", CHANGED, NOT_PLAIN, BUSY],
        },
        confirmation: Confirmation::Yes,
        ..Plan::empty(&Key::typed(path.raw()))
    };
    for PlannedRescue { file, kind } in files {
        plan.add(file, kind);
    }
    if plan.conflicts > 0 {
        // Whoever puts markers into a file must say that they know.
        plan.confirmation = Confirmation::FullName;
        plan.name = conflicts_in_words(plan.conflicts);
        plan.why.push(format!(
            "{} would stay in the files, each between <<<<<<< and >>>>>>>",
            conflicts_in_words(plan.conflicts)
        ));
    }
    plan
}

const CHANGED: &str = "the file changed since it was seen, or is younger than 2 s";
const NOT_PLAIN: &str = "the file is not a plain file of yours with one link";
const BUSY: &str = "another claimtop is at work on it";

/// Returns how many conflicts there are: what must be typed.
fn conflicts_in_words(number: usize) -> String {
    if number == 1 { "1 conflict".to_owned() } else { format!("{number} conflicts") }
}

impl Plan {
    /// Adds the step of one version, and why.
    fn add(&mut self, file: &RescueFile, kind: &RescueKind) {
        let (path, whose) = (&file.path, &file.whose);
        let (step, why) = match kind {
            RescueKind::InPlace { replaces } => (
                Step::BringBack { path: path.clone(), size: file.size, replaces: *replaces },
                "neither the file nor the last commit has it",
            ),
            RescueKind::Beside(beside) => (
                Step::BringBack { path: beside.clone(), size: file.size, replaces: false },
                "the file itself is left alone",
            ),
            RescueKind::Merged { size, conflicts, diff } => {
                self.diff.extend(diff.iter().cloned());
                self.conflicts += conflicts;
                let step = Step::Merge { path: path.clone(), size: *size, conflicts: *conflicts };
                (step, "the file has other work since")
            }
        };
        self.steps.push(step);
        self.why.push(format!("{whose} wrote {}, and {why}", path.text()));
    }
}
