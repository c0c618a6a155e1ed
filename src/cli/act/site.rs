//! Where a command acts: on this machine, or on the one that is named.

use std::sync::Arc;

use anyhow::anyhow;

use super::elsewhere;
use super::open::{asker, opened};
use crate::act::error::ActionError;
use crate::act::executor::Executor;
use crate::act::orders::sender::OrderSender;
use crate::cli::args::Consent;
use crate::cli::fleet;
use crate::cli::fleet::machine_names::{MachineSet, OneNamed, machine_of};
use crate::cli::output::complain;
use crate::cli::output::failure::{Exit, Failure, of_action};
use crate::cli::settings::Settings;
use crate::core::fleet::database::host_name::no_host;
use crate::core::fleet::order::{Allow, Standing};
use crate::core::fleet::transport::Machine;
use crate::core::fleet::wire::part::is_derived;
use crate::core::history::journal::Entry;
use crate::core::model::report::need::quoted;
use crate::core::model::text::shown;
use crate::core::model::{Key, Report, RestoreTo};
use crate::observe::fleet::Fleet;
use crate::source::os::{clock, host};

/// Where a command acts.
pub(super) enum Site {
    Here {
        executor: Executor,
        /// Keeps the connections to those who testify about what is here.
        fleet: Option<Fleet>,
        /// Those of them that cannot be heard, each with the reason.
        unheard: Vec<String>,
    },
    There(There),
}

/// Returns what `--on` names.
fn asked(settings: &Settings) -> Vec<OneNamed> {
    let MachineSet { machines, hosts, .. } = settings.named.clone();
    machines.into_iter().map(OneNamed::Machine).chain(hosts.into_iter().map(OneNamed::Host)).collect()
}

/// Another machine that takes orders.
pub(super) struct There {
    /// Keeps this machine's journal.
    pub(super) executor: Executor,
    pub(super) sender: OrderSender,
    pub(super) machine: String,
    /// The entry here that is taken back.
    pub(super) undoes: Option<u64>,
    report: Arc<Report>,
    /// Keeps the connection.
    _fleet: Fleet,
}

impl Site {
    /// Returns what is there.
    pub(super) fn report(&mut self) -> Report {
        match self {
            Self::Here { executor, .. } => executor.report(),
            Self::There(there) => (*there.report).clone(),
        }
    }

    /// Returns what is seen here and on the other machines together, if any are asked.
    pub(super) fn all(&self, report: &Report) -> Option<Report> {
        match self {
            Self::Here { fleet: Some(fleet), .. } => Some(fleet.merged_with(report)),
            Self::Here { fleet: None, .. } | Self::There(_) => None,
        }
    }

    /// Returns the entries of this machine's journal that were cut off and have been put right on the way.
    pub(super) fn put_right(&self) -> Vec<Entry> {
        match self {
            Self::Here { executor, .. } => executor.put_right(),
            Self::There(there) => there.executor.put_right(),
        }
    }
}

/// Opens the place that these names are of: the machine after their `@`, or the one that `--on` names.
///
/// # Errors
/// They are of several machines, or theirs cannot be reached or takes no orders.
pub(super) fn open(settings: &Settings, consent: &Consent, subjects: &[String]) -> Result<Site, Failure> {
    let mut names: Vec<&str> = subjects.iter().filter_map(|subject| machine_of(subject)).collect();
    names.dedup();
    let is_all = names.is_empty() || subjects.iter().all(|subject| machine_of(subject).is_some());
    let asked = asked(settings);
    if names.is_empty() && !asked.is_empty() && subjects.iter().any(|one| is_own_key(one)) {
        if subjects.iter().all(|one| is_own_key(one)) {
            return beside(settings, consent);
        }
        return Err(Failure::usage(anyhow!("act on one machine at a time")));
    }
    let machine = match (names.as_slice(), asked.as_slice()) {
        ([], []) => return here(settings, consent),
        ([], [one]) => one.clone(),
        ([name], [..]) if is_all => settings.machine(name)?,
        _ => return Err(Failure::usage(anyhow!("act on one machine at a time"))),
    };
    there(settings, consent, machine).map(Site::There)
}

/// Opens this machine, and lets every machine of the configuration testify about what is here, as on the screen.
///
/// # Errors
/// The state folder cannot be opened, or the machines cannot be watched.
fn here(settings: &Settings, consent: &Consent) -> Result<Site, Failure> {
    let executor = opened(settings, consent)?;
    let Some(fleet) = fleet::fleet(settings, fleet::Which::Hearing)? else {
        return Ok(Site::Here { executor, fleet: None, unheard: Vec::new() });
    };
    fleet.wait_for_all();
    let unheard = elsewhere::unheard(&fleet.seen(), &host::host(clock::now()));
    unheard.iter().for_each(|why| complain(&format!("claimtop: {why}; its knowledge is not used")));
    Ok(Site::Here { executor: executor.hearing(fleet.testimony()), fleet: Some(fleet), unheard })
}

/// Returns whether a name is the key of a thing of this machine.
fn is_own_key(subject: &str) -> bool {
    is_derived(&Key::typed(subject))
}

