//! `witness`: publishes this machine in the fleet's database, for as long as it runs.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::anyhow;
use serde::Serialize;
use tokio::time::{Instant, sleep_until};

use super::args::WitnessCommand;
use super::failure::{Exit, Failure, Outcome, of_action};
use super::following::{Following, Next, follow};
use super::output::{complain, print};
use super::settings::Settings;
use super::{fleet_target, unit};
use crate::act::fleet::mark;
use crate::act::fleet::post::{Post, Posted};
use crate::act::store_id;
use crate::config::fleet::Paths;
use crate::core::fleet::discreet::Discreet;
use crate::core::fleet::line::hashed;
use crate::core::fleet::outbox::Outbox;
use crate::core::fleet::pace::{News, after_last};
use crate::core::fleet::teller::Teller;
use crate::core::model::host::INITIAL_PID_NAMESPACE;
use crate::core::model::{Report, Secret, Tombstone, json};
use crate::observe::Observer;
use crate::source::os::{clock, host};

/// What a witness says of its machine.
#[derive(Serialize)]
struct Facts {
    name: String,
    kind: &'static str,
    release: &'static str,
    boot: Option<String>,
    pid_namespace: Option<u64>,
    machine: Option<String>,
    store: Option<String>,
    accepts: &'static str,
}

/// The tombstones of the last look.
type Stones = Arc<Mutex<Arc<[Tombstone]>>>;

/// Publishes this machine, or prints what would be published, or a unit that does it.
///
/// # Errors
/// No database is named, another witness is at work, or the scanner thread fails.
pub(crate) fn run(
    mut observer: Observer,
    settings: &Settings,
    what: Option<WitnessCommand>,
    is_dry: bool,
) -> Outcome {
    if let Some(WitnessCommand::Unit) = what {
        return unit::print_unit();
    }
    let stones = Stones::default();
    let seen = Arc::clone(&stones);
    observer = observer.recorded(Box::new(move |snapshot, _| {
        *seen.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&snapshot.tombstones);
    }));
    if is_dry {
        return dry(&mut observer, settings, &stones);
    }
    let config = &settings.effective.config;
    if config.access.is_read_only() {
        return Err(Failure::new(Exit::Refused, anyhow!("--read-only: nothing is published")));
    }
    let Some(Secret(url)) = &config.fleet else {
        return Err(Failure::usage(anyhow!("no database is named"))
            .hint("claimtop witness --fleet URL, or url in [fleet] of config.toml"));
    };
    let target = fleet_target::target(url, settings)?;
    let name = target.name.shown();
    let team = config.publishing.team.clone();
    let post = Post::open(target, &settings.state, team, facts(settings)?).map_err(of_action)?;
    print(&format!("Publishing this machine to {name} as host {}.\n", post.host()))?;
    follow(observer, async |following| {
        let mut witness =
            Witness { post, teller: Teller::default(), news: News::Change, told: String::new() };
        witness.publish(following, settings, &stones).await
    })
}

fn facts(settings: &Settings) -> Result<String, Failure> {
    let host = host::host(clock::now());
    let store = match settings.effective.config.access.is_read_only() {
        true => store_id::known(&settings.state),
        false => store_id::own(&settings.state).ok(),
    };
    let kind = match host.pid_namespace {
        Some(namespace) if namespace != INITIAL_PID_NAMESPACE => "container",
        Some(_) => "host",
        None => "mac",
    };
    Ok(json::to_line(&Facts {
        name: host.name,
        kind,
        release: env!("CARGO_PKG_VERSION"),
        boot: host.boot_id,
        pid_namespace: host.pid_namespace,
        machine: host.machine_id.as_deref().map(hashed),
        store,
        accepts: "never",
    })?)
}

fn discreet(settings: &Settings, report: &Report) -> Discreet {
    match settings.effective.config.publishing.paths {
        Paths::Relative => Discreet::new(&settings.places.home.to_string_lossy(), report),
        Paths::Whole => Discreet::default(),
    }
}

