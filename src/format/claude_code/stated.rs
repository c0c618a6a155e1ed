//! What several files of Claude Code state alike.

use crate::core::model::{
    Binding, Domain, FileImage, Holder, HolderNames, Medium, Record, ResourceKind, Role, StatedClaim,
    Untrusted,
};
use crate::format::json::Object;

pub(crate) fn holder(object: &Object<'_>, role: Role, binding: Binding, file: &FileImage) -> Option<Holder> {
    let pid = object.pid("pid", false)?;
    let mut holder = Holder::new(pid, role, binding);
    // On Linux the raw start ticks as text; on macOS the words of `ps -o lstart=`, and then its PID
    // counts on that machine, which shares this home.
    let start = object.str("procStart");
    holder.start_ticks = start.and_then(|text| text.parse().ok());
    let is_words = start.is_some_and(|text| text.contains(':') && text.contains(' '));
    let host = (cfg!(target_os = "linux") && is_words).then(|| "macOS".into());
    let domain = object.str("pidDomain").and_then(|domain| domain_of(domain, file.medium));
    holder.names = HolderNames { host, domain, ..Default::default() }.kept();
    Some(holder)
}

/// Returns where a PID counts. A Mac does not say which one it is: in a home that is its own, it is
/// that one.
pub(crate) fn domain_of(text: &str, medium: Medium) -> Option<Domain> {
    let is_own_mac = cfg!(target_os = "macos") && text == "darwin" && medium.is_this_machines();
    (!is_own_mac).then(|| Domain::parse(text))
}

pub(crate) fn claim(
    kind: ResourceKind,
    id: Option<Untrusted>,
    surface: &'static str,
    record: &Record,
) -> Vec<StatedClaim> {
    id.map(|id| StatedClaim::new(kind, id, surface, record.started_at)).into_iter().collect()
}
