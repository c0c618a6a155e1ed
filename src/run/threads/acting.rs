//! The thread that acts: the screen asks it, and it sends back the result of each request.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender as WorkSender, channel};

use tokio::sync::mpsc::Sender;

use super::event::Event;
use super::ordering::Ordering;
use super::work::{FarWork, Job};
use crate::act::error::ActionError;
use crate::act::execute::Receipt;
use crate::act::execute::follow_up::Part;
use crate::act::executor::Executor;
use crate::act::preflight::preview::Preview;
use crate::act::rules::Answer;
use crate::act::state::history_ring::HistoryRing;
use crate::act::state::preferences;
use crate::app::msg::{Jump, Msg, RecordingEvent, SheetAnswer};
use crate::app::page::versions::VersionsQuestion;
use crate::core::history::timeline::Past;
use crate::core::model::text::shown;
use crate::core::model::{
    ActionResult, Confirmation, EndResult, ErrorKind, Obstacle, Offer, PeekQuestion, Request, Untrusted,
};
use crate::core::plan::bring_back::ClosedWindow;
use crate::observe::fleet::dispatch::Dispatcher;
use crate::run::bring_back::{OpenResult, Opener};
use crate::run::jump;
use crate::run::jump::Ways;
use crate::run::peek;
use crate::run::peek::ReadTalk;
use crate::run::tape;
use crate::run::tape::{Tape, Wish};
use crate::run::tickets::{Ticket, Tickets};
use crate::run::versions;
use crate::run::versions::ReadVersions;
use crate::source::os::clock;
use crate::source::os::processes::measured;

/// Where what is observed is kept.
pub(crate) struct Storage {
    /// Where changes are kept, if they are.
    pub(crate) history: Option<PathBuf>,
    /// What a key records on, and the folder of its recordings.
    pub(crate) tape: Option<(Tape, PathBuf)>,
}

/// The way to the thread.
pub(crate) struct Acting {
    work: WorkSender<Job>,
    tickets: Arc<Tickets>,
    sender: Sender<Event>,
    ways: Ways,
    /// The ways to the threads that act on other machines.
    far: Option<Ordering>,
    machines: Option<Dispatcher>,
    versions: Option<ReadVersions>,
    talk: Option<ReadTalk>,
}

impl Acting {
    /// Lets versions of files be read.
    pub(crate) fn with_versions(self, versions: Option<ReadVersions>) -> Self {
        Self { versions, ..self }
    }

    /// Lets what was said in sessions be read.
    pub(crate) fn with_talk(self, talk: Option<ReadTalk>) -> Self {
        Self { talk, ..self }
    }

    /// Reads versions of files, beside whatever else is under way.
    pub(crate) fn read_versions(&self, question: VersionsQuestion) {
        match &self.versions {
            Some(read) => versions::start(question, Arc::clone(read), self.sender.clone()),
            // In a recording there are none.
            None => versions::start(question, Arc::new(|_| Vec::new()), self.sender.clone()),
        }
    }

    /// Looks into a window, beside whatever else is under way.
    pub(crate) fn peek(&self, question: PeekQuestion) {
        peek::start(question, self.talk.clone(), self.sender.clone());
    }

    /// Lets other machines be asked as well.
    pub(crate) fn with_machines(self, far: Option<Ordering>, machines: Option<Dispatcher>) -> Self {
        Self { far, machines, ..self }
    }

    /// Says which other machine the person looks at closely.
    pub(crate) fn look_closely(&self, machine: Option<&str>) {
        if let Some(machines) = &self.machines {
            machines.look_closely(machine);
        }
    }

    /// Asks another machine what it would do, for the sheet of this number; all is done in the order of asking.
    pub(crate) fn offer_on(&self, machine: &str, sheet: u64, requests: Vec<Request>) {
        if let Some(far) = &self.far {
            far.ask(machine, FarWork::Offer(sheet, requests));
        }
    }

    /// Orders of another machine what it has offered to the sheet of this number.
    pub(crate) fn act_on(&self, machine: &str, sheet: u64, confirmed: SheetAnswer) {
        if let Some(far) = &self.far {
            far.ask(machine, FarWork::Act(sheet, self.tickets.issue(), confirmed));
        }
    }

    /// Goes to a pane, beside whatever else is under way.
    pub(crate) fn jump(&self, jump: Jump) {
        jump::start(jump, self.ways.clone(), self.sender.clone());
    }

    /// Asks for work; it is done in the order of asking.
    pub(crate) fn ask(&self, work: Job) {
        // The thread ends only with the program.
        let _ = self.work.send(work);
    }

    /// Does what was offered last and is confirmed by this.
    pub(crate) fn act(&self, confirmed: SheetAnswer) {
        self.ask(Job::Act(self.tickets.issue(), confirmed));
    }

    /// Begins nothing more of what was confirmed.
    pub(crate) fn call_off(&self) {
        self.tickets.call_off();
    }
}

