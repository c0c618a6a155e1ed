//! The ways in which windows end, and which processes end with them (as measured with Claude Code 2.1.330).

use crate::local::kin;
use crate::local::processes::{Life, State};
use crate::local::programs::Sort;
use crate::local::world::World;

/// How a window ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// In good order: it asks its children to end; a process behind a wrapper may stay.
    Exit,
    /// Its terminal is closed: only processes that have left it stay.
    Hangup,
    Kill,
    KillGroup,
    /// Its session continues in the background, with its shells.
    Move,
}

const ENDS: [End; 6] = [End::Exit, End::Hangup, End::Kill, End::Kill, End::KillGroup, End::Exit];

/// Ends a process in any way.
pub(crate) fn end(world: &mut World, life: Life) {
    let end = world.rng.pick(&ENDS).copied().unwrap_or(End::Kill);
    ended(world, life, end);
}

/// Ends a window in good order.
pub(crate) fn exit(world: &mut World, life: Life) {
    ended(world, life, End::Exit);
}

/// Ends a window whose session continues in the background.
pub(crate) fn move_away(world: &mut World, life: Life) {
    ended(world, life, End::Move);
}

fn ended(world: &mut World, life: Life, end: End) {
    if matches!(world.processes.all[life].sort, Sort::Claude | Sort::Opencode) {
        let below = kin::below(world, life);
        if !below.is_empty() {
            world.tally.count(format!("ended with children: {end:?}"));
        }
        for other in below {
            if ends_too(world, life, other, end) {
                world.set(other, State::Gone);
            }
        }
    }
    let is_reaped = world.rng.happens(700);
    world.set(life, if is_reaped { State::Gone } else { State::Zombie });
}

fn ends_too(world: &mut World, window: Life, other: Life, end: End) -> bool {
    let person = &world.processes.all[other];
    if !person.sort.is_left_by_windows() {
        return false;
    }
    let (is_in_group, is_rude, is_tool) =
        (person.kin.group == Some(window), person.kin.is_rude, person.kin.tasks.is_some());
    let is_wrapped = person.parent != Some(window);
    match end {
        End::Exit if is_wrapped && !is_tool => world.rng.happens(500),
        End::Exit | End::Hangup => true,
        End::Kill => is_in_group && !is_rude && !is_wrapped && world.rng.happens(700),
        End::KillGroup => is_in_group,
        End::Move => is_in_group && !is_wrapped,
    }
}
