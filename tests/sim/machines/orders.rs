//! Orders in the simulation: sent from here, carried out there, while lines are late and machines boot again.
//!
//! The questions, the orders, their receipts and the memory of both sides are the real code. The journal and the files
//! are the simulation's: `tests/sim` and `tests/act` cover disk faults.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use claimtop::core::model::{Key, VerdictState};
use claimtop::testing::core::{
    Action, Answer, Ask, Asker, Became, Confirmation, Encoder, EndResult, ErrorKind, Obstacle, OpenOrders,
    Order, OrderReceipt, OrderStep, Plan, Proposal, ProposedPlan, Request, RestoreTo, Settle, Standing,
    Taker, clone_of, digest_of, plan_for,
};
use serde_json::Value;

use super::{MACHINES, World, name};

/// How many files without a holder each disk has, to be parked and migrated.
const PAPERS: usize = 2;

/// The most rounds in which all machines are received at the end.
const ROUNDS: usize = 8;

/// The contents of a machine's disk, which a clone inherits.
#[derive(Clone, Default)]
pub(super) struct Disk {
    journal: BTreeMap<String, Entry>,
    /// The entry by which each was moved, if it was.
    papers: [Option<u64>; PAPERS],
}

#[derive(Clone)]
struct Entry {
    number: u64,
    /// What was moved, once it was.
    moved: Option<Thing>,
    ended: Option<EndResult>,
}

/// What an order moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Thing {
    /// An entry of the registry: its PID, its owner, and its time of writing.
    Registered(u32, usize, jiff::Timestamp),
    Paper(usize),
    /// What this entry has moved.
    Back(u64),
}

/// A plan with its request.
#[derive(Clone)]
struct Made {
    request: Request,
    thing: Thing,
    digest: String,
}

/// One claimtop that serves a connection, which may be lost unnoticed.
struct Run {
    number: usize,
    at: usize,
    taker: Taker<Made>,
    up: VecDeque<String>,
    is_heard: bool,
}

/// An order that is being carried out.
struct Running {
    run: usize,
    at: usize,
    order: Order,
    made: Made,
    is_begun: bool,
    is_moved: bool,
}

/// An order that was sent, and what is known of it here.
struct Sent {
    at: usize,
    /// The state folder that it was sent to.
    to: Option<String>,
    standing: Option<Standing>,
    there: Option<u64>,
    action: Action,
}

/// All orders, here and on their way.
#[derive(Default)]
pub(super) struct Orders {
    runs: Vec<Run>,
    running: Vec<Running>,
    open: OpenOrders,
    asked: BTreeMap<u64, (usize, Request)>,
    sent: BTreeMap<String, Sent>,
    /// How often each was carried out.
    done: BTreeMap<String, usize>,
    counted: usize,
}

fn synthetic(request: &Request) -> Plan {
    let text = serde_json::json!({"subject": "r-00000000", "record": "r-00000000", "name": "x",
        "what": format!("{request:?}"), "why": [], "steps": [], "inverse": "none", "refuses_when": [],
        "confirmation": "yes"});
    serde_json::from_value(text).unwrap()
}

fn asker() -> Asker {
    Asker { host: "here".to_owned(), store: Some("near".to_owned()) }
}

fn paper_key(paper: usize) -> Key {
    Key::typed(&format!("r-0000000{paper}"))
}

impl World {
    fn steady(&self) -> Duration {
        Duration::from_secs(self.step.unsigned_abs() * 7)
    }

    /// Lets a claimtop begin to serve a new connection.
    pub(super) fn begin_run(&mut self, at: usize) {
        self.orders.counted += 1;
        let number = self.orders.counted;
        self.orders.runs.push(Run {
            number,
            at,
            taker: Taker::default(),
            up: VecDeque::new(),
            is_heard: true,
        });
    }

    /// Stops receiving from earlier claimtops; the lines sent to them may still arrive.
    pub(super) fn lose_runs(&mut self, at: usize) {
        self.orders.runs.iter_mut().filter(|run| run.at == at).for_each(|run| run.is_heard = false);
    }

