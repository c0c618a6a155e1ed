//! Measures processes, each in one visit.

use std::collections::BTreeMap;
use std::os::fd::AsFd;

use crate::core::model::{Hindrance, ProcessId};
use crate::source::os::processes::linux::cost::load;
use crate::source::os::processes::linux::handles::hindrance;
use crate::source::os::processes::linux::handles::links::opened;
use crate::source::os::processes::linux::proc::Proc;
use crate::source::os::processes::linux::sockets::tcp;
use crate::source::os::processes::measure::Measure;

/// Measures these processes, without the clients of their ports; those that have exited are left out.
pub(crate) fn measures(proc: &mut Proc, those: &[ProcessId]) -> BTreeMap<ProcessId, Measure> {
    let mut sockets = BTreeMap::new();
    let mut all = BTreeMap::new();
    for id in those {
        if let Some((measure, open)) = measured(proc, *id) {
            sockets.extend(open.map(|open| (*id, open)));
            all.insert(*id, measure);
        }
    }
    for (id, ports) in tcp::of_sockets(sockets) {
        all.entry(id).or_default().ports = Some(ports);
    }
    all
}

/// Measures a process without its ports, and returns its open sockets.
fn measured(proc: &mut Proc, id: ProcessId) -> Option<(Measure, Option<Vec<u64>>)> {
    let (folder, stat) = proc.visit(id)?;
    let at = folder.as_fd();
    let opened = opened(at).ok();
    let hindrance = match hindrance::from_links(at, opened.as_ref()) {
        Some(Hindrance::Waiting) => hindrance::read_settled(proc, id),
        other => other,
    };
    let measure = Measure { load: load::read_load(at, &stat), ports: None, hindrance };
    Some((measure, opened.and_then(|opened| tcp::here(at, opened.sockets))))
}
