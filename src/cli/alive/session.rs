//! Whether a session lives, or the agent in a pane.

use super::answer::{Answer, Subject};
use crate::core::assess::assess;
use crate::core::judge::session::lives::{judge_pane, judge_session};
use crate::core::judge::world::World;
use crate::core::model::Untrusted;
use crate::observe::Observer;

/// Answers for a session.
pub(super) fn of_session(id: &str, observer: &mut Observer) -> Answer {
    let snapshot = observer.look();
    let policy = observer.policy();
    let report = assess(&snapshot, policy);
    let session = Untrusted::from(id);
    let life = judge_session(&session, &report, &World::new(&snapshot, &policy.signatures));
    Answer::of_look(Subject::Session(session), life, &snapshot)
}

/// Answers for the agent in a pane.
pub(super) fn of_pane(pane: &str, observer: &mut Observer) -> Answer {
    let snapshot = observer.look();
    let report = assess(&snapshot, observer.policy());
    let pane = Untrusted::from(pane);
    let life = judge_pane(&pane, &report);
    Answer::of_look(Subject::Pane(pane), life, &snapshot)
}
