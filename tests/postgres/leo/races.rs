//! Two claimtops release a claim while its session beats or claims again: no live claim is lost, and none is half
//! released.
//!
//! `CLAIMTOP_ROUNDS` sets the number of rounds; 2,000 take some minutes.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use claimtop::testing::act::ActionError;
use claimtop::testing::core::EndResult;

use crate::cluster::Database;
use crate::leo::client::Session;
use crate::leo::stage::{Claimtop, HOST};

/// The counts of the rounds.
#[derive(Default)]
struct Tally {
    released: AtomicU32,
    told_changed: AtomicU32,
    kept: AtomicU32,
    /// How long a release takes, both claimtops at once.
    takes: Duration,
}

fn rounds(usual: u32) -> u32 {
    std::env::var("CLAIMTOP_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn no_live_claim_is_lost_between_two_claimtops_and_a_session() {
    let database = Database::new();
    let session = Session::connect(&database);
    let mut claimtops = [Claimtop::new(&database), Claimtop::new(&database)];
    let rounds = rounds(40);
    let began = Instant::now();
    one(u32::MAX, &session, &mut claimtops, &Tally::default());
    let tally = Tally { takes: began.elapsed(), ..Tally::default() };
    for round in 0..rounds {
        one(round, &session, &mut claimtops, &tally);
    }
    let count = |counter: &AtomicU32| counter.load(Ordering::Relaxed);
    let told = format!(
        "{rounds} rounds: {} released, {} told that it had changed, {} kept by their session",
        count(&tally.released),
        count(&tally.told_changed),
        count(&tally.kept)
    );
    println!("{told}");
    assert!(count(&tally.released) > 0 && count(&tally.kept) > 0, "no race at all: {told}");
}

fn one(round: u32, session: &Session, claimtops: &mut [Claimtop; 2], tally: &Tally) {
    let id = format!("{round:08x}-2222-4333-8444-555555555555");
    let item = format!("SD-ROUND-{round}");
    session.sql(&format!(
        "DELETE FROM claude_sessions; DELETE FROM strategic_directives_v2; DELETE FROM session_lifecycle_events;
         INSERT INTO strategic_directives_v2 (sd_key, status, claiming_session_id) VALUES ('{item}', 'in_progress', '{id}');
         INSERT INTO claude_sessions (session_id, sd_key, track, pid, hostname, terminal_id, claimed_at, heartbeat_at)
         VALUES ('{id}', '{item}', 'A', 4242, '{HOST}', '{id}', now() - interval '2 hours', now() - interval '1 hour')"
    ));
    let seen: Vec<_> = claimtops.iter_mut().map(|claimtop| claimtop.see(&id).unwrap()).collect();
    let barrier = Barrier::new(3);
    // The session's action, and its time: spread over the whole release.
    let share = f64::from(round.wrapping_mul(2_654_435_761)) / f64::from(u32::MAX);
    let wait = tally.takes.mul_f64(share * 1.2);
    let act = match round % 2 {
        0 => format!("SELECT update_session_heartbeat('{id}')->>'sd_key'"),
        _ => format!("SELECT claim_sd('{item}', '{id}', 'A')->>'success'"),
    };
    let (believes, ends) = std::thread::scope(|scope| {
        let own = scope.spawn(|| {
            barrier.wait();
            std::thread::sleep(wait);
            // The first round only measures.
            (round != u32::MAX).then(|| session.sql(&act)).flatten()
        });
        let others: Vec<_> = claimtops
            .iter_mut()
            .zip(seen)
            .map(|(claimtop, seen)| {
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    claimtop.carry_out(seen)
                })
            })
            .collect();
        let ends: Vec<_> = others.into_iter().map(|other| other.join().unwrap()).collect();
        (own.join().unwrap().is_some_and(|said| said != "false"), ends)
    });
    let released =
        ends.iter().filter(|end| matches!(end, Ok(receipt) if receipt.outcome.ended == EndResult::Done));
    let released = u32::try_from(released.count()).unwrap();
    for end in &ends {
        match end {
            Ok(receipt) if receipt.outcome.ended == EndResult::Done => {}
            Ok(receipt) => {
                assert_eq!(receipt.outcome.ended, EndResult::Changed, "{}", receipt.outcome.detail)
            }
            Err(trouble) => assert!(matches!(trouble, ActionError::Changed(_)), "{trouble}"),
        }
    }
    let holds = session.sql(
        "SELECT concat((SELECT sd_key FROM claude_sessions), '|', \
         (SELECT claiming_session_id FROM strategic_directives_v2))",
    );
    let expected = if believes { format!("{item}|{id}") } else { "|".to_owned() };
    assert_eq!(holds, Some(expected), "round {round}: the session believes {believes}, {ends:?}");
    assert!(released <= 1, "released twice: {ends:?}");
    tally.released.fetch_add(released, Ordering::Relaxed);
    tally.told_changed.fetch_add(2 - released, Ordering::Relaxed);
    tally.kept.fetch_add(u32::from(believes), Ordering::Relaxed);
}
