//! A fleet of 1,000 hosts with 50 windows each, whose simulated witnesses call the real functions of a real server:
//! the cost of beats, the traffic on the wire, the reads of a viewer, and how all that grows from 10 hosts on.
//!
//! A single part is measured by its name: `beats`, `read`, `screen` or `news`.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use claimtop::testing::core::{HostId, Next, Publisher};
use portable_pty::CommandBuilder;
use serde_json::value::RawValue;
use tokio::runtime::Runtime;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, NoTls};

use crate::cluster::Database;
use crate::stage::{Screen, World, ms, settle, spread, table_rows};

/// The final number of hosts.
const HOSTS: usize = 1_000;

/// The number of windows of a host.
const WINDOWS: usize = 50;

/// How often a host beats.
const BEAT: Duration = Duration::from_secs(10);

/// How many windows of a real witness change, and then die.
const NEWS: usize = 8;

/// For how long beats are measured.
const MEASURED: Duration = Duration::from_secs(30);

/// How many connections carry the beats, as a pooler would.
const CONNECTIONS: usize = 8;

/// Runs the benchmark, or the named part of it.
pub(crate) fn bench(only: Option<&str>) {
    let is_wanted = |name: &str| only.is_none_or(|only| only == name);
    let database = Database::new();
    database.sql(include_str!("../../assets/fleet.sql"));
    for setting in ["fsync", "full_page_writes", "autovacuum"] {
        database.sql(&format!("ALTER SYSTEM SET {setting} = on"));
    }
    database.sql("SELECT pg_reload_conf()");
    let window = window();
    println!("a window is {} bytes of JSON", window.get().len());
    let mut hosts: Vec<Publisher> = Vec::new();
    if is_wanted("beats") {
        hosts = growth(&database, &window);
        changes(&database, &mut hosts, &window);
        wire(&database, &mut hosts);
    }
    enrol(&database, &mut hosts, HOSTS, &window);
    if is_wanted("read") {
        viewer(&database);
    }
    if is_wanted("screen") {
        screen(&database, &mut hosts);
    }
    if is_wanted("news") {
        news(&database, &mut hosts);
    }
}

/// Prints the cost of beats with ever more hosts.
fn growth(database: &Database, window: &RawValue) -> Vec<Publisher> {
    println!(
        "{:>6} {:>7} {:>14} {:>13} {:>6} {:>12} {:>22} {:>22}",
        "hosts",
        "beats/s",
        "server CPU",
        "WAL/beat, 1st",
        "HOT",
        "host table",
        "viewer's first read",
        "viewer's poll at rest"
    );
    let mut hosts: Vec<Publisher> = Vec::new();
    for many in [10, 100, HOSTS] {
        let new = many - hosts.len();
        enrol(database, &mut hosts, many, window);
        // Left to autovacuum this would be counted with the beats: new rows are marked as seen by all, once.
        let before = wal(database);
        database.sql("VACUUM (ANALYZE) claimtop.part");
        let each = (wal(database) - before) / (new * WINDOWS) as f64;
        println!("the first vacuum after {new} hosts: {each:.0} WAL bytes for each new window");
        database.sql("CHECKPOINT");
        // The first beats after a checkpoint write whole pages, once in five minutes.
        let before = wal(database);
        let connection = Connection::open(&database.url());
        hosts.iter_mut().for_each(|witness| connection.beat(witness));
        let pages = (wal(database) - before) / many as f64;
        hosts = measured(database, hosts, pages);
    }
    hosts
}

/// Returns a window like the demo's.
fn window() -> Box<RawValue> {
    let output = Command::new(env!("CARGO_BIN_EXE_claimtop"))
        .args(["demo", "--once", "--json"])
        .output()
        .expect("the demo");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
    let window = report.pointer("/windows/0").expect("a window");
    RawValue::from_string(window.to_string()).expect("JSON")
}

