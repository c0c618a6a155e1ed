//! What is known of an entry of the journal.

use crate::app::rows::history::outcome;
use crate::core::history::journal::{Entry, NOT_BACK, NOT_CLOSED};
use crate::core::history::movement::Movement;
use crate::core::model::{ProcessPrint, RowChange};
use crate::present::text::fact;
use crate::present::text::page::Page;
use crate::present::text::tone::{Line, Tone};
use crate::present::words;

/// Writes everything about an entry and returns its title.
pub(crate) fn write(page: &mut Page, entry: &Entry) -> String {
    page.lines.push(Line(vec![outcome(entry)]));
    if let Some(outcome) = &entry.outcome {
        page.field("Detail", &outcome.detail, Tone::Plain);
    }
    page.field("What", &entry.intent.title, Tone::Strong);
    page.field("Why", &entry.intent.why, Tone::Plain);
    page.moment("When", Some(entry.at));
    for (at, movement) in entry.intent.movements.iter().enumerate() {
        page.field(if at == 0 { "Steps" } else { "" }, &self::movement(movement), Tone::Plain);
    }
    page.field("Undo", &undo(entry), Tone::Dim);
    format!("Entry {}: {}", entry.number, words::action(entry.intent.action))
}

fn movement(movement: &Movement) -> String {
    match movement {
        Movement::Take { from, parked, print } => {
            format!("took {} ({} bytes) and parked it as {}", from.display(), print.size, parked.text().raw())
        }
        Movement::Put { parked, to, .. } => format!("put {} to {}", parked.text().raw(), to.display()),
        Movement::Exchange { path, parked, .. } => {
            format!("gave {} new content and parked the old as {}", path.display(), parked.text().raw())
        }
        Movement::Rows { database, changes, backup, .. } => {
            let rows: Vec<String> = changes.iter().map(RowChange::to_text).collect();
            let copy =
                backup.as_ref().map_or_else(String::new, |name| format!("; copied it before as {name}"));
            format!("in {database}: {}{copy}", rows.join("; "))
        }
        Movement::Stop { signal, processes } => {
            let one =
                |print: &ProcessPrint| format!("PID {} ({})", print.id.pid, fact(&print.command.to_string()));
            let all: Vec<String> = processes.iter().map(one).collect();
            format!("sent {} to {}", signal.name(), all.join(", "))
        }
    }
}

fn undo(entry: &Entry) -> String {
    match entry.undone_by {
        Some(by) => format!("undone by entry {by}"),
        None if entry.can_be_undone() => "z shows how".to_owned(),
        None if entry.is_open() => "it was interrupted, or is being done: z puts it right".to_owned(),
        None if entry.is_stop() => NOT_BACK.to_owned(),
        None if entry.is_opening() => NOT_CLOSED.to_owned(),
        None if entry.pruned => "its parked files were removed for good".to_owned(),
        None => "there is nothing to undo".to_owned(),
    }
}
