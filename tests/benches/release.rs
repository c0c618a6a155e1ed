//! The release of one file, from the confirmation to the receipt, against a bare rename into
//! another folder with a sync of that folder.

use std::path::Path;
use std::time::Instant;

use claimtop::core::assess::{Policy, assess};
use claimtop::core::judge::window::agent::Signatures;
use claimtop::observe::{Observer, Options};
use claimtop::source::places::Places;
use claimtop::testing::act::{Answer, Look, Patience, Preview, Rules, StateFolder, System};
use claimtop::testing::core::{Action, Request};
use jiff::SignedDuration;

const ROUNDS: u32 = 200;

/// Runs the benchmark.
pub(crate) fn bench(_: Option<&str>) {
    let world = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let at = |below: &str| world.path().join(below);
    for below in ["home/.claude/sessions", "tmp", "bare"] {
        std::fs::create_dir_all(at(below)).expect("a folder");
    }
    let signatures = Signatures::built_in().expect("signatures");
    let places = Places::new(at("home"), at("tmp"), Vec::new());
    let mut eyes = Observer::new(Options { places, policy: Policy { signatures }, ..Options::default() });
    let state = StateFolder::open(System, &at("state")).expect("a state folder");
    let file = at("home/.claude/sessions/4000001.json");
    let (mut bare, mut ours) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        write(&file);
        bare.push(timed(|| rename(&file, &at("bare"), round)));
        write(&file);
        ours.push(release(&state, &mut eyes, world.path()));
    }
    let (bare, ours) = (median(&mut bare), median(&mut ours));
    println!("{ROUNDS} releases of one file, wall time, medians:");
    println!("  bare rename and sync of the folder  {bare:8.3} ms");
    println!("  claimtop, confirmed to receipt      {ours:8.3} ms   ratio {:.2}", ours / bare);
}

fn write(file: &Path) {
    let text = r#"{"pid":4000001,"sessionId":"95fe798d-3725-4649-974a-0dec79220193","procStart":"77"}"#;
    std::fs::write(file, text).expect("a file");
}

fn rename(file: &Path, to: &Path, round: u32) {
    std::fs::rename(file, to.join(round.to_string())).expect("a rename");
    std::fs::File::open(to).and_then(|folder| folder.sync_all()).expect("a sync");
}

fn release(state: &StateFolder<System>, eyes: &mut Observer, world: &Path) -> f64 {
    let now = eyes.now();
    let uid = rustix::process::geteuid().as_raw();
    let rules =
        Rules { home: world.join("home"), uid, programs: Vec::new(), settled_for: SignedDuration::ZERO };
    let mut lock = state.lock(Patience::Wait, now).expect("the lock");
    let snapshot = eyes.look();
    let report = assess(&snapshot, eyes.policy());
    let key = report.records.first().expect("a record").key.clone();
    let request = Request::Act { key, action: Action::Release };
    let seen = Preview::look(&lock, &report, request, &rules, now).expect("a plan");
    let confirmed = seen.confirm(&Answer::Yes).expect("a dead holder");
    timed(|| {
        let verified = confirmed.verify(&mut lock, eyes).expect("nothing has changed");
        verified.execute(eyes).expect("a receipt");
    })
}

fn timed(act: impl FnOnce()) -> f64 {
    let start = Instant::now();
    act();
    start.elapsed().as_secs_f64() * 1e3
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}
