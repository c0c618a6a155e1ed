//! The full process scan against sysinfo's default and `ps`, over 2,000 processes, in CPU time; and against the bare
//! floor of listing them and reading the kernel's one line about each.

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};

use claimtop::core::judge::window::agent::Signatures;
use claimtop::testing::source::Scanner;
use rustix::fs::{Mode, OFlags};
use rustix::time::{ClockId, clock_gettime};

const PROCESSES: usize = 2_000;
const ROUNDS: u32 = 20;

/// Runs the benchmark.
pub(crate) fn bench(_: Option<&str>) {
    let mut children: Vec<Child> = (0..PROCESSES).map(|_| sleeper()).collect();
    // All of them should be asleep by then; for claimtop they are still young, so that each is read.
    std::thread::sleep(std::time::Duration::from_secs(2));
    let floor = cpu_ms(read_all);
    let mut scanner = Scanner::new(&Signatures::built_in().expect("signatures"));
    let ours = cpu_ms(|| drop(scanner.scan(&BTreeSet::new())));
    // A process that is ten seconds old is settled: from then on only changes are read.
    std::thread::sleep(std::time::Duration::from_secs(11));
    scanner.scan(&BTreeSet::new());
    let again = cpu_ms(|| drop(scanner.rescan(&BTreeSet::new())));
    let mut system = sysinfo::System::new().expect("a process table");
    let theirs = cpu_ms(|| {
        system.refresh_processes(sysinfo::ProcessesToUpdate::All, true);
    });
    let ps = ps_cpu_ms();
    for child in &mut children {
        child.kill().expect("own child");
        child.wait().expect("own child");
    }
    println!("{PROCESSES} sleeping processes, CPU time a look, mean of {ROUNDS}:");
    println!("  bare reading of every stat     {floor:8.2} ms   ratio {:.3} of sysinfo", floor / theirs);
    println!(
        "  claimtop, full scan            {ours:8.2} ms   ratio {:.3} of the bare reading",
        ours / floor
    );
    println!("  claimtop, steady rescan        {again:8.2} ms   ratio {:.3} of sysinfo", again / theirs);
    println!("  sysinfo refresh_processes(All) {theirs:8.2} ms   ratio {:.3}", ours / theirs);
    println!("  ps -eo pid,ppid,lstart,args    {ps:8.2} ms   ratio {:.3}", ours / ps);
}

fn sleeper() -> Child {
    Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().expect("sleep")
}

/// Lists all processes and reads the line `stat` of each, which alone contains the start time: the calls that every
/// scan needs.
fn read_all() {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let proc = rustix::fs::open("/proc", flags, Mode::empty()).expect("/proc");
    let mut buffer = [0; 2048];
    for entry in rustix::fs::Dir::read_from(&proc).expect("/proc") {
        let entry = entry.expect("an entry");
        let Some(pid) = entry.file_name().to_str().ok().filter(|name| name.parse::<u32>().is_ok()) else {
            continue;
        };
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let stat = rustix::fs::openat(&proc, format!("{pid}/stat"), flags, Mode::empty());
        // It may have ended since it was listed.
        let read = stat.and_then(|stat| rustix::io::read(&stat, &mut buffer));
        assert!(read.is_ok_and(|read| read > 0) || read == Err(rustix::io::Errno::NOENT));
    }
}

fn own_cpu_ms() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 * 1e3 + now.tv_nsec as f64 / 1e6
}

fn cpu_ms(mut look: impl FnMut()) -> f64 {
    look();
    let before = own_cpu_ms();
    (0..ROUNDS).for_each(|_| look());
    (own_cpu_ms() - before) / f64::from(ROUNDS)
}

/// The CPU time of finished children: fields 16 and 17 of `/proc/self/stat`, in 10 ms ticks.
fn children_ms() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("stat");
    let rest = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<f64> =
        rest.split_whitespace().skip(1).map(|field| field.parse().unwrap_or(0.0)).collect();
    (fields.get(12).unwrap_or(&0.0) + fields.get(13).unwrap_or(&0.0)) * 10.0
}

fn ps_cpu_ms() -> f64 {
    let before = children_ms();
    for _ in 0..ROUNDS {
        let status = Command::new("ps").args(["-eo", "pid,ppid,lstart,args"]).stdout(Stdio::null()).status();
        assert!(status.expect("ps").success());
    }
    (children_ms() - before) / f64::from(ROUNDS)
}
