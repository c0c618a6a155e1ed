//! One claimtop: a person who looks, decides, and lets the real code act.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use claimtop::core::assess::assess;
use claimtop::core::model::{Code, Generation, Key, Location, RecordView, Report, VerdictState};
use claimtop::testing::act::{
    ActionError, Answer, Disk, Look, Patience, Preview, Receipt, Rules, Side, StateFolder,
};
use claimtop::testing::core::{Action, Confirmation, EndResult, Outcome, Request, RestoreTo, Signal};

use crate::local::disk::{DiskFault, SimDisk};
use crate::local::files::{Belief, USER};
use crate::local::machine::SimMachine;
use crate::local::observer::{ScanMode, SimObserver};
use crate::local::oracle;
use crate::local::scheduler::{Killed, Scheduler};
use crate::local::world::{HOME, STATE};

/// How claimtops behave; all but the first are controls that must be detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// They use the real code.
    Real(ScanMode),
    /// They use the real code on a faulty disk.
    On(DiskFault),
    /// They use the real code, but signal any process that has the number.
    ByNumber,
    /// They look, and then move the file away without looking at it there.
    Naive,
}

impl Manner {
    fn scan_mode(self) -> ScanMode {
        match self {
            Self::Real(scan_mode) => scan_mode,
            Self::On(_) | Self::ByNumber | Self::Naive => ScanMode::Whole,
        }
    }

    /// Returns what the claimtop believes about file systems.
    pub(crate) fn belief(self) -> Belief {
        match self.scan_mode() {
            ScanMode::WrongMount(belief) => belief,
            ScanMode::Whole | ScanMode::Lacking | ScanMode::Careless | ScanMode::Credulous(_) => Belief::True,
        }
    }

    /// Returns the disk's fault.
    pub(crate) fn disk_fault(self) -> DiskFault {
        match self {
            Self::On(disk_fault) => disk_fault,
            Self::Real(_) | Self::ByNumber | Self::Naive => DiskFault::None,
        }
    }
}

/// Lives until the seed is over, however often it is killed.
pub(crate) fn live(scheduler: &Arc<Scheduler>, me: usize, manner: Manner) {
    scheduler.join(me);
    loop {
        match catch_unwind(AssertUnwindSafe(|| work(scheduler, me, manner))) {
            Ok(()) => break,
            Err(payload) if payload.is::<Killed>() => {}
            Err(_) => {
                scheduler.with(|world| world.breach(format!("claimtop {me} panicked")));
                break;
            }
        }
    }
    scheduler.leave(me);
}

fn is_over(scheduler: &Scheduler) -> bool {
    scheduler.with(|world| world.steps_left == 0)
}

fn work(scheduler: &Arc<Scheduler>, me: usize, manner: Manner) {
    let disk = SimDisk { scheduler: Arc::clone(scheduler), me, disk_fault: manner.disk_fault() };
    let mut observer = SimObserver::new(Arc::clone(scheduler), me, manner.scan_mode());
    while !is_over(scheduler) {
        let Ok(mut state) = StateFolder::open(disk.clone(), Path::new(STATE)) else { continue };
        let is_by_number = manner == Manner::ByNumber;
        state.processes = Box::new(SimMachine { scheduler: Arc::clone(scheduler), is_by_number });
        while !is_over(scheduler) {
            // The first one is a screen, which may end; the others are commands, each of which knows only what is
            // kept.
            let forgets = if me == 0 { 40 } else { 600 };
            if scheduler.with(|world| world.rng.happens(forgets)) {
                observer = SimObserver::new(Arc::clone(scheduler), me, manner.scan_mode());
            }
            match manner {
                Manner::Real(_) | Manner::On(_) | Manner::ByNumber => act(scheduler, &state, &mut observer),
                Manner::Naive => act_naively(scheduler, &state, &mut observer),
            }
        }
    }
}

fn look(observer: &mut SimObserver) -> Report {
    let snapshot = observer.look();
    let report = assess(&snapshot, observer.policy());
    observer.learn(&snapshot, &report);
    observer.check_offers(&report);
    report
}

