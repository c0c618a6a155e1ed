//! The page of a sheet.

use super::{Sheet, Stage};
use crate::core::model::{Action, ActionResult, Confirmation, EndResult, Offer, Plan};
use crate::present::plan;
use crate::present::text::page::Page;
use crate::present::text::safe;
use crate::present::text::tone::{Mark, Tone};

pub(crate) fn write(page: &mut Page, sheet: &Sheet) {
    write_stage(page, sheet);
    page.pin();
    for result in &sheet.results {
        write_told(page, result);
    }
    if sheet.stage == Stage::Finished {
        return;
    }
    let offers = if sheet.stage == Stage::Working { &sheet.at_work } else { &sheet.offers };
    page.gap();
    for offer in offers.iter().filter(|offer| offers.len() > 1 || offer.plan.is_err()) {
        write_offer(page, sheet.name(&offer.request), offer);
    }
    for offer in offers {
        if let Ok((plan, code)) = &offer.plan {
            page.heading(if sheet.requests.len() > 1 { sheet.name(&offer.request) } else { &plan.name });
            page.field("Machine", sheet.machine.as_deref().unwrap_or_default(), Tone::Strong);
            let code = code.as_deref().unwrap_or("a code");
            let (confirms, tone) = match plan.ends_processes() {
                true => (format!("type {code}: this cannot be undone"), Tone::Bad),
                false => confirmation_words(plan, code),
            };
            plan::write_what(page, plan);
            // However far it is scrolled, what would be done stays in sight of the person who confirms it.
            if sheet.stage == Stage::Asking && offers.len() == 1 && sheet.results.is_empty() {
                page.pin();
            }
            plan::write_rest(page, plan, (&confirms, tone));
        }
    }
}

/// Says in one line what becomes of one of several things.
fn write_offer(page: &mut Page, name: &str, offer: &Offer) {
    let (mark, tone, way) = match &offer.plan {
        Err(why) => (Mark::Warning, Tone::Notice, format!("refused: {}", why.text)),
        Ok((plan, code)) => match (&plan.confirmation, code.as_deref().unwrap_or("a code")) {
            (Confirmation::Yes, _) => (Mark::Info, Tone::Good, "y".to_owned()),
            (Confirmation::Code, code) => (Mark::Unknown, Tone::Notice, format!("type {code}")),
            (Confirmation::FullName, code) => (Mark::Warning, Tone::Bad, format!("type {code}")),
            (Confirmation::Refused, _) => (Mark::Warning, Tone::Notice, "refused".to_owned()),
        },
    };
    page.bullet(mark, &format!("{name}: {way}"), tone);
}

fn write_stage(page: &mut Page, sheet: &Sheet) {
    match sheet.stage {
        Stage::Looking => {
            let asked = sheet.machine.as_ref().map(|machine| format!("Asking {machine} for its plan…"));
            page.bullet(Mark::Info, asked.as_deref().unwrap_or("Looking at the files…"), Tone::Dim);
        }
        Stage::Moved => {
            let more = if sheet.results.is_empty() { "" } else { " more" };
            let moved = format!(
                "Something has changed since this was planned; nothing{more} was touched. Press Esc and plan again."
            );
            page.bullet(Mark::Warning, &moved, Tone::Warning);
        }
        Stage::ReadOnly => {
            page.bullet(Mark::Info, "claimtop is read-only: this is only shown.", Tone::Notice)
        }
        Stage::Working => {
            let (finished, due) = (sheet.results.len(), sheet.due);
            let done = match (&sheet.machine, due.saturating_sub(finished)) {
                (Some(machine), 0 | 1) => format!("In progress on {machine}: Esc leaves it running"),
                (Some(machine), _) => format!(
                    "In progress on {machine}: {finished} of {due} finished; Esc leaves it and cancels the rest"
                ),
                (None, _) => format!("In progress: {finished} of {due} finished; Esc cancels the rest"),
            };
            page.bullet(Mark::Info, &done, Tone::Accent);
        }
        Stage::Finished => {
            let undo = if sheet.undoable().is_some() { "; z undoes the last one" } else { "" };
            page.bullet(Mark::Info, &format!("Finished{undo}"), Tone::Accent);
        }
        Stage::Asking if sheet.takes_yes() => {
            let yes = sheet.plans().filter(|(plan, _)| plan.confirmation == Confirmation::Yes).count();
            let what = match (yes, sheet.offers.len()) {
                (1, 1) => "y does it".to_owned(),
                (yes, all) if yes == all => format!("y does all {yes}"),
                (yes, all) => format!("y does {yes} of {all}"),
            };
            page.bullet(Mark::Info, &what, Tone::Key);
            write_other_ways(page, sheet);
        }
        Stage::Asking if sheet.takes_text() => write_question(page, sheet),
        Stage::Asking if sheet.takes_beside() || sheet.takes_merge() => write_other_ways(page, sheet),
        Stage::Asking => page.bullet(Mark::Info, "None of this can be done.", Tone::Notice),
    }
}

