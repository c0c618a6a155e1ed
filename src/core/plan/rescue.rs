//! Plans that bring back what a window wrote.

use crate::core::model::action::PUT_BACK;
use crate::core::model::{Confirmation, Key, Plan, RescueFile, Step};

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
