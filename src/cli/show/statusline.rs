//! `statusline`: one line for a status bar, which is a window's own where Claude Code asks for it.
//!
//! Agents ask for it at each key, so it waits for no other machine: it says what was last known of them.

use jiff::Timestamp;

use crate::act::fs::system::System;
use crate::act::state::{bind, last_known};
use crate::cli::args::StatusFormat;
use crate::cli::fleet;
use crate::cli::hook::input;
use crate::cli::look;
use crate::cli::output::failure::Outcome;
use crate::cli::output::print;
use crate::cli::settings::Settings;
use crate::cli::settings::signatures::signatures;
use crate::config::Access;
use crate::core::model::report::context::is_valid_id;
use crate::core::model::snapshot::note::ContextSize;
use crate::core::model::snapshot::process::ancestry;
use crate::core::model::{Report, Untrusted, WindowView};
use crate::format::reading::json;
use crate::observe::ReportSource;
use crate::present::summary::statusline::{elsewhere_words, own_words};
use crate::present::summary::{Summary, bars};
use crate::source::os::processes;

/// How long Claude Code may take to send its JSON, in milliseconds, after a look at everything. Other
/// status bars send nothing and may leave the input open.
const PATIENCE_MS: i64 = 200;

/// What Claude Code hands its status line.
struct StatusQuery {
    session: Untrusted,
    size: Option<ContextSize>,
}

/// Looks once at this machine and prints the line.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn run(reports: &mut dyn ReportSource, settings: &Settings, format: StatusFormat) -> Outcome {
    let report = reports.next_report();
    let asked = input::read_all(PATIENCE_MS).ok().and_then(|text| asked(&text));
    let config = &settings.effective.config;
    if let Some(size) = asked.as_ref().and_then(|asked| asked.size.as_ref())
        && config.access != Access::ReadOnly
        && let Err(error) = bind::keep_context(&System, &settings.places.bindings, size)
    {
        tracing::error!("statusline: {error:#}");
    }
    let own = asked.as_ref().and_then(|asked| own_window(&report, &asked.session, settings));
    let words = own.into_iter().flat_map(|window| own_words(&report, window));
    let words = words.chain(Summary::from_report(&report).parts());
    let words: Vec<String> = words.chain(elsewhere(settings, report.taken_at)).collect();
    let between = if config.glyphs.is_ascii() { " | " } else { " · " };
    print(&match format {
        StatusFormat::Text => format!("{}\n", words.join(between)),
        StatusFormat::Waybar => bars::waybar(&report, &words),
        StatusFormat::Swiftbar => bars::swiftbar(&report, &words),
        StatusFormat::Prometheus => bars::prometheus(&report),
    })?;
    Ok(look::exit(&report))
}

/// Says what was last known of the other machines; nothing where nothing is known.
fn elsewhere(settings: &Settings, now: Timestamp) -> Option<String> {
    let sources = fleet::asked_sources(settings);
    if sources.is_empty() {
        return None;
    }
    let known = last_known::read(&settings.state);
    elsewhere_words(known.of_sources(&sources), now)
}

/// Reads what Claude Code sends; `None` for anything else.
fn asked(text: &[u8]) -> Option<StatusQuery> {
    let input = json::parse(text).ok()?;
    let session = input.text("session_id").filter(|id| is_valid_id(id.raw()))?;
    let size = input.object("context_window").and_then(|context| context.int("context_window_size"));
    Some(StatusQuery { size: size.and_then(|size| ContextSize::new(session.clone(), size)), session })
}

/// Finds the window that asks: the nearest above this process, else the one that runs the session.
fn own_window<'a>(report: &'a Report, session: &Untrusted, settings: &Settings) -> Option<&'a WindowView> {
    let pid = processes::own::own_pid();
    let above = signatures(settings).ok().map(|signatures| processes::chain(pid, &signatures.candidates()));
    let above = above.as_ref().map_or_else(Vec::new, |table| ancestry(table, pid));
    let is_above = |window: &&WindowView| {
        above.iter().any(|one| one.id.pid == window.pid && one.id.start_ticks == window.start_ticks)
    };
    let runs = |window: &&WindowView| window.session.as_ref().is_some_and(|own| own.id == *session);
    let windows = || report.windows.iter();
    windows().find(is_above).or_else(|| windows().find(runs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(&str, Option<u64>)>) {
        let asked = asked(text.as_bytes());
        let found =
            asked.as_ref().map(|asked| (asked.session.raw(), asked.size.as_ref().map(|size| size.tokens)));
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn what_claude_code_sends_is_read_and_nothing_else() {
        let size =
            |size: &str| format!(r#"{{"session_id":"s","context_window":{{"context_window_size":{size}}}}}"#);
        check(&size("1000000"), Some(("s", Some(1_000_000))));
        for odd in ["0", "-5", "1e30", "\"x\"", "null", "[]", "99999999999999999999"] {
            check(&size(odd), Some(("s", None)));
        }
        check(r#"{"session_id":"s","context_window":7}"#, Some(("s", None)));
        check(r#"{"session_id":"../s"}"#, None);
        check("", None);
        check("[1]", None);
        check(r#"{"session_id":"s""#, None);
    }
}