/// Starts the thread. It ends with its last asker.
pub(crate) fn start(
    executor: Result<Executor, String>,
    storage: Storage,
    ways: Ways,
    sender: Sender<Event>,
    tickets: Arc<Tickets>,
) -> io::Result<Acting> {
    let (work, asked) = channel();
    let answers = sender.clone();
    let worker = Worker {
        executor,
        ring: None,
        tape: storage.tape,
        seen: Vec::new(),
        sender,
        tickets: Arc::clone(&tickets),
        opener: ways.opener,
    };
    std::thread::Builder::new()
        .name("acting".to_owned())
        .spawn(move || worker.remembering(storage.history).run(&asked))?;
    Ok(Acting { work, tickets, sender: answers, ways, far: None, machines: None, versions: None, talk: None })
}

struct Worker {
    executor: Result<Executor, String>,
    /// Keeps what was observed, if that is wanted and goes.
    ring: Option<HistoryRing>,
    tape: Option<(Tape, PathBuf)>,
    /// What was offered last and is not confirmed yet.
    seen: Vec<Preview>,
    sender: Sender<Event>,
    tickets: Arc<Tickets>,
    /// What opens a window for one that is brought back.
    opener: Opener,
}

impl Worker {
    fn run(mut self, asked: &Receiver<Job>) {
        self.read_history();
        while let Ok(work) = asked.recv() {
            match work {
                Job::Offer(requests) => self.offer(&requests),
                Job::Act(ticket, confirmed) => self.act(ticket, &confirmed),
                Job::ReadHistory => self.read_history(),
                Job::FindClosed => {
                    let closed = self.closed_windows();
                    self.send(Msg::Closed(Arc::new(closed), self.opener.place_words()));
                }
                Job::BringBack(sessions) => self.bring_back(&sessions),
                Job::Measure(household) => {
                    let members = measured(&household);
                    self.send(Msg::Household(household.key, members));
                }
                Job::Prefer(path, which, preferences) => {
                    if let Err(error) = preferences::keep(&path, which.key(), &preferences.literal(which)) {
                        self.send(Msg::Failed(format!("Not kept: {error}")));
                    }
                }
                Job::Record => self.record(),
                Job::Keep(past) => self.keep(&past),
            }
        }
    }

    fn closed_windows(&mut self) -> Vec<ClosedWindow> {
        self.executor.as_mut().map(Executor::closed_windows).unwrap_or_default()
    }

    /// Brings windows back. One look is for all: what is opened has not said yet which session it runs, and would stand
    /// in the way of the others.
    fn bring_back(&mut self, sessions: &[Untrusted]) {
        let Ok(executor) = self.executor.as_mut() else { return };
        let said: Vec<String> = match self.opener.reopen(executor, sessions) {
            Ok(opened) => opened.iter().map(OpenResult::outcome_words).collect(),
            Err(error) => sessions.iter().map(|_| format!("not brought back: {error}")).collect(),
        };
        for (session, said) in sessions.iter().zip(said) {
            self.send(Msg::BroughtBack(session.clone(), said));
        }
    }