/// Opens this machine, and lets those that `--on` names testify about what is here. Each must be heard: else a command
/// could do what it could not while another machine says who lives.
///
/// # Errors
/// One cannot be reached.
fn beside(settings: &Settings, consent: &Consent) -> Result<Site, Failure> {
    let executor = opened(settings, consent)?;
    let fleet = fleet::fleet(settings, fleet::Which::Named)?;
    let fleet = fleet.ok_or_else(|| Failure::usage(anyhow!("no machine is named")))?;
    fleet.wait_for_all();
    let seen = fleet.seen();
    let asked = asked(settings);
    // Of a database only the hosts that are named must be.
    let is_named = |name: &str| settings.named.hosts.is_empty() || asked.iter().any(|one| one.name() == name);
    let missing = settings.named.hosts.iter().find(|name| !seen.iter().any(|one| one.view.name == **name));
    if let Some(name) = missing {
        return Err(unreached(settings, name, &no_host(name, &seen)));
    }
    if let Some(silent) = (seen.iter()).find(|one| !one.view.state.is_heard() && is_named(&one.view.name)) {
        return Err(unreached(settings, &silent.view.name, &silent.view.detail.shown()));
    }
    let executor = executor.hearing(fleet.testimony());
    Ok(Site::Here { executor, fleet: Some(fleet), unheard: Vec::new() })
}

/// What is to be undone, and where.
pub(super) struct Undoing {
    pub(super) site: Site,
    pub(super) entry: Option<u64>,
    /// What was cut off and has just been put right: then there is nothing left to undo.
    pub(super) put_right: Option<Entry>,
}

/// Finds what is meant by an entry: of this journal, or as `NUMBER@MACHINE` of another one; without any the newest
/// that can be undone. What this machine has asked of another one is undone there.
///
/// # Errors
/// It is no number, or its machine cannot be reached or takes no orders.
pub(super) fn undo(
    settings: &Settings,
    consent: &Consent,
    entry: Option<&str>,
    to: RestoreTo,
) -> Result<Undoing, Failure> {
    let (number, name) = match entry.map(|entry| entry.split_once('@').unwrap_or((entry, ""))) {
        None => (None, ""),
        Some((number, name)) => {
            let error = || Failure::usage(anyhow!("{number:?} is not an entry number"));
            (Some(number.parse::<u64>().map_err(|_| error())?), name)
        }
    };
    let machine = match (name, asked(settings).as_slice()) {
        ("", []) => return undo_here(settings, consent, number, to),
        ("", [one]) => one.clone(),
        ("", _) => return Err(Failure::usage(anyhow!("act on one machine at a time"))),
        (name, _) => settings.machine(name)?,
    };
    let mut there = there(settings, consent, machine)?;
    let history = there.executor.history().map_err(of_action)?;
    let is_its = |entry: &&Entry| {
        let of_it = entry.intent.asked_of().is_some_and(|order| order.machine == there.machine);
        of_it && entry.can_be_undone() && number.is_none_or(|number| entry.there() == Some(number))
    };
    let found = history.entries.iter().rev().find(is_its);
    there.undoes = found.map(|entry| entry.number);
    let entry = number.or_else(|| found.and_then(Entry::there));
    Ok(Undoing { site: Site::There(there), entry, put_right: None })
}

/// Finds an entry of this machine's journal, and where it is undone.
fn undo_here(
    settings: &Settings,
    consent: &Consent,
    number: Option<u64>,
    to: RestoreTo,
) -> Result<Undoing, Failure> {
    let mut executor = opened(settings, consent)?;
    if !consent.dry_run {
        let ended = executor.recover(number).map_err(of_action)?.pop();
        let is_end = |entry: &Entry| match number {
            Some(number) => entry.number == number && !entry.can_be_undone(),
            None => !entry.can_be_undone() || entry.is_stuck(),
        };
        if let Some(entry) = ended.filter(is_end) {
            let site = Site::Here { executor, fleet: None, unheard: Vec::new() };
            return Ok(Undoing { site, entry: None, put_right: Some(entry) });
        }
    }
    let history = executor.history().map_err(of_action)?;
    let is_about = |entry: &Entry, number| entry.number == number || entry.intent.undoes == Some(number);
    let is_meant = |entry: &&Entry| entry.is_open() && number.is_none_or(|number| is_about(entry, number));
    if let Some(open) = history.entries.iter().rev().find(is_meant).filter(|_| consent.dry_run) {
        let number = open.number;
        let cut = anyhow!(
            "entry {number} was interrupted, or is being done: what of it can be undone is known once it is put right"
        );
        return Err(
            Failure::new(Exit::Refused, cut).hint(format!("claimtop undo {number} puts it right first"))
        );
    }
    let stuck = history.newest_stuck();
    let newest = || match (history.newest_undoable(), stuck) {
        // In its own place what got stuck has found something else.
        (done, Some(stuck)) if to == RestoreTo::Beside => {
            let brings = history.entry(stuck.brought_back_by()).unwrap_or(stuck);
            Some(done.filter(|done| done.number > stuck.number).unwrap_or(brings))
        }
        (done, _) => done,
    };
    let entry = number.map_or_else(newest, |number| history.entry(number));
    if let (None, Some(stuck)) = (entry, stuck) {
        let nothing = Failure::new(Exit::Refused, anyhow!("nothing can be undone in its place"));
        let (number, by) = (stuck.number, stuck.brought_back_by());
        return Err(nothing.hint(format!(
            "entry {number} got stuck: claimtop undo {by} --beside brings back what is parked"
        )));
    }
    let asked = entry.and_then(|entry| Some((entry.number, entry.intent.asked_of()?, entry.there()?)));
    let Some((own, order, entry)) = asked else {
        let entry = number.or_else(|| entry.map(|entry| entry.number));
        let site = Site::Here { executor, fleet: None, unheard: Vec::new() };
        return Ok(Undoing { site, entry, put_right: None });
    };
    let mut there = there(settings, consent, settings.machine(&order.machine)?)?;
    if order.store.is_some() && order.store != there.sender.store() {
        let (name, another) = (&order.machine, "is not the machine that was asked for entry");
        return Err(Failure::new(Exit::Refused, anyhow!("{name} {another} {own}: its ID differs")));
    }
    there.undoes = Some(own);
    Ok(Undoing { site: Site::There(there), entry: Some(entry), put_right: None })
}

