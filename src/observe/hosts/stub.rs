//! The hosts of a fleet's database in a build without PostgreSQL: none, with the reason.

use std::io;
use std::sync::Arc;

use crate::core::fleet::merge::remote_machine::FarMachine;
use crate::core::model::{MachineState, MachineView, Untrusted};
use crate::observe::fleet::{Hosts, SharedState};
use crate::source::database::postgres::{Target, UNREAD};

/// Reports that the database is not read.
///
/// # Errors
/// None.
pub(crate) fn watch(target: Target, _hosts: Hosts, (shared, first): (SharedState, usize)) -> io::Result<()> {
    let (state, detail) = (MachineState::Unreached, Untrusted::new(UNREAD));
    let view = MachineView { state, detail, ..MachineView::new("fleet", target.name.shown()) };
    let unread = FarMachine { view, hello: None, report: None, tombstones: Arc::default() };
    shared.replace_after(first, vec![unread]);
    Ok(())
}
