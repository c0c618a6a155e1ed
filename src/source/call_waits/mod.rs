//! What the processes of tool calls wait for that have been open for long.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::core::judge::session::session_of;
use crate::core::judge::window::Window;
use crate::core::judge::window::stuck::{may_be_open, open_since, processes};
use crate::core::judge::world::World;
use crate::core::model::snapshot::process::Children;
use crate::core::model::{CallProcesses, CallWait, Snapshot, SourceHealth, Work};
use crate::format::Reading;
use crate::source::interface::{Scope, Source};
use crate::source::os::processes::call_waits;

/// How often they are read: searching the open files of two thousand processes takes 30 ms.
const EVERY: SignedDuration = SignedDuration::from_secs(10);

/// Reads them if there is such a call, and keeps them for a moment: what has begun since is not known.
#[derive(Default)]
pub(crate) struct Reader {
    last: Option<(Timestamp, Vec<CallWait>)>,
}

impl Source for Reader {
    fn add_to(&mut self, snapshot: &mut Snapshot, scope: &Scope, reading: &Reading<'_>) {
        let is_fresh = |at: Timestamp| reading.now.duration_since(at).abs() < EVERY;
        let last = self.last.take().filter(|(at, _)| is_fresh(*at));
        let (at, waits) = last.unwrap_or_else(|| {
            let waits = call_waits(&open_calls(snapshot, scope), &snapshot.processes, reading.host.uid);
            (reading.now, waits)
        });
        snapshot.call_waits.clone_from(&waits);
        self.last = Some((at, waits));
    }

    fn health(&self, _now: Timestamp) -> Vec<SourceHealth> {
        Vec::new()
    }
}

/// Returns the processes of windows whose call has been open for long; mostly there is none.
fn open_calls(snapshot: &Snapshot, scope: &Scope) -> Vec<CallProcesses> {
    if !snapshot.work.iter().any(|work| may_be_open(work, snapshot.taken_at)) {
        return Vec::new();
    }
    let world = World::new(snapshot, &scope.signatures);
    let children = Children::new(&snapshot.processes);
    let of_window = |window: &Window<'_>| {
        let session = session_of(window, &world)?;
        let is_its = |work: &&Arc<Work>| work.session == session.id && work.format.runs_on(window.agent);
        let work = snapshot.work.iter().find(is_its)?;
        let since = open_since(window, work, (&world, &children))?;
        let call = processes(window, since, (&world, &children));
        (!call.members.is_empty() || !call.strays.is_empty()).then_some(call)
    };
    world.windows.iter().filter_map(of_window).collect()
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
