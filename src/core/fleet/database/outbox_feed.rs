//! Puts the results of a look into the outbox, in the form of the stream, without private data.

use serde_json::value::RawValue;

use crate::core::fleet::database::outbox::{LOOK, ORDER, Outbox, kind_name};
use crate::core::fleet::wire::encoder::Encoder;
use crate::core::fleet::wire::line::{Line, PartKind};
use crate::core::fleet::wire::path_redaction::PathRedactor;
use crate::core::model::text::json;
use crate::core::model::{EndedWindow, Report, Tombstone};

/// Feeds the outbox look by look.
#[derive(Default)]
pub(crate) struct OutboxFeed {
    encoder: Encoder,
    /// The windows that ended in looks not yet published by a beat.
    ended: Vec<EndedWindow>,
    /// How many of them are in the current beat.
    telling: usize,
}

impl OutboxFeed {
    /// Adds a look to the outbox; returns whether it is urgent: a process has died, or there is a new problem.
    ///
    /// # Errors
    /// Returns the error of serde_json, which does not occur for our own types.
    pub(crate) fn look(
        &mut self,
        report: &Report,
        tombstones: &[Tombstone],
        discreet: &PathRedactor,
        outbox: &mut Outbox,
    ) -> serde_json::Result<bool> {
        let text = self.encoder.look(&report.without_prompts(), tombstones)?;
        let mut is_urgent = false;
        for line in text.lines() {
            let line: Line<'_> = serde_json::from_str(line)?;
            if let Some(part) = line.part {
                let id = discreet.id(&part.id);
                let payload = RawValue::from_string(discreet.text(part.is.get()))?;
                match kind_name(part.kind) {
                    Some(kind) => {
                        is_urgent |= part.kind == PartKind::Finding && !outbox.has(&kind, &id);
                        outbox.put(&kind, &id, &payload);
                    }
                    None => outbox.bury(&id, &payload),
                }
            }
            if let Some((kind, id)) = line.gone.and_then(|gone| Some((kind_name(gone.kind)?, gone.id))) {
                outbox.remove(&kind, &discreet.id(&id));
            }
            if let Some(mut look) = line.look {
                if let Some(order) = look.order.take() {
                    outbox.put(ORDER, "", &RawValue::from_string(json::to_line(&order)?)?);
                }
                self.ended.append(&mut look.ended);
                look.ended.clone_from(&self.ended);
                outbox.put(LOOK, "", &RawValue::from_string(json::to_line(&look)?)?);
            }
        }
        Ok(is_urgent || outbox.has_deaths())
    }

    /// Records that a beat now contains all of it.
    pub(crate) fn telling(&mut self) {
        self.telling = self.ended.len();
    }

    /// Records that the beat was accepted. Windows that have ended since it began remain to be sent.
    pub(crate) fn accepted(&mut self) {
        self.ended.drain(..self.telling.min(self.ended.len()));
        self.telling = 0;
    }
}
