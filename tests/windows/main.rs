//! Windows that the tests start themselves: small programs under agents' names. They are apart from
//! the other tests of the program because every claimtop on the machine sees them.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests start programs and write their files"
)]

mod bind;
#[path = "../common/pty.rs"]
mod pty;
mod real;
mod sessions;
mod tmux;
#[path = "../cli/world.rs"]
mod world;
mod zellij;

/// Starts a program that was copied just now. As long as a process that another test forked has
/// the copy open for writing, the system calls it busy.
pub(crate) fn started(command: &mut std::process::Command) -> std::process::Child {
    loop {
        match command.spawn() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            started => return started.unwrap(),
        }
    }
}
