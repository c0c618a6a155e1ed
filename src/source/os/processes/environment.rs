//! The few variables of a process's environment that are kept.

use std::collections::BTreeMap;

use crate::core::judge::window::stand_in::STAND_IN_VARIABLE;
use crate::core::model::Untrusted;
use crate::core::model::report::context::{CONTEXT_VARIABLE, SESSION_VARIABLE};
use crate::core::model::report::place;
use crate::core::model::snapshot::home::{CACHE_VARIABLE, CONFIG_VARIABLE, HOME_VARIABLE};

/// The environment variables that are read beside those of [`place`]; no other one is kept.
const VARIABLES: [&str; 6] =
    [CONTEXT_VARIABLE, SESSION_VARIABLE, HOME_VARIABLE, CONFIG_VARIABLE, CACHE_VARIABLE, STAND_IN_VARIABLE];

/// Returns those of some entries, each `NAME=value`, that matter.
pub(crate) fn variables<'a>(entries: impl Iterator<Item = &'a [u8]>) -> BTreeMap<String, Untrusted> {
    let kept = entries.filter_map(|entry| {
        let name = VARIABLES.into_iter().chain(place::VARIABLES).find(|name| {
            entry.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.first() == Some(&b'='))
        })?;
        Some((name.to_owned(), Untrusted::from_bytes(entry.get(name.len() + 1..)?)))
    });
    // getenv(3) takes the first of equal names.
    kept.fold(BTreeMap::new(), |mut all, (name, value)| {
        all.entry(name).or_insert(value);
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_variables_that_matter_are_kept() {
        let text = b"SECRET=x\0TMUX=/tmp/t,1,0\0TMUX_PANE=%3\0CLAUDE_SESSION_IDX=no\0TMUX_PANE=%4\0";
        let found = variables(text.split(|byte| *byte == 0));
        let found: Vec<_> = found.iter().map(|(name, value)| (name.as_str(), value.raw())).collect();
        assert_eq!(found, [("TMUX", "/tmp/t,1,0"), ("TMUX_PANE", "%3")]);
    }
}
