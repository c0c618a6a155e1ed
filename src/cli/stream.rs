//! `stream`: tells another claimtop of this machine, look by look, for as long as it is heard.

use std::io::{BufRead, BufReader, Read, stdin};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::{Instant, sleep_until};

use super::failure::{Exit, Outcome};
use super::following::{Following, Next, follow};
use super::output::print;
use super::settings::Settings;
use crate::act::store_id;
use crate::core::fleet::encoder::Encoder;
use crate::core::fleet::line::{Hello, Identity, Line, SCHEMA, hashed};
use crate::core::model::Tombstone;
use crate::observe::Observer;
use crate::source::os::{clock, host};

/// How long after the last beat it is taken for gone whoever has begun to beat.
const DEAF: Duration = Duration::from_secs(60);

/// The most bytes of a line that is heard.
const LONGEST: u64 = 64 << 10;

/// Tells of this machine until the end of the standard input, INT or TERM.
///
/// # Errors
/// The output cannot be written, or the scanner thread fails.
pub(crate) fn run(observer: Observer, settings: &Settings) -> Outcome {
    let stones: Arc<Mutex<Arc<[Tombstone]>>> = Arc::default();
    let seen = Arc::clone(&stones);
    let observer = observer.recorded(Box::new(move |snapshot, _| {
        *seen.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&snapshot.tombstones);
    }));
    print(&Encoder::hello(hello(settings))?)?;
    let heard = listen()?;
    follow(observer, async |following| speak(following, heard, &stones).await)
}

fn hello(settings: &Settings) -> Hello {
    let host = host::host(clock::now());
    let store = match settings.effective.config.access.is_read_only() {
        true => store_id::known(&settings.state),
        // Without one it is told apart by its machine ID alone.
        false => store_id::own(&settings.state).ok(),
    };
    Hello {
        schema: SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        identity: Identity { machine: host.machine_id.as_deref().map(hashed), store },
        host: host.name,
        boot: host.boot_id,
        pid_namespace: host.pid_namespace,
        now: clock::now(),
        takes_orders: false,
    }
}

async fn speak(
    mut following: Following,
    mut heard: Receiver<u64>,
    stones: &Mutex<Arc<[Tombstone]>>,
) -> Outcome {
    let mut encoder = Encoder::default();
    let mut deaf_at = None;
    loop {
        tokio::select! {
            biased;
            number = heard.recv() => match number {
                Some(number) => {
                    deaf_at = Some(Instant::now() + DEAF);
                    print(&Encoder::beat(number)?)?;
                }
                None => return Ok(Exit::Fine),
            },
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

/// Hears beats, each with its number, until the end of the standard input.
fn listen() -> std::io::Result<Receiver<u64>> {
    let (sender, heard) = channel(16);
    std::thread::Builder::new().name("listener".to_owned()).spawn(move || hear(&sender))?;
    Ok(heard)
}

fn hear(sender: &Sender<u64>) {
    let mut input = BufReader::new(stdin().lock());
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut input).take(LONGEST).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let Ok(said) = serde_json::from_slice::<Line<'_>>(&line) else { continue };
        if said.beat.is_some_and(|beat| sender.blocking_send(beat.number).is_err()) {
            return;
        }
    }
}