    /// Opens what is kept and sends what it holds. A screen that cannot keep anything still shows.
    fn remembering(mut self, history: Option<PathBuf>) -> Self {
        match history.map(|path| HistoryRing::open(&path)) {
            None => {}
            Some(Ok((ring, past))) => {
                self.ring = Some(ring);
                self.send(Msg::Remembered(past));
            }
            Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                tracing::info!("another claimtop keeps what is observed");
            }
            Some(Err(error)) => self.send(Msg::Unkept(error.to_string())),
        }
        self
    }

    /// Begins a recording, or ends the one that is being made.
    fn record(&self) {
        let Some((tape, folder)) = &self.tape else { return };
        let shown = |path: PathBuf| Untrusted::from_path(&path).shown();
        if let Some(path) = tape.end() {
            return self.send(Msg::Recording(RecordingEvent::Ended(shown(path))));
        }
        let began_at = clock::now();
        let path = tape::usual_path(folder, began_at);
        let begun = tape::make_folder(folder).and_then(|()| {
            tape.begin(Wish { path: path.clone(), began_at, limit: tape::LIMIT, redact: None })
        });
        self.send(Msg::Recording(match begun {
            Ok(()) => RecordingEvent::Begun(shown(path)),
            Err(error) => RecordingEvent::Failed(error.to_string()),
        }));
    }

    fn keep(&mut self, past: &[Arc<Past>]) {
        let Some(ring) = &mut self.ring else { return };
        if let Err(error) = past.iter().try_for_each(|past| ring.keep(past)) {
            self.ring = None;
            self.send(Msg::Unkept(error.to_string()));
        }
    }

    fn send(&self, msg: Msg) {
        // A screen that has ended needs no answers.
        let _ = self.sender.blocking_send(Event::Message(msg));
    }

    fn read_history(&self) {
        if let Ok(Ok(history)) = self.executor.as_ref().map(Executor::history) {
            self.send(Msg::History(Arc::new(history)));
        }
    }

    fn offer(&mut self, requests: &[Request]) {
        self.seen.clear();
        let executor = match &mut self.executor {
            Ok(executor) => executor,
            Err(why) => {
                let offer = |request: &Request| Offer {
                    request: request.clone(),
                    plan: Err(Obstacle { kind: ErrorKind::Failed, text: why.clone() }),
                };
                let offers = requests.iter().map(offer).collect();
                return self.send(Msg::Offered(offers));
            }
        };
        if let Some(ended) = put_right(executor, requests) {
            self.send(Msg::Told(ended));
            self.send(Msg::Finished);
            return self.read_history();
        }
        let report = executor.report();
        let offers = match executor.see(&report, requests) {
            Err(trouble) => requests.iter().map(|request| refused(request, &trouble)).collect(),
            Ok(all) => requests.iter().zip(all).map(|(request, seen)| self.offered(request, seen)).collect(),
        };
        self.send(Msg::Offered(offers));
        // What was cut off before has been put right under the lock.
        self.read_history();
    }

    fn offered(&mut self, request: &Request, seen: Result<Preview, ActionError>) -> Offer {
        match seen {
            Err(trouble) => refused(request, &trouble),
            Ok(seen) => {
                let plan = Ok((seen.plan.clone(), seen.wanted()));
                self.seen.push(seen);
                Offer { request: request.clone(), plan }
            }
        }
    }

    fn act(&mut self, ticket: Ticket, confirmed: &SheetAnswer) {
        for seen in std::mem::take(&mut self.seen) {
            let Some(answer) = answer(&seen, confirmed) else {
                self.seen.push(seen);
                continue;
            };
            if self.tickets.is_called_off(ticket) {
                self.send(Msg::Told(ActionResult {
                    title: seen.plan.what,
                    ended: None,
                    detail: "cancelled".to_owned(),
                    entry: None,
                }));
                continue;
            }
            let title = seen.plan.what.clone();
            let Ok(executor) = &mut self.executor else { return };
            let sender = &self.sender;
            let mut finished = |part: Part<'_>| tell_one(sender, result_of(part));
            if let Err(trouble) = executor.carry_out_in_parts(seen, &answer, &mut finished) {
                tell_one(sender, not_done(title, &trouble));
            }
        }
        self.send(Msg::Finished);
        self.read_history();
    }
}

/// Describes what was done, or what followed.
fn result_of(part: Part<'_>) -> ActionResult {
    match part {
        Part::Action(receipt) => done(receipt.clone()),
        Part::FollowUp(followed) => match &followed.end {
            Ok(receipt) => ActionResult { entry: None, ..done(receipt.clone()) },
            Err(trouble) => not_done(followed.title.clone(), trouble),
        },
    }
}

fn tell_one(sender: &Sender<Event>, result: ActionResult) {
    match result.ended {
        Some(EndResult::Done) => tracing::info!(ended = ?result.ended, "acted"),
        ended => tracing::warn!(?ended, detail = %shown(&result.detail), "did not act"),
    }
    // A screen that has ended needs no answers.
    let _ = sender.blocking_send(Event::Message(Msg::Told(result)));
}

/// Puts right an entry that was cut off, before it is undone; says how it ended where nothing of it is left to undo.
fn put_right(executor: &mut Executor, requests: &[Request]) -> Option<ActionResult> {
    let [Request::Undo { entry: number, .. }] = requests else { return None };
    // What stands in the way is said when the plan is made.
    let ended = executor.recover(Some(*number)).ok()?;
    let entry = ended.into_iter().find(|entry| entry.number == *number && !entry.can_be_undone())?;
    let title = format!("put right entry {number}, {}", entry.intent.title);
    Some(ActionResult { title, ended: Some(EndResult::Done), detail: entry.outcome?.detail, entry: None })
}

/// Returns what a person gave for this plan, if it was meant for it.
fn answer(seen: &Preview, confirmed: &SheetAnswer) -> Option<Answer> {
    match (confirmed, seen.wanted()) {
        (SheetAnswer::Yes, None) if seen.plan.confirmation == Confirmation::Yes => Some(Answer::Yes),
        (SheetAnswer::Typed { request, text }, Some(wanted))
            if seen.request() == request && *text == wanted =>
        {
            Some(Answer::Typed(wanted))
        }
        (SheetAnswer::Yes | SheetAnswer::Typed { .. }, _) => None,
    }
}

fn refused(request: &Request, trouble: &ActionError) -> Offer {
    Offer {
        request: request.clone(),
        plan: Err(Obstacle { kind: trouble.kind(), text: trouble.to_string() }),
    }
}

fn not_done(title: String, trouble: &ActionError) -> ActionResult {
    let is_open = matches!(trouble.kind(), ErrorKind::Unsure | ErrorKind::Stuck);
    ActionResult {
        title,
        ended: is_open.then_some(EndResult::Unknown),
        detail: trouble.to_string(),
        entry: None,
    }
}

fn done(receipt: Receipt) -> ActionResult {
    let Receipt { entry, title, outcome, is_final, .. } = receipt;
    let entry = Some(entry).filter(|_| !is_final);
    ActionResult { title, ended: Some(outcome.ended), detail: outcome.detail, entry }
}
