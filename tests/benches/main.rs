//! The cost of claimtop: `cargo bench --bench figures -- NAME [PART]` runs one benchmark, or a part of it.
//!
//! Some start this program again, below a shell or as another machine, and then pass their own name.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a benchmark starts programs, writes files, reads clocks and says by panicking what is wrong"
)]

mod all_day;
mod bind;
#[cfg(feature = "postgres")]
#[path = "../postgres/cluster.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod cluster;
mod context_id;
mod files;
mod first_frame;
#[cfg(feature = "postgres")]
mod fleet;
mod guard;
mod judge;
mod left_overs;
mod machines;
mod now;
#[cfg(feature = "postgres")]
mod postgres;
mod release;
mod scan;
mod stage;

/// Runs a benchmark, or the named part of it.
type Bench = fn(Option<&str>);

const BENCHES: &[(&str, Bench)] = &[
    ("scan", scan::bench),
    ("files", files::bench),
    ("context_id", context_id::bench),
    ("bind", bind::bench),
    ("first_frame", first_frame::bench),
    ("release", release::bench),
    #[cfg(feature = "postgres")]
    ("postgres", postgres::bench),
    #[cfg(feature = "postgres")]
    ("fleet", fleet::bench),
    ("all_day", all_day::bench),
    ("judge", judge::bench),
    ("now", now::bench),
    ("left_overs", left_overs::bench),
    ("guard", guard::bench),
    ("machines", machines::bench),
];

fn main() -> std::process::ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let mut words = words.iter().map(String::as_str);
    let name = words.next().unwrap_or_default();
    if let Some((_, bench)) = BENCHES.iter().find(|(known, _)| *known == name) {
        bench(words.next());
        return std::process::ExitCode::SUCCESS;
    }
    let names: Vec<&str> = BENCHES.iter().map(|(name, _)| *name).collect();
    eprintln!("name one of {}", names.join(", "));
    std::process::ExitCode::from(2)
}
