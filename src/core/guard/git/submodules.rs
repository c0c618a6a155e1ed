//! Calls of `git submodule` (git-submodule(1)).

use crate::core::guard::call::{InnerTrees, TreeCall};
use crate::core::guard::git::arguments::Arguments;
use crate::core::guard::git::invocation::VerbCall;
use crate::core::guard::git::reach::{Reach, Takes, TrackedFiles};
use crate::core::guard::shell::token::is_known;

/// Returns what a call of `git submodule` takes of the submodules that it reaches, if that can be lost.
pub(super) fn call(of: &VerbCall<'_>) -> Option<TreeCall> {
    let (command, rest) = of.rest.split_first().filter(|_| of.verb == "submodule")?;
    let arguments = Arguments::parse("submodule", rest, &of.folder, None);
    let is_forced = arguments.is_forced();
    let reach = || match arguments.all_paths().as_slice() {
        [] => Some(Reach::Tree),
        paths => arguments.paths(paths),
    };
    let (verb, takes, inner) = match *command {
        "update" if is_forced => {
            ("submodule update", Takes::known(TrackedFiles::Changed), InnerTrees::Submodules)
        }
        "deinit" if is_forced => ("submodule deinit", Takes::ALL, InnerTrees::Submodules),
        "foreach" => {
            let words: Vec<&str> = rest.iter().copied().skip_while(|word| word.starts_with('-')).collect();
            let line = Some(words.join(" ")).filter(|line| is_known(line))?;
            ("submodule foreach", Takes::ALL, InnerTrees::Line(line))
        }
        _ => return None,
    };
    let reach = if verb == "submodule foreach" { Reach::Tree } else { reach()? };
    Some(TreeCall { takes, inner, ..TreeCall::of_git(verb, &of.folder, reach) })
}