    /// Clears its memory; its claimtop puts right what was begun.
    pub(super) fn restart_orders(&mut self, at: usize) {
        self.orders.runs.retain(|run| run.at != at);
        self.orders.running.retain(|one| one.at != at);
        for entry in self.machines[at].disk.journal.values_mut().filter(|entry| entry.ended.is_none()) {
            entry.ended = Some(if entry.moved.is_some() { EndResult::Done } else { EndResult::Failed });
        }
    }

    fn send_up(&mut self, at: usize, line: String) {
        if let Some(run) = self.orders.runs.iter_mut().find(|run| run.at == at && run.is_heard) {
            run.up.push_back(line);
        }
    }

    fn send_down(&mut self, run: usize, line: String) {
        let is_heard = self.orders.runs.iter().any(|one| one.number == run && one.is_heard);
        let at = self.orders.runs.iter().find(|one| one.number == run).map(|one| one.at);
        if let Some(at) = at.filter(|_| is_heard) {
            self.machines[at].wire.push_back(line);
        }
    }

    /// Returns the state folder that a machine was last known to have.
    fn store(&self, at: usize) -> Option<String> {
        self.machines[at].far.hello.as_ref().and_then(|hello| hello.identity.store.clone())
    }

    /// Returns whether a machine can be asked already.
    fn may_ask(&self, at: usize) -> bool {
        let all: Vec<_> = self.machines.iter().map(|machine| machine.far.clone()).collect();
        let machine = &self.machines[at];
        machine.is_connected
            && machine.far.view.why_no_orders().is_none()
            && machine.decoder.hello().is_some()
            && !(self.care == super::Care::Real && clone_of(&machine.far, &all).is_some())
    }

    /// Asks for plans, as a person does.
    pub(super) fn ask(&mut self, at: usize) {
        if !self.may_ask(at) {
            return;
        }
        let Some(request) = self.request(at) else { return };
        self.orders.counted += 1;
        let number = self.orders.counted as u64;
        self.note("ask", format!("{} {request:?}", name(at)));
        self.orders.asked.insert(number, (at, request.clone()));
        self.send_up(at, Encoder::ask(Ask { number, requests: vec![request] }).unwrap());
    }

    fn request(&mut self, at: usize) -> Option<Request> {
        let paper = paper_key(self.rng.roll(PAPERS));
        match self.rng.roll(6) {
            0 => Some(Request::Act { key: paper, action: Action::Park }),
            1 => Some(Request::Act { key: paper, action: Action::Migrate }),
            2 => {
                let known = self.orders.sent.values().filter(|sent| sent.at == at);
                let entries: Vec<u64> = known.filter_map(|sent| sent.there).collect();
                let to = RestoreTo::Origin;
                self.rng.pick(&entries).map(|entry| Request::Undo { entry: *entry, to })
            }
            _ => {
                let report = self.machines[at].far.report.clone()?;
                let dead = report.records.iter().filter(|one| one.verdict.state == VerdictState::Dead);
                let keys: Vec<String> =
                    dead.filter_map(|one| Some(one.key.as_str().split('@').next()?.to_owned())).collect();
                let key = self.rng.pick(&keys)?;
                Some(Request::Act { key: Key::typed(key), action: Action::Release })
            }
        }
    }

    /// Takes in a machine's answers.
    pub(super) fn answered(&mut self, at: usize) {
        match self.machines[at].decoder.answer() {
            Some(Answer::Plans(number, mut proposals)) => {
                let asked = self.orders.asked.remove(&number).filter(|(asked, _)| *asked == at);
                if let Some(((_, request), Ok(proposed))) = asked.zip(proposals.pop()) {
                    self.confirm(at, &request, &proposed);
                }
            }
            Some(Answer::Receipt(receipt)) => self.take_receipt(at, &receipt),
            None => {}
        }
    }

