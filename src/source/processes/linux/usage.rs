//! CPU and memory use, from what the closer looks have read anyhow.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use rustix::param::page_size;

use super::{Scanner, ticks_per_second};
use crate::core::process::{ProcessId, ProcessTable};
use crate::source::clock;

/// How far apart two measurements must be to give a percentage: 200 ms, which are 20 ticks.
const APART_FOR: Duration = Duration::from_millis(200);

/// What was measured last.
#[derive(Default)]
pub(in crate::source::processes) struct Usage {
    measured_at: Option<Instant>,
    shares: HashMap<ProcessId, Share>,
}

/// What one process had of the processor.
struct Share {
    /// How much until now, in clock ticks.
    ticks: u64,
    /// How much of one since the measurement before, if it was there.
    percent: Option<f32>,
}

impl Usage {
    /// Fills in CPU and memory use of the given processes, as the last scan has read them.
    pub(in crate::source::processes) fn fill(
        &mut self,
        table: &mut ProcessTable,
        pids: &BTreeSet<u32>,
        scanner: &Scanner,
    ) {
        let (now, before) = (clock::steady(), self.measured_at);
        let apart = before.map(|before| now.saturating_duration_since(before));
        let is_due = apart.is_none_or(|apart| apart >= APART_FOR);
        let mut shares = HashMap::new();
        for pid in pids {
            let Some((process, used)) = table.by_pid.get_mut(pid).zip(scanner.used(*pid)) else { continue };
            let last = self.shares.remove(&process.id);
            let share = match (last, apart) {
                (last, _) if !is_due => last,
                (Some(last), Some(apart)) => Some(last.until(used.ticks, apart)),
                (None, _) | (_, None) => Some(Share { ticks: used.ticks, percent: None }),
            };
            if let Some(details) = &mut process.details {
                details.memory_bytes = u64::try_from(page_size()).ok().map(|size| used.pages * size);
                details.cpu_percent = share.as_ref().and_then(|share| share.percent);
            }
            shares.extend(share.map(|share| (process.id, share)));
        }
        self.shares = shares;
        self.measured_at = if is_due { Some(now) } else { before };
    }
}

impl Share {
    /// Returns the share after that time.
    #[expect(clippy::cast_precision_loss, reason = "a percentage is no count")]
    fn until(&self, ticks: u64, apart: Duration) -> Self {
        let used = ticks.saturating_sub(self.ticks) as f32 / ticks_per_second() as f32;
        Self { ticks, percent: Some(100.0 * used / apart.as_secs_f32()) }
    }
}