/// Returns it as another one, with a key and a session of its own: one session that runs everywhere would be a
/// collision of all with all.
fn another(window: &RawValue, number: usize, memory: usize) -> (String, Box<RawValue>) {
    let session =
        |text: &str| serde_json::from_str::<serde_json::Value>(text).ok()?.get("session_id").cloned();
    let session = session(window.get()).expect("JSON");
    let own = format!("{number:08x}-0000-4000-8000-000000000000");
    let text = window.get().replace(session.as_str().expect("a session"), &own);
    let mut window: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let key = format!("w-{number:08x}");
    for (name, value) in [
        ("key", serde_json::json!(key)),
        ("pid", serde_json::json!(number + 1_000)),
        ("memory_bytes", serde_json::json!(memory)),
    ] {
        window.as_object_mut().expect("a window").insert(name.to_owned(), value);
    }
    (key, RawValue::from_string(window.to_string()).expect("JSON"))
}

struct Connection {
    runtime: Runtime,
    client: Client,
}

impl Connection {
    fn open(url: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let client = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("a connection");
            tokio::spawn(connection);
            client
        });
        Self { runtime, client }
    }

    /// Lets a witness call until its beat is accepted.
    fn beat(&self, witness: &mut Publisher) {
        for _ in 0..8 {
            let call = witness.next(mark()).expect("a call");
            let bound: Vec<(&(dyn ToSql + Sync), Type)> =
                call.parameters.iter().map(|text| (text as &(dyn ToSql + Sync), Type::TEXT)).collect();
            let sql = format!("SELECT claimtop.{}", call.function);
            let rows = self.runtime.block_on(self.client.query_typed(&sql, &bound)).expect("an answer");
            let answer: String = rows.first().expect("a row").get(0);
            if let Next::Accepted { .. } = witness.answered(&answer).expect("an answer") {
                return;
            }
        }
        panic!("no beat is accepted");
    }
}

fn mark() -> i64 {
    static MARK: AtomicU64 = AtomicU64::new(1);
    i64::try_from(MARK.fetch_add(1, Ordering::Relaxed)).expect("a mark")
}

