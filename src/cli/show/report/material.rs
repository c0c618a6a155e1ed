//! What a report is made of, and everything in it that is dated.

use std::sync::Arc;

use jiff::Timestamp;

use crate::core::history::journal::Entry;
use crate::core::history::timeline::Past;
use crate::core::model::{Certitude, Report};
use crate::present::machine::there;
use crate::present::need::doing::Prompts;
use crate::present::plan::{title, unless_done};
use crate::present::report_index::window_and_pid;
use crate::present::words;

/// The most lines of the timeline.
const MOMENTS: usize = 400;

/// What a report is made of.
pub(crate) struct Material {
    pub(crate) report: Arc<Report>,
    /// Whether it includes what windows were asked.
    pub(crate) prompts: Prompts,
    /// What was observed before, as far as it was kept.
    pub(crate) past: Vec<Past>,
    /// What claimtop did.
    pub(crate) acts: Vec<Entry>,
}

/// One line of the timeline.
pub(super) struct Moment {
    pub(super) at: Timestamp,
    pub(super) sentence: String,
    pub(super) from: String,
}

impl Material {
    /// Returns everything that is dated, the newest first: the events of stories, windows and
    /// claims say of themselves, what was observed, and what was done.
    pub(super) fn timeline(&self) -> Vec<Moment> {
        let mut all: Vec<Moment> = self.moments().chain(self.seen()).chain(self.done()).collect();
        all.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| a.sentence.cmp(&b.sentence)));
        all.dedup_by(|a, b| a.at == b.at && a.sentence == b.sentence);
        all.truncate(MOMENTS);
        all
    }

    fn moments(&self) -> impl Iterator<Item = Moment> {
        let stories =
            self.report.findings.iter().filter_map(|finding| Some((finding, finding.story.as_ref()?)));
        let events =
            stories.flat_map(|(finding, story)| story.events.iter().map(move |event| (finding, event)));
        let moments =
            events.filter(|(_, event)| event.known == Certitude::Observed).filter_map(|(finding, event)| {
                let from =
                    event.evidence.first().map_or_else(String::new, |evidence| evidence.source.shown());
                Some(Moment { at: event.at?, sentence: there(&finding.subjects, event.told.clone()), from })
            });
        let started = self.report.windows.iter().filter_map(|window| {
            let started = format!("{} started", window_and_pid(window));
            Some(Moment {
                at: window.started_at?,
                sentence: started,
                from: format!("/proc/{}/stat", window.pid),
            })
        });
        moments.chain(started)
    }

    fn seen(&self) -> impl Iterator<Item = Moment> {
        self.past.iter().map(|past| Moment {
            at: past.at,
            sentence: past.told.clone(),
            from: "seen by claimtop".to_owned(),
        })
    }

    fn done(&self) -> impl Iterator<Item = Moment> {
        self.acts.iter().map(|entry| {
            let end = unless_done(entry);
            Moment {
                at: entry.at,
                sentence: format!("{}: {}{end}", words::action(entry.intent.action), title(entry)),
                from: format!("journal entry {}", entry.number),
            }
        })
    }
}
