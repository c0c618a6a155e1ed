//! Stories of Claude Code's registry.

use crate::core::judge::rules::facts::{listed, window_name};
use crate::core::judge::rules::{entries, gone_entry};
use crate::core::judge::story::chain::{Chain, Ending, so};
use crate::core::judge::story::scene::{Scene, all_windows};
use crate::core::model::{Cause, Evidence, Story};

/// The entries of living windows that another program removed.
pub(crate) fn swept(scene: &Scene<'_>) -> Option<Story> {
    let mut chain = Chain::default();
    for window in &scene.windows {
        scene.tell_start(&mut chain, window);
        let gone = gone_entry(window, scene.facts)?;
        let at = gone.at;
        chain.saw(at, format!("{} was in the registry", window_name(window)), [gone]);
    }
    let now = scene.facts.world.snapshot.taken_at;
    let left: Vec<Evidence> = entries(scene.facts).map(|entry| entry.evidence()).collect();
    let names: Vec<String> = scene.windows.iter().map(|window| window_name(window)).collect();
    let (first, who) = match scene.windows.as_slice() {
        [_] => ("its entry has", "it"),
        _ => ("their entries have", "they"),
    };
    let sentence = format!("{first} gone, and {who} still run{}", if names.len() == 1 { "s" } else { "" });
    chain.saw(Some(now), sentence, all_windows(&scene.windows));
    let sentence = match left.is_empty() {
        true => {
            "all entries disappeared at once: a program that sees none of these processes removed them, such as \
                 a container that shares the folder"
        }
        false => {
            "a program that does not see these processes removed their entries and left those that it \
                  sees or that are newer, such as a container that shares the folder"
        }
    };
    let ending = Ending::new(
        Cause::RegistrySwept,
        format!(
            "leave {} running, nothing is lost; give the container a CLAUDE_CONFIG_DIR of its own before its \
             next start",
            listed(&names)
        ),
        "an entry of the window's PID in sessions/: then it is registered after all",
    );
    let evidence: Vec<Evidence> = left.into_iter().chain(all_windows(&scene.windows)).collect();
    chain.end(ending, so(sentence, evidence))
}
