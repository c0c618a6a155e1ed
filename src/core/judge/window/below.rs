//! The processes of a window: its own and those below it, from a scan of all processes.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::core::judge::world::World;
use crate::core::model::snapshot::process::{Children, has_exited};
use crate::core::model::{Process, WindowProcess};

/// The most processes below a window's own that are reported.
const MOST: usize = 5;

/// Finds the processes of windows.
pub(crate) struct Below<'a> {
    world: &'a World<'a>,
    /// The windows' own.
    windows: BTreeSet<u32>,
    pub(crate) children: &'a Children<'a>,
}

impl<'a> Below<'a> {
    pub(crate) fn new(world: &'a World<'a>, children: &'a Children<'a>) -> Self {
        let windows = world.windows.iter().map(|window| window.process.id.pid).collect();
        Self { world, windows, children }
    }

    /// Returns a window's own process and the newest of those below it, and how many more there are. Processes below
    /// a window inside it belong to that window.
    pub(crate) fn processes_of(&self, window: &'a Process) -> (Vec<WindowProcess>, usize) {
        let is_its = |child: &Process| !has_exited(child) && !self.windows.contains(&child.id.pid);
        let mut found = self.children.descendants(window.id.pid, is_its);
        found.sort_by_key(|process| Reverse((process.id.start_ticks, process.id.pid)));
        let more = found.len().saturating_sub(MOST);
        found.truncate(MOST);
        (std::iter::once(window).chain(found).map(|process| self.view(process)).collect(), more)
    }

    fn view(&self, process: &Process) -> WindowProcess {
        WindowProcess {
            pid: process.id.pid,
            parent: process.parent,
            name: process.comm.clone(),
            started_at: self.world.started_at(process),
        }
    }
}