fn act(scheduler: &Scheduler, state: &StateFolder<SimDisk>, observer: &mut SimObserver) {
    let report = look(observer);
    let Some(request) = choose(scheduler, state, &report) else { return };
    let what = name(&request);
    let ended = match carry_out(scheduler, state, observer, report, request) {
        Ok((receipt, asked)) => format!("{:?}, {asked}", receipt.outcome.ended),
        Err(ActionError::Never(_)) => "never".to_owned(),
        Err(ActionError::NotConfirmed(_)) => "not confirmed".to_owned(),
        Err(ActionError::Changed(_)) => "changed before".to_owned(),
        Err(ActionError::TooYoung(_) | ActionError::Busy(_)) => "not now".to_owned(),
        Err(ActionError::Taken(_)) => "taken before".to_owned(),
        Err(ActionError::Failed { .. }) => "failed before".to_owned(),
        Err(ActionError::Stuck(_)) => "stuck before".to_owned(),
        Err(ActionError::Away(_)) => "away before".to_owned(),
        Err(ActionError::Refused(_) | ActionError::Unsure(_)) => unreachable!("no database is simulated"),
    };
    scheduler.with(|world| world.tally.count(format!("{what}: {ended}")));
}

fn name(request: &Request) -> &'static str {
    match request {
        Request::Act { action: Action::Release, .. } => "release",
        Request::Act { action: Action::Migrate, .. } => "migrate",
        Request::Act { action: Action::Park, .. } => "park",
        Request::Act { action: Action::Undo, .. } => "undo of nothing",
        Request::Act { action: Action::Stop, .. } => "end of nothing",
        Request::Act { action: Action::Rescue, .. } => "rescue of nothing",
        Request::Act { action: Action::Setup, .. } => "set-up of nothing",
        Request::Act { action: Action::BringBack, .. } => "bring-back of nothing",
        Request::Rescue { .. } => "rescue",
        Request::Setup { .. } => "set-up",
        Request::Stop { .. } => "end",
        Request::Several { .. } => "several at once",
        Request::Left { .. } => "release of all left",
        Request::Undo { .. } => "undo",
    }
}

/// Chooses an action; mostly one that a person would choose.
fn choose(scheduler: &Scheduler, state: &StateFolder<SimDisk>, report: &Report) -> Option<Request> {
    let is_dead = |record: &&RecordView| record.verdict.state == VerdictState::Dead;
    let is_legacy = |record: &&RecordView| record.generation == Generation::Legacy;
    let keys = |is_wanted: &dyn Fn(&&RecordView) -> bool| -> Vec<Key> {
        report.records().filter(is_wanted).map(|record| record.key.clone()).collect()
    };
    let pick = |keys: Vec<Key>| scheduler.with(|world| world.rng.pick(&keys).cloned());
    let request = |action, keys| pick(keys).map(|key| Request::Act { key, action });
    if let Some(stop) = choose_stop(scheduler, report) {
        return Some(stop);
    }
    match scheduler.with(|world| world.rng.roll(16)) {
        0..=6 => request(Action::Release, keys(&is_dead)),
        7 => pick(keys(&is_dead)).map(|of| Request::Left { of }),
        8 => request(Action::Release, keys(&|_| true)),
        9 => request(Action::Release, report.claims.iter().map(|claim| claim.key.clone()).collect()),
        10..=11 => request(Action::Migrate, keys(&is_legacy)),
        12 => request(Action::Park, broken(report)),
        _ => {
            let history = state.history().ok()?;
            let done = history.entries.iter().filter(|entry| entry.can_be_undone());
            let done: Vec<u64> = done.map(|entry| entry.number).collect();
            scheduler.with(|world| {
                let to = if world.rng.happens(500) { RestoreTo::Origin } else { RestoreTo::Beside };
                world.rng.pick(&done).map(|entry| Request::Undo { entry: *entry, to })
            })
        }
    }
}

/// Chooses a process to end; mostly one that may be ended.
fn choose_stop(scheduler: &Scheduler, report: &Report) -> Option<Request> {
    let offered = report.left_overs.iter().filter(|one| one.may_be_ended()).map(|one| one.key.clone());
    let (offered, all): (Vec<Key>, Vec<Key>) =
        (offered.collect(), report.left_overs.iter().map(|one| one.key.clone()).collect());
    scheduler.with(|world| {
        let keys = if world.rng.happens(900) { &offered } else { &all };
        let key = world.rng.pick(keys).cloned()?;
        let signal = if world.rng.happens(200) { Signal::Kill } else { Signal::Term };
        world.rng.happens(850).then_some(Request::Stop { key, signal })
    })
}