/// Adds hosts up to this many, each with its windows.
fn enrol(database: &Database, hosts: &mut Vec<Publisher>, many: usize, window: &RawValue) {
    let connection = Connection::open(&database.url());
    for number in hosts.len()..many {
        let host = format!("{number:08x}-0000-4000-8000-000000000000");
        let id = HostId { host, secret: format!("{number:032}"), clone_of: None };
        let facts = format!(
            r#"{{"boot":"b{number}","name":"host-{number}","machine":"{number:032}","pid_namespace":7,"release":"0.1.0"}}"#
        );
        let mut witness = Publisher::new(id, None, facts, 0);
        for at in 0..WINDOWS {
            let (key, window) = another(window, number * WINDOWS + at, 1);
            witness.outbox.put("window", &key, &window);
        }
        let look = RawValue::from_string(r#"{"at":"2026-11-20T10:00:00Z"}"#.to_owned()).expect("JSON");
        witness.outbox.put("look", "", &look);
        connection.beat(&mut witness);
        hosts.push(witness);
    }
}

/// Lets all hosts beat for a while, and prints the cost.
fn measured(database: &Database, hosts: Vec<Publisher>, pages: f64) -> Vec<Publisher> {
    let many = hosts.len();
    let (cpu, written, hot) = (server_cpu(database), wal(database), updates(database));
    let began = Instant::now();
    let mut hosts = hosts;
    let beats = beating(database, &mut hosts, || std::thread::sleep(MEASURED)) as f64;
    let seconds = began.elapsed().as_secs_f64();
    let cpu = (server_cpu(database) - cpu) / seconds * 100.0;
    let written = (wal(database) - written) / beats;
    std::thread::sleep(Duration::from_secs(2));
    let (all, are_hot) = updates(database);
    let share = (are_hot - hot.1) / (all - hot.0).max(1.0) * 100.0;
    let size = database.sql("SELECT pg_size_pretty(pg_relation_size('claimtop.host'))");
    let (first, rest) = reads(database);
    println!(
        "{many:>6} {:>7.1} {:>7.2} % core {written:>4.0}, {pages:>4.0} B {share:>5.1}% {size:>12} {first:>22} {rest:>22}",
        beats / seconds,
        cpu
    );
    hosts
}

/// Lets all hosts beat every 10 s for the duration of a call; returns the number of beats.
fn beating(database: &Database, hosts: &mut [Publisher], during: impl FnOnce()) -> u64 {
    let (beats, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    let share = hosts.len().div_ceil(CONNECTIONS);
    std::thread::scope(|scope| {
        for some in hosts.chunks_mut(share) {
            let (beats, is_over) = (&beats, &is_over);
            scope.spawn(move || {
                let connection = Connection::open(&database.url());
                let apart = BEAT / u32::try_from(some.len()).expect("a number");
                let mut due = Instant::now();
                for at in (0..some.len()).cycle() {
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    some.get_mut(at).into_iter().for_each(|witness| connection.beat(witness));
                    beats.fetch_add(1, Ordering::Relaxed);
                    due += apart;
                    std::thread::sleep(due.saturating_duration_since(Instant::now()));
                }
            });
        }
        during();
        is_over.store(true, Ordering::Relaxed);
    });
    beats.into_inner()
}

/// Prints the cost of the screen that shows all of it, while all hosts beat, and then while none does.
fn screen(database: &Database, hosts: &mut [Publisher]) {
    let world = World::new();
    let mut command = world.claimtop();
    command.arg("--fleet");
    command.arg(database.url());
    let all = hosts.len() * WINDOWS;
    // This machine may have some of its own.
    let is_all = |picture: &str| {
        let counted =
            picture.split(" windows").next().and_then(|before| before.rsplit(' ').next()?.parse().ok());
        counted.is_some_and(|counted: usize| counted >= all)
    };
    let mut opened = None;
    let at_rest = |screen: &Screen, how: &str| {
        let before = screen.spent().0;
        screen.outputs(MEASURED);
        let cpu = (screen.spent().0 - before) / MEASURED.as_secs_f64() / 10.0;
        println!("at rest, {how}: {cpu:.2} % of a core, {:.0} MiB", screen.resident_mib());
    };
    beating(database, hosts, || {
        let began = Instant::now();
        let mut screen = Screen::open(command);
        let shown = screen.until(is_all);
        println!("the screen shows {all} windows after {:.2} s", (shown - began).as_secs_f64());
        // Threads that are no longer needed end by then.
        screen.outputs(Duration::from_secs(20));
        at_rest(&screen, "all hosts beat");
        opened = Some(screen);
    });
    let screen = opened.expect("a screen");
    screen.outputs(Duration::from_secs(80));
    at_rest(&screen, "no host has beaten for a minute");
}

/// Starts a program so that it sees only its own processes, and all that it knows of others comes from a witness.
const APART: [&str; 5] = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];

/// Prints how soon the screen shows a real witness' changes, among all the simulated ones.
fn news(database: &Database, hosts: &mut [Publisher]) {
    let far = World::new();
    let mut witness = far.claimtop();
    witness.args(["witness", "--fleet", &database.url()]);
    let mut agents: Vec<Child> = (0..NEWS).map(|_| far.agent()).collect();
    std::thread::sleep(Duration::from_millis(500));
    let name = |far: &World, agent: &Child, name: &str| far.register_as(agent.id(), name, "busy");
    agents.iter().for_each(|agent| name(&far, agent, &format!("news-{}", agent.id())));
    let witness = Screen::open(witness);
    let here = World::new();
    let mut command = CommandBuilder::new(APART[0]);
    command.args(&APART[1..]);
    command.args(here.claimtop().get_argv());
    command.args(["--fleet", &database.url()]);
    beating(database, hosts, || {
        let mut screen = Screen::open(command);
        screen.until(|picture| picture.contains("quit"));
        let mut keys = screen.master.take_writer().expect("a terminal");
        keys.write_all(b"2/news-\r").expect("keys");
        let is_live = |row: &str, name: &str| row.contains(name) && row.contains("working");
        let last = format!("news-{}", agents[NEWS - 1].id());
        screen.until(|picture| table_rows(picture).any(|row| is_live(row, &last)));
        settle(&mut screen, Duration::from_secs(20));
        let change = |screen: &mut Screen, round: &str| {
            let mut times = Vec::new();
            for (at, agent) in agents.iter().enumerate() {
                let new = format!("news-{round}{at:02}");
                let since = Instant::now();
                name(&far, agent, &new);
                let is_there = |picture: &str| table_rows(picture).any(|row| is_live(row, &new));
                times.push(ms(since, screen.until(is_there)));
                settle(screen, apart(at));
            }
            times
        };
        spread("a change there -> cells (wanted: 4500)", &mut change(&mut screen, "a"));
        // With the keys in the details of a window, the viewer looks closely at its host.
        keys.write_all(b"l").expect("a key");
        settle(&mut screen, Duration::from_secs(12));
        spread("looked at closely (wanted: 2500)", &mut change(&mut screen, "b"));
        let mut times = Vec::new();
        for (at, agent) in agents.iter_mut().enumerate() {
            let name = format!("news-b{at:02}");
            let since = Instant::now();
            agent.kill().expect("an end");
            agent.wait().expect("an end");
            times
                .push(ms(since, screen.until(|picture| !table_rows(picture).any(|row| is_live(row, &name)))));
            settle(&mut screen, apart(at));
        }
        spread("a death there -> cells (wanted: 3500)", &mut times);
    });
    drop(witness);
}

/// Returns how long to wait after this round: each meets witness and viewer at a different moment.
fn apart(round: usize) -> Duration {
    Duration::from_millis(2_500 + (round as u64 * 370) % 2_000)
}

/// Returns the results and cost of a viewer's statements: its first read, and a poll at rest.
fn reads(database: &Database) -> (String, String) {
    let timed = |sql: &str| {
        let began = Instant::now();
        let bytes = database.sql(sql);
        format!("{bytes} B, {:.0} ms", began.elapsed().as_secs_f64() * 1_000.0)
    };
    let first = timed(
        "SELECT sum(octet_length(p::text)) FROM claimtop.parts(
           (SELECT array_agg(host) FROM claimtop.host), (SELECT array_agg(0::bigint) FROM claimtop.host)) p",
    );
    let rest = timed(
        "SELECT octet_length(json_agg(h)::text) FROM claimtop.hosts(
           (extract(epoch FROM clock_timestamp()) * 1000)::bigint - 2000) h",
    );
    (first, rest)
}

