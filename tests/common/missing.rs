//! Handles tests whose external program is missing.

/// Reports that a test is skipped for lack of a program. If `CI` is set, no test may be skipped.
#[track_caller]
pub(crate) fn skip_for_want_of(program: &str) {
    assert!(std::env::var_os("CI").is_none(), "there is no {program}; tests/run installs it");
    eprintln!("skipped: there is no {program}");
}
