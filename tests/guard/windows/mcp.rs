//! `mcp` below an agent: the server knows its window by the processes above it, and what it holds the guard enforces.

use serde_json::{Value, json};

use super::guard::{Window, two_windows};
use super::lost::{edited, repository, shell};
use crate::world::World;

impl Window {
    /// Lets it start a server and make these calls, and returns each structured answer.
    fn mcp(&mut self, world: &World, calls: &[(&str, Value)]) -> Vec<Value> {
        let client = json!({"name": "test", "version": "1"});
        let greeting = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        let mut lines = vec![
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": greeting}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        ];
        lines.extend(calls.iter().zip(1..).map(|((tool, arguments), id): (_, usize)| {
            let call = json!({"name": tool, "arguments": arguments});
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call})
        }));
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let input = world.write(&format!("hooks/{}.mcp", self.session), &lines);
        let output = world.write(&format!("hooks/{}.answers", self.session), "");
        let (input, output) = (input.display(), output.display());
        // The input ends once all is answered.
        let wait = format!("until [ $(wc -l < {output}) -gt {} ]; do sleep 0.05; done", calls.len());
        let server = env!("CARGO_BIN_EXE_claimtop");
        let line = format!("#run {{ cat {input}; {wait}; }} | {server} mcp > {output}; cat {output}");
        let said = self.ask(world, &line);
        let mut answers: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        answers.sort_by_key(|answer| answer["id"].as_u64());
        answers.drain(1..).map(|answer| answer["result"]["structuredContent"].clone()).collect()
    }
}

#[test]
fn a_window_asks_holds_and_releases_and_the_guard_enforces_it() {
    let (world, repo, mut cart, mut other) = two_windows();
    let (pay, src) = (repo.join("src/pay.rs"), repo.join("src"));
    world.write("home/.config/claimtop/config.toml", "[guard]\nheld = 'deny'\n");
    let answers =
        cart.mcp(&world, &[("who_is_here", json!({"path": repo})), ("hold", json!({"paths": [src]}))]);
    assert_eq!(answers[0]["verdict"], "others", "{answers:?}");
    let windows = answers[0]["items"].as_array().unwrap();
    let own = |pid: u32| windows.iter().find(|one| one["pid"] == pid).map(|one| one["you"] == true);
    assert_eq!((own(cart.child.id()), own(other.child.id())), (Some(true), Some(false)), "{answers:?}");
    assert_eq!((&answers[1]["verdict"], &answers[1]["items"][0]["state"]), (&"held".into(), &"held".into()));
    // Its own hold is not in its own way; another window is refused, by answer and by guard.
    let ask = [("may_i_edit", json!({"paths": [pay]}))];
    assert_ne!(cart.mcp(&world, &ask)[0]["verdict"], "no");
    let answers = other.mcp(
        &world,
        &[ask[0].clone(), ("hold", json!({"paths": [pay]})), ("release_hold", json!({"paths": [src]}))],
    );
    assert_eq!(
        (&answers[0]["verdict"], &answers[0]["reason"]),
        (&"no".into(), &"held".into()),
        "{answers:?}"
    );
    assert_eq!(answers[0]["items"][0]["pid"], cart.child.id(), "{answers:?}");
    assert_eq!((&answers[1]["verdict"], &answers[2]["verdict"]), (&"refused".into(), &"refused".into()));
    let refused = other.refused(&world, &pay).expect("the guard refuses it");
    assert!(refused.contains(&format!("PID {}", cart.child.id())), "{refused}");
    let answers = cart.mcp(&world, &[("release_hold", json!({"paths": [src]}))]);
    assert_eq!(
        (&answers[0]["verdict"], &answers[0]["items"][0]["state"]),
        (&"released".into(), &"released".into())
    );
    assert_eq!(other.refused(&world, &pay), None);
}

#[test]
fn uncommitted_edits_are_in_the_way_of_others_until_they_are_committed() {
    let (world, repo, mut cart, mut other) = two_windows();
    let (pay, readme) = (repo.join("src/pay.rs"), repo.join("src/cart.rs"));
    cart.write(&world, &pay, "two\n");
    let ask = |path| [("may_i_edit", json!({"paths": [path]}))];
    let answer = other.mcp(&world, &ask(&pay)).remove(0);
    assert_eq!((&answer["verdict"], &answer["reason"]), (&"no".into(), &"edited".into()), "{answer}");
    assert!(
        answer["evidence"][0].as_str().unwrap().contains("has uncommitted edits in `src/pay.rs`"),
        "{answer}"
    );
    assert_ne!(cart.mcp(&world, &ask(&pay))[0]["verdict"], "no", "its own are not in its way");
    assert_ne!(other.mcp(&world, &ask(&readme))[0]["verdict"], "no", "another file");
    cart.die();
    let answer = other.mcp(&world, &ask(&pay)).remove(0);
    assert_eq!((&answer["verdict"], &answer["reason"]), (&"yes".into(), &"left-edits".into()), "{answer}");
}

#[test]
fn a_half_written_line_may_be_an_edit() {
    let (world, repo, cart, mut other) = two_windows();
    let ask = [("may_i_edit", json!({"paths": [repo.join("src/pay.rs")]}))];
    cart.registers(&world, "pay");
    other.registers(&world, "other");
    let file = format!("home/.claude/projects/shop/{}.jsonl", cart.session);
    let before = std::fs::read_to_string(world.path(&file)).unwrap();
    let line = json!({"type": "user", "message": {"role": "user", "content": "Go on"}}).to_string();
    let (half, rest) = line.split_at(30);
    let mut reason = |text: &str| {
        world.write(&file, text);
        let answer = other.mcp(&world, &ask).remove(0);
        let is_said = answer["evidence"].to_string().contains("is only half written and may be an edit");
        assert_eq!(answer["reason"] == "edits-not-read", is_said, "{answer}");
        (answer["verdict"] == "unknown" && is_said, answer)
    };
    let (is_unknown, answer) = reason(&before);
    assert!(!is_unknown, "{answer}");
    let (is_unknown, answer) = reason(&format!("{before}{half}"));
    assert!(is_unknown, "{answer}");
    let (is_unknown, answer) = reason(&format!("{before}{half}{rest}\n"));
    assert!(!is_unknown, "{answer}");
}

#[test]
fn what_is_gone_is_listed_as_rescue_lists_it() {
    let world = World::new();
    let repo = repository(&world);
    let [_pay, mut cart] = edited(&world, &repo);
    let (pay, folder) = (repo.join("src/pay.rs"), repo.join("src"));
    let calls = [&pay, &folder].map(|path| ("rescue_list", json!({"path": path})));
    for answer in cart.mcp(&world, &calls) {
        assert_eq!(answer["verdict"], "nothing", "{answer}");
    }
    shell(&world, &mut cart, &repo, ("cart", "git checkout -q -- src/pay.rs"));
    let listed: Value = serde_json::from_str(&world.run(&["rescue", "--json"]).out).unwrap();
    let listed: Vec<&Value> = listed["versions"].as_array().unwrap().iter().map(|one| &one["path"]).collect();
    for answer in cart.mcp(&world, &calls) {
        assert_eq!(answer["verdict"], "gone", "{answer}");
        let items = answer["items"].as_array().unwrap();
        assert_eq!(items.iter().map(|item| &item["path"]).collect::<Vec<_>>(), listed, "{answer}");
    }
}
