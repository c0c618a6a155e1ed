//! The story of a port that two windows want.

use crate::core::judge::rules::facts::window_name;
use crate::core::judge::rules::place::ports::{could_not, listens, wanted};
use crate::core::judge::story::chain::{Chain, Ending, so};
use crate::core::judge::story::scene::{Scene, all_windows};
use crate::core::model::{Cause, Story, WindowView};

/// A command of one window could not listen where another does.
pub(crate) fn contested(scene: &Scene<'_>) -> Option<Story> {
    let is_here = |window: &WindowView| scene.windows.iter().any(|one| one.key == window.key);
    let wanted = wanted(scene.facts).find(|wanted| is_here(wanted.by) && is_here(wanted.holder))?;
    let (holder, by) = (window_name(wanted.holder), window_name(wanted.by));
    let port = wanted.taken.port;
    let mut chain = Chain::default();
    scene.tell_starts(&mut chain);
    let listener = &wanted.listener;
    chain.saw(
        scene.facts.world.started_at(listener),
        format!("{holder} started {} (PID {}), which listens on port {port}", listener.comm, listener.id.pid),
        [listens(&wanted)],
    );
    let refused: Vec<_> = could_not(&wanted).into_iter().collect();
    chain.saw(wanted.taken.at, format!("a command of {by} could not listen on port {port}"), refused);
    let sentence =
        format!("one port has one listener: {by} has to wait for {holder}, or to take another port");
    let ending = Ending::new(
        Cause::PortTaken,
        format!("give {by} another port, or end {} (PID {}) in {holder}", listener.comm, listener.id.pid),
        format!("no process listens on port {port} any more"),
    );
    let story = chain.end(ending, so(sentence, all_windows(&scene.windows)))?;
    Some(Story { yields: vec![wanted.by.key.clone()], ..story })
}
