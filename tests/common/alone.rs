//! Runs all tests of a program where no process but their own can be seen.

use std::process::{Command, Stdio};
use std::sync::Once;

/// Flags of unshare(1) for processes that nobody else's are among.
const FLAGS: [&str; 6] = ["--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"];
/// Calls the program as the second process: the first one has duties, and no record may name it.
const SECOND: &str = "\"$0\" \"$@\"; exit $?";
/// Set in the environment of the program that runs its tests alone.
const VARIABLE: &str = "CLAIMTOP_TEST_ALONE";

/// Hides every process of this machine but the tests' own: the first call runs the whole program once
/// more, with the same arguments, in a PID namespace, and ends with what that one ends with. Where
/// the system allows no such namespace, the tests are run here.
///
/// To be called before anything is started. Other test runs have agents and databases too, and
/// whoever sees those rightly cannot tell whose they are.
pub(crate) fn alone() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if std::env::var_os(VARIABLE).is_none() && is_allowed() {
            let mut again = Command::new("unshare");
            again.args(FLAGS).args(["sh", "-c", SECOND]).arg(std::env::current_exe().unwrap());
            let status = again.args(std::env::args_os().skip(1)).env(VARIABLE, "").status().unwrap();
            std::process::exit(status.code().unwrap_or(1));
        }
    });
}

fn is_allowed() -> bool {
    let tried = Command::new("unshare").args(FLAGS).arg("true").stdin(Stdio::null()).output();
    tried.is_ok_and(|output| output.status.success())
}
