//! What windows wrote and is gone is shown, written out, and brought back by a plan that can be undone.

use std::path::Path;

use serde_json::Value;

use crate::windows::lost::{edited, repository, shell};
use crate::world::{Answer, World};

/// Runs `rescue` until no file was written too short a time ago.
fn settled(world: &World, arguments: &[&str]) -> Answer {
    loop {
        let dry = [&["rescue", "--dry-run"][..], arguments].concat();
        if !world.run(&dry).out.contains(" s ago: wait") {
            return world.run(&[&["rescue", "--yes"][..], arguments].concat());
        }
    }
}

fn listed(world: &World, subjects: &[&str]) -> Vec<Value> {
    let answer = world.run(&[&["rescue", "--json"][..], subjects].concat());
    assert_eq!(answer.code, 0, "{}", answer.err);
    let told: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(told["schema"], "claimtop.rescue.v1");
    told["versions"].as_array().unwrap().clone()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn what_is_gone_is_brought_back_and_undone() {
    let world = World::new();
    let repo = repository(&world);
    let [_pay, mut cart] = edited(&world, &repo);
    let [pay, new] = ["src/pay.rs", "src/new.rs"].map(|name| repo.join(name));
    let (before, created) = (read(&pay), read(&new));
    assert!(listed(&world, &[]).is_empty(), "nothing is gone");
    shell(&world, &mut cart, &repo, ("cart", "git checkout -q -- src/pay.rs; rm -r src/new.rs"));
    let gone = listed(&world, &[]);
    let of = |path: &Path| gone.iter().find(|one| one["path"] == path.to_str().unwrap()).unwrap();
    for path in [&pay, &new] {
        let version = of(path);
        assert_eq!(version["state"], "gone");
        assert_eq!((&version["session"], &version["from"]), (&"pay".into(), &"kept".into()));
    }
    assert_eq!(gone.len(), 2);
    let printed = world.run(&["rescue", "--print", pay.to_str().unwrap()]);
    assert_eq!((printed.code, printed.out.as_str()), (0, before.as_str()));
    let (reset, diff) = (read(&pay), world.run(&["rescue", "--diff", pay.to_str().unwrap()]).out);
    assert!(diff.contains("+alpha invoices bravo charlie"), "{diff}");
    let answer = settled(&world, &[]);
    assert_eq!(answer.code, 0, "{}{}", answer.out, answer.err);
    assert_eq!((read(&pay), read(&new)), (before.clone(), created.clone()));
    assert!(listed(&world, &[]).is_empty(), "all is back");
    // Each by itself, the last one first.
    for _ in 0..2 {
        loop {
            let undone = world.run(&["undo", "--yes"]);
            if undone.code == 0 {
                break;
            }
            assert!(undone.out.contains("wait") || undone.err.contains("wait"), "{}", undone.out);
        }
    }
    assert_eq!((read(&pay), new.exists()), (reset, false));
    let answer = settled(&world, &["pay"]);
    assert_eq!(answer.code, 0, "{}{}", answer.out, answer.err);
    assert_eq!((read(&pay), read(&new)), (before, created));
}

#[test]
fn nothing_else_is_written_over() {
    let world = World::new();
    let repo = repository(&world);
    let [_pay, mut cart] = edited(&world, &repo);
    let (pay, out) = (repo.join("src/pay.rs"), world.path("rescued"));
    let before = read(&pay);
    shell(&world, &mut cart, &repo, ("cart", "echo entirely different words > src/pay.rs"));
    let subject = pay.to_str().unwrap();
    let answer = settled(&world, &[subject]);
    assert_eq!(answer.code, 3);
    assert!(answer.out.contains("it has other uncommitted work"), "{}{}", answer.out, answer.err);
    assert_eq!(read(&pay), "entirely different words\n");
    let to = ["rescue", subject, "--to", out.to_str().unwrap()];
    let answer = world.run(&to);
    assert_eq!(answer.code, 0, "{}", answer.err);
    assert_eq!(read(Path::new(answer.out.trim_end())), before);
    let again = world.run(&to);
    assert_eq!(again.code, 3);
    assert!(again.err.contains("exists already"), "{}", again.err);
    // A link in the way of what is written, and one in place of the file.
    std::fs::remove_dir_all(&out).unwrap();
    std::fs::create_dir(&out).unwrap();
    let first = pay.iter().nth(1).unwrap();
    std::os::unix::fs::symlink(world.path("home"), out.join(first)).unwrap();
    assert_eq!(world.run(&to).code, 4);
    std::fs::remove_file(&pay).unwrap();
    std::os::unix::fs::symlink(world.path("home/.gitconfig"), &pay).unwrap();
    let config = read(&world.path("home/.gitconfig"));
    assert_ne!(settled(&world, &[subject]).code, 0);
    assert_eq!(read(&world.path("home/.gitconfig")), config);
    let unknown = world.run(&["rescue", "no-such-thing"]);
    assert_eq!(unknown.code, 3);
    assert!(unknown.err.contains("no-such-thing: no version of such a file is known"), "{}", unknown.err);
}