fn broken(report: &Report) -> Vec<Key> {
    let codes = [Code::CorruptRecord, Code::LeftoverTemp];
    let findings = report.findings.iter().filter(|finding| codes.contains(&finding.code));
    findings.filter_map(|finding| finding.subjects.first().cloned()).collect()
}

/// Runs the real action; returns the receipt and the request.
fn carry_out(
    scheduler: &Scheduler,
    state: &StateFolder<SimDisk>,
    observer: &mut SimObserver,
    mut report: Report,
    request: Request,
) -> Result<(Receipt, &'static str), ActionError> {
    let rules = Rules { home: HOME.into(), uid: USER, programs: Vec::new(), settled_for: Rules::SETTLED_FOR };
    let chance = |permille| scheduler.with(|world| world.rng.happens(permille));
    let patience = if chance(700) { Patience::Wait } else { Patience::None };
    let mut lock = state.lock(patience, observer.now())?;
    if chance(500) {
        report = look(observer);
    }
    let is_stop = matches!(request, Request::Stop { .. });
    let seen = Preview::look(&lock, &report, request.clone(), &rules, observer.now())?;
    if is_stop {
        scheduler.with(|world| world.tally.count("stops planned"));
    }
    let (answer, asked) = match seen.plan.confirmation {
        Confirmation::Yes | Confirmation::Refused => (Answer::Yes, "asked for a yes"),
        Confirmation::Code => (Answer::Typed(seen.code()), "asked for the code"),
        Confirmation::FullName if is_stop => {
            (Answer::Typed(seen.plan.name.clone()), "asked for the full name")
        }
        Confirmation::FullName => (Answer::Yes, "asked for the full name"),
    };
    // The screen does not hold the lock while the person thinks.
    if chance(500) {
        drop(lock);
        scheduler.step(observer.me(), |_| ());
        lock = state.lock(Patience::Wait, observer.now())?;
    }
    let receipt = seen.confirm(&answer)?.verify(&mut lock, observer)?.execute(observer)?;
    scheduler.with(|world| world.note(|| format!("claimtop {}: {receipt:?}", observer.me())));
    if matches!(request, Request::Act { action: Action::Migrate, .. }) {
        scheduler.with(|world| oracle::disown_migrated(world, &receipt));
    }
    if answer == Answer::Yes && matches!(request, Request::Act { action: Action::Release | Action::Park, .. })
    {
        scheduler.with(|world| oracle::check_owners(world, &receipt));
    }
    Ok((receipt, asked))
}

/// Checks, and then moves the file away, as every clean-up script does.
fn act_naively(scheduler: &Scheduler, state: &StateFolder<SimDisk>, observer: &mut SimObserver) {
    let report = look(observer);
    let dead: Vec<String> = report
        .records
        .iter()
        .filter(|record| record.verdict.state == VerdictState::Dead)
        .map(|record| match &record.location {
            Location::File(path) => path.text().raw().to_owned(),
            Location::Row(_) => String::new(),
        })
        .collect();
    let Some(path) = scheduler.with(|world| world.rng.pick(&dead).cloned()) else { return };
    let (entry, disk) = (scheduler.with(|world| world.new_hold()), &state.disk);
    let path = Path::new(&path);
    let name = format!("{entry}-1-{}", path.file_name().unwrap_or_default().to_string_lossy());
    let Ok(folder) = disk.folder(path.parent().unwrap_or(path)) else { return };
    let Ok(parked) = disk.folder(&Path::new(STATE).join("parked")) else { return };
    let from = (&folder, path.file_name().unwrap_or_default());
    if disk.rename_new(from, (&parked, name.as_ref()), Side::Private).is_ok() {
        let outcome = Outcome { ended: EndResult::Done, detail: String::new(), there: None };
        let receipt = Receipt { entry, title: String::new(), undoes: None, is_final: false, outcome };
        scheduler.with(|world| {
            world.tally.count("naive release: Done");
            oracle::check_owners(world, &receipt);
        });
    }
}
