//! Versions of files: where they come from and what became of them.

use jiff::Timestamp;

use crate::core::model::{EditFate, EditState, Report, Sureness, Untrusted, WindowView};
use crate::present::report_index::window_name;
use crate::present::text::tone::Tone;
use crate::present::text::{age, safe};

/// How a session is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionLabel {
    /// The name of its window, if that runs.
    pub(crate) who: Option<String>,
    /// Its title, if it is known and no window runs it.
    pub(crate) title: Option<String>,
    /// Whether no window runs it, nor may.
    pub(crate) has_ended: bool,
}

impl SessionLabel {
    /// Finds the window of a session of this agent.
    pub(crate) fn new(
        report: &Report,
        (session, agent): (&Untrusted, &Untrusted),
        title: Option<&Untrusted>,
    ) -> Self {
        let its = report.windows.iter().find(|window| window.session_id.as_ref() == Some(session));
        // A window of which it is not known which session it runs may run this one.
        let may_run = |window: &WindowView| {
            window.may_run.contains(session)
                || (window.session_id.is_none() && window.agent == *agent)
                || window.session.as_ref().is_some_and(|view| view.id == *session)
        };
        Self {
            who: its.map(window_name),
            title: title.filter(|_| its.is_none()).map(|title| safe(&title.to_string())),
            has_ended: its.is_none() && !report.windows.iter().any(may_run),
        }
    }

    /// Names a session by its window, by its title, or by the beginning of its ID if it has surely ended.
    pub(crate) fn text(&self, session: &Untrusted) -> String {
        /// How many characters of a session's ID are shown.
        const SHORT: usize = 8;
        match (&self.who, &self.title, self.has_ended) {
            (Some(who), ..) => who.clone(),
            (None, Some(title), true) => format!("{title} (ended)"),
            (None, Some(title), false) => title.clone(),
            (None, None, true) => {
                let short: String = session.raw().chars().take(SHORT).collect();
                format!("{} (ended)", safe(&short))
            }
            (None, None, false) => session.to_string(),
        }
    }
}

/// Says where a version comes from, and how sure it is.
pub(crate) fn source_words(from: &str, sure: Sureness) -> String {
    match sure.missing() {
        Some(missing) => format!("{from}, not whole: {missing}"),
        None => format!("{from}, {}", sure.word()),
    }
}

/// Says what became of a version.
pub(crate) fn state_words(fate: &EditFate, now: Timestamp) -> (Tone, String) {
    let since =
        fate.since.map(|since| format!(" for {}", age::label_between(now, since))).unwrap_or_default();
    match (fate.state, &fate.stash) {
        (EditState::Gone, _) => (Tone::Bad, format!("gone{since}")),
        (EditState::Stashed, Some(stash)) => {
            let short: String = stash.raw().chars().take(10).collect();
            (Tone::Warning, format!("stashed: git stash apply {}", safe(&short)))
        }
        (EditState::Stashed, None) => (Tone::Warning, "stashed".to_owned()),
        (EditState::Present, _) => (Tone::Good, "in the file".to_owned()),
        (EditState::Committed, _) => (Tone::Dim, "committed".to_owned()),
        (EditState::Superseded, _) => (Tone::Dim, "edited further".to_owned()),
        (EditState::Unknown, _) => (Tone::Dim, "not known".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_without_a_window_is_called_ended_only_if_it_is() {
        let id = "c1a0de00-0000-4000-8000-000000000001";
        for (title, has_ended, expected) in [
            (Some("Sell things"), true, "Sell things (ended)"),
            (Some("Sell things"), false, "Sell things"),
            (None, true, "c1a0de00 (ended)"),
            (None, false, id),
        ] {
            let label = SessionLabel { who: None, title: title.map(str::to_owned), has_ended };
            assert_eq!(label.text(&id.into()), expected);
        }
        let label = SessionLabel { who: None, title: None, has_ended: true };
        assert_eq!(label.text(&"short".into()), "short (ended)");
    }
}
