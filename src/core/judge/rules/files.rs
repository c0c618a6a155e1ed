//! Findings about files and sources: corrupt, torn, special, foreign, unreadable.

use crate::core::judge::rules::facts::Facts;
use crate::core::judge::rules::found::Findings;
use crate::core::model::{
    BrokenFile, Code, Evidence, Finding, JudgedRecord, Key, KeyKind, Problem, Remedy, Sentence, SourceHealth,
    SourceState, StatedPid,
};

/// Finds problems that reading itself showed.
pub(crate) fn findings<'a>(facts: &'a Facts<'a>, found: &mut Findings<'_>) {
    let snapshot = facts.world.snapshot;
    found.extend(snapshot.broken.iter().map(of_broken));
    found.extend(snapshot.sources.iter().filter_map(of_source));
    found.extend(partial(facts));
}

/// Finds problems that reading one record showed; legacy forms are reported by their own family.
pub(crate) fn of_record(judged: &JudgedRecord, found: &mut Findings<'_>) {
    let problems = judged.record.problems.iter().filter(|problem| problem.code != Code::LegacyRecord);
    found.extend(problems.map(|Problem { code, message }| {
        let message = Sentence::with_subject(judged.path(), message.clone());
        Finding::new(*code, [judged.key.clone()], message, [judged.evidence()], remedy(*code))
    }));
    found.extend(of_pid(judged));
}

/// Reports a PID that no user process has: 0, 1, negative, too large or not a number.
fn of_pid(judged: &JudgedRecord) -> Option<Finding> {
    let StatedPid::Bad(pid) = judged.record.holder.as_ref()?.pid.as_ref()? else { return None };
    let says = format!("states {pid} as a PID, which no agent can have");
    let message = Sentence::with_subject(judged.path(), says);
    let evidence = [judged.evidence(), Evidence::new("pid", pid.clone(), "record")];
    let code = Code::CorruptRecord;
    Some(Finding::new(code, [judged.key.clone()], message, evidence, remedy(code)))
}

fn of_broken(broken: &BrokenFile) -> Finding {
    let path = broken.path.text();
    let message = Sentence::with_subject(path, broken.problem.message.clone());
    let evidence =
        Evidence::new("file", broken.problem.message.as_str(), path.clone()).dated(broken.written_at);
    Finding::new(broken.problem.code, [broken.key()], message, [evidence], remedy(broken.problem.code))
}

/// Returns the remedy for a problem of a file: a corrupt or left-over one can be parked when a person asks for it;
/// everything odd is left alone.
fn remedy(code: Code) -> Remedy {
    let may_park = matches!(code, Code::CorruptRecord | Code::LeftoverTemp);
    if may_park { Remedy::Park } else { Remedy::None }
}

fn of_source(source: &SourceHealth) -> Option<Finding> {
    let message = match source.state {
        SourceState::Failed => format!("{} could not be read: {}", source.id, source.detail),
        SourceState::Partial if source.id != "processes" => {
            format!("{} could be read only in part: {}", source.id, source.detail)
        }
        SourceState::Ok | SourceState::Absent | SourceState::Partial => return None,
    };
    let key = Key::derive(KeyKind::Source, &[&source.id]);
    let evidence = Evidence::new("source", source.detail.clone(), source.id.as_str());
    Some(Finding::new(Code::SourceFailed, [key], message, [evidence], Remedy::None))
}

fn partial(facts: &Facts<'_>) -> Option<Finding> {
    let why = facts.world.snapshot.processes.partial.as_ref()?;
    let message = format!("not all processes can be seen ({why}): an unseen process is never called dead");
    let evidence = Evidence::new("process scan", why.as_str(), "/proc");
    Some(Finding::new(
        Code::PartialScan,
        [Key::derive(KeyKind::Source, &["processes"])],
        message,
        [evidence],
        Remedy::None,
    ))
}
