//! Panics: a bug is reported in two lines, without a backtrace, and ends with its own exit code.

use std::panic::{PanicHookInfo, UnwindSafe, catch_unwind, set_hook};

use super::failure::Exit;
use crate::cli::output::complain;
use crate::core::model::text::shown;

/// Makes panics say that they are bugs. The screen's own hook, which gives the terminal back,
/// is installed later and calls this one.
pub(crate) fn install() {
    set_hook(Box::new(|panic| {
        for line in panic_lines(panic) {
            complain(&line);
        }
    }));
}

/// Runs the program; a panic unwinds, so that children end and temporary folders go, and is
/// then a bug.
pub(crate) fn guarded(program: impl FnOnce() -> Exit + UnwindSafe) -> Exit {
    catch_unwind(program).unwrap_or(Exit::Bug)
}

fn panic_lines(panic: &PanicHookInfo<'_>) -> [String; 2] {
    let payload = panic.payload();
    let what = payload.downcast_ref::<&str>().copied();
    let what = what.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
    let place = panic.location().map_or_else(String::new, |place| format!(" ({place})"));
    [
        format!("claimtop: a bug in claimtop: {}{place}", shown(what)),
        "hint: please report this line with what you did".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_bug() {
        assert_eq!(guarded(|| panic!("on purpose, in a test")), Exit::Bug);
        assert_eq!(guarded(|| Exit::Problems), Exit::Problems);
    }
}
