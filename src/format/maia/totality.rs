//! Real files, every truncation of one, and arbitrary bytes under every name.

use super::read;
use super::tests::{G5, parse, recognise};
use crate::core::model::Code;
use crate::format::testing;

#[test]
fn the_real_files_are_read() {
    for (path, expected) in [
        (
            "gen1_134_global/maia_active_swarm_session.json",
            "Session Legacy 'G1 global' context - session - holder - [legacy-record]",
        ),
        (
            "gen2_134_3_context_ppid/maia_active_swarm_session_context_15504.json",
            "Session Legacy 'G2 context_{PPID}' context 15504 session - holder 15504/Shell [legacy-record]",
        ),
        (
            "gen3_134_4_ctx/maia_active_swarm_session_15504.json",
            "Session Legacy 'G3 {CTX} in tmp' context 15504 session - holder 15504/Unknown [legacy-record]",
        ),
        (
            "gen4_230_home/swarm_session_19412.json",
            "Session Current 'G4 {CTX}' context 19412 session - holder 19412/Unknown []",
        ),
        (
            "gen5_main_home/swarm_session_15504.json",
            "Session Current 'G5 {CTX} with heartbeat' context 15504 session - holder 15504/Unknown []",
        ),
        (
            "gen5_main_home/swarm_session_7b2d4f0e-2f5e-4d0c-9a51-3f4a0c8e6b11.json",
            "Session Current 'G5 {CTX} with heartbeat' context 7b2d4f0e-2f5e-4d0c-9a51-3f4a0c8e6b11 \
             session 7b2d4f0e-2f5e-4d0c-9a51-3f4a0c8e6b11 holder - []",
        ),
        (
            "variants/swarm_session_3999991.json",
            "Session Current 'G5 {CTX} with heartbeat' context 3999991 session - holder 3999991/Unknown []",
        ),
        (
            "variants/swarm_session_3999992.json",
            "Session Current 'G5 {CTX} with heartbeat' context 3999992 session - holder 3999992/Unknown []",
        ),
        (
            "variants/swarm_session_3999993.json",
            "Session Current 'G4 {CTX}' context 3999993 session - holder 3999993/Unknown []",
        ),
        ("variants/swarm_session_3999995.json", "broken: the JSON breaks off at line 1 column 20"),
        (
            "variants/swarm_session_3999996.tmp",
            "Temporary Current 'session being written' context 3999996 session - holder - [leftover-temp]",
        ),
        (
            "variants/swarm_session_handwritten_init.json",
            "Session Current 'written by /init' context handwritten_init session - holder - [weak-terminal-id]",
        ),
        (
            "variants/learning_session_15504.json",
            "Companion Current 'learning session' context 15504 session s_20260116_092708_a1b2c3 holder - []",
        ),
        (
            "variants/maia_active_swarm_session_sre_001.json",
            "Session Legacy 'G3 {CTX} in tmp' context sre_001 session - holder - [legacy-record weak-terminal-id]",
        ),
    ] {
        let Some(bytes) = testing::fixture(&format!("maia/{path}")) else { return };
        let name = path.rsplit('/').next().unwrap_or_default();
        assert_eq!(testing::summary(&parse(name, &bytes, 60)), expected, "{path}");
    }
}

const NAMES: [&str; 7] = [
    "swarm_session_15504.json",
    "swarm_session_15504.tmp",
    "learning_session_15504.json",
    "checkpoint_20261120_214000.json",
    "maia_active_swarm_session.json",
    "maia_active_swarm_session_context_15504.json",
    "maia_active_swarm_session_15504.json",
];

#[test]
fn every_truncation_of_a_file_is_told_as_broken() {
    for end in 0..G5.len() {
        let cut = &G5.as_bytes()[..end];
        assert_eq!(testing::broken(parse(NAMES[0], cut, 60)).problem.code, Code::CorruptRecord, "{end}");
    }
}

proptest::proptest! {
    #[test]
    fn reading_is_total(bytes: Vec<u8>, context in ".*", age in -9_000_000_i64..9_000_000) {
        for name in NAMES {
            let name = name.replace("15504", &context);
            if let Some(kind) = recognise(&name) {
                testing::read(|reading| read(kind, &testing::image(&name, &bytes, age), reading));
            }
        }
    }

    #[test]
    fn any_value_in_any_field_is_read(
        field in proptest::sample::select(G5.split('"').skip(1).step_by(2).collect::<Vec<_>>()),
        text in ".*",
        number: i64,
    ) {
        for value in [serde_json::json!(text), serde_json::json!(number), serde_json::json!([text, {"a": null}])] {
            let json = serde_json::json!({ field: value }).to_string();
            for name in NAMES {
                testing::record(parse(name, json.as_bytes(), 60));
            }
        }
    }
}
