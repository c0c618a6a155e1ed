//! From start to the first whole frame on a terminal, against htop in the same run.

use std::io::Read;
use std::path::Path;
use std::time::Instant;

use portable_pty::{CommandBuilder, PtySize, native_pty_system};

const ROUNDS: usize = 15;

/// Runs the benchmark.
pub(crate) fn bench(_: Option<&str>) {
    let world = tempfile::tempdir().expect("a folder");
    for folder in ["home", "tmp"] {
        std::fs::create_dir(world.path().join(folder)).expect("a folder");
    }
    let program = Path::new(env!("CARGO_BIN_EXE_claimtop"));
    let mut ours = Vec::new();
    let mut htop = Vec::new();
    for _ in 0..ROUNDS {
        let mut command = CommandBuilder::new(program);
        command.args([
            "--home",
            &world.path().join("home").to_string_lossy(),
            "--tmp",
            &world.path().join("tmp").to_string_lossy(),
        ]);
        // The bottom line is drawn last: with it the frame is whole.
        ours.push(first_frame(command, "quit"));
        htop.push(first_frame(CommandBuilder::new("htop"), "Quit"));
    }
    let [ours, htop] = [&mut ours, &mut htop].map(|times| median(times));
    println!("start to first whole frame, 200x50, median of {ROUNDS}:");
    println!("  claimtop {ours:8.1} ms");
    println!("  htop     {htop:8.1} ms   ratio {:.3}", ours / htop);
}

fn first_frame(mut command: CommandBuilder, last: &str) -> f64 {
    command.env("TERM", "xterm-256color");
    let size = PtySize { rows: 50, cols: 200, pixel_width: 0, pixel_height: 0 };
    let pty = native_pty_system().openpty(size).expect("a terminal");
    let mut reader = pty.master.try_clone_reader().expect("a terminal");
    let start = Instant::now();
    let mut child = pty.slave.spawn_command(command).expect("the program");
    let mut seen = Vec::new();
    let mut buffer = [0; 65_536];
    let elapsed = loop {
        let read = reader.read(&mut buffer).expect("the terminal");
        assert!(read > 0, "the program ended: {}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(buffer.get(..read).unwrap_or_default());
        if seen.windows(last.len()).any(|part| part == last.as_bytes()) {
            break start.elapsed().as_secs_f64() * 1e3;
        }
    };
    child.kill().expect("own child");
    child.wait().expect("own child");
    elapsed
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}
