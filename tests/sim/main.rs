//! A seeded simulation of a whole world: processes, files, clocks, other writers and several
//! claimtops, against an oracle that knows the truth.
//!
//! Two invariants hold over every seed: **no claim is let go whose true owner lives**, and **no
//! byte is lost** (see `oracle.rs` for what exactly that means). `CLAIMTOP_SIM_SEEDS=50000` runs
//! more seeds, from `CLAIMTOP_SIM_FIRST` on; `CLAIMTOP_SIM_SEED=7` replays one and prints all that
//! happened in it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a simulation says by panicking what is wrong"
)]

mod background;
mod claimtop;
mod deaths;
mod disk;
mod files;
mod kin;
mod ledger;
mod machine;
mod observer;
mod oracle;
mod persons;
mod processes;
mod programs;
mod rng;
mod run;
mod scheduler;
mod tally;
mod texts;
mod traces;
mod whose;
mod world;
mod writers;

use crate::claimtop::Manner;
use crate::disk::DiskFault;
use crate::files::Belief;
use crate::observer::{Credit, ScanMode};
use crate::run::{Outcome, Trace, run, run_all};

/// How many steps a seed has.
const STEPS: usize = 200;

/// How many seeds a default run has.
const SEEDS: u64 = 2_000;

/// How many seeds a control may take to be found out.
const CONTROL_SEEDS: u64 = 2_000;

/// In how many seeds everything comes about that actions can end as.
const COMMON_SEEDS: u64 = 400;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

fn told(broken: &[Outcome]) -> String {
    let told = broken.iter().map(|outcome| {
        format!(
            "seed {} (replay with CLAIMTOP_SIM_SEED={}): {:?}\n  {}\nits last events:\n{}",
            outcome.seed,
            outcome.seed,
            outcome.fault_model,
            outcome.breaches.join("\n  "),
            outcome.trace
        )
    });
    told.collect()
}

#[test]
fn nothing_that_lives_is_let_go_and_no_byte_is_lost() {
    let manner = Manner::Real(ScanMode::Whole);
    if let Some(seed) = number("CLAIMTOP_SIM_SEED") {
        let outcome = run(seed, manner, Trace::All);
        println!("{}", told(std::slice::from_ref(&outcome)));
        return assert_eq!(outcome.breaches, Vec::<String>::new());
    }
    let seeds = number("CLAIMTOP_SIM_SEEDS").unwrap_or(SEEDS);
    let (tally, broken) = run_all(number("CLAIMTOP_SIM_FIRST").unwrap_or(0)..seeds, manner, 4);
    println!("{}", tally.table());
    assert!(broken.is_empty(), "{}", told(&broken));
}

/// Fails unless claimtops that behave so break something, and are found out by these words.
#[track_caller]
fn check_control(manner: Manner, words: &str) {
    check_control_in(CONTROL_SEEDS, manner, words);
}

#[track_caller]
fn check_control_in(seeds: u64, manner: Manner, words: &str) {
    let (_, broken) = run_all(0..seeds, manner, 1);
    let breaches = broken.iter().flat_map(|outcome| &outcome.breaches);
    let found = breaches.filter(|breach| breach.contains(words)).count();
    assert!(found > 0, "{manner:?} was not found out in {seeds} seeds by {words:?}");
    println!("{manner:?}: {found} times {words:?}, in {} seeds", broken.len());
}

#[test]
fn moving_away_what_was_dead_a_moment_ago_is_found_out() {
    check_control(Manner::Naive, "its owner lives");
}

#[test]
fn taking_a_list_for_complete_that_is_not_is_found_out() {
    check_control(Manner::Real(ScanMode::Lacking), "its owner lives");
}

#[test]
fn judging_an_absence_without_churn_is_found_out() {
    check_control(Manner::Real(ScanMode::Careless), "its owner lives");
}

#[test]
fn believing_a_mapped_owner_is_found_out() {
    check_control(Manner::Real(ScanMode::WrongMount(Belief::Owners)), "its owner lives");
}

#[test]
fn believing_another_machines_clock_is_found_out() {
    check_control(Manner::Real(ScanMode::WrongMount(Belief::Clocks)), "its owner lives");
}

#[test]
fn overwriting_what_lies_at_a_name_is_found_out() {
    check_control(Manner::On(DiskFault::RenamesOver), "is lost");
}

#[test]
fn copying_what_somebody_may_still_write_into_is_found_out() {
    check_control(Manner::On(DiskFault::CopiesInstead), "is lost");
}

#[test]
fn a_recovery_that_finds_work_twice_is_found_out() {
    check_control(Manner::On(DiskFault::TearsOutcomes), "the second recovery changed something");
}

#[test]
fn taking_orphans_for_left_over_is_found_out() {
    check_control(Manner::Real(ScanMode::Credulous(Credit::Orphans)), "and needed");
}

#[test]
fn taking_an_environment_for_a_proof_is_found_out() {
    check_control(Manner::Real(ScanMode::Credulous(Credit::Environments)), "and needed");
}

#[test]
fn overlooking_who_went_to_the_background_is_found_out() {
    check_control(Manner::Real(ScanMode::Credulous(Credit::NoRoster)), "and needed");
}

#[test]
fn taking_whoever_has_a_kept_pid_for_that_process_is_found_out() {
    // What is offered by a kept descent alone is rare.
    check_control_in(4 * CONTROL_SEEDS, Manner::Real(ScanMode::Credulous(Credit::Numbers)), "and needed");
}

#[test]
fn signalling_a_number_is_found_out() {
    check_control(Manner::ByNumber, "signalled, and needed");
}

#[test]
fn everything_that_can_happen_does() {
    let (tally, _) = run_all(0..COMMON_SEEDS, Manner::Real(ScanMode::Whole), 1);
    for what in [
        "release: Done", "release: Changed", "release: never", "migrate: Done", "park: Done", "undo: Done",
        "tombstones", "given away", "dated ahead", "dated by another clock", "written under another owner",
        "written on another machine", "left-over: exact", "left-over: strong", "left-over: guess",
        "left-over: unknown", "left-over: held", "offered", "stops planned", "signals", "end: Done",
        "end: Partly", "end: changed before", "changes while it is ended", "ended with children: Exit",
        "ended with children: Hangup", "ended with children: Kill", "ended with children: KillGroup",
        "ended with children: Move", "nested agents", "became agents", "agents in panes", "a person's nohup",
        "terminals ended", "jobs of at", "boxed", "/clear", "/resume", "descents kept", "by a kept descent",
    ] {
        assert!(tally.of(what) > 0, "no {what:?} in\n{}", tally.table());
    }
}
