//! Real files, processes, namespaces and watches, read by the sources and by the whole program.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests start processes, write their files and say by panicking what is wrong"
)]

#[cfg(target_os = "linux")]
#[path = "../common/apart.rs"]
mod apart;
#[cfg(target_os = "linux")]
#[path = "../common/missing.rs"]
mod missing;
#[cfg(target_os = "linux")]
mod namespaces;
#[cfg(target_os = "linux")]
#[path = "../common/program.rs"]
mod program;
mod source_files;
#[cfg(target_os = "linux")]
mod source_processes;
#[cfg(target_os = "linux")]
mod source_watch;
