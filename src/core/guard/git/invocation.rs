//! A call of git, as far as its own options go.

use crate::core::guard::folder::joined;
use crate::core::guard::shell::name_of;
use crate::core::guard::shell::token::is_known;

/// Options of git's own that do not change what a verb takes; those about paths only if the paths are plain.
const WITHOUT_EFFECT: [&str; 11] = [
    "-p", "-P", "--paginate", "--no-pager", "--no-optional-locks", "--literal-pathspecs", "--glob-pathspecs",
    "--icase-pathspecs", "--no-advice", "--no-replace-objects", "--no-lazy-fetch",
];

/// A call of git, before its arguments are read.
pub(super) struct VerbCall<'a> {
    /// The folder that it works in, absolute.
    pub(super) folder: String,
    pub(super) verb: &'a str,
    /// The words after the verb.
    pub(super) rest: &'a [&'a str],
    /// What `-c` sets, names in lower case.
    pub(super) settings: Vec<(String, String)>,
}

/// Returns a call of git, as far as its own options are known; `None` if they are not, or it is no call of git.
pub(super) fn verb_of<'a>(words: &'a [&'a str], folder: &str) -> Option<VerbCall<'a>> {
    let (program, mut rest) = words.split_first()?;
    if name_of(program) != "git" {
        return None;
    }
    let (mut folder, mut settings) = (folder.to_owned(), Vec::new());
    loop {
        let (first, after) = rest.split_first()?;
        rest = match *first {
            "-C" => {
                let (to, after) = after.split_first().filter(|(to, _)| is_known(to))?;
                folder = joined(&folder, to)?;
                after
            }
            "-c" => {
                let (setting, after) = after.split_first()?;
                // A name alone is true (git-config(1)).
                let (name, value) = setting.split_once('=').unwrap_or((setting, "true"));
                settings.push((name.to_ascii_lowercase(), value.to_owned()));
                after
            }
            option if WITHOUT_EFFECT.contains(&option) => after,
            option if option.starts_with('-') || !is_known(option) => return None,
            _ if folder.is_empty() => return None,
            verb => return Some(VerbCall { folder, verb, rest: after, settings }),
        };
    }
}
