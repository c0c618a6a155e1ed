//! Undo after execute restores bytes, mode and time, whatever they were.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::{Duration, SystemTime};

use claimtop::act::lock::StateFolder;
use claimtop::act::road::{Answer, Request};
use claimtop::act::system::System;
use claimtop::act::undo::Place;
use claimtop::core::journal::Ended;
use proptest::prelude::*;

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
        let mut eyes = stage.eyes();
        let state = StateFolder::open(System, &stage.state_path()).unwrap();
        let key = record(&report(&mut eyes), &format!("{pid}.json")).key.clone();
        let done = act(&state, &mut eyes, &stage.rules(), release(&key), &Answer::Yes).unwrap();
        prop_assert_eq!(done.outcome.ended, Ended::Done, "{}", done.outcome.detail);
        prop_assert!(!path.exists());
        let undo = Request::Undo { entry: done.entry, place: Place::Own };
        let undone = act(&state, &mut eyes, &stage.rules(), undo, &Answer::Yes).unwrap();
        prop_assert_eq!(undone.outcome.ended, Ended::Done, "{}", undone.outcome.detail);
        prop_assert_eq!(facts(), before);
    }
}
