use crate::core::model::snapshot::tombstone::MAX_TOMBSTONES;
use crate::core::model::snapshot::tombstone::merged;
use crate::core::model::{ProcessId, Reason, Tombstone};
use jiff::Timestamp;

const BOOT: &str = "0b5fb5f8-f561-4d27-8dcc-a78a6f99e24b";

fn stone(pid: u32, start_ticks: u64, second: i64) -> Tombstone {
    Tombstone {
        id: ProcessId { pid, start_ticks },
        pidfd_inode: None,
        host: "vm".into(),
        boot_id: BOOT.into(),
        pid_namespace: 4_026_531_836,
        time_namespace: 4_026_531_834,
        session_id: None,
        name: None,
        seen_alive_at: None,
        proven_at: Timestamp::from_second(second).unwrap(),
        proven_tick: None,
        reason: Reason::NoProcess,
    }
}

#[test]
fn of_two_about_one_process_the_first_proof_stays_with_the_session_that_it_lacked() {
    let later = Tombstone { session_id: Some("s".into()), reason: Reason::Exited, ..stone(7, 1, 20) };
    let all = merged(vec![stone(7, 1, 10)], &[later, stone(5, 9, 30)]);
    assert_eq!(all, [stone(5, 9, 30), Tombstone { session_id: Some("s".into()), ..stone(7, 1, 10) }]);
}

#[test]
fn the_oldest_are_forgotten_first_and_the_rest_stays_sorted() {
    let many = i64::try_from(MAX_TOMBSTONES).unwrap() + 10;
    let all: Vec<_> = (0..many).map(|at| stone(9_000 - u32::try_from(at).unwrap(), 1, at)).collect();
    let kept = merged(all, &[]);
    assert_eq!(kept.len(), MAX_TOMBSTONES);
    assert!(kept.is_sorted_by_key(|stone| stone.id));
    assert_eq!(kept.iter().map(|stone| stone.proven_at.as_second()).min(), Some(10));
}

#[test]
fn a_tombstone_is_written_and_read_as_one_flat_line() {
    let line = crate::core::model::text::json::to_line(&stone(7, 1, 10)).unwrap();
    assert!(line.starts_with(r#"{"pid":7,"start_ticks":1,"#), "{line}");
    assert_eq!(serde_json::from_str::<Tombstone>(&line).unwrap(), stone(7, 1, 10));
}
