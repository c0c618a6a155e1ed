//! An order is carried out for 60 s after its plan was made, by the clock of the machine that carries it out, and not
//! after that.

use std::ffi::OsString;
use std::path::PathBuf;

use claimtop::testing::source::clock;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::stage::{Made, Stage};

/// Set in the environment of the far side whose time passes; its arguments, one a line.
const VARIABLE: &str = "CLAIMTOP_TEST_TIME";
const PROGRAM: &str = "expiry::the_program_whose_time_passes";

/// Does nothing except in the process that the test below starts.
#[test]
fn the_program_whose_time_passes() {
    let Ok(arguments) = std::env::var(VARIABLE) else { return };
    let mut arguments: Vec<OsString> = arguments.lines().map(OsString::from).collect();
    let pipe = PathBuf::from(arguments.remove(0));
    std::thread::spawn(move || {
        // Waits until a test writes, and ends with the last text.
        while let Ok(text) = std::fs::read_to_string(&pipe) {
            clock::let_pass(text.trim().parse().unwrap());
            std::fs::write(pipe.with_extension("passed"), "").unwrap();
        }
    });
    // The name of this test stands on the line.
    println!();
    std::process::exit(claimtop::cli::main(&arguments).into());
}

#[test]
fn an_order_that_comes_too_late_is_refused_and_never_done() {
    let stage = Stage::new(Made::Home, "operate");
    stage.end();
    let key = stage.key();
    stage.rest(&key);
    let base = stage.world.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    mknodat(CWD, stage.world.path("time"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let lines = format!("{base}/time\nclaimtop\nstream\n--operate\n--tmp\n{base}/far-tmp");
    let exe = std::env::current_exe().unwrap();
    let run = format!("exec '{}' {PROGRAM} --exact --nocapture --test-threads=1", exe.display());
    stage.world.write("begin.sh", &format!("export HOME=$1/far {VARIABLE}='{lines}'\n{run}\n"));
    let passes = |seconds: u32| {
        let script = format!(
            "rm -f {base}/time.passed; echo {seconds} > {base}/time; until [ -e {base}/time.passed ]; do sleep 0.02; done"
        );
        stage.world.write("cuts.sh", &script);
        stage.cut(&["up order run"]);
        stage.run(&["release", &key, "--yes"])
    };
    let late = passes(61);
    assert!(late.code == 3 && late.out.contains("more than 60 s after its plan was made"), "{late:?}");
    assert!(stage.lies() && stage.times_done() == 0);
    assert_eq!(stage.journal()[0]["outcome"]["ended"], "changed");
    let in_time = passes(1);
    assert_eq!(in_time.code, 0, "{in_time:?}");
    assert!(!stage.lies() && stage.times_done() == 1);
}
