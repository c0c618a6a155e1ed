//! The claimtop program: everything is in the library.

#[cfg(unix)]
use std::ffi::OsString;
use std::process::ExitCode;

#[cfg(unix)]
fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    claimtop::cli::main(&arguments).into()
}

/// Windows has no descriptors of folders and no renaming that is known not to replace, on which every step rests.
#[cfg(not(unix))]
fn main() -> ExitCode {
    eprintln!("claimtop does not run on Windows itself: run it in WSL, beside the agents there");
    ExitCode::FAILURE
}
