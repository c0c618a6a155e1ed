//! LEO's machine ID, which distinguishes machines of one name: a Windows around a Linux, containers.
//!
//! It is made only of the host name, the platform and the architecture, so that clones and containers of one name have
//! the same. Another ID means another machine, or another node on this one; an equal ID proves nothing.

use sha2::{Digest, Sha256};

use crate::core::model::Untrusted;
use crate::core::model::text::hex;
use crate::format::reading::Reading;

/// The platform in node's words.
const PLATFORM: &str = if cfg!(target_os = "macos") { "darwin" } else { "linux" };

/// The architecture in node's words.
const ARCH: &str = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };

/// Returns LEO's machine ID: the first 16 hex digits of the SHA-256 of
/// `hostname-platform-arch`, platform and architecture in node's words (`linux`, `x64`).
pub(super) fn id(hostname: &str, platform: &str, arch: &str) -> String {
    let digest = Sha256::digest(format!("{hostname}-{platform}-{arch}"));
    hex(digest.iter().take(8))
}

/// Returns whether a machine ID is what node computes on this machine.
pub(super) fn is_ours(machine: &str, reading: &Reading<'_>) -> bool {
    machine == id(&reading.host.name, PLATFORM, ARCH)
}

/// Returns the named host, with the machine ID if that is not ours: then it is another machine, although its name is
/// ours. Some writers use the host name itself as the ID.
pub(super) fn host(name: Option<&str>, machine: Option<&str>, reading: &Reading<'_>) -> Option<Untrusted> {
    let is_here = |name: &str| name.eq_ignore_ascii_case(&reading.host.name);
    let name = name.filter(|name| !name.is_empty());
    match (name, machine.filter(|id| !id.is_empty() && !is_here(id) && !is_ours(id, reading))) {
        (Some(name), Some(machine)) if is_here(name) => Some(format!("{name} (machine {machine})").into()),
        (None, Some(machine)) => Some(format!("(machine {machine})").into()),
        (name, _) => name.map(Untrusted::from),
    }
}
