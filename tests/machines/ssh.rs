//! The messages and exits of a real OpenSSH server on loopback, and how each is reported.

use serde_json::Value;

use super::far::json;
use super::server::{Server, Window};
use super::world::Answer;

#[test]
fn a_machine_is_reached_by_the_users_own_ssh_and_each_trouble_says_what_to_do() {
    let Some(mut server) = Server::new() else { return };
    server.check("unreached", "Connection refused");
    server.start();
    server.check("live", "");
    // Least rights: whatever command is requested, this one is run.
    let me = std::fs::read_to_string(server.world.path("ssh/me.pub")).unwrap();
    let there = server.world.path("it's there/claimtop");
    server.program("only", &format!("#!/bin/sh\nexec \"{}\" stream --observe\n", there.display()));
    let only = server.world.path("only");
    server.world.write("ssh/authorized", &format!("command={:?},restrict {me}", only.to_str().unwrap()));
    server.configure("nowhere/claimtop");
    server.check("live", "");
    server.world.write("ssh/authorized", &me);
    server.check("unreached", "no claimtop is found there");
    server.world.write("ssh/authorized", "");
    server.check("unreached", "make `ssh devbox` work without a prompt");
    server.world.write("ssh/known", "");
    server.check("unreached", "run `ssh devbox` once yourself");
}

#[test]
fn a_machine_whose_server_ends_is_silent_until_it_is_back() {
    let Some(mut server) = Server::new() else { return };
    server.start();
    let mut screen = server.screen();
    screen.press("8");
    screen.wait_for("● live");
    server.stop();
    screen.wait_for("? silent");
    server.start();
    screen.wait_for("● live");
    screen.end();
}

/// Restricts the server to this command, whatever is requested.
fn force(server: &Server, flag: &str) {
    let me = std::fs::read_to_string(server.world.path("ssh/me.pub")).unwrap();
    let there = server.world.path("it's there/claimtop");
    server.program("only", &format!("#!/bin/sh\nexec \"{}\" stream {flag}\n", there.display()));
    let only = server.world.path("only");
    server.world.write("ssh/authorized", &format!("command={:?},restrict {me}", only.to_str().unwrap()));
}

/// Repeats a command while a file over there is too young to be touched.
fn settled(server: &Server, arguments: &[&str]) -> Answer {
    loop {
        let answer = server.run(arguments);
        if answer.code == 0 || !answer.out.contains("s ago: wait") {
            return answer;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// Returns the key of the record in this file over there.
fn key(server: &Server, window: &Window) -> String {
    let report = json(&server.run(&["ls", "--json", "--on", "devbox"]));
    let records = report["records"].as_array().unwrap().iter();
    let is_its = |path: &Value| path.as_str().is_some_and(|path| path.ends_with(&window.file));
    let mut keys = records.filter(|record| is_its(&record["location"]["path"])).map(|record| &record["key"]);
    keys.next().unwrap_or_else(|| panic!("{report}")).as_str().unwrap().to_owned()
}

#[test]
fn a_forced_command_decides_what_may_be_ordered() {
    let Some(mut server) = Server::new() else { return };
    server.start();
    let mut window = server.window("shop-pay");
    force(&server, "--observe");
    server.allow("whatever/is asked for", "operate");
    let key = key(&server, &window);
    let file = server.world.path(&window.file);
    window.end();
    let refused = server.run(&["release", &key, "--yes"]);
    assert!(refused.code == 3 && refused.err.contains("it is only observed"), "{refused:?}");
    force(&server, "--operate");
    let done = settled(&server, &["release", &key, "--yes"]);
    assert!(done.code == 0 && done.out.contains("done on devbox"), "{done:?}");
    assert!(!file.exists());
    let undone = server.run(&["undo", "--yes"]);
    assert!(undone.code == 0 && file.exists(), "{undone:?}");
    let journal = json(&server.run(&["journal", "--json"]));
    assert_eq!(journal["entries"][0]["outcome"]["ended"], "done", "{journal}");
    assert_eq!(journal["entries"][0]["order"]["machine"], "devbox");
}