/// Prints the cost of changes of windows beside the beat that brings them.
fn changes(database: &Database, hosts: &mut [Publisher], window: &RawValue) {
    let connection = Connection::open(&database.url());
    for (round, what) in [(2, "the first after a checkpoint"), (3, "and again")] {
        let before = wal(database);
        for (number, witness) in hosts.iter_mut().enumerate() {
            let (key, window) = another(window, number * WINDOWS, round);
            witness.outbox.put("window", &key, &window);
            connection.beat(witness);
        }
        let each = (wal(database) - before) / hosts.len() as f64;
        println!("one changed window with its beat: {each:.0} WAL bytes, {what}");
    }
}

/// Prints how many bytes a host at rest sends and receives.
fn wire(database: &Database, hosts: &mut [Publisher]) {
    let wire = Wire::start(database.cluster.port);
    let connection = Connection::open(&database.url_of("leo", wire.port));
    let Some(witness) = hosts.first_mut() else { return };
    connection.beat(witness);
    let before = (wire.up.load(Ordering::SeqCst), wire.down.load(Ordering::SeqCst));
    for _ in 0..100 {
        connection.beat(witness);
    }
    std::thread::sleep(Duration::from_millis(200));
    let up = (wire.up.load(Ordering::SeqCst) - before.0) as f64 / 100.0;
    let down = (wire.down.load(Ordering::SeqCst) - before.1) as f64 / 100.0;
    println!(
        "a beat at rest without TLS: {up:.0} bytes up, {down:.0} down; every 10 s {:.1} B/s",
        (up + down) / BEAT.as_secs_f64()
    );
}

