//! Plans that move a legacy record to its present place.

use super::about::{About, file_of};
use crate::core::model::action::{ALWAYS, PUT_BACK};
use crate::core::model::report::context::{CONTEXT_VARIABLE, is_context_id};
use crate::core::model::{
    Code, Confirmation, ContextSource, Format, Generation, Key, Plan, RecordView, Report, Step, Untrusted,
    WindowView,
};

impl About<'_> {
    /// Returns why it is never moved, if so.
    pub(crate) fn never_migrated(&self) -> Option<(&'static str, &'static str)> {
        if self.record.generation == Generation::Current {
            Some(("the record already has its current form", "there is nothing to migrate"))
        } else if self.record.format != Format::Maia {
            Some(("its own system reads both forms", "there is nothing to migrate"))
        } else {
            None
        }
    }

    /// Plans the move of a Maia record to its present place. Its own code never moves the
    /// `context_{PPID}` files, so only the window that the PID provably belongs to may own them.
    pub(crate) fn migration(self) -> Plan {
        let (report, record) = (self.report, self.record);
        let heir = record.window.clone().or_else(|| only_heir(report, record));
        let Some(window) = heir.and_then(|key| report.windows.iter().find(|window| window.key == key)) else {
            return Plan::refused(
                self.key,
                "no live window is proven to own it",
                &candidates(report, record),
            );
        };
        let Some(path) = file_of(record) else {
            return Plan::refused(self.key, "the record is not a file", "there is nothing to migrate");
        };
        let (context, reader) = reader(record, window);
        if !is_context_id(context.raw()) {
            return Plan::refused(self.key, "the context ID is not a file name", "park it");
        }
        let name = format!("~/.maia/sessions/swarm_session_{}.json", context.raw());
        Plan {
            what: format!("move the legacy record {} to {}", record.title, Untrusted::from(name.as_str())),
            why: vec![format!("PID {} is the only window that can own it", window.pid), reader],
            steps: vec![Step::Move { path, to: name.as_str().into() }],
            inverse: PUT_BACK.to_owned(),
            refuses_when: std::iter::once("the new name is taken").chain(ALWAYS).collect(),
            confirmation: Confirmation::Yes,
            ..self.empty()
        }
    }
}

/// Returns the context ID under which Maia will look for a record of a window, and who reads it then. Maia takes
/// `CLAUDE_SESSION_ID`; else the PID of the agent above, if it finds that by its name; else its parent's PID. So if
/// it does not find the agent, it asks again for the PID of the shell that wrote the record.
fn reader<'a>(record: &'a RecordView, window: &'a WindowView) -> (&'a Untrusted, String) {
    let own = &window.context_id;
    if own.source == ContextSource::Env {
        let reader =
            format!("Maia reads that file at every call from this window: {CONTEXT_VARIABLE} gives the ID");
        return (&own.value, reader);
    }
    if window.is_known_to_maia {
        let reader = "Maia reads that file at every call from this window: it finds the agent by its name";
        return (&own.value, reader.to_owned());
    }
    match (&record.context_id, record.pid()) {
        (Some(context), Some(pid)) if pid == window.pid => {
            (context, format!("Maia reads that file when PID {pid} itself calls it, as it did before"))
        }
        (Some(context), Some(pid)) => (
            context,
            format!("Maia reads that file only when PID {pid}, a process of this window, calls it again"),
        ),
        (Some(context), None) => {
            (context, format!("Maia reads that file only if {CONTEXT_VARIABLE} is {context}"))
        }
        (None, _) => (
            &own.value,
            format!(
                "Maia reads that file only if its hook exports {CONTEXT_VARIABLE}=$(claimtop context-id): otherwise it uses \
                 the PID of the shell that calls it"
            ),
        ),
    }
}

/// Names the windows that could own a legacy record.
fn candidates(report: &Report, record: &RecordView) -> String {
    let ambiguous = report.findings.iter().find(|finding| {
        finding.code == Code::AmbiguousLegacy && finding.subjects.first() == Some(&record.key)
    });
    let windows = ambiguous.map_or(&[] as &[Key], |finding| finding.subjects.get(1..).unwrap_or_default());
    let pids: Vec<String> = windows
        .iter()
        .filter_map(|key| report.windows.iter().find(|window| &window.key == key))
        .map(|window| window.pid.to_string())
        .collect();
    match pids.as_slice() {
        [] => "park it, or wait until one window can own it".to_owned(),
        pids => format!(
            "it could be that of PID {}; park it, or wait until one window can own it",
            pids.join(", ")
        ),
    }
}

/// Returns the one window that the machine-wide file can belong to, if exactly one can.
fn only_heir(report: &Report, record: &RecordView) -> Option<Key> {
    let legacy = report.findings.iter().find(|finding| {
        finding.code == Code::LegacyRecord && finding.subjects.first() == Some(&record.key)
    })?;
    match &*legacy.subjects {
        [_, window] => Some(window.clone()),
        _ => None,
    }
}
