//! The claimtop program: everything is in the library.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    claimtop::cli::main(&arguments).into()
}
