//! How often dead holders kept claims, and for how long.

use serde_json::Value;

use crate::ended::ended_process;
use crate::world::World;

#[track_caller]
fn stats(world: &World) -> Value {
    let answer = world.run(&["stats", "--json"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    serde_json::from_str(&answer.out).unwrap()
}

#[test]
fn a_dead_holder_is_counted_once_until_its_claim_is_released() {
    let world = World::new();
    let (pid, _) = ended_process();
    let text = format!(
        r#"{{"session_id": "session_a6b42b36_win39623_4301", "terminal_id": "win-cc-39623-{pid}", "pid": {pid},
            "sd_key": "SD-1", "status": "active", "heartbeat_at": "2026-01-01T00:00:00Z", "hostname": "{}"}}"#,
        rustix::system::uname().nodename().to_str().unwrap()
    );
    let path = world.write("home/.claude-sessions/session_a6b42b36_win39623_4301.json", &text);
    let path = path.to_str().unwrap();
    let empty = world.run(&["stats"]);
    assert!(empty.out.starts_with("No data yet"), "{empty:?}");
    for _ in 0..2 {
        let listed = world.run(&["ls", "claims"]);
        assert!(listed.out.contains("dead"), "{listed:?}");
    }
    let kept = stats(&world);
    let group = &kept["dead_holds"][0];
    assert_eq!(kept["dead_holds"].as_array().unwrap().len(), 1, "{kept:#}");
    assert_eq!(group["terminal"], "win-cc-N-N", "{kept:#}");
    assert_eq!((&group["holders"], &group["still_held"]), (&1.into(), &1.into()), "{kept:#}");
    assert_eq!(kept["by_day"][0]["holders"], 1);

    let released = world.settled(&["release", path, "--yes"]);
    assert_eq!(released.code, 0, "{released:?}");
    world.run(&["ls"]);
    let kept = stats(&world);
    let group = &kept["dead_holds"][0];
    assert_eq!((&group["holders"], &group["still_held"]), (&1.into(), &0.into()), "{kept:#}");
    assert_eq!(kept["actions"]["released"], 1, "{kept:#}");
    let text = world.run(&["stats", "--days", "1"]).out;
    assert!(text.contains("win-cc-N-N") && text.contains("1 released"), "{text}");

    // It holds again once that was undone, which counts as another time.
    assert_eq!(world.run(&["undo", "--yes"]).code, 0);
    world.run(&["ls"]);
    let kept = stats(&world);
    assert_eq!(kept["dead_holds"][0]["holders"], 2, "{kept:#}");
    assert_eq!(kept["actions"]["undone"], 1, "{kept:#}");
}