    fn confirm(&mut self, at: usize, request: &Request, proposed: &ProposedPlan) {
        if proposed.plan.confirmation == Confirmation::Refused || !self.may_ask(at) {
            return;
        }
        self.orders.counted += 1;
        let id = format!("near-{}", self.orders.counted);
        let to = self.store(at);
        self.orders.open.place(&id, to.as_deref());
        let sent = Sent { at, to: to.clone(), standing: None, there: None, action: request.action() };
        self.orders.sent.insert(id.clone(), sent);
        self.note("order", format!("{} {id}: {request:?}", name(at)));
        let (digest, typed) = (proposed.digest.clone(), proposed.wanted.clone());
        let order = Order { id, to, digest, typed, from: asker() };
        self.send_up(at, Encoder::order(order).unwrap());
    }

    fn take_receipt(&mut self, at: usize, receipt: &OrderReceipt) {
        let from = self.store(at);
        let Some(standing) = self.orders.open.take(from.as_deref(), receipt) else { return };
        let Some(sent) = self.orders.sent.get_mut(&receipt.id) else { return };
        if standing == Standing::Unknown {
            return;
        }
        sent.standing = Some(standing);
        if let Became::Ended { entry, ended: EndResult::Done, .. } = receipt.became {
            sent.there = Some(entry);
        }
        let times = self.orders.done.get(&receipt.id).copied().unwrap_or_default();
        let what = if standing == Standing::Done { "told done" } else { "told not done" };
        self.note(what, format!("{} {}", name(at), receipt.id));
        if times != usize::from(standing == Standing::Done) {
            self.breaches
                .push(format!("{} is said to be {standing:?}, and was done {times} times", receipt.id));
        }
    }

    /// Asks for the results of orders that are unknown.
    pub(super) fn settle(&mut self, at: usize) {
        if !self.may_ask(at) {
            return;
        }
        let store = self.store(at);
        let open: Vec<String> =
            self.orders.open.numbers_sent_to(store.as_deref()).map(str::to_owned).collect();
        for id in open {
            if self.orders.sent[&id].at != at {
                continue;
            }
            let (action, title) = (self.orders.sent[&id].action, String::new());
            self.send_up(at, Encoder::settle(Settle { id, action, title, from: asker() }).unwrap());
        }
    }

    /// Lets one of its claimtops receive a line, and answer.
    pub(super) fn hear(&mut self, at: usize) {
        let runs: Vec<usize> = self
            .orders
            .runs
            .iter()
            .filter(|run| run.at == at && !run.up.is_empty())
            .map(|run| run.number)
            .collect();
        let Some(number) = self.rng.pick(&runs).copied() else { return };
        let is_unruly = self.network == super::Network::Unruly;
        let (is_lost, is_late) = (self.rng.happens(50), self.rng.happens(150));
        let is_busy = self.orders.running.iter().any(|one| one.at == at);
        let run = self.orders.runs.iter_mut().find(|run| run.number == number).unwrap();
        let Some(line) = run.up.pop_front() else { return };
        if is_unruly && is_lost {
            return;
        }
        if is_unruly && is_late {
            return run.up.push_back(line);
        }
        let said: Value = serde_json::from_str(&line).unwrap();
        if let Some(ask) = said.get("ask") {
            let ask: Ask = serde_json::from_value(ask.clone()).unwrap();
            let proposals: Vec<Proposal> =
                ask.requests.iter().map(|request| self.propose(number, at, request)).collect();
            self.send_down(number, Encoder::plans(ask.number, &proposals).unwrap());
        } else if is_busy {
            // Another claimtop has the lock.
            self.orders.runs.iter_mut().find(|run| run.number == number).unwrap().up.push_front(line);
        } else if let Some(order) = said.get("order") {
            self.take_order(number, at, serde_json::from_value(order.clone()).unwrap());
        } else if let Some(settle) = said.get("settle") {
            let settle: Settle = serde_json::from_value(settle.clone()).unwrap();
            let disk = &mut self.machines[at].disk;
            let next = disk.next();
            let called_off = || Entry { number: next, moved: None, ended: Some(EndResult::Failed) };
            disk.journal.entry(settle.id.clone()).or_insert_with(called_off);
            self.send_receipt(number, at, &settle.id);
        }
    }

