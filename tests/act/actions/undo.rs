//! Undo after execute restores any bytes, mode and time.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use claimtop::testing::act::{Answer, Disk, StateFolder, System};
use claimtop::testing::core::{EndResult, History, Request, RestoreTo};
use proptest::prelude::*;
use rustix::buffer::spare_capacity;
use rustix::fs::{XattrFlags, getxattr, setxattr};

use crate::faulty::{Fault, FaultyDisk};
use crate::stage::{Stage, act, end, record, release, report, start_ticks};

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn undo_restores_bytes_mode_and_time(
        extra in "[ -~]{0,40}",
        mode in 0o600_u32..0o1000,
        seconds in 0_u64..1_900_000_000,
        nanos in 0_u32..1_000_000_000,
    ) {
        let stage = Stage::new();
        let agent = stage.agent();
        let (pid, ticks) = (agent.id(), start_ticks(agent.id()));
        end(agent);
        let extra = serde_json::to_string(&extra).unwrap();
        let text = format!(
            r#"{{"pid":{pid},  "sessionId":"95fe798d-3725-4649-974a-0dec79220193","procStart":"{ticks}","extra":{extra}}}"#
        );
        let path = stage.write(&format!("home/.claude/sessions/{pid}.json"), &text);
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_permissions(std::fs::Permissions::from_mode(mode)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos)).unwrap();
        drop(file);
        let facts = || {
            let meta = std::fs::metadata(&path).unwrap();
            (std::fs::read(&path).unwrap(), meta.mode(), meta.mtime(), meta.mtime_nsec())
        };
        let before = facts();
        let mut observer = stage.observer();
        let state = StateFolder::open(System, &stage.state_path()).unwrap();
        let key = record(&report(&mut observer), &format!("{pid}.json")).key.clone();
        let done = act(&state, &mut observer, &stage.rules(), release(&key), &Answer::Yes).unwrap();
        prop_assert_eq!(done.outcome.ended, EndResult::Done, "{}", done.outcome.detail);
        prop_assert!(!path.exists());
        let undo = Request::Undo { entry: done.entry, to: RestoreTo::Origin };
        let undone = act(&state, &mut observer, &stage.rules(), undo, &Answer::Yes).unwrap();
        prop_assert_eq!(undone.outcome.ended, EndResult::Done, "{}", undone.outcome.detail);
        prop_assert_eq!(facts(), before);
    }
}

pub(crate) const NOTE: &str = "user.note";
pub(crate) const ACL: &str = "system.posix_acl_access";

/// An access list (acl(5)) in the kernel's form: the owner and user 1234 may read and write; all others have no
/// access.
pub(crate) fn access_list() -> Vec<u8> {
    let nobody = u32::MAX;
    let entries = [(1_u16, 6_u16, nobody), (2, 6, 1234), (4, 0, nobody), (16, 6, nobody), (32, 0, nobody)];
    let entry = |(tag, permissions, id): (u16, u16, u32)| {
        [&tag.to_le_bytes()[..], &permissions.to_le_bytes(), &id.to_le_bytes()].concat()
    };
    2_u32.to_le_bytes().into_iter().chain(entries.into_iter().flat_map(entry)).collect()
}

/// Gives a file or folder an attribute.
pub(crate) fn give(path: &Path, name: &str, value: &[u8]) -> rustix::io::Result<()> {
    setxattr(path, name, value, XattrFlags::empty())
}

/// Returns the group of a file and its attributes given by people.
pub(crate) fn given(path: &Path) -> (u32, Vec<Vec<u8>>) {
    let value = |name| {
        let mut value = Vec::with_capacity(1 << 10);
        let _ = getxattr(path, name, spare_capacity(&mut value));
        value
    };
    (std::fs::metadata(path).unwrap().gid(), [NOTE, ACL].map(value).to_vec())
}

/// Returns where the newest entry has parked its file.
pub(crate) fn parked(state_path: &Path) -> PathBuf {
    let journal = std::fs::read(state_path.join("journal.jsonl")).unwrap();
    let history = History::read(&journal);
    let movement = history.entries.last().unwrap().intent.movements.last().unwrap();
    let parked = movement.parked().unwrap();
    parked.folder.clone().unwrap_or_else(|| state_path.join("parked")).join(&parked.name)
}

/// Releases a record that has more than bytes, mode and time, and undoes it.
fn release_and_undo<D: Disk>(stage: &Stage, disk: D, state_path: &Path) {
    let agent = stage.agent();
    let path = stage.register(agent.id(), start_ticks(agent.id()));
    let name = format!("{}.json", agent.id());
    end(agent);
    for (name, value) in [(NOTE, b"of mine".to_vec()), (ACL, access_list())] {
        if let Err(errno) = give(&path, name, &value) {
            eprintln!("without {name}: {errno}");
        }
    }
    if rustix::process::geteuid().is_root() {
        chown(&path, None, Some(1234)).unwrap();
    }
    let before = given(&path);
    let mut observer = stage.observer();
    let state = StateFolder::open(disk, state_path).unwrap();
    let key = record(&report(&mut observer), &name).key.clone();
    let done = act(&state, &mut observer, &stage.rules(), release(&key), &Answer::Yes).unwrap();
    assert_eq!(done.outcome.ended, EndResult::Done, "{}", done.outcome.detail);
    assert!(!path.exists());
    assert_eq!(given(&parked(state_path)), before);
    let undo = Request::Undo { entry: done.entry, to: RestoreTo::Origin };
    let undone = act(&state, &mut observer, &stage.rules(), undo, &Answer::Yes).unwrap();
    assert_eq!(undone.outcome.ended, EndResult::Done, "{}", undone.outcome.detail);
    assert_eq!(given(&path), before);
}

#[test]
fn what_is_parked_keeps_group_access_list_and_attributes_and_so_does_its_undo() {
    let stage = Stage::new();
    let state = stage.state_path();
    release_and_undo(&stage, System, &state);
    let far = FaultyDisk::new(usize::MAX, Fault::Kill, Some(state.join("parked")));
    release_and_undo(&stage, far, &state);
}
