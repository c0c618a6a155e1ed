//! The oracle of left-overs: who needs a process in truth, whatever claimtop can see.
//!
//! **Nothing that a living window or a person needs is offered or signalled.** The processes that a window has started
//! belong to it until it ends, and then to the one that continued its work; an agent and the processes that a person
//! has started must never be ended.

use claimtop::core::model::{Certainty, LeftOver, Report};
use jiff::SignedDuration;

use crate::local::kin::Whose;
use crate::local::processes::Life;
use crate::local::world::World;

/// Returns whether a living process is needed.
pub(crate) fn is_needed(world: &World, life: Life) -> bool {
    let person = &world.processes.all[life];
    person.state.is_alive()
        && match &person.kin.whose {
            Whose::Own => true,
            Whose::Of(users) => users.iter().any(|user| world.processes.is_alive(*user)),
        }
}

/// Describes to whom a process belongs.
fn told(world: &World, life: Life) -> String {
    let person = &world.processes.all[life];
    format!("life {life}, {:?} {} of {:?}, {:?}", person.sort, person.pid, person.kin.whose, person.kin.env)
}

/// Checks the offers of a look.
pub(crate) fn check_offers(world: &mut World, report: &Report, listed_at: SignedDuration) {
    for one in &report.left_overs {
        world.tally.count(format!("left-over: {}", one.certainty.name()));
        if one.may_be_ended() {
            world.tally.count("offered");
            check_offer(world, one, listed_at);
        }
    }
}

fn check_offer(world: &mut World, one: &LeftOver, listed_at: SignedDuration) {
    let visibility = world.fault_model.visibility;
    for member in &one.tree {
        let life = world.processes.life_at(member.id.pid, visibility);
        let life = life.filter(|life| world.processes.id(*life, visibility) == Some(member.id));
        // An ending notices a process that has become an agent since.
        let is_since = |life: &Life| world.became_agents.get(life).is_some_and(|at| *at >= listed_at);
        if let Some(life) = life.filter(|life| is_needed(world, *life) && !is_since(life)) {
            let told = told(world, life);
            world.breach(format!("offered as {}, and needed: {told} ({})", one.certainty.name(), one.why));
        }
    }
    if one.certainty == Certainty::Exact {
        check_exact(world, one);
    }
}

/// Checks that it belonged to that window, and that the window is long dead.
fn check_exact(world: &mut World, one: &LeftOver) {
    let visibility = world.fault_model.visibility;
    let Some(life) = world.processes.life_at(one.pid, visibility) else { return };
    let Whose::Of(users) = &world.processes.all[life].kin.whose else { return };
    let window = users.first().map(|life| &world.processes.all[*life]);
    let ended = users.first().and_then(|life| world.ended.get(life)).copied();
    let is_its = window.is_some_and(|window| Some(window.own_pid()) == one.window_pid);
    let is_long_dead = ended.is_some_and(|at| world.up_for() >= at + SignedDuration::from_secs(118));
    if !is_its || !is_long_dead {
        let told = told(world, life);
        world.breach(format!("taken for exact, and is not: {told}, which ended at {ended:?}"));
    }
}

/// Checks the process that a signal reaches.
pub(crate) fn check_signal(world: &mut World, life: Life) {
    world.tally.count("signals");
    if is_needed(world, life) {
        let told = told(world, life);
        world.breach(format!("signalled, and needed: {told}"));
    }
}
