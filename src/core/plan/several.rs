//! The plan of one action on several records: one confirmation and one undo for all.

use crate::core::model::{Action, Confirmation, Key, Plan, Report, Step};
use crate::core::plan::about::plan_for;

/// Plans the same for each of several records, and names what stays: a living record takes its own full name.
pub(crate) fn plan_several(report: &Report, keys: &[Key], action: Action) -> Plan {
    let nothing = |why: &str| {
        let first = keys.first().cloned().unwrap_or_else(|| Key::typed("nothing"));
        Plan::refused(&first, "these cannot be released together", why)
    };
    let (mut parts, mut stays) = (Vec::<Plan>::new(), Vec::new());
    for key in keys {
        let plan = Plan { follows: Vec::new(), ..plan_for(report, key, action) };
        let is_new = |step: &Step| parts.iter().all(|part| !part.steps.contains(step));
        match plan.confirmation {
            Confirmation::Yes | Confirmation::Code if plan.steps.iter().any(is_new) => parts.push(plan),
            Confirmation::Yes | Confirmation::Code => {}
            Confirmation::FullName => stays.push(format!("stays: {} (a live window holds it)", plan.name)),
            Confirmation::Refused => {
                stays.extend(plan.refusal.map(|why| format!("stays: {} ({why})", name_of(report, key))));
            }
        }
    }
    if parts.is_empty() {
        return nothing(&stays.join("; "));
    }
    let is_sure = parts.iter().all(|part| part.confirmation == Confirmation::Yes);
    let (confirmation, why) = match is_sure {
        true => (Confirmation::Yes, "the holder of each is proven dead"),
        false => (Confirmation::Code, "for some, nothing proves whether the holder is alive or dead"),
    };
    let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    let word = if action == Action::Park { "park" } else { "let go" };
    let subject = parts.first().map_or_else(|| Key::typed("nothing"), |part| part.subject.clone());
    Plan {
        name: format!("{} records", parts.len()),
        what: format!("{word} {} records together: {}", parts.len(), names.join(", ")),
        why: std::iter::once(why.to_owned()).chain(stays).collect(),
        inverse: "undo takes back everything that was done".to_owned(),
        refuses_when: vec!["a part has changed since it was seen; the other parts still go ahead"],
        confirmation,
        follows: parts,
        ..Plan::empty(&subject)
    }
}

/// Returns the title of the record that a key names, else the key.
fn name_of(report: &Report, key: &Key) -> String {
    let record = report.records().find(|record| record.key == *key);
    record.map_or_else(|| key.to_string(), |record| record.title.shown())
}