/// Reaches a machine that takes orders, and first of all asks what has become of earlier ones.
pub(super) fn there(settings: &Settings, consent: &Consent, place: OneNamed) -> Result<There, Failure> {
    let executor = opened(settings, consent)?;
    let name = place.name().to_owned();
    let which = match place {
        OneNamed::Machine(machine) => fleet::Which::One(allowed(settings, machine)?),
        OneNamed::Host(_) => fleet::Which::Hosts,
    };
    let fleet = fleet::fleet(settings, which)?;
    let fleet = fleet.ok_or_else(|| Failure::usage(anyhow!("no machine is named")))?;
    fleet.wait_for_all();
    let seen = fleet.dispatcher().machine(&name);
    let Some(seen) = seen else { return Err(unreached(settings, &name, &no_host(&name, &fleet.seen()))) };
    let Some(report) = seen.report.clone() else {
        return Err(unreached(settings, &name, &seen.view.detail.shown()));
    };
    if !seen.view.state.is_heard() {
        return Err(unreached(settings, &name, &seen.view.detail.shown()));
    }
    if let Some(why) = seen.view.why_no_orders() {
        return Err(Failure::new(Exit::Refused, anyhow!("{name}: {why}")));
    }
    let sender = OrderSender::new(fleet.dispatcher(), &name, asker(settings));
    let mut there = There { executor, sender, machine: name, undoes: None, report, _fleet: fleet };
    if !consent.dry_run {
        settle_earlier(&mut there).map_err(of_action)?;
    }
    Ok(there)
}

/// Asks the machines that `--on` names what has become of orders of which that is not known.
///
/// # Errors
/// One cannot be reached or takes no orders.
pub(crate) fn settle(settings: &Settings) -> Result<(), Failure> {
    let mut places = asked(settings).into_iter();
    places.try_for_each(|place| there(settings, &Consent::default(), place).map(drop))
}

/// Asks what has become of earlier orders to this machine.
fn settle_earlier(there: &mut There) -> Result<(), ActionError> {
    for (entry, receipt) in there.sender.settle_open(&mut there.executor)? {
        let word = match receipt.became.standing() {
            Standing::Done => "done",
            Standing::NotDone => "not done",
            Standing::Unknown => "unknown until seen",
        };
        let title = shown(&entry.intent.title);
        complain(&format!("claimtop: entry {} ({title} on {}) was {word}", entry.number, there.machine));
    }
    Ok(())
}

fn unreached(settings: &Settings, name: &str, why: &str) -> Failure {
    let is_configured = settings.effective.config.machines.iter().any(|known| known.name == name);
    let is_host = settings.effective.config.fleet.is_some() && !name.contains(':');
    let on = if is_configured || is_host { String::new() } else { format!(" --on {}", quoted(name)) };
    let given = &settings.given;
    Failure::new(Exit::Failed, anyhow!("{name}: {why}"))
        .hint(format!("run claimtop machines{on}{given} for the state of each"))
}

/// Makes sure that a machine may be asked. One that only `--on` names may: a person has just named it to act on it.
fn allowed(settings: &Settings, machine: Machine) -> Result<Machine, Failure> {
    let is_configured = settings.effective.config.machines.iter().any(|known| known.name == machine.name);
    match (is_configured, machine.allow) {
        (true, Allow::Observe) => {
            let name = &machine.name;
            let error = anyhow!("{name} is only watched from here; nothing was requested");
            Err(Failure::new(Exit::Refused, error).hint(
                "allow = \"operate\" in its [[machine]] allows requests; what it does is its own decision",
            ))
        }
        (true, Allow::Operate) | (false, _) => Ok(Machine { allow: Allow::Operate, ..machine }),
    }
}
