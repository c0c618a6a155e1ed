//! `fleet declare-lost`: keeps a person's word that a host does not come back.

use anyhow::anyhow;

use crate::act::fleet::lost::{Host, LossOutcome, declare, hosts};
use crate::cli::fleet::target;
use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::cli::output::print;
use crate::cli::settings::Settings;
use crate::config::Access;
use crate::core::model::Secret;
use crate::core::model::text::shown;

/// Declares a host lost, where its name was typed.
///
/// # Errors
/// There is no such host, it was seen lately, or its name was not typed; or the database does not answer.
pub(crate) fn run(settings: &Settings, named: &str, typed: Option<&str>) -> Outcome {
    let config = &settings.effective.config;
    if config.access == Access::ReadOnly {
        return Err(Failure::new(Exit::Refused, anyhow!("--read-only: nothing is changed")));
    }
    let Some(Secret(url)) = &config.fleet else {
        return Err(Failure::usage(anyhow!("no database is named")).hint("--fleet URL, or url in [fleet]"));
    };
    let target = target::target(url, settings)?;
    let failed = |why: String| Failure::new(Exit::Failed, anyhow!("{}: {why}", target.name));
    let host = one(hosts(&target).map_err(failed)?, named)?;
    let name = shown(&host.name);
    let not_typed = || {
        Failure::new(Exit::Refused, anyhow!("{name} was not declared lost: its name must be typed"))
            .hint(format!("--confirm {name}; it is shown as your word, and ends at its next heartbeat"))
    };
    let typed = typed.ok_or_else(not_typed)?;
    match declare(&target, &host, typed).map_err(failed)? {
        LossOutcome::Kept => {
            print(&format!(
                "{name} shows as declared lost by you, which proves nothing about its windows.\n"
            ))?;
            Ok(Exit::Fine)
        }
        LossOutcome::NotTyped => Err(not_typed()),
        LossOutcome::Seen => {
            Err(Failure::new(Exit::Refused, anyhow!("{name} was seen less than 50 s ago: it is not lost")))
        }
        LossOutcome::Changed => {
            Err(Failure::new(Exit::Refused, anyhow!("{name} has just come back; look again")))
        }
    }
}

/// Returns the one host that is called so.
fn one(hosts: Vec<Host>, named: &str) -> Result<Host, Failure> {
    let mut found = hosts.into_iter().filter(|host| host.name == named || host.id == named);
    let named = shown(named);
    match (found.next(), found.next()) {
        (Some(host), None) => Ok(host),
        (None, _) => Err(Failure::usage(anyhow!("no host that your login sees is called {named:?}"))),
        (Some(one), Some(other)) => Err(Failure::usage(anyhow!("several hosts are called {named:?}"))
            .hint(format!("name it by its ID: {} or {}", shown(&one.id), shown(&other.id)))),
    }
}
