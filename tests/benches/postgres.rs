//! LEO's PostgreSQL with 10,000 sessions and 20,000 claims: the first read, a read after a change,
//! and the steady poll, in time, bytes, rows and CPU.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use claimtop::core::assess::{Policy, assess};
use claimtop::core::judge::window::agent::Signatures;
use claimtop::source::database::postgres::{ConnectionDefaults, Target};
use claimtop::source::places::Places;
use claimtop::testing::observe::Collector;
use rustix::time::{ClockId, clock_gettime};

use crate::cluster::Database;

const SESSIONS: usize = 10_000;

/// Runs the benchmark.
pub(crate) fn bench(_: Option<&str>) {
    let database = Database::new();
    database.sql(&format!(
        "INSERT INTO strategic_directives_v2 (sd_key, title, status, claiming_session_id)
           SELECT 'SD-BENCH-' || n, 'A directive with a title of some length', 'in_progress', 'session-' || n
           FROM generate_series(1, {SESSIONS}) n;
         INSERT INTO claude_sessions (session_id, sd_key, track, pid, hostname, machine_id, terminal_id, codebase,
           claimed_at, metadata) SELECT 'session-' || n, 'SD-BENCH-' || n, 'A', 100000 + n, 'host-' || n % 7,
           '94b84afdc3f48f8b', 'win-cc-' || n || '-' || 100000 + n, 'EHG', now() - interval '1 hour',
           '{{\"auto_proceed\": true, \"callsign\": \"alpha\"}}' FROM generate_series(1, {SESSIONS}) n;
         INSERT INTO file_claim_locks (file_path, holder_session_id)
           SELECT 'src/file-' || session_id || '.rs', id FROM claude_sessions;
         ANALYZE"
    ));
    let wire = Wire::start(database.cluster.port);
    let url = database.url_of("leo", wire.port);
    let mut collector = collector(Target::parse(&url, ConnectionDefaults::default()).expect("a URL"));
    let policy = Policy { signatures: Signatures::built_in().expect("signatures") };
    println!(
        "{SESSIONS} sessions and {} claims, PostgreSQL on the same machine, bytes without TLS:",
        2 * SESSIONS
    );

    let (report, first) = measured(&wire, || assess(&collector.look(), &policy));
    assert_eq!(report.claims.len(), 2 * SESSIONS);
    first.print("first picture: read, parsed, judged");
    let (_, again) = measured(&wire, || assess(&collector.look(), &policy));
    again.print("a whole read again");

    collector.follow_servers();
    // The first poll of all reads everything, and later polls are less frequent.
    std::thread::sleep(Duration::from_secs(25));
    let (_, looked) = measured(&wire, || assess(&collector.look(), &policy));
    looked.print("a look while it follows, nothing read");
    database.sql("UPDATE claude_sessions SET heartbeat_at = now() WHERE session_id = 'session-1'");
    let (_, changed) = measured(&wire, || std::thread::sleep(Duration::from_secs(15)));
    changed.print("15 s in which one session beats");
    std::thread::sleep(Duration::from_secs(25));
    let minute = Duration::from_secs(60);
    let before = wire.answers.load(Ordering::SeqCst);
    let (_, steady) = measured(&wire, || std::thread::sleep(minute));
    let polls = wire.answers.load(Ordering::SeqCst) - before;
    println!(
        "  steady, nothing changes              {polls} polls in 60 s; each {} bytes up, {} bytes down, 4 rows, \
         answered in {:.1} ms; {:.2} ms CPU of claimtop each",
        steady.up / polls.max(1),
        steady.down / polls.max(1),
        wire.answered_us.load(Ordering::SeqCst) as f64 / 1_000.0,
        steady.cpu_ms / polls.max(1) as f64
    );
}

fn collector(target: Target) -> Collector {
    let folder = tempfile::tempdir().expect("a folder");
    let places = Places {
        tmp: folder.path().join("tmp"),
        home: folder.path().join("home"),
        bindings: folder.path().join("home/notes"),
        copies: folder.path().join("home/copies"),
        confined: true,
        follows_homes: false,
        here: None,
        programs: Vec::new(),
        leo_database: Some(target),
        ..Places::default()
    };
    Collector::new(places, Signatures::built_in().expect("signatures"))
}

/// The cost of an operation.
struct Cost {
    wall_ms: f64,
    cpu_ms: f64,
    up: usize,
    down: usize,
}

impl Cost {
    fn print(&self, what: &str) {
        println!(
            "  {what:<38} {:7.1} ms, {:7.1} ms CPU, {:9} bytes up, {:9} bytes down",
            self.wall_ms, self.cpu_ms, self.up, self.down
        );
    }
}

fn measured<T>(wire: &Wire, act: impl FnOnce() -> T) -> (T, Cost) {
    let (up, down) = (wire.up.load(Ordering::SeqCst), wire.down.load(Ordering::SeqCst));
    let (wall, cpu) = (Instant::now(), cpu_ms());
    let done = act();
    let cost = Cost {
        wall_ms: wall.elapsed().as_secs_f64() * 1_000.0,
        cpu_ms: cpu_ms() - cpu,
        up: wire.up.load(Ordering::SeqCst) - up,
        down: wire.down.load(Ordering::SeqCst) - down,
    };
    (done, cost)
}

/// Returns the CPU time of this process, the counting wire included.
fn cpu_ms() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1_000.0 + time.tv_nsec as f64 / 1_000_000.0
}

/// Passes bytes on and counts them.
struct Wire {
    port: u16,
    up: Arc<AtomicUsize>,
    down: Arc<AtomicUsize>,
    /// How many times the server answered.
    answers: Arc<AtomicUsize>,
    /// How long the last answer took.
    answered_us: Arc<AtomicUsize>,
}

impl Wire {
    fn start(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let [up, down, answers, answered_us] = std::array::from_fn(|_| Arc::new(AtomicUsize::new(0)));
        let own = Self {
            port,
            up: Arc::clone(&up),
            down: Arc::clone(&down),
            answers: Arc::clone(&answers),
            answered_us: Arc::clone(&answered_us),
        };
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = TcpStream::connect(("127.0.0.1", server)).expect("the server");
                let asked = Arc::new(std::sync::Mutex::new(None));
                let (asks, up) = (Arc::clone(&asked), Arc::clone(&up));
                pass(&client, &server, move |read| {
                    *asks.lock().expect("a lock") = Some(Instant::now());
                    up.fetch_add(read, Ordering::SeqCst);
                });
                let (down, answers, took) =
                    (Arc::clone(&down), Arc::clone(&answers), Arc::clone(&answered_us));
                pass(&server, &client, move |read| {
                    down.fetch_add(read, Ordering::SeqCst);
                    if let Some(at) = asked.lock().expect("a lock").take() {
                        let micros = usize::try_from(at.elapsed().as_micros()).unwrap_or(usize::MAX);
                        took.store(micros, Ordering::SeqCst);
                        answers.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        own
    }
}

fn pass(from: &TcpStream, to: &TcpStream, mut count: impl FnMut(usize) + Send + 'static) {
    let (mut from, mut to) = (from.try_clone().expect("a copy"), to.try_clone().expect("a copy"));
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            count(read);
            if to.write_all(buffer.get(..read).unwrap_or_default()).is_err() {
                return;
            }
        }
    });
}