/// Prints what one look would publish, a thing a line.
fn dry(observer: &mut Observer, settings: &Settings, stones: &Stones) -> Outcome {
    let report = observer.observe();
    let stones = Arc::clone(&stones.lock().unwrap_or_else(PoisonError::into_inner));
    let mut outbox = Outbox::default();
    Teller::default().look(&report, &stones, &discreet(settings, &report), &mut outbox)?;
    let batch = outbox.take()?;
    print(&format!("{}\n", facts(settings)?))?;
    for text in [batch.changes, batch.tombstones].into_iter().flatten() {
        let things: Vec<&serde_json::value::RawValue> = serde_json::from_str(&text)?;
        for thing in things {
            print(&format!("{}\n", thing.get()))?;
        }
    }
    Ok(Exit::Fine)
}

struct Witness {
    post: Post,
    teller: Teller,
    /// What there is to tell since the last beat.
    news: News,
    /// What was last said of the database, so that it is said once.
    told: String,
}

impl Witness {
    async fn publish(&mut self, mut following: Following, settings: &Settings, stones: &Stones) -> Outcome {
        // Nothing is published before all is seen once.
        let (mut due, mut last) = (None, Instant::now());
        let (mut is_hot, mut is_refused) = (false, true);
        loop {
            tokio::select! {
                biased;
                next = following.next() => match next? {
                    Next::Looked(report) => {
                        let stones = Arc::clone(&stones.lock().unwrap_or_else(PoisonError::into_inner));
                        self.looked(&report, &stones, settings)?;
                        if !is_refused {
                            due = due.min(Some(last + self.wait(is_hot)?));
                        }
                        due = due.or(Some(last));
                    }
                    Next::HintsLost => {}
                    Next::Interrupted => return Ok(Exit::Fine),
                },
                () = until(due), if due.is_some() => {
                    last = Instant::now();
                    let posted = self.post.beat().await.map_err(of_action)?;
                    is_refused = !matches!(posted, Posted::Accepted { .. });
                    if let Posted::Accepted { is_hot: hot } = posted {
                        is_hot = hot;
                        self.news = News::None;
                        self.teller.told();
                    }
                    due = Some(last + self.posted(posted)?);
                }
            }
        }
    }

    /// Says what became of a beat, and returns how long after it the next one is due.
    fn posted(&mut self, posted: Posted) -> Result<Duration, Failure> {
        match posted {
            Posted::Accepted { is_hot } => {
                self.tell("published");
                self.wait(is_hot)
            }
            Posted::Waits(wait) => {
                self.tell(
                    "the database knows this host in another boot; waiting until it is certain that it was restarted \
                     and not cloned",
                );
                Ok(wait)
            }
            Posted::Failed(why, wait) => {
                self.tell(&format!("not published, and tried again: {why}"));
                Ok(wait)
            }
        }
    }

    fn looked(&mut self, report: &Report, stones: &[Tombstone], settings: &Settings) -> Result<(), Failure> {
        let discreet = discreet(settings, report);
        let is_urgent = self.teller.look(report, stones, &discreet, self.post.outbox())?;
        let news = match (is_urgent, self.post.outbox().is_empty()) {
            (true, _) => News::Urgent,
            (false, false) => News::Change,
            (false, true) => News::None,
        };
        self.news = self.news.max(news);
        Ok(())
    }

    fn wait(&self, is_hot: bool) -> Result<Duration, Failure> {
        Ok(after_last(self.news, is_hot, mark().map_err(of_action)?.unsigned_abs()))
    }

    /// Says how it stands, where that is not as it was.
    fn tell(&mut self, how: &str) {
        if self.told != how {
            how.clone_into(&mut self.told);
            complain(how);
        }
    }
}

async fn until(at: Option<Instant>) {
    if let Some(at) = at {
        sleep_until(at).await;
    }
}
