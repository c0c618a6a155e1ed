//! A machine's report is shown as it is there, and under its name.

use serde_json::Value;

use super::far::{are_possible, configure, json, over_all};
use super::world::World;

/// Returns the texts of a field, sorted.
fn texts(values: &Value, field: &str) -> Vec<String> {
    let values = values.as_array().unwrap().iter();
    let mut texts: Vec<String> = values.map(|value| value[field].as_str().unwrap().to_owned()).collect();
    texts.sort();
    texts
}

#[test]
fn the_windows_of_two_machines_are_shown_as_theirs_and_nothing_of_one_is_the_others() {
    if !are_possible() {
        return;
    }
    let world = World::new();
    configure(&world, &["devbox", "gpu"], &[]);
    let base = world.path("").to_str().unwrap().to_owned();
    let base = base.as_str();
    let answer = over_all(&world, &["ls", "--json"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    let report = json(&answer);
    assert_eq!(texts(&report["machines"], "state"), ["live", "live"]);
    let windows = report["windows"].as_array().unwrap();
    // This machine also sees the processes of both, which do not count as windows of its own.
    let is_seen_here = |window: &Value| {
        !window["key"].as_str().unwrap().contains('@') && window["cwd"].as_str().unwrap().starts_with(base)
    };
    assert!(!windows.iter().any(is_seen_here), "{}", report["windows"]);
    for machine in ["devbox", "gpu"] {
        let is_its = |window: &&Value| window["key"].as_str().unwrap().ends_with(&format!("@{machine}"));
        let of_machine: Vec<Value> = windows.iter().filter(is_its).cloned().collect();
        assert_eq!(
            texts(&Value::from(of_machine.clone()), "name"),
            [format!("{machine}-notes"), format!("{machine}-pay")]
        );
        for window in of_machine {
            let record = window["records"][0].as_str().unwrap();
            let records = report["records"].as_array().unwrap();
            let record = records.iter().find(|one| one["key"] == record).unwrap();
            assert_eq!(record["verdict"]["state"], "alive");
            assert_eq!(record["window"], window["key"]);
        }
    }
    let now = over_all(&world, &["now"]);
    assert!(now.out.contains("devbox-pay") && now.out.contains("gpu-notes"), "{now:?}");
    let explained = over_all(&world, &["explain", "gpu-pay"]);
    assert!(explained.code == 0 && explained.out.contains("@gpu"), "{explained:?}");
}

#[test]
fn a_machine_that_cannot_be_reached_is_named_and_the_others_are_shown() {
    if !are_possible() {
        return;
    }
    let world = World::new();
    configure(&world, &["devbox"], &[("nobody", &["false"]), ("nothing", &["/nonexistent/program"])]);
    let answer = over_all(&world, &["ls", "windows"]);
    assert_eq!(answer.code, 4, "{answer:?}");
    for told in ["@devbox", "machine:nobody: its program has ended with code 1", "machine:nothing: "] {
        assert!(answer.out.contains(told), "{told}: {answer:?}");
    }
    let machines = json(&world.run_with(&["machines", "--json"], &[("PATH", "/usr/bin:/bin")]));
    assert_eq!(texts(&machines["machines"], "state"), ["live", "unreached", "unreached"]);
}

#[test]
fn another_machine_behind_a_name_is_not_believed_until_it_is_accepted() {
    if !are_possible() {
        return;
    }
    let world = World::new();
    configure(&world, &["devbox"], &[]);
    assert_eq!(over_all(&world, &["ls"]).code, 0);
    // Its state folder is another one, like that of a machine which was set up anew.
    std::fs::remove_dir_all(world.path("devbox/.local")).unwrap();
    let refused = over_all(&world, &["ls", "windows"]);
    assert_eq!(refused.code, 4);
    assert!(refused.out.contains("claimtop machines --accept devbox"), "{refused:?}");
    assert!(!refused.out.contains("@devbox"), "{refused:?}");
    assert_eq!(world.run(&["machines", "--accept", "devbox"]).code, 0);
    assert_eq!(over_all(&world, &["ls"]).code, 0);
    assert_eq!(world.run(&["machines", "--accept", "never-seen"]).code, 2);
}

#[test]
fn one_machine_by_two_names_a_clone_and_another_clock_are_told() {
    let world = World::new();
    let plays = |boot: &str, store: &str, now: &str| {
        format!(
            r#"echo '{{"hello":{{"schema":"claimtop.stream.v1","version":"0.1.0","machine":"m","store":"{store}","host":"h","boot":"{boot}","pid_namespace":7,"now":"{now}"}}}}'; echo '{{"look":{{"at":"{now}"}}}}'; sleep 60"#
        )
    };
    let now = jiff::Timestamp::now();
    let (now, ahead) = (now.to_string(), (now + jiff::SignedDuration::from_hours(1)).to_string());
    let scripts = [
        plays("b1", "s1", &now),
        format!("sleep 1; {}", plays("b1", "s1", &now)),
        format!("sleep 1; {}", plays("b2", "s2", &ahead)),
    ];
    let words: Vec<[&str; 3]> = scripts.iter().map(|script| ["sh", "-c", script.as_str()]).collect();
    configure(&world, &[], &[("one", &words[0]), ("same", &words[1]), ("clone", &words[2])]);
    let answer = world.run_with(&["machines", "--json"], &[("PATH", "/usr/bin:/bin")]);
    let machines = json(&answer);
    let told = |at: usize| {
        let machine = &machines["machines"][at];
        (machine["state"].as_str().unwrap(), machine["detail"].as_str().unwrap())
    };
    assert_eq!(told(0), ("live", ""));
    assert_eq!(told(1), ("unreached", "it is already shown as one"));
    let (state, why) = told(2);
    assert_eq!(state, "live");
    assert!(
        why.contains("it has the ID of one: one is a clone") && why.contains("ahead of this one"),
        "{why}"
    );
}

#[test]
fn what_is_no_machine_is_a_usage_error() {
    let world = World::new();
    for on in ["-oProxyCommand=touch x", "ftp:box", "docker:--privileged", "a b", ""] {
        let answer = world.run(&["ls", &format!("--on={on}")]);
        assert_eq!(answer.code, 2, "{on}: {answer:?}");
    }
    world.write("home/.config/claimtop/config.toml", "[[machine]]\nname = 'a'\nssh = 'a'\ndocker = 'a'\n");
    let answer = world.run(&["ls"]);
    assert!(answer.code == 2 && answer.err.contains("more than one transport"), "{answer:?}");
}
