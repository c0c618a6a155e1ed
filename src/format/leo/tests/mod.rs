//! LEO's files as they are read, real and broken.

mod identity;
mod sessions;
mod totality;
mod worktrees;

use super::{SPEC, machine};
use crate::core::model::{Format, Record};
use crate::format::testing;
use crate::format::{Base, FileContents, FileKind, read};

const UUID: &str = "0b8f4c1e-2d3a-4f5b-9c6d-7e8f9a0b1c2d";
const SESSIONS: &str = ".claude-sessions";
const IDENTITY: &str = ".claude/session-identity";
const PIDS: &str = ".claude/pids";
const CLAUDE: &str = ".claude";
const WORKTREES: &str = ".worktrees";
const WORKTREE: &str = ".worktrees/*";

/// Returns the kind of a file by its folder and name.
fn recognise(dir: &str, name: &str) -> Option<FileKind> {
    let place = SPEC.places.iter().find(|place| place.dir == dir).unwrap_or_else(|| panic!("no place {dir}"));
    (place.recognise)(name).then_some(FileKind::Known(place))
}

/// Reads a file that was written `age` seconds before the look.
#[track_caller]
fn parse(dir: &str, name: &str, bytes: &[u8], age: i64) -> FileContents {
    let kind = recognise(dir, name).unwrap_or_else(|| panic!("{name} is not LEO's"));
    let mut file = testing::image(name, bytes, age);
    file.path = std::path::Path::new("/repo").join(dir.replace('*', "SD-DEMO-001")).join(name).into();
    testing::read(|reading| read(kind, &file, reading))
}

#[track_caller]
fn record(dir: &str, name: &str, json: &str) -> Record {
    testing::record(parse(dir, name, json.as_bytes(), 120))
}

#[track_caller]
fn check(dir: &str, name: &str, json: &str, expected: &str) {
    assert_eq!(testing::summary(&parse(dir, name, json.as_bytes(), 120)), expected);
}

/// Returns the problems of a record, one a line.
fn problems(record: &Record) -> String {
    let told: Vec<&str> = record.problems.iter().map(|problem| problem.message.as_str()).collect();
    told.join("\n")
}

/// Returns the facts of a record, one a line.
fn facts(record: &Record) -> String {
    let told: Vec<String> = record.facts.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    told.join("\n")
}

#[test]
fn a_machine_id_is_leos_own_hash() {
    assert_eq!(machine::id("vm", "linux", "x64"), "858c8397a35585b3");
    assert_eq!(machine::id("vm", "win32", "x64"), "94b84afdc3f48f8b");
}

#[test]
fn every_place_is_leos_and_below_the_home_or_a_worktree() {
    for place in SPEC.places {
        assert_eq!(place.format, Format::Leo);
        assert!(matches!(place.base, Base::Home | Base::Worktree), "{}", place.dir);
    }
}
