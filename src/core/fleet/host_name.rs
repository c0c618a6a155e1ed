//! What the hosts of a fleet's database may be called.

#[cfg(feature = "postgres")]
use crate::core::fleet::transport::checked_name;

/// How much of a host's ID follows its name where that alone is not enough, in characters: all of it at last.
#[cfg(feature = "postgres")]
const MARKS: [usize; 4] = [8, 13, 18, 36];

/// How much of its name stands before that, in characters.
const BEFORE_MARK: usize = 20;

/// Returns what the host of this name and ID may be called, the shortest first.
#[cfg(feature = "postgres")]
pub(crate) fn possible_names(name: &str, id: &str) -> Vec<String> {
    let plain: String =
        name.chars().map(|c| if c.is_alphanumeric() || "._-".contains(c) { c } else { '-' }).collect();
    let short: String = plain.trim_start_matches('-').chars().take(32).collect();
    let name = checked_name(&short).unwrap_or_else(|_| "host".to_owned());
    let before = before_mark(&name);
    let marked = MARKS.map(|length| format!("{before}-{}", id.chars().take(length).collect::<String>()));
    let mut all: Vec<String> = [name].into_iter().chain(marked).collect();
    all.dedup();
    all
}

/// Returns whether a host that is called so could have the shorter name if no other had it too.
pub(crate) fn is_longer_name(longer: &str, name: &str) -> bool {
    longer.strip_prefix(&before_mark(name)).is_some_and(|mark| mark.starts_with('-'))
}

fn before_mark(name: &str) -> String {
    name.chars().take(BEFORE_MARK).collect()
}
