//! A proxy on the wire between claimtop's own witness or viewer and the database: it cuts, delays and duplicates at
//! every message, straight, through a pooler and under TLS.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::bouncer::Pooler;
use crate::cluster::Database;
use crate::fleet::machine::{Machine, far_records, text, until};
use crate::fleet::stage::fleet;

/// A fault at one message of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Both ends are closed before it is passed on.
    CutBefore,
    /// It is passed on, and then both ends are closed: its sender cannot know whether it arrived.
    CutAfter,
    Delay,
    Duplicate,
}

const FAULTS: [Fault; 4] = [Fault::Delay, Fault::CutBefore, Fault::CutAfter, Fault::Duplicate];

/// Up to which message of a connection faults are made, counting both directions together.
const MESSAGES: usize = 8;

/// Passes bytes on, and applies a fault to one message of each connection: the first gets the first fault at its first
/// message, and so on through all of them.
struct Proxy {
    port: u16,
    connections: Arc<AtomicUsize>,
    clients: Arc<Mutex<Vec<TcpStream>>>,
    is_calm: Arc<AtomicBool>,
}

impl Proxy {
    fn start(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (connections, is_calm) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let clients = Arc::new(Mutex::new(Vec::new()));
        let own = Self {
            port,
            connections: Arc::clone(&connections),
            clients: Arc::clone(&clients),
            is_calm: Arc::clone(&is_calm),
        };
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                let number = connections.fetch_add(1, Ordering::SeqCst);
                let fault =
                    FAULTS.get(number % FAULTS.len()).copied().filter(|_| !is_calm.load(Ordering::SeqCst));
                let at = number / FAULTS.len() % MESSAGES;
                let counted = Arc::new(AtomicUsize::new(0));
                clients.lock().unwrap().push(client.try_clone().unwrap());
                pass((&client, &server), fault, at, Arc::clone(&counted));
                pass((&server, &client), fault, at, counted);
            }
        });
        own
    }

    /// Cuts every open connection.
    fn cut(&self) {
        for client in self.clients.lock().unwrap().drain(..) {
            let _ = client.shutdown(Shutdown::Both);
        }
    }

    fn count(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Returns whether every fault was made at every message.
    fn is_through(&self) -> bool {
        self.count() > FAULTS.len() * MESSAGES
    }

    fn calm(&self) {
        self.is_calm.store(true, Ordering::SeqCst);
    }
}

fn pass((from, to): (&TcpStream, &TcpStream), fault: Option<Fault>, at: usize, counted: Arc<AtomicUsize>) {
    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            let fault = fault.filter(|_| counted.fetch_add(1, Ordering::SeqCst) == at);
            match fault {
                Some(Fault::CutBefore) => break,
                // A delayed message arrives after the other side has begun to wait.
                Some(Fault::Delay) => std::thread::sleep(Duration::from_millis(300)),
                Some(Fault::Duplicate) => drop(to.write_all(&buffer[..read])),
                Some(Fault::CutAfter) | None => {}
            }
            if to.write_all(&buffer[..read]).is_err() || fault == Some(Fault::CutAfter) {
                break;
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    });
}

/// Gives a machine a record of a live process: this test.
fn with_living(machine: &Machine) {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let start = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().to_owned();
    let pid = std::process::id();
    let record = format!(
        r#"{{"pid": {pid}, "sessionId": "lives", "procStart": "{start}", "startedAt": 1, "cwd": "/"}}"#
    );
    std::fs::write(machine.record().with_file_name(format!("{pid}.json")), record).unwrap();
}

/// Returns the verdicts on the host's records: that of the ended process, and that of the live one.
fn verdicts(seen: &serde_json::Value) -> [Option<String>; 2] {
    let all = seen["records"].as_array().cloned().unwrap_or_default();
    let far: Vec<_> =
        all.iter().filter(|record| record["key"].as_str().is_some_and(|key| key.contains('@'))).collect();
    let verdict = |name: &str| {
        let found = far.iter().find(|record| {
            record["location"]["path"].as_str().is_some_and(|path| path.ends_with(&format!("/{name}.json")))
        });
        found.and_then(|record| record["verdict"]["state"].as_str().map(str::to_owned))
    };
    [verdict("4000001"), verdict(&std::process::id().to_string())]
}

