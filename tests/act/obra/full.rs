//! A disk that is really full: a small one of the test's own, in namespaces that a user may make. If the system
//! permits none, the test reports that it is skipped.

use std::fs::{read_dir, remove_file};
use std::io::Write;
use std::path::Path;
use std::process::Command;

use claimtop::testing::act::System;
use claimtop::testing::core::EndResult;

use crate::apart::is_apart;
use crate::obra::stage::Stage;

/// Arguments for mounts and processes that no other program sees or disturbs.
const NAMESPACES: [&str; 5] = ["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"];

#[test]
fn a_full_disk_leaves_all_rows_or_none() {
    if !is_apart("obra::full::a_full_disk_leaves_all_rows_or_none", &NAMESPACES) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path();
    let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=2m", "tmpfs"]).arg(disk).status();
    assert!(mount.unwrap().success(), "the small disk is not there");
    let (mut done, mut not_done) = (0, 0);
    // Room for nothing, for some of it, for all of it.
    for free in (0..=60).map(|step| step * 4_096) {
        match round(disk, free) {
            true => done += 1,
            false => not_done += 1,
        }
    }
    println!("{done} released, {not_done} not for want of room");
    assert!(done > 0 && not_done > 1, "{done} released, {not_done} not");
}

/// Releases with this many bytes left; returns whether it was done.
fn round(disk: &Path, free: usize) -> bool {
    let root = disk.join("world");
    let stage = Stage::made_at(&root);
    stage.connect().execute("INSERT INTO ballast VALUES (zeroblob(60000))", []).unwrap();
    let before = stage.rows();
    drop(stage.state(System));
    fill(disk, free);
    let state = stage.state(System);
    let told = stage.release(&state).map(|receipt| receipt.outcome.ended);
    remove_file(disk.join("filler")).unwrap();

    let history = stage.recovered();
    let ended = history.entries.last().map(|entry| entry.outcome.as_ref().unwrap().ended);
    let changed = stage.rows().iter().zip(&before).filter(|(now, before)| now != before).count();
    let is_done = ended == Some(EndResult::Done);
    let expected = if is_done { (3, 1) } else { (0, 0) };
    assert_eq!((changed, stage.parked().len()), expected, "{free} bytes free: {told:?}, {ended:?}");
    assert_eq!(told.is_ok_and(|told| told == EndResult::Done), is_done, "{free} bytes free: {ended:?}");
    let check: String = stage.connect().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok", "{free} bytes free");
    if !is_done {
        // With room again it is done, whatever was interrupted before.
        let receipt = stage.release(&stage.state(System)).unwrap();
        assert_eq!(receipt.outcome.ended, EndResult::Done, "{free} bytes free before: {receipt:?}");
    }
    for entry in read_dir(disk).unwrap() {
        std::fs::remove_dir_all(entry.unwrap().path()).unwrap();
    }
    is_done
}

/// Fills a disk until only this much is left.
fn fill(disk: &Path, free: usize) {
    let room = rustix::fs::statvfs(disk).unwrap();
    let room = usize::try_from(room.f_bavail * room.f_bsize).unwrap();
    let mut filler = std::fs::File::create(disk.join("filler")).unwrap();
    filler.write_all(&vec![0; room.saturating_sub(free)]).unwrap();
}
