//! 10,000 session files, warm: one whole look (read, parsed, judged) against the bare floor of opening and reading
//! each file safely; and the memory of the result.

use std::path::Path;

use claimtop::core::assess::{Policy, assess};
use claimtop::core::judge::window::agent::Signatures;
use claimtop::source::places::Places;
use claimtop::testing::observe::Collector;
use rustix::fs::{Mode, OFlags};
use rustix::time::{ClockId, clock_gettime};

const FILES: u32 = 10_000;
const ROUNDS: u32 = 10;

/// Runs the benchmark.
pub(crate) fn bench(_: Option<&str>) {
    let world = tempfile::tempdir().expect("a folder");
    let sessions = world.path().join("home/.maia/sessions");
    std::fs::create_dir_all(&sessions).expect("a folder");
    std::fs::create_dir_all(world.path().join("tmp")).expect("a folder");
    (0..FILES).for_each(|n| write(&sessions, n));
    let signatures = Signatures::built_in().expect("signatures");
    let places = Places::new(world.path().join("home"), world.path().join("tmp"), Vec::new());
    let policy = Policy { signatures: signatures.clone() };
    // An empty world is looked at first, so that the code that a look needs is already in memory.
    let empty = Places::new(world.path().join("none"), world.path().join("tmp"), Vec::new());
    drop(assess(&Collector::new(empty, signatures.clone()).look(), &policy));
    let before_kib = resident_kib();
    let mut kept = Collector::new(places.clone(), signatures.clone());
    let report = assess(&kept.look(), &policy);
    assert_eq!(report.records.len(), FILES as usize);
    let held_kib = resident_kib().saturating_sub(before_kib);
    let floor = cpu_ms(|| read_all(&sessions));
    let first = cpu_ms(|| {
        let snapshot = Collector::new(places.clone(), signatures.clone()).look();
        assert_eq!(snapshot.records.len(), FILES as usize);
    });
    let judged = cpu_ms(|| {
        let snapshot = Collector::new(places.clone(), signatures.clone()).look();
        assert_eq!(assess(&snapshot, &policy).records.len(), FILES as usize);
    });
    let looked = cpu_ms(|| drop(kept.look()));
    let again = cpu_ms(|| drop(assess(&kept.look(), &policy)));
    println!("{FILES} session files of about 500 bytes, warm, CPU time, mean of {ROUNDS}:");
    println!("  bare safe read                 {floor:8.1} ms");
    println!("  read and parsed                {first:8.1} ms   ratio {:.2}", first / floor);
    println!("  read, parsed and judged        {judged:8.1} ms   ratio {:.2}", judged / floor);
    println!("  looked at again                {looked:8.1} ms   ratio {:.2}", looked / floor);
    println!("  looked at again and judged     {again:8.1} ms   ratio {:.2}", again / floor);
    println!("  resident above an empty world  {:8.1} MiB", held_kib as f64 / 1024.0);
}

fn write(folder: &Path, n: u32) {
    let text = format!(
        "{{\"current_agent\":\"agent_{n}\",\"session_start\":\"2026-11-20T21:40:34.370794\",\"handoff_chain\":[\"a\",\"agent_{n}\"],\
         \"context\":{{}},\"domain\":\"security\",\"last_classification_confidence\":0.87,\"last_classification_complexity\":4,\
         \"query\":\"Review auth code for security issues\",\"handoff_reason\":null,\"created_by\":\"swarm_auto_loader.py\",\
         \"version\":\"1.5\",\"repository\":{{\"working_directory\":\"/home/dev/r{n}\",\"git_remote_url\":\"\",\"git_branch\":\"main\"}},\
         \"last_heartbeat\":\"2026-11-20T21:40:35.074789Z\",\"heartbeat_interval_seconds\":300}}"
    );
    std::fs::write(folder.join(format!("swarm_session_{}.json", 100_000 + n)), text).expect("a file");
}

/// Reads each file safely and does nothing else: the calls that every safe read needs.
///
/// - One open folder and its listing: each file is then reached by a bare name.
/// - `openat`, which follows no link, never waits for a FIFO and takes no terminal.
/// - `fstat`: only a plain file of bounded size, with one link and of a trusted owner, is read.
/// - One `pread` of the size and one byte more, which shows the end without asking again.
/// - `fstat` again: no process wrote to it meanwhile.
/// - `close`.
fn read_all(folder: &Path) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let dir = rustix::fs::open(folder, flags, Mode::empty()).expect("the folder");
    let mut buffer = vec![0; 4096];
    for entry in rustix::fs::Dir::read_from(&dir).expect("the folder") {
        let entry = entry.expect("an entry");
        if !entry.file_name().to_bytes().ends_with(b".json") {
            continue;
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&dir, entry.file_name(), flags, Mode::empty()).expect("a file");
        let size = rustix::fs::fstat(&file).expect("a file").st_size;
        let room = buffer.get_mut(..usize::try_from(size).expect("a size") + 1).expect("a small file");
        assert_eq!(i64::try_from(rustix::io::pread(&file, room, 0).expect("a file")), Ok(size));
        assert_eq!(rustix::fs::fstat(&file).expect("a file").st_size, size);
    }
}

fn cpu_ms(mut look: impl FnMut()) -> f64 {
    look();
    let now = || {
        let now = clock_gettime(ClockId::ProcessCPUTime);
        now.tv_sec as f64 * 1e3 + now.tv_nsec as f64 / 1e6
    };
    let before = now();
    (0..ROUNDS).for_each(|_| look());
    (now() - before) / f64::from(ROUNDS)
}

/// The resident memory in KiB (second field of `/proc/self/statm`, in pages of 4 KiB).
fn resident_kib() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("statm");
    text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4
}