    fn propose(&mut self, run: usize, at: usize, request: &Request) -> Proposal {
        let refused = |text: &str| Obstacle { kind: ErrorKind::Never, text: text.to_owned() };
        let (plan, made) = self.plan(at, request).ok_or_else(|| refused("nothing is to be done"))?;
        let (digest, steady) = (made.digest.clone(), self.steady());
        let run = self.orders.runs.iter_mut().find(|one| one.number == run).unwrap();
        run.taker.made(digest.clone(), made, steady);
        Ok(ProposedPlan { plan, wanted: None, digest })
    }

    /// Plans a request against the current state there.
    fn plan(&self, at: usize, request: &Request) -> Option<(Plan, Made)> {
        let disk = &self.machines[at].disk;
        let (plan, thing) = match request {
            Request::Act { key, action: Action::Release } => {
                let report = self.report_there(at);
                let record = report.records().find(|record| record.key == *key)?;
                let pid = record.pid()?;
                let (whose, written_at) = *self.files.get(&pid)?;
                let plan = plan_for(&report, key, Action::Release);
                (plan, Thing::Registered(pid, whose, written_at))
            }
            Request::Act { key, .. } => {
                let paper = (0..PAPERS).find(|paper| paper_key(*paper) == *key)?;
                disk.papers[paper].is_none().then(|| (synthetic(request), Thing::Paper(paper)))?
            }
            Request::Undo { entry, .. } => {
                let is_its = |known: &&Entry| known.number == *entry && known.ended == Some(EndResult::Done);
                disk.journal.values().find(is_its)?.moved?;
                (synthetic(request), Thing::Back(*entry))
            }
            Request::Several { .. }
            | Request::Left { .. }
            | Request::Stop { .. }
            | Request::Rescue { .. }
            | Request::Setup { .. } => return None,
        };
        if plan.confirmation == Confirmation::Refused {
            return None;
        }
        let digest = digest_of(&plan, &[&format!("{thing:?}")]).ok()?;
        Some((plan, Made { request: request.clone(), thing, digest }))
    }

    fn take_order(&mut self, run: usize, at: usize, order: Order) {
        if self.machines[at].disk.journal.contains_key(&order.id) {
            return self.send_receipt(run, at, &order.id);
        }
        let (own, steady) = (name(self.machines[at].identity), self.steady());
        let one = self.orders.runs.iter_mut().find(|one| one.number == run).unwrap();
        match one.taker.take(&order, Some(&own), steady) {
            OrderStep::Answer(receipt) => self.send_down(run, Encoder::receipt(&receipt).unwrap()),
            OrderStep::Begin(made) => {
                let (is_begun, is_moved) = (false, false);
                self.orders.running.push(Running { run, at, order, made, is_begun, is_moved });
            }
        }
    }

    fn send_receipt(&mut self, run: usize, at: usize, id: &str) {
        let became = match &self.machines[at].disk.journal[id] {
            Entry { number, ended: Some(ended), .. } => {
                Became::Ended { entry: *number, ended: *ended, detail: String::new() }
            }
            Entry { ended: None, .. } => Became::Unknown("it is still running there".to_owned()),
        };
        let receipt = OrderReceipt { id: id.to_owned(), became, followed: Vec::new() };
        self.send_down(run, Encoder::receipt(&receipt).unwrap());
    }

    /// Advances a running order by one stage: verified and journalled, moved, reported.
    pub(super) fn carry_on(&mut self, at: usize) {
        let Some(place) = self.orders.running.iter().position(|one| one.at == at) else { return };
        let mut one = self.orders.running.swap_remove(place);
        if !one.is_begun {
            let is_same =
                self.plan(at, &one.made.request).is_some_and(|(_, now)| now.digest == one.made.digest);
            if !is_same {
                let receipt = OrderReceipt::refused(&one.order.id, ErrorKind::Changed, "changed under you");
                if let Some(run) = self.orders.runs.iter_mut().find(|run| run.number == one.run) {
                    run.taker.answered(receipt.clone());
                }
                return self.send_down(one.run, Encoder::receipt(&receipt).unwrap());
            }
            let disk = &mut self.machines[at].disk;
            let entry = Entry { number: disk.next(), moved: None, ended: None };
            disk.journal.insert(one.order.id.clone(), entry);
            one.is_begun = true;
            return self.orders.running.push(one);
        }
        if !one.is_moved {
            let moved = self.move_there(at, &one).then_some(one.made.thing);
            self.machines[at].disk.journal.get_mut(&one.order.id).unwrap().moved = moved;
            one.is_moved = true;
            return self.orders.running.push(one);
        }
        let entry = self.machines[at].disk.journal.get_mut(&one.order.id).unwrap();
        entry.ended = Some(if entry.moved.is_some() { EndResult::Done } else { EndResult::Changed });
        self.send_receipt(one.run, at, &one.order.id);
    }

