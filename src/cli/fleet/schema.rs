//! `fleet`: prints or applies what a database needs so that machines can meet in it, and what takes that back; declares
//! hosts lost.

use anyhow::anyhow;

use crate::act::fleet::schema;
use crate::cli::args::FleetCommand;
use crate::cli::fleet::{lost, target};
use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::cli::output::{complain, print};
use crate::cli::settings::Settings;
use crate::config::Access;
use crate::source::database::postgres::Target;

const INIT: &str = include_str!("../../../assets/fleet.sql");
const DROP: &str = include_str!("../../../assets/fleet-drop.sql");

/// Prints a migration, or applies it.
///
/// # Errors
/// The URL cannot be used, or the server refuses.
pub(crate) fn run(settings: &Settings, asked: &FleetCommand) -> Outcome {
    let (url, sql, is_applied, done) = match asked {
        FleetCommand::Init { url, apply } => (url, INIT, *apply, "The database is ready for witnesses."),
        FleetCommand::Drop { url, apply } => (url, DROP, *apply, "The database no longer has a fleet."),
        FleetCommand::DeclareLost { host, confirm } => {
            return lost::run(settings, host, confirm.as_deref());
        }
    };
    let target = target::target(url, settings)?;
    if !is_applied {
        print(sql)?;
        return Ok(Exit::Fine);
    }
    if settings.effective.config.access == Access::ReadOnly {
        return Err(Failure::new(Exit::Refused, anyhow!("--read-only: nothing is changed")));
    }
    let notes = schema::apply(&target, sql).map_err(|why| failed(&target, &why))?;
    notes.iter().for_each(|note| complain(note));
    print(&format!("{done}\n"))?;
    Ok(Exit::Fine)
}

fn failed(target: &Target, why: &str) -> Failure {
    let failure = Failure::new(Exit::Failed, anyhow!("{}: {why}; nothing was changed", target.name));
    match hint(why) {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Returns what helps, by the server's code where it has sent one.
fn hint(why: &str) -> Option<&'static str> {
    if why.contains("(42501)") {
        Some("use a role that may create schemas in this database, and roles (CREATEROLE)")
    } else if why.contains("(2BP01)") {
        Some("something else in the database depends on the fleet: drop that first")
    } else if why.contains("does not support TLS") || why.contains("announces a message") {
        Some("is it a PostgreSQL server, and is that its port?")
    } else {
        None
    }
}
