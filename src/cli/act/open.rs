//! The executors of the commands and the screen: one that acts, one that only looks.

use std::path::Path;

use anyhow::anyhow;

use crate::act::error::ActionError;
use crate::act::executor::Executor;
use crate::act::rows::postgres::Postgres;
use crate::act::rules::Rules;
use crate::act::state::store_id;
use crate::cli::args::Consent;
use crate::cli::look;
use crate::cli::output::complain;
use crate::cli::output::failure::{Exit, Failure, of_action};
use crate::cli::settings::Settings;
use crate::cli::settings::signatures::signatures;
use crate::config::Access;
use crate::core::fleet::order::Asker;
use crate::core::model::Format;
use crate::observe::Observer;
use crate::source::os::{clock, host};

fn complain_of(wait: &str) {
    complain(&format!("claimtop: {wait}"));
}

/// Makes the executor that acts, over the world of these settings.
///
/// # Errors
/// The state folder cannot be made or opened, or the home is another user's.
pub(crate) fn executor(settings: &Settings) -> Result<Executor, Failure> {
    if let Some(owner) = settings.other_owner {
        let error = anyhow!("the home belongs to user {owner}, and root does not act on what others control");
        let hint = format!("act as that user: setpriv --reuid {owner} --init-groups claimtop ...");
        return Err(Failure::new(Exit::Refused, error).hint(hint));
    }
    over(settings, Executor::new)
        .map(|executor| executor.waiting(Executor::PATIENCE, Some(Box::new(complain_of))))
}

/// Makes the executor that only looks: it makes nothing in the state folder, and needs none.
///
/// # Errors
/// There is one, and it cannot be read.
pub(crate) fn looking(settings: &Settings) -> Result<Executor, Failure> {
    over(settings, Executor::looking)
}

/// Says who asks other machines.
pub(crate) fn asker(settings: &Settings) -> Asker {
    Asker { host: host::host(clock::now()).name, store: store_id::own(&settings.state).ok() }
}

fn over(
    settings: &Settings,
    open: impl FnOnce(&Path, Observer, Rules) -> Result<Executor, ActionError>,
) -> Result<Executor, Failure> {
    let observer = look::observer(settings, signatures(settings)?);
    let rules = Rules {
        home: settings.places.home.clone(),
        uid: host::host(clock::now()).uid,
        programs: settings.environment.programs.clone(),
        settled_for: Rules::SETTLED_FOR,
    };
    let executor = open(&settings.state, observer, rules).map_err(of_action)?;
    let Some(target) = settings.places.leo_database.clone() else { return Ok(executor) };
    let rows = Postgres::new(target).map_err(|error| Failure::new(Exit::Failed, anyhow!(error)))?;
    Ok(executor.with_rows(Format::Leo, Box::new(rows)))
}

/// Makes sure that something may be done.
///
/// # Errors
/// claimtop is read-only.
pub(super) fn expect_access(settings: &Settings) -> Result<(), Failure> {
    if settings.effective.config.access == Access::ReadOnly {
        let error = anyhow!("claimtop is read-only");
        return Err(Failure::new(Exit::Refused, error).hint("omit --read-only, or use --dry-run"));
    }
    Ok(())
}

/// Opens the executor of this machine.
pub(crate) fn opened(settings: &Settings, consent: &Consent) -> Result<Executor, Failure> {
    if consent.dry_run {
        return looking(settings);
    }
    expect_access(settings)?;
    executor(settings)
}
