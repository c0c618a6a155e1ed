//! The seeded simulation: machines that crash, reboot, are cloned, resumed twice and cut off, around the real publisher
//! and the real functions in a real server, whose clock is the simulation's. Messages are lost, late and sent twice;
//! the database is restored from backups. An oracle knows the truth.
//!
//! `CLAIMTOP_FLEET_SCHEDULES` sets how many run, `CLAIMTOP_FLEET_SEED` selects a single one, with every step printed.

use std::collections::{BTreeMap, BTreeSet};

use claimtop::testing::core::{Call, HostId, Next, Publisher, Waiting};
use serde_json::value::RawValue;

use crate::fleet::login::Login;
use crate::fleet::stage::fleet;

/// How many run by default.
const USUAL: u64 = 150;

/// How many steps a schedule has before everything calms down.
const STEPS: u32 = 90;

/// The tables of a backup, in an order in which they can be filled.
const TABLES: [&str; 4] = ["host", "part", "tombstone", "\"order\""];

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).unwrap()
    }
}

/// The contents of a state folder.
#[derive(Clone)]
struct Disk {
    id: HostId,
    /// The processes that were seen alive, and in which boot.
    seen: BTreeSet<(u64, u32)>,
    tombstones: BTreeSet<(u64, u32)>,
    /// The orders that were begun.
    journal: BTreeSet<String>,
    highest: i64,
}

#[derive(Clone)]
struct Machine {
    boot: u64,
    living: BTreeSet<u32>,
    disk: Disk,
    witness: Option<Publisher>,
    is_cut_off: bool,
}

/// The fate of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Answered,
    AnswerLost,
    Lost,
    Late,
    Twice,
}

struct World<'a> {
    owner: &'a Login,
    witness: &'a Login,
    random: Random,
    now: u64,
    machines: Vec<Machine>,
    /// Messages that arrive later.
    late: Vec<Call>,
    next: u64,
    executed: BTreeMap<String, u32>,
    has_backup: bool,
    has_copies: bool,
    was_restored: bool,
    is_told: bool,
    is_calm: bool,
}

