//! `machines`: the other machines, and how it stands with each.

use anyhow::anyhow;
use jiff::Timestamp;
use serde::Serialize;

use crate::act::state::known_machines;
use crate::cli::fleet;
use crate::cli::output::columns::{Cell, Columns};
use crate::cli::output::failure::{Exit, Failure, Outcome, of_action};
use crate::cli::output::{Paint, Shape, print, terminal_width};
use crate::cli::settings::Settings;
use crate::core::model::text::json;
use crate::core::model::{MachineState, MachineView};
use crate::observe::fleet::Fleet;
use crate::present::machine::briefly;
use crate::present::text::age;
use crate::present::text::tone::Tone;
use crate::source::os::clock;

/// The name of the JSON schema.
const SCHEMA: &str = "claimtop.machines.v1";

#[derive(Serialize)]
struct Machines {
    schema: &'static str,
    machines: Vec<MachineView>,
}

/// Reaches every machine of the configuration and every one that was asked for, and prints how that went.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn run(settings: &Settings, shape: Shape) -> Outcome {
    let views = match fleet::fleet(settings, fleet::Which::All)? {
        None => Vec::new(),
        Some(fleet) => reached(&fleet),
    };
    let is_whole = views.iter().all(|view| view.state.is_heard());
    match shape {
        Shape::Json => {
            print(&format!("{}\n", json::to_string_pretty(&Machines { schema: SCHEMA, machines: views })?))?;
        }
        Shape::Text(_) if views.is_empty() => {
            print(
                "No machine is configured. Name one: claimtop machines --on HOST, or [[machine]] in config.toml\n",
            )?;
        }
        Shape::Text(paint) => print(&table(&views, clock::now(), paint))?,
    }
    Ok(if is_whole { Exit::Fine } else { Exit::Failed })
}

/// Takes the machine that is reached by a name for the right one from now on.
///
/// # Errors
/// No machine was reached by it, or that cannot be written down.
pub(crate) fn accept(settings: &Settings, name: &str) -> Outcome {
    if !known_machines::forget(&settings.state, name).map_err(of_action)? {
        return Err(Failure::usage(anyhow!(
            "no machine was reached as {name:?} before: there is nothing to accept"
        )));
    }
    print(&format!("The next machine reached as {name} is remembered as it.\n"))?;
    Ok(Exit::Fine)
}

fn reached(fleet: &Fleet) -> Vec<MachineView> {
    fleet.wait_for_all();
    fleet.seen().into_iter().map(|seen| seen.view).collect()
}

fn table(views: &[MachineView], now: Timestamp, paint: Paint) -> String {
    let mut columns = Columns::new(&[
        "MACHINE", "STATE", "REACHED BY", "HOST", "VERSION", "WINDOWS", "ANSWERS", "SEEN", "WHY",
    ]);
    for view in views {
        let tone = match view.state {
            MachineState::Live => Tone::Good,
            MachineState::Late => Tone::Notice,
            MachineState::Connecting => Tone::Dim,
            MachineState::Silent | MachineState::Unreached => Tone::Bad,
        };
        columns.row([
            Cell::new(&view.name),
            Cell::new(view.state.name()).toned(tone),
            Cell::new(briefly(&view.transport)).toned(Tone::Dim),
            Cell::maybe(view.host.as_ref()),
            Cell::maybe(view.version.as_ref()),
            Cell::new(view.windows),
            Cell::maybe(view.latency_ms.map(|ms| format!("{ms} ms"))),
            Cell::maybe(view.seen_at.map(|at| age::label(age::seconds(now, at)))),
            Cell::new(&view.detail),
        ]);
    }
    columns.laid_out(paint, terminal_width())
}
