//! Fills the story's blanks with what is real: PIDs, starts, places and times.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use anyhow::{Context, bail};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp};

use super::cast::Cast;
use super::stage::{Stage, make, write};
use super::story::{File, Special};
use crate::core::model::Host;
use crate::source::os::clock;
use crate::source::os::pipe::make_pipe;
use crate::source::os::processes::ports;

/// What is real.
pub(super) struct Truth<'a> {
    pub(super) stage: &'a Stage,
    /// Who plays.
    pub(super) cast: &'a Cast,
    /// When the curtain rises.
    pub(super) now: Timestamp,
    /// The machine.
    pub(super) machine: &'a Host,
}

impl Truth<'_> {
    /// Writes a file of the story, with its mode and the time of its last change.
    ///
    /// # Errors
    /// It cannot be written, or a blank of the story cannot be filled.
    pub(super) fn write(&self, file: &File) -> anyhow::Result<()> {
        let path = self.stage.place(&self.fill(&file.path)?);
        path.parent().map_or(Ok(()), make)?;
        match file.special {
            Some(Special::Fifo) => Ok(make_pipe(&path)?),
            None => {
                let written = write(&path, &self.fill(&file.text)?)?;
                written.set_permissions(Permissions::from_mode(u32::from_str_radix(&file.mode, 8)?))?;
                let at = file.written.as_ref().map(|span| self.written_at(span)).transpose()?;
                // What was written seconds ago by the story must be younger than the processes.
                match at.filter(|at| self.now.duration_since(*at) >= SignedDuration::from_mins(1)) {
                    Some(at) => Ok(written.set_modified(system_time(at)?)?),
                    None => Ok(()),
                }
            }
        }
    }

    /// Replaces every `{{blank}}`.
    ///
    /// # Errors
    /// A blank is none of those that there are.
    fn fill(&self, text: &str) -> anyhow::Result<String> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let (blank, tail) = after.split_once("}}").context("a blank is not closed")?;
            out.push_str(before);
            out.push_str(&self.one(blank).with_context(|| format!("the blank {{{{{blank}}}}}"))?);
            rest = tail;
        }
        Ok(out + rest)
    }

    /// Returns when a file is to have been written: a holder from before the boot would be
    /// another story.
    ///
    /// # Errors
    /// It is no span.
    pub(super) fn written_at(&self, span: &str) -> anyhow::Result<Timestamp> {
        let earliest = self.machine.boot_at.map_or(Timestamp::MIN, |at| at + SignedDuration::from_secs(1));
        Ok(self.at(span)?.max(earliest))
    }

    /// Returns the instant that lies a span such as `5 min ago` from now.
    ///
    /// # Errors
    /// It is no span.
    fn at(&self, span: &str) -> anyhow::Result<Timestamp> {
        let span: Span = span.parse()?;
        Ok(self.now.to_zoned(TimeZone::UTC).checked_add(span)?.timestamp())
    }

    fn one(&self, blank: &str) -> anyhow::Result<String> {
        if blank == "host" {
            return Ok(self.machine.name.clone());
        }
        Ok(match blank.split_once(' ') {
            Some(("pid", role)) => self.cast.id(role.parse()?)?.pid.to_string(),
            Some(("start", role)) => self.cast.id(role.parse()?)?.start_ticks.to_string(),
            Some(("port", role)) => {
                let id = self.cast.id(role.parse()?)?;
                let port = ports(&[id]).remove(&id).and_then(|ports| Some(ports.first()?.number));
                port.with_context(|| format!("PID {} listens on no port", id.pid))?.to_string()
            }
            Some(("path", path)) => match self.stage.place(path).to_str() {
                Some(path) => path.to_owned(),
                None => bail!("the temporary folder's name is not UTF-8"),
            },
            Some(("ms", span)) => self.at(span)?.as_millisecond().to_string(),
            Some(("naive", span)) => self.at(span)?.to_zoned(TimeZone::UTC).datetime().to_string(),
            Some(("local", span)) => self.at(span)?.to_zoned(clock::zone()).datetime().to_string(),
            Some(_) | None => self.at(blank)?.to_string(),
        })
    }
}

fn system_time(at: Timestamp) -> anyhow::Result<SystemTime> {
    match u64::try_from(at.as_millisecond()) {
        Ok(millis) => Ok(SystemTime::UNIX_EPOCH + Duration::from_millis(millis)),
        Err(_) => bail!("the clock is before 1970"),
    }
}