/// Says which keys go another way where something lies in the place.
fn write_other_ways(page: &mut Page, sheet: &Sheet) {
    if sheet.action == Action::Undo && sheet.takes_beside() {
        page.bullet(Mark::Info, "b restores it beside the file that is there now", Tone::Key);
        return;
    }
    if sheet.takes_beside() {
        page.bullet(Mark::Info, "b writes it beside the file that is there now", Tone::Key);
    }
    if sheet.takes_merge() {
        page.bullet(Mark::Info, "m shows what a merge with that file would be", Tone::Key);
    }
}

/// Asks for the text of one plan, and of no other.
fn write_question(page: &mut Page, sheet: &Sheet) {
    let Some((request, plan, code)) = sheet.asking().next() else { return };
    let which = match sheet.answered + sheet.asking().count() {
        1 if sheet.requests.len() == 1 => String::new(),
        1 => format!("{}. ", sheet.name(request)),
        all => format!("{} of {all}: {}. ", sheet.answered + 1, sheet.name(request)),
    };
    let (mark, tone, state, question) = match plan.confirmation {
        _ if plan.ends_processes() => {
            let what = format!("This cannot be undone: {}.", plan.what);
            (Mark::Warning, Tone::Bad, what, "To do it, type")
        }
        _ if plan.conflicts > 0 => {
            let what = "The merge has conflicts: their markers would stay in the file.".to_owned();
            (Mark::Warning, Tone::Notice, what, "To write it anyway, type")
        }
        Confirmation::FullName => (
            Mark::Warning,
            Tone::Bad,
            plan.held_by.as_ref().map_or_else(
                || "A live window holds this.".to_owned(),
                |window| format!("A live window holds this: {}.", safe(window)),
            ),
            "To release it anyway, type its name",
        ),
        Confirmation::Yes | Confirmation::Code | Confirmation::Refused => match &plan.used_by {
            Some(user) => {
                let what = format!("The holder is dead, but {}.", safe(user));
                (Mark::Warning, Tone::Notice, what, "To release it anyway, type")
            }
            None => (
                Mark::Unknown,
                Tone::Notice,
                "Nothing proves whether the holder is alive or dead.".to_owned(),
                "If you know better, type",
            ),
        },
    };
    page.bullet(mark, &format!("{which}{state}"), tone);
    page.bullet(Mark::Info, &format!("{question} {code}, then Enter: {}▌", sheet.typed), Tone::Key);
    if sheet.is_wrong {
        let typed = if sheet.typed.is_empty() { "nothing" } else { &sheet.typed };
        page.bullet(Mark::Warning, &format!("Typed: {typed}. Expected: {code}."), Tone::Warning);
    }
}

fn write_told(page: &mut Page, result: &ActionResult) {
    let (mark, tone, word) = match result.ended {
        Some(EndResult::Done) => (Mark::Alive, Tone::Good, "Done"),
        Some(EndResult::Changed) => (Mark::Quiet, Tone::Notice, "Changed under you, nothing was done"),
        Some(EndResult::Failed) => (Mark::Dead, Tone::Bad, "Failed; everything is as it was"),
        Some(EndResult::Stuck) => (Mark::Dead, Tone::Bad, "Stuck"),
        Some(EndResult::Partly) => (Mark::Warning, Tone::Warning, "Only partly done"),
        Some(EndResult::Unknown) => (Mark::Unknown, Tone::Notice, "Unknown; it is checked later"),
        None => (Mark::Quiet, Tone::Notice, "Not done"),
    };
    let detail = if result.detail.is_empty() { String::new() } else { format!(" ({})", result.detail) };
    page.bullet(mark, &format!("{word}: {}{detail}", result.title), tone);
}

fn confirmation_words(plan: &Plan, code: &str) -> (String, Tone) {
    match plan.confirmation {
        Confirmation::Yes => ("y".to_owned(), Tone::Good),
        Confirmation::Code => {
            if let Some(user) = &plan.used_by {
                return (format!("type {code}: {}", safe(user)), Tone::Notice);
            }
            (format!("type {code}: nothing proves whether the holder is alive or dead"), Tone::Notice)
        }
        Confirmation::FullName if plan.conflicts > 0 => {
            (format!("type {code}: their markers would stay in the file"), Tone::Notice)
        }
        Confirmation::FullName => {
            (format!("type its full name, {code}: a live window holds it and would lose it"), Tone::Bad)
        }
        Confirmation::Refused => ("nothing: this is never done".to_owned(), Tone::Dim),
    }
}
