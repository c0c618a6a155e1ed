//! The story of checkpoints whose branch is gone.

use jiff::Timestamp;

use crate::core::judge::rules::facts::{file_name, listed};
use crate::core::judge::story::chain::{Chain, Ending, so};
use crate::core::judge::story::scene::{Scene, session_name};
use crate::core::model::{Cause, Entire, Evidence, Format, JudgedRecord, RecordKind, Story, Untrusted};

/// A session's checkpoints wait on a branch that is gone.
pub(crate) fn lost(scene: &Scene<'_>) -> Option<Story> {
    let judged = scene.records.first()?;
    let entire = judged.record.detail.entire()?;
    let branch = entire.shadow_branch.as_ref()?;
    let mut chain = Chain::default();
    scene.tell_begin(&mut chain, judged);
    let says = format!(", with {} checkpoints on {branch}", entire.checkpoints);
    scene.tell_write(&mut chain, judged, &says);
    let others: Vec<&JudgedRecord> =
        scene.facts.records.iter().filter(|other| shares(other, judged, entire)).collect();
    for other in &others {
        scene.tell_begin(&mut chain, other);
        let at = other.record.heartbeat_at.unwrap_or(other.record.written_at);
        let sentence = match entire_of(other).and_then(|own| own.last_checkpoint.as_ref()) {
            Some(checkpoint) => {
                format!(
                    "{} works in the same tree; its last commit is checkpoint {checkpoint}",
                    session_name(other)
                )
            }
            None => {
                format!("{} works in the same tree, on the same branch of checkpoints", session_name(other))
            }
        };
        chain.saw(Some(at), sentence, [other.evidence()]);
    }
    let names: Vec<String> = others.iter().map(|other| session_name(other)).collect();
    let who = if names.is_empty() { "another session of this tree".to_owned() } else { listed(&names) };
    let sentence = format!(
        "all sessions of one commit and tree share {branch}, and entire deletes it when a commit takes the checkpoints \
         of one: the commit of {who} deleted it for {}",
        session_name(judged)
    );
    let ending = Ending::new(
        Cause::BranchDeleted,
        format!(
            "run the command before the next commit in this tree: it recreates {branch} from the newest lost checkpoint of {}",
            session_name(judged)
        ),
        format!("{branch} among git's branches, or no checkpoint in {}", file_name(judged)),
    );
    let evidence: Vec<Evidence> =
        std::iter::once(judged.evidence()).chain(others.iter().map(|one| one.evidence())).collect();
    chain.end(ending, so(sentence, evidence))
}

fn entire_of(judged: &JudgedRecord) -> Option<&Entire> {
    judged.record.detail.entire().filter(|_| judged.record.kind == RecordKind::Session)
}

/// Returns whether another session's checkpoints are kept on the same branch, or were: they lie in one tree, and it
/// has done something since the first one began.
fn shares(other: &JudgedRecord, judged: &JudgedRecord, entire: &Entire) -> bool {
    let began: Option<Timestamp> = judged.record.started_at;
    let is_later = other.record.heartbeat_at.zip(began).is_some_and(|(last, began)| last >= began);
    let tree = |own: &Entire| own.worktree_id.as_ref().map(Untrusted::raw).unwrap_or_default().to_owned();
    other.key != judged.key
        && other.record.format == Format::Entire
        && is_later
        && other.record.cwd == judged.record.cwd
        && entire_of(other).is_some_and(|own| tree(own) == tree(entire))
}
