//! Findings about old forms: legacy records, split generations, and files without an owner.

use crate::core::judge::rules::facts::{Facts, window_evidence, window_name};
use crate::core::judge::rules::found::Findings;
use crate::core::model::{
    Code, Finding, Format, Generation, JudgedRecord, RecordKind, Remedy, Sentence, VerdictState, WindowView,
};

/// Finds records in old forms.
pub(crate) fn of_record<'a>(judged: &'a JudgedRecord, facts: &'a Facts<'a>, found: &mut Findings<'_>) {
    if judged.record.generation == Generation::Legacy && judged.record.kind == RecordKind::Session {
        found.push(finding(judged, facts));
        found.extend(split(judged, facts));
    }
}

fn finding(judged: &JudgedRecord, facts: &Facts<'_>) -> Finding {
    let is_global = judged.record.format == Format::Maia && judged.record.context_id.is_none();
    if is_global {
        return tell_global(judged, facts);
    }
    let text = judged.record.problems.iter().find(|problem| problem.code == Code::LegacyRecord);
    let what = text.map_or("in an old form", |problem| problem.message.as_str());
    let remedy = match judged.verdict.state {
        VerdictState::Alive if judged.window_pid.is_some() => Remedy::Migrate,
        VerdictState::Dead => Remedy::Park,
        VerdictState::Alive | VerdictState::Unknown => Remedy::None,
    };
    let message = Sentence::with_subject(&judged.record.title, what);
    Finding::new(Code::LegacyRecord, [judged.key.clone()], message, [judged.evidence()], remedy)
}

/// The one file per machine: the next window without a record of its own adopts it.
fn tell_global(judged: &JudgedRecord, facts: &Facts<'_>) -> Finding {
    let heirs: Vec<&WindowView> = facts.windows.iter().filter(|window| may_inherit(window, facts)).collect();
    let mut evidence = vec![judged.evidence()];
    evidence.extend(heirs.iter().map(|window| window_evidence(window)));
    let subjects = std::iter::once(judged.key.clone()).chain(heirs.iter().map(|window| window.key.clone()));
    let title = &judged.record.title;
    let is_younger = |window: &WindowView| {
        window.started_at.is_some_and(|at| facts.world.is_after(at, judged.record.written_at))
    };
    if let [only] = heirs.as_slice()
        && !is_younger(only)
    {
        let message = format!("{title}: the machine-wide legacy file; only {} can own it", window_name(only));
        return Finding::new(Code::LegacyRecord, subjects, message, evidence, Remedy::Migrate);
    }
    let message = match heirs.len() {
        0 => format!("{title}: the machine-wide legacy file has no owner; the next window would inherit it"),
        1 => format!(
            "{title}: the machine-wide legacy file was written before the only window that could adopt it \
             started: its owner is unknown, and that window would inherit it"
        ),
        n => format!(
            "{title}: the machine-wide legacy file could belong to any of {n} windows; the first to look adopts it"
        ),
    };
    Finding::new(Code::AmbiguousLegacy, subjects, message, evidence, Remedy::Park)
}

/// Returns whether a window would adopt the global file: Claude Code without a record of Maia's.
fn may_inherit(window: &WindowView, facts: &Facts<'_>) -> bool {
    window.agent.raw().contains("claude")
        && !facts
            .records
            .iter()
            .any(|judged| judged.record.format == Format::Maia && judged.window_pid == Some(window.pid))
}

/// A legacy and a current record of one context: only the current one is read.
fn split<'a>(old: &'a JudgedRecord, facts: &Facts<'a>) -> Option<Finding> {
    let id = old.record.context_id.as_ref()?;
    let same = facts.index.sessions(old.record.format, id);
    let new = same.iter().find(|new| new.record.generation == Generation::Current)?;
    let message = format!("context {id} has an old and a current record; only the current one is read");
    let evidence = [old.evidence(), new.evidence()];
    let subjects = [old.key.clone(), new.key.clone()];
    Some(Finding::new(Code::SplitGenerations, subjects, message, evidence, Remedy::Park))
}
