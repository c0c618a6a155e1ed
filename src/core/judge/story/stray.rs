//! The story of an agent that runs under an ID that Obra's database does not have, or has ended.

use crate::core::judge::rules::facts::{window_evidence, window_name};
use crate::core::judge::rules::system::stray::strays;
use crate::core::judge::story::chain::{Chain, Ending, so};
use crate::core::judge::story::scene::Scene;
use crate::core::model::{Cause, Evidence, Story};

/// An agent that Obra started runs under an ID that it does not know, or has ended.
pub(crate) fn stray(scene: &Scene<'_>) -> Option<Story> {
    let window = scene.windows.first().filter(|_| scene.records.is_empty())?;
    let stray = strays(scene.facts).into_values().find(|stray| stray.process.id.pid == window.pid)?;
    let (name, world) = (window_name(window), scene.facts.world);
    let mut chain = Chain::default();
    if let Some(by) = stray.started_by {
        let source = format!("/proc/{}/cmdline", by.id.pid);
        let evidence = Evidence::new("process", format!("{} {}", by.comm, by.id.pid), source);
        let sentence = format!("Obra (PID {}) started, and has {} open", by.id.pid, stray.database.name);
        chain.saw(world.started_at(by), sentence, [evidence]);
    }
    scene.tell_start(&mut chain, window);
    let (sentence, advice) = match stray.row {
        Some(row) => {
            let sentence = format!("Obra ended session {}: its row stands as {}", row.id, row.status);
            chain.saw(row.ended_at, sentence, stray.evidence());
            let sentence = format!(
                "{name} has outlived the row of its session: anything it still does is filed under a finished one"
            );
            (sentence, format!("let {name} end, or close it, before its task is started again"))
        }
        None => {
            chain.saw(
                None,
                format!("{} has no row of session {}", stray.database.name, stray.session),
                stray.evidence(),
            );
            let sentence =
                format!("{name} was given an ID that was never stored, so that no row can be updated by it");
            (
                sentence,
                "end the run, and restart it once Obra stores the ID before it starts its agent".to_owned(),
            )
        }
    };
    let would_change = format!("an open row of session {} in {}", stray.session, stray.database.name);
    let ending = Ending::new(Cause::StrayId, advice, would_change);
    chain.end(ending, so(sentence, [window_evidence(window)]))
}
