//! `stream`: reports this machine to another claimtop, look by look, as long as it is read, and takes its orders
//! where that is allowed.

use std::convert::identity;
use std::io::{BufRead, BufReader, Read, stdin};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::{Instant, sleep_until};

use super::ordered::{self, OrderDesk};
use crate::act::executor::Executor;
use crate::act::state::store_id;
use crate::cli::live::following::{Following, Next, follow};
use crate::cli::output::failure::{Exit, Outcome};
use crate::cli::output::print;
use crate::cli::settings::Settings;
use crate::core::fleet::order::{Allow, RemoteRequest, is_id};
use crate::core::fleet::wire::encoder::Encoder;
use crate::core::fleet::wire::line::{Hello, Identity, Line, SCHEMA, hashed};
use crate::core::model::Tombstone;
use crate::observe::Observer;
use crate::source::os::{clock, host};

/// How long after the last beat a reader that has begun to beat is taken for gone.
const DEAF: Duration = Duration::from_secs(60);

/// The most bytes of a line that is heard.
const LONGEST: u64 = 64 << 10;

/// What the other side says.
enum Incoming {
    /// A beat with this number.
    Beat(u64),
    /// Something to plan or to do.
    RemoteRequest(RemoteRequest),
}

/// Reports this machine until the end of the standard input, INT or TERM.
///
/// # Errors
/// The output cannot be written, or the scanner thread fails.
pub(crate) fn run(observer: Observer, settings: &Settings, allow: Allow) -> Outcome {
    run_staged(observer, settings, allow, identity)
}

/// Reports a machine of the demo: actions on it see the same stage as its reports.
///
/// # Errors
/// As [`run`].
pub(crate) fn run_staged(
    observer: Observer,
    settings: &Settings,
    allow: Allow,
    staged: impl FnOnce(Executor) -> Executor,
) -> Outcome {
    let stones: Arc<Mutex<Arc<[Tombstone]>>> = Arc::default();
    let seen = Arc::clone(&stones);
    let observer = observer.recorded(Box::new(move |snapshot, _| {
        *seen.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&snapshot.tombstones);
    }));
    let store = match settings.effective.config.access.is_read_only() {
        true => store_id::known(&settings.state),
        // Without one only its machine ID distinguishes it.
        false => store_id::own(&settings.state).ok(),
    };
    let service = match allow {
        Allow::Observe => Err("it is only observed".to_owned()),
        Allow::Operate => ordered::service(settings, |config| config.accepts, store.clone(), staged),
    };
    let no_orders = service.as_ref().err().cloned();
    print(&Encoder::hello(hello(store, no_orders))?)?;
    let mut ordered = OrderDesk::start(service)?;
    let heard = listen()?;
    let ended = follow(observer, async |following| speak(following, heard, &stones, &mut ordered).await);
    // What was begun is brought to its end; what was not is never begun.
    ordered.finish();
    ended
}

fn hello(store: Option<String>, no_orders: Option<String>) -> Hello {
    let host = host::host(clock::now());
    Hello {
        schema: SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        identity: Identity { machine: host.machine_id.as_deref().map(hashed), store },
        host: host.name,
        boot: host.boot_id,
        pid_namespace: host.pid_namespace,
        now: clock::now(),
        takes_orders: no_orders.is_none(),
        no_orders,
    }
}

async fn speak(
    mut following: Following,
    mut heard: Receiver<Incoming>,
    stones: &Mutex<Arc<[Tombstone]>>,
    ordered: &mut OrderDesk,
) -> Outcome {
    let mut encoder = Encoder::default();
    let mut deaf_at = None;
    loop {
        tokio::select! {
            biased;
            heard = heard.recv() => match heard {
                Some(Incoming::Beat(number)) => {
                    deaf_at = Some(Instant::now() + DEAF);
                    print(&Encoder::beat(number)?)?;
                }
                Some(Incoming::RemoteRequest(work)) => ordered.ask(0, work),
                None => return Ok(Exit::Fine),
            },
            (_, answer) = ordered.answer() => print(&answer)?,
            next = following.next() => match next? {
                Next::Looked(report) => {
                    let stones = Arc::clone(&stones.lock().unwrap_or_else(PoisonError::into_inner));
                    print(&encoder.look(&report, &stones)?)?;
                }
                Next::HintsLost => {}
                Next::Interrupted => return Ok(Exit::Fine),
            },
            () = until(deaf_at), if deaf_at.is_some() => return Ok(Exit::Fine),
        }
    }
}

async fn until(at: Option<Instant>) {
    if let Some(at) = at {
        sleep_until(at).await;
    }
}

/// Hears beats and orders until the end of the standard input.
fn listen() -> std::io::Result<Receiver<Incoming>> {
    let (sender, heard) = channel(16);
    std::thread::Builder::new().name("listener".to_owned()).spawn(move || read_lines(&sender))?;
    Ok(heard)
}

fn read_lines(sender: &Sender<Incoming>) {
    let mut input = BufReader::new(stdin().lock());
    let mut line = Vec::new();
    let mut is_rest = false;
    loop {
        line.clear();
        let Ok(1..) = (&mut input).take(LONGEST).read_until(b'\n', &mut line) else { return };
        // An order that breaks off is none, and neither is the end of what is too long.
        let is_end = line.last() == Some(&b'\n');
        if std::mem::replace(&mut is_rest, !is_end) || !is_end {
            continue;
        }
        let Ok(parsed) = serde_json::from_slice::<Line<'_>>(&line) else { continue };
        let beat = parsed.beat.map(|beat| Incoming::Beat(beat.number));
        let order = parsed.order.filter(|order| is_id(&order.id));
        let settle = parsed.settle.filter(|settle| is_id(&settle.id));
        let work = [
            parsed.ask.map(RemoteRequest::Plan),
            order.map(RemoteRequest::Do),
            settle.map(RemoteRequest::Settle),
        ];
        let work = work.into_iter().flatten().map(Incoming::RemoteRequest);
        for heard in beat.into_iter().chain(work) {
            if sender.blocking_send(heard).is_err() {
                return;
            }
        }
    }
}
