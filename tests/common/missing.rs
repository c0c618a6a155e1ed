//! What a test does where a program that it calls is missing.

/// Says that a test is skipped for want of a program. Where `CI` is set nothing may be.
#[track_caller]
pub(crate) fn skip_for_want_of(program: &str) {
    assert!(std::env::var_os("CI").is_none(), "there is no {program}; tests/run installs it");
    eprintln!("skipped: there is no {program}");
}
