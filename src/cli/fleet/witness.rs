//! `witness`: publishes this machine in the fleet's database, for as long as it runs.

use std::convert::identity;
use std::sync::{Arc, PoisonError};

use anyhow::anyhow;
use serde::Serialize;

use super::ordered::{self, OrderDesk, Service};
use super::publishing::{Publishing, Stones, discreet};
use super::unit;
use crate::act::fleet::post::Post;
use crate::act::state::store_id;
use crate::cli::args::WitnessCommand;
use crate::cli::fleet::target;
use crate::cli::live::following::follow;
use crate::cli::output::failure::{Exit, Failure, Outcome, of_action};
use crate::cli::output::print;
use crate::cli::settings::Settings;
use crate::config::Config;
use crate::config::fleet::Accept;
use crate::core::fleet::database::outbox::Outbox;
use crate::core::fleet::database::outbox_feed::OutboxFeed;
use crate::core::fleet::wire::line::hashed;
use crate::core::model::Secret;
use crate::core::model::snapshot::host::INITIAL_PID_NAMESPACE;
use crate::core::model::text::json;
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
    let target = target::target(url, settings)?;
    let name = target.name.shown();
    let team = config.publishing.team.clone();
    let service = service(settings);
    let facts = facts(settings, if service.is_ok() { accept(settings) } else { Accept::Never })?;
    let signers = config.publishing.allowed_signers.clone();
    let post = Post::open(target, &settings.state, team, facts, signers).map_err(of_action)?;
    print(&format!("Publishing this machine to {name} as host {}.\n", post.host()))?;
    let mut ordered = OrderDesk::start(service)?;
    let ended = follow(observer, async |following| {
        Publishing::new(&post, settings, &stones).publish(following, &mut ordered).await
    });
    // What was begun is brought to its end; what was not is never begun.
    ordered.finish();
    ended
}

/// Returns what carries orders out that come through the database, or why none are taken.
fn service(settings: &Settings) -> Result<Service, String> {
    let accepts = |config: &Config| config.publishing.accept.accepts();
    ordered::service(settings, accepts, store_id::own(&settings.state).ok(), identity)
}

fn accept(settings: &Settings) -> Accept {
    settings.effective.config.publishing.accept
}

fn facts(settings: &Settings, accept: Accept) -> Result<String, Failure> {
    let host = host::host(clock::now());
    let store = match settings.effective.config.access.is_read_only() {
        true => store_id::known(&settings.state),
        false => store_id::own(&settings.state).ok(),
    };
    let kind = match host.pid_namespace {
        _ if host::is_wsl() => "wsl",
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
        accepts: accept.name(),
    })?)
}

/// Prints what one look would publish, a thing a line.
fn dry(observer: &mut Observer, settings: &Settings, stones: &Stones) -> Outcome {
    let report = observer.observe();
    let stones = Arc::clone(&stones.lock().unwrap_or_else(PoisonError::into_inner));
    let mut outbox = Outbox::default();
    OutboxFeed::default().look(&report, &stones, &discreet(settings, &report), &mut outbox)?;
    let batch = outbox.take()?;
    print(&format!("{}\n", facts(settings, accept(settings))?))?;
    for text in [batch.changes, batch.tombstones].into_iter().flatten() {
        let things: Vec<&serde_json::value::RawValue> = serde_json::from_str(&text)?;
        for thing in things {
            print(&format!("{}\n", thing.get()))?;
        }
    }
    Ok(Exit::Fine)
}
