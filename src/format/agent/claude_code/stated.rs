//! Fields that several files of Claude Code have in common.

use jiff::civil::DateTime;

use crate::core::model::{
    Binding, Domain, Holder, HolderNames, Platform, Record, ResourceKind, Role, StatedClaim, Untrusted,
    stated_start,
};
use crate::format::reading::Reading;
use crate::format::reading::json::Object;
use crate::format::reading::value::Value;

pub(crate) fn holder(
    object: &Object<'_>,
    role: Role,
    binding: Binding,
    reading: &Reading<'_>,
) -> Option<Holder> {
    let pid = object.pid("pid", false)?;
    let mut holder = Holder::new(pid, role, binding);
    let start = Start::of(object.str("procStart"));
    let stated = object.get("pidDomain").and_then(domain);
    let domain = stated.or_else(|| start.domain(reading.host.platform));
    started(&mut holder, start, domain);
    Some(holder)
}

/// Adds to a holder the start in a text, and its domain by its form.
pub(crate) fn with_start(holder: Holder, text: &str, here: Platform) -> Holder {
    let start = Start::of(Some(text));
    let domain = start.domain(here);
    let mut holder = holder;
    started(&mut holder, start, domain);
    holder
}

fn started(holder: &mut Holder, start: Start, domain: Option<Domain>) {
    // Only Linux counts starts in ticks.
    let is_darwins = domain == Some(Domain::Darwin);
    holder.start_ticks = start.ticks.filter(|_| !is_darwins);
    let local_start = start.local.filter(|_| is_darwins);
    holder.names = HolderNames { domain, local_start, ..Default::default() }.kept();
}

/// Reads the domain of a PID; an unknown form means an unknown domain.
fn domain(stated: &Value<'_>) -> Option<Domain> {
    match stated {
        Value::Null => None,
        Value::String(text) => Some(Domain::parse(text)),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => Some(Domain::Other),
    }
}

/// The start of a process: on Linux the raw ticks as text, on macOS the words of `ps -o lstart=`.
#[derive(Default)]
struct Start {
    ticks: Option<u64>,
    local: Option<DateTime>,
    is_words: bool,
}

impl Start {
    fn of(text: Option<&str>) -> Self {
        let Some(text) = text.map(str::trim) else { return Self::default() };
        let is_words = text.contains(':') && text.contains(' ');
        Self { ticks: stated_start(text), local: local(text).filter(|_| is_words), is_words }
    }

    /// Returns the domain of a PID whose record does not name it: words are a Mac's, and a number on a Mac is that of
    /// a container or of another machine.
    fn domain(&self, here: Platform) -> Option<Domain> {
        let is_foreign = self.ticks.is_some() && here == Platform::MacOs;
        let foreign = is_foreign.then_some(Domain::Linux { machine: None, namespace: None });
        if self.is_words { Some(Domain::Darwin) } else { foreign }
    }
}

/// Parses the words of `ps`, in English: `Fri Nov 20 12:10:11 2026`, or with the day before the month.
fn local(words: &str) -> Option<DateTime> {
    let forms = ["%a %b %d %H:%M:%S %Y", "%a %d %b %H:%M:%S %Y"];
    forms.iter().find_map(|form| DateTime::strptime(form, words).ok())
}

pub(crate) fn claim(
    kind: ResourceKind,
    id: Option<Untrusted>,
    surface: &'static str,
    record: &Record,
) -> Vec<StatedClaim> {
    id.map(|id| StatedClaim::new(kind, id, surface, record.started_at)).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &str, expected: Option<&str>) {
        let start = Start::of(Some(words));
        assert_eq!(start.local, expected.map(|at| at.parse().unwrap()), "{words}");
    }

    #[test]
    fn the_words_of_ps_are_a_time_without_a_zone() {
        check("Fri Nov 20 12:10:11 2026", Some("2026-11-20T12:10:11"));
        check("Sat Nov  7 09:01:02 2026    ", Some("2026-11-07T09:01:02"));
        check("Sat  7 Nov 09:01:02 2026", Some("2026-11-07T09:01:02"));
        check("686753", None);
        check("Fr 20 Nov 12:10:11 2026", None);
        check("Mon Nov 20 12:10:11 2026", None);
    }

    #[test]
    fn words_count_on_a_mac_and_a_number_never_does() {
        let domain = |text, here| Start::of(Some(text)).domain(here);
        assert_eq!(domain("Fr 20 Nov 12:10:11 2026", Platform::Linux), Some(Domain::Darwin));
        assert_eq!(domain("686753", Platform::Linux), None);
        let linux = Domain::Linux { machine: None, namespace: None };
        assert_eq!(domain("686753", Platform::MacOs), Some(linux));
    }
}
