//! The testimony of other machines decides here as well: when a plan is shown, when it is verified, and at the last
//! moment.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use claimtop::core::model::{MachineState, MachineView};
use claimtop::testing::act::{ActionError, Answer, Executor, Preview};
use claimtop::testing::core::{
    Confirmation, Decoder, Encoder, EndResult, FarMachine, Hello, Identity, apply_testimony,
};
use jiff::Timestamp;

use crate::stage::{Agent, SESSION, Stage, end, record, release, report, start_ticks};

/// This machine, where a window has died, and another one, where its session runs.
struct Two {
    here: Stage,
    there: Stage,
    living: Agent,
    /// The name of the file that the dead window has left.
    left: String,
    machines: Arc<Mutex<Vec<FarMachine>>>,
}

impl Two {
    fn new() -> Self {
        let (here, there) = (Stage::new(), Stage::new());
        let agent = here.agent();
        let path = here.register(agent.id(), start_ticks(agent.id()));
        end(agent);
        let left = path.file_name().unwrap().to_str().unwrap().to_owned();
        let living = there.agent();
        there.register(living.id(), start_ticks(living.id()));
        Self { here, there, living, left, machines: Arc::default() }
    }

    /// Returns the other machine as its claimtop reports it.
    fn told(&self, state: MachineState) -> FarMachine {
        let seen = report(&mut self.there.observer());
        assert!(seen.windows.iter().any(|window| window.pid == self.living.id()));
        let hello = Hello {
            schema: "claimtop.stream.v1".to_owned(),
            version: "0.1.0".to_owned(),
            identity: Identity { machine: None, store: Some("s".to_owned()) },
            host: "devbox".to_owned(),
            boot: Some("99999999-f561-4d27-8dcc-a78a6f99e24b".to_owned()),
            pid_namespace: Some(7),
            now: Timestamp::UNIX_EPOCH,
            takes_orders: false,
            no_orders: None,
        };
        let mut decoder = Decoder::new("devbox");
        for line in (Encoder::hello(hello).unwrap() + &Encoder::default().look(&seen, &[]).unwrap()).lines() {
            decoder.receive(line.as_bytes()).unwrap();
        }
        let mut view = MachineView::new("devbox", "any way".to_owned());
        view.state = state;
        let (hello, report) = (decoder.hello().cloned(), decoder.report().cloned());
        FarMachine { view, hello, report, tombstones: [].into() }
    }

    /// Makes this the only knowledge of other machines from now on.
    fn know(&self, machines: impl Into<Vec<FarMachine>>) {
        *self.machines.lock().unwrap() = machines.into();
    }

    fn executor(&self) -> Executor {
        let machines = Arc::clone(&self.machines);
        let executor =
            Executor::new(&self.here.state_path(), self.here.observer(), self.here.rules()).unwrap();
        executor.hearing(Box::new(move |report| apply_testimony(report, &machines.lock().unwrap())))
    }

    fn see(&self, executor: &mut Executor) -> Preview {
        let report = executor.report();
        let key = record(&report, &self.left).key.clone();
        executor.see(&report, &[release(&key)]).unwrap().remove(0).unwrap()
    }

    fn lies(&self) -> bool {
        self.here.path("home/.claude/sessions").join(&self.left).exists()
    }
}

#[test]
fn a_session_that_another_machine_runs_is_let_go_by_its_full_name_alone() {
    let two = Two::new();
    two.know([two.told(MachineState::Live)]);
    let mut executor = two.executor();
    let seen = two.see(&mut executor);
    assert_eq!(seen.plan.confirmation, Confirmation::FullName);
    assert_eq!(seen.wanted().as_deref(), Some("alpha@devbox/alpha"));
    let refused = executor.carry_out(seen.clone(), &Answer::Yes).unwrap_err();
    assert!(matches!(refused, ActionError::NotConfirmed(_)) && two.lies(), "{refused}");
    let done = executor.carry_out(seen, &Answer::Typed("alpha@devbox/alpha".to_owned())).unwrap();
    assert_eq!(done.receipt.outcome.ended, EndResult::Done, "{done:?}");
    assert!(!two.lies());
    let journal = std::fs::read_to_string(two.here.state_path().join("journal.jsonl")).unwrap();
    assert!(journal.contains("the session runs in alpha") && journal.contains("on devbox"), "{journal}");
}

#[test]
fn what_was_confirmed_is_what_is_verified_also_of_what_others_testify() {
    let two = Two::new();
    let mut executor = two.executor();
    let (live, silent) = (two.told(MachineState::Live), two.told(MachineState::Silent));
    let see = |machines: Vec<FarMachine>| {
        two.know(machines);
        two.see(&mut two.executor())
    };
    let (alone, held, unheard) = (see(vec![]), see(vec![live.clone()]), see(vec![silent.clone()]));
    let confirmations = [&alone, &held, &unheard].map(|seen| seen.plan.confirmation.clone());
    assert_eq!(confirmations, [Confirmation::Yes, Confirmation::FullName, Confirmation::Code]);
    let [first, second, third] = [&alone, &held, &unheard].map(|seen| seen.digest().unwrap());
    assert!(first != second && second != third);
    assert!(alone.code() != unheard.code());
    for (seen, now) in [(&alone, &live), (&alone, &silent), (&held, &silent), (&unheard, &live)] {
        two.know([now.clone()]);
        let answer = seen.wanted().map_or(Answer::Yes, Answer::Typed);
        let refused = executor.carry_out(seen.clone(), &answer).unwrap_err();
        assert!(matches!(refused, ActionError::Changed(_)) && two.lies(), "{refused}");
    }
    // A claimtop that knows of no other machines acts as before.
    two.know([]);
    let done = executor.carry_out(alone, &Answer::Yes).unwrap();
    assert!(done.receipt.outcome.ended == EndResult::Done && !two.lies());
}

#[test]
fn what_another_machine_says_at_the_last_moment_brings_the_file_back() {
    let two = Two::new();
    let seen = two.see(&mut two.executor());
    assert_eq!(seen.plan.confirmation, Confirmation::Yes);
    let (live, asked) = (two.told(MachineState::Live), AtomicUsize::new(0));
    let executor = Executor::new(&two.here.state_path(), two.here.observer(), two.here.rules()).unwrap();
    // It is received only after the plan was verified and its file is taken.
    let mut executor = executor.hearing(Box::new(move |report| {
        if asked.fetch_add(1, Ordering::Relaxed) > 0 {
            apply_testimony(report, std::slice::from_ref(&live));
        }
    }));
    let ended = executor.carry_out(seen, &Answer::Yes).unwrap().receipt.outcome;
    assert_eq!(ended.ended, EndResult::Changed, "{ended:?}");
    assert!(ended.detail.contains("the session runs in alpha") && two.lies(), "{ended:?}");
    assert!(
        record(&report(&mut two.here.observer()), &two.left).session_id.as_ref().unwrap().raw() == SESSION
    );
}
