//! Redacts session records, and the files that could not be read as one.

use crate::core::history::recording::redact::Redactor;
use crate::core::model::{
    BrokenFile, Domain, Holder, HolderNames, Location, NamedTexts, Problem, Record, RecordDetail, Resource,
    Row, StatedClaim, StatedPid, Texts, Untrusted,
};

/// The facts whose values are a system's own words or numbers.
const PLAIN_FACTS: [&str; 12] = [
    "status", "source", "phase", "kind", "terminal ID", "stale when", "watches itself", "tick pid",
    "version", "colour", "entrypoint", "last start",
];

impl Redactor {
    pub(super) fn record(&mut self, record: &mut Record) {
        let Record {
            format: _,
            kind: _,
            generation: _,
            variant: _,
            session_id,
            context_id,
            title,
            location,
            holder,
            started_at: _,
            heartbeat_at: _,
            written_at: _,
            changed_at: _,
            made_at: _,
            signs: _,
            expiry: _,
            deletion: _,
            claims,
            terminal_id,
            cwd,
            files,
            has_ended: _,
            has_unsaved_work: _,
            problems,
            detail,
            facts,
            ownership: _,
            locked_by: _,
        } = record;
        self.untrusted(title);
        session_id.iter_mut().chain(context_id).for_each(|id| self.untrusted(id));
        terminal_id.iter_mut().for_each(|id| self.untrusted(id));
        self.location(location);
        holder.iter_mut().for_each(|holder| self.holder(holder));
        claims.iter_mut().for_each(|claim| self.claim(claim));
        *cwd = cwd.take().map(|cwd| self.path(&cwd).into());
        *files = files.iter().map(|file| self.0.text(file.raw()).into()).collect();
        problems.iter_mut().for_each(left_out);
        self.detail(detail);
        *facts = self.facts(facts);
    }

    fn location(&mut self, location: &mut Location) {
        match location {
            Location::File(path) => self.file(path),
            Location::Row(row) => {
                let (database, id) = (self.0.text(row.database.raw()), self.0.text(row.id.raw()));
                **row = Row::new(database.into(), row.table, id.into());
            }
        }
    }

    fn holder(&mut self, holder: &mut Holder) {
        let Holder { pid, role: _, binding: _, start_ticks: _, names } = holder;
        if let Some(StatedPid::Bad(text)) = pid {
            self.untrusted(text);
        }
        if let Some(names) = names {
            let HolderNames { boot_id, host, machine_id, name, domain, local_start: _ } = &mut **names;
            let machine = match domain {
                Some(Domain::Linux { machine, namespace: _ }) => machine.as_mut(),
                Some(Domain::Darwin | Domain::Other) | None => None,
            };
            boot_id
                .iter_mut()
                .chain(host)
                .chain(machine_id)
                .chain(machine)
                .chain(name)
                .for_each(|text| self.untrusted(text));
        }
    }

    fn claim(&mut self, claim: &mut StatedClaim) {
        let StatedClaim { resource: Resource { kind: _, id }, since: _, surfaces: _ } = claim;
        self.untrusted(id);
    }

    fn detail(&mut self, detail: &mut RecordDetail) {
        let Texts { words, names } = detail.texts_mut();
        words.into_iter().for_each(|word| *word = self.0.fact(word.raw()).into());
        names.into_iter().for_each(|name| self.untrusted(name));
    }

    fn facts(&mut self, facts: &[(&'static str, Untrusted)]) -> NamedTexts {
        let redacted = |(name, value): &(&'static str, Untrusted)| {
            let is_plain = PLAIN_FACTS.contains(name);
            let value = if is_plain { self.0.fact(value.raw()) } else { self.0.text(value.raw()) };
            (*name, value.into())
        };
        facts.iter().map(redacted).collect()
    }

    pub(super) fn broken(&mut self, broken: &mut BrokenFile) {
        let BrokenFile { format: _, path, problem, ownership: _, written_at: _ } = broken;
        self.file(path);
        left_out(problem);
    }
}

/// Leaves out a sentence that can quote a file.
fn left_out(problem: &mut Problem) {
    problem.message = "description left out".into();
}