/// Prints the program's own cost of reading all of it once.
fn viewer(database: &Database) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(crate::stage::program());
    for name in ["home", "tmp", "state"] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(&path).expect("a folder");
        command.arg(format!("--{name}")).arg(path);
    }
    let began = Instant::now();
    let mut child = command
        .args(["machines", "--json", "--fleet", &database.url()])
        .stdout(Stdio::piped())
        .spawn()
        .expect("claimtop");
    let pid = child.id();
    let peak = std::thread::spawn(move || {
        let mut peak = 0;
        while let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/status")) {
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let Some(kib) = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok()) else {
                return peak;
            };
            peak = kib;
            std::thread::sleep(Duration::from_millis(5));
        }
        peak
    });
    let mut text = String::new();
    child.stdout.take().expect("an output").read_to_string(&mut text).expect("text");
    child.wait().expect("an end");
    let told: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let machines = told.get("machines").and_then(serde_json::Value::as_array).map_or(0, Vec::len);
    let windows: u64 = told
        .get("machines")
        .and_then(serde_json::Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|machine| machine.get("windows")?.as_u64())
        .sum();
    println!(
        "claimtop machines --fleet: {machines} machines with {windows} windows read and decoded in {:.2} s, {} MiB at most",
        began.elapsed().as_secs_f64(),
        peak.join().unwrap_or(0) >> 10
    );
}

/// Returns the CPU seconds that the server and all its processes have used.
fn server_cpu(database: &Database) -> f64 {
    let pid = std::fs::read_to_string(database.cluster.folder.join("data/postmaster.pid")).expect("a PID");
    let postmaster = pid.lines().next().unwrap_or_default().to_owned();
    let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
    let ticks: f64 = processes
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok())
        .filter_map(|stat| {
            let pid = stat.split(' ').next()?.to_owned();
            let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
            let number = |at: usize| fields.get(at)?.parse::<f64>().ok();
            // The server itself also counts those of its processes that have ended.
            match (pid == postmaster, fields.get(1) == Some(&postmaster.as_str())) {
                (true, _) => Some(number(11)? + number(12)? + number(13)? + number(14)?),
                (_, true) => Some(number(11)? + number(12)?),
                (false, false) => None,
            }
        })
        .sum();
    ticks / 100.0
}

fn wal(database: &Database) -> f64 {
    let bytes = database.sql("SELECT pg_current_wal_insert_lsn() - '0/0'");
    bytes.parse().expect("a number")
}

/// Returns how many rows of hosts were updated, and how many of them HOT.
fn updates(database: &Database) -> (f64, f64) {
    let told = database
        .sql("SELECT n_tup_upd || ' ' || n_tup_hot_upd FROM pg_stat_user_tables WHERE relid = 'claimtop.host'::regclass");
    let (all, hot) = told.split_once(' ').expect("two numbers");
    (all.parse().expect("a number"), hot.parse().expect("a number"))
}

/// Passes bytes on and counts them.
struct Wire {
    port: u16,
    up: Arc<AtomicU64>,
    down: Arc<AtomicU64>,
}

impl Wire {
    fn start(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (up, down) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let own = Self { port, up: Arc::clone(&up), down: Arc::clone(&down) };
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = TcpStream::connect(("127.0.0.1", server)).expect("the server");
                pass(&client, &server, Arc::clone(&up));
                pass(&server, &client, Arc::clone(&down));
            }
        });
        own
    }
}

fn pass(from: &TcpStream, to: &TcpStream, count: Arc<AtomicU64>) {
    let (mut from, mut to) = (from.try_clone().expect("a copy"), to.try_clone().expect("a copy"));
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            count.fetch_add(read as u64, Ordering::SeqCst);
            if to.write_all(buffer.get(..read).unwrap_or_default()).is_err() {
                return;
            }
        }
    });
}
