//! Runs a test in namespaces of its own: there it may mount, and set limits that apply to no other process.

use std::process::{Command, Stdio};

/// Set in the environment of the program that runs one test apart.
const VARIABLE: &str = "CLAIMTOP_TEST_APART";

/// Runs the test of this name once more in new namespaces, which `flags` of `unshare` (unshare(1)) name, and returns
/// `false`; in there it returns `true`. If the system allows no such namespaces, it reports the test as skipped.
#[track_caller]
pub(crate) fn is_apart(test: &str, flags: &[&str]) -> bool {
    if std::env::var(VARIABLE).is_ok_and(|apart| apart == test) {
        return true;
    }
    if !is_allowed(flags) {
        eprintln!("skipped: {test}: no namespaces here (unshare {})", flags.join(" "));
        return false;
    }
    let status = Command::new("unshare")
        .args(flags)
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(VARIABLE, test)
        .stdin(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{test} failed in its own namespaces");
    false
}

fn is_allowed(flags: &[&str]) -> bool {
    let tried = Command::new("unshare").args(flags).arg("true").stdin(Stdio::null()).output();
    tried.is_ok_and(|output| output.status.success())
}
