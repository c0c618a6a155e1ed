//! The kernel's own limits of watching.

use std::path::Path;

use crate::core::model::Limit;

/// Names of the limits, as sysctl(8) and `/proc/sys` have them (inotify(7)).
const NAMES: [&str; 2] = ["fs.inotify.max_user_watches", "fs.inotify.max_user_instances"];
/// The most bytes of a number's file.
const MAX_BYTES: usize = 1_024;

/// Reads the limits, each for all programs of one user; none on another system.
pub(crate) fn limits() -> Vec<Limit> {
    let bound = |what: &'static str| {
        let path = Path::new("/proc/sys").join(what.replace('.', "/"));
        let text = String::from_utf8(crate::source::os::open::plain::small(&path, MAX_BYTES).ok()?).ok()?;
        let most: u64 = text.trim().parse().ok()?;
        Some(Limit { what, most: most.to_string() })
    };
    NAMES.into_iter().filter_map(bound).collect()
}
