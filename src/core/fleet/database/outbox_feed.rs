//! Puts what a look has found into the outbox, as the stream would tell it, without what is nobody's business.

use serde_json::value::RawValue;

use crate::core::fleet::database::outbox::{LOOK, ORDER, Outbox, kind_name};
use crate::core::fleet::wire::encoder::Encoder;
use crate::core::fleet::wire::line::{Line, PartKind};
use crate::core::fleet::wire::path_redaction::Discreet;
use crate::core::model::text::json;
use crate::core::model::{EndedWindow, Report, Tombstone};

/// Tells look by look.
#[derive(Default)]
pub(crate) struct Teller {
    encoder: Encoder,
    /// Who has ended in looks that no beat has told of yet.
    ended: Vec<EndedWindow>,
    /// How many of them the beat tells that is under way.
    telling: usize,
}

impl Teller {
    /// Tells a look; returns whether it does not wait: somebody has died, or something new is wrong.
    ///
    /// # Errors
    /// Returns the error of serde_json, which for our own types there is none.
    pub(crate) fn look(
        &mut self,
        report: &Report,
        tombstones: &[Tombstone],
        discreet: &Discreet,
        outbox: &mut Outbox,
    ) -> serde_json::Result<bool> {
        let text = self.encoder.look(&report.without_prompts(), tombstones)?;
        let mut is_urgent = false;
        for line in text.lines() {
            let line: Line<'_> = serde_json::from_str(line)?;
            if let Some(part) = line.part {
                let id = discreet.id(&part.id);
                let told = RawValue::from_string(discreet.text(part.is.get()))?;
                match kind_name(part.kind) {
                    Some(kind) => {
                        is_urgent |= part.kind == PartKind::Finding && !outbox.has(&kind, &id);
                        outbox.put(&kind, &id, &told);
                    }
                    None => outbox.bury(&id, &told),
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

    /// Takes note that a beat now tells all of it.
    pub(crate) fn telling(&mut self) {
        self.telling = self.ended.len();
    }

    /// Takes note that the beat was accepted. Who has ended since it began is still to be told.
    pub(crate) fn accepted(&mut self) {
        self.ended.drain(..self.telling.min(self.ended.len()));
        self.telling = 0;
    }
}
