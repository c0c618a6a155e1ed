//! Whether a session lives, or the agent in a pane.

use super::answer::{Answer, Subject};
use crate::cli::Scene;
use crate::core::assess::assess;
use crate::core::judge::session::lives::{judge_pane, judge_session};
use crate::core::judge::world::World;
use crate::core::model::Untrusted;

/// Answers for a session.
pub(super) fn of_session(id: &str, mut scene: Scene) -> Answer {
    let snapshot = scene.observer.look();
    let policy = scene.observer.policy();
    let report = assess(&snapshot, policy);
    let session = Untrusted::from(id);
    let life = judge_session(&session, &report, &World::new(&snapshot, &policy.signatures));
    Answer::of_look(Subject::Session(session), life, &snapshot)
}

/// Answers for the agent in a pane.
pub(super) fn of_pane(pane: &str, mut scene: Scene) -> Answer {
    let snapshot = scene.observer.look();
    let report = assess(&snapshot, scene.observer.policy());
    let pane = Untrusted::from(pane);
    let life = judge_pane(&pane, &report);
    Answer::of_look(Subject::Pane(pane), life, &snapshot)
}