    /// Moves an order's object, if it is still unchanged, and asks the oracle whether that was right.
    fn move_there(&mut self, at: usize, one: &Running) -> bool {
        let number = self.machines[at].disk.journal[&one.order.id].number;
        let is_done = match one.made.thing {
            Thing::Registered(pid, whose, written_at) => {
                let is_same = self.files.get(&pid) == Some(&(whose, written_at));
                if is_same {
                    self.files.remove(&pid);
                    self.let_go(at, whose, &one.order.id);
                }
                is_same
            }
            Thing::Paper(paper) => {
                let place = &mut self.machines[at].disk.papers[paper];
                place.is_none() && place.replace(number).is_none()
            }
            Thing::Back(entry) => self.put_back(at, entry),
        };
        if is_done {
            let times = self.orders.done.entry(one.order.id.clone()).or_default();
            *times += 1;
            if *times > 1 || self.orders.sent[&one.order.id].standing == Some(Standing::NotDone) {
                self.breaches.push(format!("{} was done, {times} times", one.order.id));
            }
            self.note("done there", format!("{} {}", name(at), one.order.id));
        }
        is_done
    }

    fn put_back(&mut self, at: usize, entry: u64) -> bool {
        let disk = &mut self.machines[at].disk;
        let Some(known) = disk.journal.values_mut().find(|known| known.number == entry) else { return false };
        match known.moved {
            Some(Thing::Registered(pid, whose, written_at)) if !self.files.contains_key(&pid) => {
                known.moved = None;
                self.files.insert(pid, (whose, written_at));
                true
            }
            Some(Thing::Paper(paper)) if disk.papers[paper] == Some(entry) => {
                known.moved = None;
                disk.papers[paper] = None;
                true
            }
            Some(_) | None => false,
        }
    }

    fn let_go(&mut self, at: usize, whose: usize, order: &str) {
        let life = self.lives[whose].clone();
        if !life.lives {
            return;
        }
        if self.is_hidden_clone(at, &life) {
            return self.note("let go by a clone that nobody knew", name(at));
        }
        self.breaches.push(format!("{order} lets go what {life:?} holds"));
    }

    /// Receives everything that is left, and checks that the result of every order is known.
    pub(super) fn calm_down(&mut self) {
        self.network = super::Network::Orderly;
        for _ in 0..ROUNDS {
            for at in 0..MACHINES {
                self.connect(at);
                self.look(at);
                for _ in 0..20 {
                    self.deliver(at);
                    self.hear(at);
                    self.carry_on(at);
                }
                self.settle(at);
            }
            if self.orders.sent.values().all(|sent| sent.standing.is_some()) {
                break;
            }
        }
        // The result of an order to a state folder that no machine has any more cannot be known.
        let is_there = |sent: &Sent| (0..MACHINES).any(|at| self.store(at) == sent.to);
        let is_open = |sent: &&Sent| sent.standing.is_none() && is_there(sent) && self.may_ask(sent.at);
        let open = self.orders.sent.values().filter(is_open).count();
        if open > 0 {
            self.breaches.push(format!("of {open} orders it is never known what has become of them"));
        }
    }
}

impl Disk {
    fn next(&self) -> u64 {
        self.journal.values().map(|entry| entry.number).max().unwrap_or_default() + 1
    }
}
