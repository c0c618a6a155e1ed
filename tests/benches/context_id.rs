//! `claimtop context-id` ten levels deep, against a static program that does nothing and
//! against the old way (Python with one `ps` for each level). Wall time, medians, in one run.
//!
//! The measured program is static: for the musl target if that is installed, otherwise for the machine's own target
//! with the C library linked in.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const DEPTH: u32 = 10;

/// Runs the benchmark.
pub(crate) fn bench(_: Option<&str>) {
    let levels = std::env::var("CLAIMTOP_BENCH_LEVELS").ok().and_then(|text| text.parse().ok());
    match levels {
        Some(0) => measure(),
        Some(left) => descend(left),
        None => {
            build();
            descend(DEPTH - 1);
        }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn folder() -> PathBuf {
    root().join("target/context-id")
}

fn run(program: &str, args: &[&str], envs: &[(&str, &str)]) -> bool {
    Command::new(program)
        .args(args)
        .envs(envs.iter().copied())
        .current_dir(root())
        .status()
        .is_ok_and(|s| s.success())
}

fn build() {
    std::fs::create_dir_all(folder()).expect("a folder");
    let source = folder().join("nothing.c");
    std::fs::write(&source, "int main(void) { return 0; }\n").expect("a file");
    let nothing = folder().join("nothing");
    assert!(run("cc", &["-O2", "-static", "-o", &nothing.to_string_lossy(), &source.to_string_lossy()], &[]));
    let target = folder().to_string_lossy().into_owned();
    let musl = [
        "build", "--release", "--quiet", "--bin", "claimtop", "--target", "x86_64-unknown-linux-musl",
        "--target-dir", &target,
    ];
    if !run("cargo", &musl, &[]) {
        println!("no musl target here: measuring a static program of the machine's own target");
        let own = [
            "build", "--release", "--quiet", "--bin", "claimtop", "--target", "x86_64-unknown-linux-gnu",
            "--target-dir", &target,
        ];
        assert!(run("cargo", &own, &[("RUSTFLAGS", "-C target-feature=+crt-static")]));
    }
}

fn program() -> PathBuf {
    let of = |target: &str| folder().join(target).join("release/claimtop");
    let musl = of("x86_64-unknown-linux-musl");
    if musl.exists() { musl } else { of("x86_64-unknown-linux-gnu") }
}

/// Starts this program once more, one level deeper.
fn descend(left: u32) {
    let this = std::env::current_exe().expect("this program");
    let status =
        Command::new(this).arg("context_id").env("CLAIMTOP_BENCH_LEVELS", (left - 1).to_string()).status();
    assert!(status.expect("this program").success());
}

fn measure() {
    let dynamic = PathBuf::from(env!("CARGO_BIN_EXE_claimtop"));
    let nothing = folder().join("nothing");
    let seed = root().join("tests/benches/seed_context_id.py").to_string_lossy().into_owned();
    let program = program().to_string_lossy().into_owned();
    let [mut of_nothing, mut of_ours, mut of_dynamic, mut of_seed] = [const { Vec::new() }; 4];
    for round in 0..300 {
        of_nothing.push(once(&nothing.to_string_lossy(), &[]));
        of_ours.push(once(&program, &["context-id"]));
        if dynamic.exists() {
            of_dynamic.push(once(&dynamic.to_string_lossy(), &["context-id"]));
        }
        if round % 10 == 0 {
            of_seed.push(once("python3", &[&seed]));
        }
    }
    let [nothing, ours, dynamic, seed] =
        [&mut of_nothing, &mut of_ours, &mut of_dynamic, &mut of_seed].map(|times| median(times));
    println!("{DEPTH} levels deep, wall time, medians:");
    println!("  a static program that does nothing   {nothing:8.3} ms");
    println!("  claimtop context-id, static          {ours:8.3} ms   {:.2} times nothing", ours / nothing);
    println!(
        "  claimtop context-id, dynamic         {dynamic:8.3} ms   {:.2} times nothing",
        dynamic / nothing
    );
    println!(
        "  python with one ps for each level    {seed:8.3} ms   claimtop is {:.0} times faster",
        seed / ours
    );
}

fn once(program: &str, args: &[&str]) -> f64 {
    let start = Instant::now();
    let status = Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(status.expect("the program").success(), "{program}");
    start.elapsed().as_secs_f64() * 1e3
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}