fn facts(machine: &Machine) -> String {
    format!(r#"{{"boot":"{}","name":"m","machine":"m","pid_namespace":7,"accepts":"typed"}}"#, machine.boot)
}

fn stone((boot, pid): (u64, u32)) -> Box<RawValue> {
    let text = format!(
        r#"{{"boot_id":"{boot}","pid":{pid},"start_ticks":{pid},"pid_namespace":7,"time_namespace":8}}"#
    );
    RawValue::from_string(text).unwrap()
}

impl World<'_> {
    fn tell(&self, text: impl Fn() -> String) {
        if self.is_told {
            println!("{:>7} s  {}", self.now / 1000, text());
        }
    }

    fn fresh(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn new_id(&mut self, clone_of: Option<String>) -> HostId {
        let (one, two) = (self.random.next(), self.random.next());
        let host = format!("{:08x}-0000-4000-8000-{:012x}", one >> 32, two >> 16);
        HostId { host, secret: format!("{one:016x}{two:016x}"), clone_of }
    }

    fn pass(&mut self, milliseconds: u64) {
        self.now += milliseconds;
        self.witness.sql(&format!("SELECT set_config('sim.now', '{}', false)", self.now)).unwrap();
    }

    fn add(&mut self) {
        let id = self.new_id(None);
        let boot = self.fresh();
        let disk = Disk {
            id,
            seen: BTreeSet::new(),
            tombstones: BTreeSet::new(),
            journal: BTreeSet::new(),
            highest: 0,
        };
        let machine = Machine { boot, living: BTreeSet::new(), disk, witness: None, is_cut_off: false };
        self.machines.push(machine);
        self.start(self.machines.len() - 1);
    }

    /// Starts the witness of a machine: it reports all live processes, and buries those that were alive when it last
    /// ran.
    fn start(&mut self, at: usize) {
        let machine = &mut self.machines[at];
        let mut witness = Publisher::new(machine.disk.id.clone(), None, facts(machine), machine.disk.highest);
        for pid in &machine.living {
            machine.disk.seen.insert((machine.boot, *pid));
            witness.outbox.put("window", &pid.to_string(), &RawValue::from_string("{}".to_owned()).unwrap());
        }
        for (boot, pid) in machine.disk.seen.clone() {
            if boot == machine.boot && !machine.living.contains(&pid) {
                machine.disk.tombstones.insert((boot, pid));
            }
        }
        // A folder may have them from an earlier boot, and sends those too.
        for dead in &machine.disk.tombstones {
            witness.outbox.bury(&format!("{} {}", dead.0, dead.1), &stone(*dead));
        }
        machine.witness = Some(witness);
    }

    fn begin(&mut self, at: usize) {
        let pid = u32::try_from(self.fresh()).unwrap();
        let machine = &mut self.machines[at];
        machine.living.insert(pid);
        if let Some(witness) = &mut machine.witness {
            machine.disk.seen.insert((machine.boot, pid));
            witness.outbox.put("window", &pid.to_string(), &RawValue::from_string("{}".to_owned()).unwrap());
        }
    }

    fn kill(&mut self, at: usize) {
        let place = self.random.below(self.machines[at].living.len());
        let machine = &mut self.machines[at];
        let Some(pid) = machine.living.iter().copied().nth(place) else { return };
        machine.living.remove(&pid);
        if let Some(witness) = &mut machine.witness {
            let dead = (machine.boot, pid);
            machine.disk.tombstones.insert(dead);
            witness.outbox.remove("window", &pid.to_string());
            witness.outbox.bury(&format!("{} {}", dead.0, dead.1), &stone(dead));
        }
    }

    fn deliver(&self, call: &Call) -> String {
        let parameters: Vec<Option<&str>> = call.parameters.iter().map(Option::as_deref).collect();
        self.witness.try_call(call.function, &parameters).unwrap_or_else(|why| panic!("{call:?}: {why}"))
    }

    /// Sends a message, and returns the answer if one comes.
    fn send(&mut self, call: Call) -> Option<String> {
        let fate = match self.random.below(100) {
            _ if self.is_calm => Fate::Answered,
            0..70 => Fate::Answered,
            70..80 => Fate::AnswerLost,
            80..88 => Fate::Lost,
            88..94 => Fate::Late,
            _ => Fate::Twice,
        };
        match fate {
            Fate::Answered => Some(self.deliver(&call)),
            Fate::AnswerLost => {
                self.deliver(&call);
                None
            }
            Fate::Lost => None,
            Fate::Late => {
                self.late.push(call);
                None
            }
            Fate::Twice => {
                let answer = self.deliver(&call);
                self.late.push(call);
                Some(answer)
            }
        }
    }

    /// Lets a witness make its next request; returns whether it has reached a beat or has to wait.
    fn step(&mut self, at: usize) -> bool {
        let mark = i64::try_from(self.random.next() >> 1).unwrap();
        if self.machines[at].is_cut_off {
            return true;
        }
        let Some(witness) = &mut self.machines[at].witness else { return true };
        let call = witness.next(mark).unwrap();
        let function = call.function.split('(').next().unwrap();
        let answer = self.send(call);
        self.tell(|| format!("machine {at}: {function} -> {answer:?}"));
        let Some(answer) = answer else { return false };
        let Some(witness) = &mut self.machines[at].witness else { return true };
        match witness.answered(&answer).unwrap() {
            Next::Again => false,
            Next::Wait(_) => true,
            Next::Accepted { orders, .. } => {
                for order in orders {
                    self.order(at, &order);
                }
                true
            }
            Next::NewId => {
                let before = self.machines[at].disk.id.host.clone();
                let id = self.new_id(Some(before));
                self.machines[at].disk.id = id.clone();
                self.machines[at].disk.highest = 0;
                self.machines[at].witness.as_mut().unwrap().renamed(id);
                false
            }
            Next::Refused(why) => panic!("{why}"),
        }
    }

    fn order(&mut self, at: usize, order: &Waiting) {
        let machine = &self.machines[at];
        if machine.disk.journal.contains(&order.id) {
            return;
        }
        let witness = machine.witness.as_ref().unwrap();
        let of_host = [Some(machine.disk.id.host.clone()), Some(machine.disk.id.secret.clone())];
        let [epoch, number] = [witness.epoch(), order.number].map(|number| Some(number.to_string()));
        let taken = self.send(Call {
            function: "take($1::uuid,$2,$3::bigint,$4::bigint)",
            parameters: of_host.iter().cloned().chain([epoch, number.clone()]).collect(),
        });
        self.tell(|| format!("machine {at}: take {} -> {taken:?}", order.id));
        if !taken.is_some_and(|answer| answer.contains("ok")) {
            return;
        }
        let machine = &mut self.machines[at];
        machine.disk.journal.insert(order.id.clone());
        machine.disk.highest = machine.disk.highest.max(order.number);
        machine.witness.as_mut().unwrap().journalled(order.number);
        *self.executed.entry(order.id.clone()).or_default() += 1;
        let ended = [number, Some("done".to_owned()), Some("{}".to_owned())];
        self.send(Call {
            function: "receipt($1::uuid,$2,$3::bigint,$4,$5::json)",
            parameters: of_host.into_iter().chain(ended).collect(),
        });
    }

    /// Lets an operator send one of the hosts an order, once or twice.
    fn ask(&mut self) {
        let hosts = self.owner.sql("SELECT host || ' ' || epoch FROM claimtop.host ORDER BY host").unwrap();
        let hosts: Vec<&str> = hosts.lines().collect();
        let Some((host, epoch)) =
            hosts.get(self.random.below(hosts.len())).and_then(|row| row.split_once(' '))
        else {
            return;
        };
        let id = format!("order-{}", self.fresh());
        for _ in 0..=self.random.below(2) {
            self.witness
                .call("ask($1::uuid,$2::bigint,'order',$3,'{}',null)", &[Some(host), Some(epoch), Some(&id)]);
        }
    }

    fn back_up(&mut self) {
        for table in TABLES {
            let copy = table.trim_matches('"');
            self.owner
                .sql(&format!(
                    "DELETE FROM sim.{copy}; INSERT INTO sim.{copy} SELECT * FROM claimtop.{table}"
                ))
                .unwrap();
        }
        self.has_backup = true;
    }

    fn restore(&mut self) {
        self.owner.sql("DELETE FROM claimtop.host").unwrap();
        for table in TABLES {
            let copy = table.trim_matches('"');
            self.owner.sql(&format!("INSERT INTO claimtop.{table} SELECT * FROM sim.{copy}")).unwrap();
        }
        self.was_restored = true;
    }

    fn act(&mut self) {
        let at = self.random.below(self.machines.len());
        let kind = self.random.below(1000);
        match kind {
            0..560 => {
                self.step(at);
            }
            560..700 => {
                let by = 500 + self.random.next() % 11_500;
                self.pass(by);
            }
            700..750 => self.kill(at),
            750..790 => self.begin(at),
            790..820 => {
                self.tell(|| format!("machine {at}: its witness ends"));
                self.machines[at].witness = None;
            }
            820..870 => {
                if self.machines[at].witness.is_none() {
                    self.tell(|| format!("machine {at}: its witness starts"));
                    self.start(at);
                }
            }
            870..885 => {
                let boot = self.fresh();
                self.tell(|| format!("machine {at}: boots again, as {boot}"));
                let machine = &mut self.machines[at];
                (machine.boot, machine.witness) = (boot, None);
                machine.living.clear();
            }
            885..895 if self.machines.len() < 5 => {
                let boot = self.fresh();
                self.tell(|| format!("machine {at}: its disk is cloned, boot {boot}"));
                let mut clone = self.machines[at].clone();
                (clone.boot, clone.witness, clone.is_cut_off) = (boot, None, false);
                clone.living.clear();
                self.machines.push(clone);
                self.has_copies = true;
                self.start(self.machines.len() - 1);
            }
            895..905 if self.machines.len() < 5 => {
                self.tell(|| format!("machine {at}: its snapshot is resumed twice"));
                let twin = self.machines[at].clone();
                self.machines.push(twin);
                self.has_copies = true;
            }
            905..915 => self.back_up(),
            915..922 if self.has_backup => {
                self.tell(|| "the database is restored".to_owned());
                self.restore();
            }
            922..940 => {
                let is_cut_off = !self.machines[at].is_cut_off;
                self.tell(|| format!("machine {at}: cut off: {is_cut_off}"));
                self.machines[at].is_cut_off = is_cut_off;
            }
            940..965 => self.ask(),
            _ => self.one_late(),
        }
    }

    /// Delivers a late message, for which no caller waits.
    fn one_late(&mut self) {
        if self.late.is_empty() {
            return;
        }
        let place = self.random.below(self.late.len());
        let call = self.late.swap_remove(place);
        let answer = self.deliver(&call);
        self.tell(|| format!("late: {} {:?} -> {answer}", call.function, call.parameters));
    }

    /// Lets everything be reached and answered until nothing changes.
    fn calm(&mut self, rounds: u32) {
        self.is_calm = true;
        for at in 0..self.machines.len() {
            self.machines[at].is_cut_off = false;
            if self.machines[at].witness.is_none() {
                self.start(at);
            }
        }
        let mut quiet = 0;
        for _ in 0..rounds {
            self.pass(4_000);
            let mut is_quiet = true;
            for at in 0..self.machines.len() {
                is_quiet &= self.settle(at);
            }
            // A claim that is not followed up ends with the first beat after 15 s.
            quiet = if is_quiet { quiet + 1 } else { 0 };
            if quiet == 5 {
                return;
            }
        }
        panic!("it never comes to rest");
    }

    /// Lets a witness ask until it has to wait; returns whether it had nothing to do but to beat.
    fn settle(&mut self, at: usize) -> bool {
        let before = self.machines[at].witness.as_ref().map(Publisher::epoch);
        let is_done = (0..8).any(|_| self.step(at));
        let witness = self.machines[at].witness.as_ref().unwrap();
        is_done && before == Some(witness.epoch()) && witness.is_followed()
    }

    /// Checks the invariants that hold at every moment.
    fn check_always(&self) {
        for (order, times) in &self.executed {
            assert!(*times == 1, "{order} was executed {times} times");
        }
        if self.has_copies {
            // A process that is dead in one copy may live in the other until both are identified.
            return;
        }
        let told = self.owner.sql("SELECT boot || ' ' || pid FROM claimtop.tombstone").unwrap();
        for line in told.lines() {
            let (boot, pid) = line.split_once(' ').unwrap();
            let (boot, pid): (u64, u32) = (boot.parse().unwrap(), pid.parse().unwrap());
            let lives =
                self.machines.iter().any(|machine| machine.boot == boot && machine.living.contains(&pid));
            assert!(!lives, "PID {pid} of boot {boot} lives and is told dead");
        }
    }

    /// Checks the invariants that hold once everything was reached.
    fn check_calm(&self) {
        let mut ids = BTreeSet::new();
        for (at, machine) in self.machines.iter().enumerate() {
            let host = &machine.disk.id.host;
            assert!(ids.insert(host.clone()), "two machines publish as {host}");
            let row = self.owner.sql(&format!(
                "SELECT state || ' ' || epoch || ' ' || boot || ' ' || (claim_boot IS NULL)
                 FROM claimtop.host WHERE host = '{host}'"
            ));
            let epoch = machine.witness.as_ref().unwrap().epoch();
            let expected = format!("ok {epoch} {} true", machine.boot);
            assert_eq!(row.unwrap(), expected, "machine {at}");
            let windows = self.owner.sql(&format!(
                "SELECT id FROM claimtop.part WHERE host = '{host}' AND payload IS NOT NULL ORDER BY id::int"
            ));
            let expected: Vec<String> = machine.living.iter().map(u32::to_string).collect();
            assert_eq!(windows.unwrap(), expected.join("\n"), "windows of machine {at}");
            let buried = self
                .owner
                .sql(&format!("SELECT boot || ' ' || pid FROM claimtop.tombstone WHERE host = '{host}'"));
            let buried: BTreeSet<String> = buried.unwrap().lines().map(str::to_owned).collect();
            for (boot, pid) in &machine.disk.tombstones {
                assert!(buried.contains(&format!("{boot} {pid}")), "machine {at} has lost a tombstone");
            }
        }
        if !self.has_copies && !self.was_restored {
            let forks = self.owner.sql("SELECT count(*) FROM claimtop.host WHERE state <> 'ok'").unwrap();
            assert_eq!(forks, "0", "a fork where there is one of each");
        }
    }
}

/// The totals of the schedules.
#[derive(Default, Debug)]
struct Sum {
    copies: u64,
    restores: u64,
    orders: u64,
    forks: u64,
}

fn schedule(seed: u64, logins: [&Login; 2], is_told: bool, sum: &mut Sum) {
    let [owner, witness] = logins;
    owner.sql("DELETE FROM claimtop.host").unwrap();
    let mut world = World {
        owner,
        witness,
        random: Random(seed),
        now: 1_700_000_000_000,
        machines: Vec::new(),
        late: Vec::new(),
        next: seed.wrapping_mul(100_000) % 1_000_000_000,
        executed: BTreeMap::new(),
        has_backup: false,
        has_copies: false,
        was_restored: false,
        is_told,
        is_calm: false,
    };
    world.pass(0);
    for _ in 0..=world.random.below(2) {
        world.add();
    }
    for step in 0..STEPS {
        world.act();
        if step % 10 == 9 {
            world.check_always();
        }
    }
    world.calm(60);
    world.check_always();
    world.check_calm();
    while !world.late.is_empty() {
        world.one_late();
    }
    world.calm(60);
    world.check_always();
    world.check_calm();
    sum.copies += u64::from(world.has_copies);
    sum.restores += u64::from(world.was_restored);
    sum.orders += world.executed.len() as u64;
    let forks = world.owner.sql("SELECT count(*) FROM claimtop.host WHERE state <> 'ok'").unwrap();
    sum.forks += forks.parse::<u64>().unwrap();
}

#[test]
fn no_order_is_executed_twice_no_tombstone_is_lost_and_every_fork_is_found() {
    let database = fleet();
    database.sql(
        "CREATE OR REPLACE FUNCTION claimtop.clock() RETURNS timestamptz LANGUAGE sql VOLATILE AS
           $$ SELECT to_timestamp(current_setting('sim.now')::bigint / 1000.0) $$;
         CREATE SCHEMA sim; CREATE TABLE sim.host (LIKE claimtop.host); CREATE TABLE sim.part (LIKE claimtop.part);
         CREATE TABLE sim.tombstone (LIKE claimtop.tombstone); CREATE TABLE sim.\"order\" (LIKE claimtop.\"order\");
         GRANT claimtop_operate TO alice",
    );
    let [owner, witness] = ["leo", "alice"].map(|user| Login::of(&database, user));
    let logins = [&owner, &witness];
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    if let Some(seed) = number("CLAIMTOP_FLEET_SEED") {
        return schedule(seed, logins, true, &mut Sum::default());
    }
    let (first, many) =
        (number("CLAIMTOP_FLEET_FIRST").unwrap_or(1), number("CLAIMTOP_FLEET_SCHEDULES").unwrap_or(USUAL));
    let mut sum = Sum::default();
    for seed in first..first + many {
        if seed % 100 == 0 {
            database.sql(
                "TRUNCATE claimtop.host CASCADE; TRUNCATE sim.host, sim.part, sim.tombstone, sim.\"order\"",
            );
        }
        let run = std::panic::AssertUnwindSafe(|| schedule(seed, logins, false, &mut sum));
        if let Err(why) = std::panic::catch_unwind(run) {
            println!("CLAIMTOP_FLEET_SEED={seed} shows every step of it");
            std::panic::resume_unwind(why);
        }
    }
    println!("{many} schedules: {sum:?}");
}
