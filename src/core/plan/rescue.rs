//! Plans that bring back what a window wrote.

use std::path::Path;

use crate::core::model::action::PUT_BACK;
use crate::core::model::{Confirmation, Key, Plan, Report, RescueFile, Step, Untrusted};

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
    let (files, replaces): (Vec<RescueFile>, Vec<bool>) =
        gone.map(|edit| (file(&edit.path), edit.fate.is_clean)).unzip();
    if files.is_empty() {
        return Plan::refused(
            key,
            "nothing that this window wrote is gone",
            "claimtop rescue lists all versions",
        );
    }
    plan_rescue(&files, &replaces)
}

/// Plans to put versions back in their files' places; `replaces` says of each whether there is a file now.
pub(crate) fn plan_rescue(files: &[RescueFile], replaces: &[bool]) -> Plan {
    let Some(first) = files.first() else {
        return Plan::refused(&Key::typed("rescue"), "no version is named", "claimtop rescue lists them");
    };
    let more = match files.len() {
        1 => String::new(),
        many => format!(" and {} more", many - 1),
    };
    let steps = files.iter().zip(replaces).map(|(file, replaces)| Step::BringBack {
        path: file.path.clone(),
        size: file.size,
        replaces: *replaces,
    });
    let why = files.iter().map(|file| {
        let place = "neither the file nor the last commit has it";
        format!("{} wrote {}, and {place}", file.whose, file.path.text())
    });
    Plan {
        name: first.path.text().to_string(),
        what: format!("bring back {}{more} as {} left it", first.path.text(), first.whose),
        why: why.collect(),
        steps: steps.collect(),
        inverse: PUT_BACK.to_owned(),
        refuses_when: vec![
            "the file has other uncommitted work",
            "the file changed since it was seen, or is younger than 2 s",
            "the file is not a plain file of yours with one link",
            "another claimtop is at work on it",
        ],
        confirmation: Confirmation::Yes,
        ..Plan::empty(&Key::typed(first.path.text().raw()))
    }
}