/// Lets a witness and viewers work over wires with faults, and gives an order at the end.
#[track_caller]
fn check(database: &Database, upstream: u16, host: &str, options: &str) {
    let (of_witness, of_viewer) = (Proxy::start(upstream), Proxy::start(upstream));
    let url = |user: &str, port: u16| format!("postgres://{user}@{host}:{port}/{}?{options}", database.name);
    let (machine, viewer) = (Machine::new("one"), Machine::new("two"));
    machine.configure("team = 'core'\naccept = 'dead-only'");
    with_living(&machine);
    let mut witness = machine.witness(&url("alice", of_witness.port));
    let seen_at = url("oscar", of_viewer.port);
    let is_dead_there = || {
        let [gone, lives] = verdicts(&viewer.seen(&seen_at));
        assert_ne!(lives.as_deref(), Some("dead"), "a living process is called dead");
        gone.as_deref() == Some("dead")
    };
    until("a record, over wires with faults", || is_dead_there().then_some(()));
    while !(of_witness.is_through() && of_viewer.is_through()) {
        // One that has failed for a while retries only twice a minute.
        drop(witness);
        witness = machine.witness(&url("alice", of_witness.port));
        let enough = of_witness.count() + FAULTS.len() / 2;
        let mut told = database.sql("SELECT sequence FROM claimtop.host");
        until("some more connections", || {
            is_dead_there();
            // A connection is kept for long: it is cut once it has been used for a report.
            let now = database.sql("SELECT sequence FROM claimtop.host");
            if now != told {
                told = now;
                of_witness.cut();
            }
            (of_witness.count() >= enough).then_some(())
        });
    }
    [&of_witness, &of_viewer].into_iter().for_each(Proxy::calm);
    let left = until("the host, once the wire is calm", || {
        let seen = viewer.seen(&seen_at);
        let [gone, lives] = verdicts(&seen);
        let is_there = gone.as_deref() == Some("dead") && lives.is_some_and(|state| state != "dead");
        (is_there && seen["machines"][0]["state"] == "live").then(|| {
            let is_it = |key: &&String| {
                let record =
                    seen["records"].as_array().unwrap().iter().find(|one| one["key"] == key.as_str());
                record.unwrap()["location"]["path"].as_str().unwrap().ends_with("/4000001.json")
            };
            far_records(&seen).iter().find(is_it).unwrap().clone()
        })
    });
    assert_eq!(database.sql("SELECT count(*) || ' ' || max(state) FROM claimtop.host"), "1 ok");
    of_viewer.is_calm.store(false, Ordering::SeqCst);
    let mut codes = Vec::new();
    for _ in 0..3 {
        let output = viewer.run(&["release", &left, "--yes", "--fleet", &seen_at]);
        codes.push((output.status.code(), text(&output)));
        if !machine.record().exists() {
            break;
        }
    }
    of_viewer.calm();
    until("the order, once the wire is calm", || {
        if machine.record().exists() {
            let output = viewer.run(&["release", &left, "--yes", "--fleet", &seen_at]);
            codes.push((output.status.code(), text(&output)));
        }
        (!machine.record().exists()).then_some(())
    });
    let there = machine.journal();
    let done: Vec<_> = there.iter().filter(|entry| entry["outcome"]["ended"] == "done").collect();
    assert_eq!(done.len(), 1, "{there:?} {codes:?}");
    // The unknown results are known in the end.
    let name = left.split_once('@').unwrap().1;
    until("what has become of every order", || {
        viewer.run(&["journal", "--on", name, "--fleet", &seen_at]);
        let open = viewer.journal().into_iter().filter(|entry| entry["outcome"].is_null()).count();
        (open == 0).then_some(())
    });
    let ended = viewer.journal().iter().filter(|entry| entry["outcome"]["ended"] == "done").count();
    assert_eq!(ended, 1, "{:?} {codes:?}", viewer.journal());
}

#[test]
fn cuts_delays_and_copies_at_every_message_bury_nobody_and_do_nothing_twice() {
    let database = fleet();
    check(&database, database.cluster.port, "127.0.0.1", "sslmode=disable");
}

#[test]
fn nor_do_they_through_a_pooler() {
    let database = fleet();
    let pooler = Pooler::start(database.cluster, &["alice", "oscar"]);
    check(&database, pooler.port, "127.0.0.1", "sslmode=disable");
}

#[test]
fn nor_under_a_verified_certificate() {
    let database = fleet();
    let root = database.cluster.folder.join("root.pem");
    let options = format!("sslmode=verify-full&sslrootcert={}", root.display());
    check(&database, database.cluster.port, "localhost", &options);
}
