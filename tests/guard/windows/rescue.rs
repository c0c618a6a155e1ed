//! What windows wrote and is gone is shown, written out, and brought back by a plan that can be undone.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::windows::guard::git;
use crate::windows::guard::{Window, repository_at};
use crate::windows::guard_seen::tell_of_new;
use crate::windows::lost::{edited, repository, shell};
use crate::world::{Answer, World};

/// Runs `rescue` until no file was written too short a time ago.
fn settled(world: &World, arguments: &[&str]) -> Answer {
    loop {
        let dry = [&["rescue", "--dry-run"][..], arguments].concat();
        if !with_git(world, &dry).out.contains(" s ago: wait") {
            return with_git(world, &[&["rescue", "--yes"][..], arguments].concat());
        }
    }
}

/// Runs the program where it finds git.
fn with_git(world: &World, arguments: &[&str]) -> Answer {
    world.run_with(arguments, &[("PATH", &std::env::var("PATH").unwrap())])
}

fn listed(world: &World, subjects: &[&str]) -> Vec<Value> {
    let answer = world.run(&[&["rescue", "--json"][..], subjects].concat());
    assert_eq!(answer.code, 0, "{}", answer.err);
    let told: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(told["schema"], "claimtop.rescue.v1");
    told["versions"].as_array().unwrap().clone()
}

/// Undoes the newest entry, once no file was written too short a time ago.
fn undone(world: &World) {
    loop {
        let undone = world.run(&["undo", "--yes"]);
        if undone.code == 0 {
            return;
        }
        assert!(undone.out.contains("wait") || undone.err.contains("wait"), "{}{}", undone.out, undone.err);
    }
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
    // One that cannot be written holds up no other.
    let out = world.path("rescued");
    let [first, second] = [&pay, &new].map(|path| out.join(path.strip_prefix("/").unwrap()));
    std::fs::create_dir_all(first.parent().unwrap()).unwrap();
    std::fs::write(&first, "mine\n").unwrap();
    let answer = world.run(&["rescue", "pay", "--to", out.to_str().unwrap()]);
    assert_eq!((answer.code, read(&first), read(&second)), (3, "mine\n".to_owned(), created.clone()));
    let (reset, diff) = (read(&pay), world.run(&["rescue", "--diff", pay.to_str().unwrap()]).out);
    assert!(diff.contains("+alpha invoices bravo charlie"), "{diff}");
    let answer = settled(&world, &[]);
    assert_eq!(answer.code, 0, "{}{}", answer.out, answer.err);
    assert_eq!((read(&pay), read(&new)), (before.clone(), created.clone()));
    assert!(listed(&world, &[]).is_empty(), "all is back");
    undone(&world);
    assert_eq!((read(&pay), new.exists()), (reset, false), "one entry, undone at once");
    assert_eq!(world.run(&["undo", "--yes"]).code, 3, "there was no second entry");
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

/// A repository in which `pay` has edited `src/pay.rs`, and `cart` has taken that back and put this text there.
fn written_over(world: &World, text: &str) -> (PathBuf, String) {
    let repo = repository(world);
    let [_pay, mut cart] = edited(world, &repo);
    let pay = repo.join("src/pay.rs");
    let rescued = read(&pay);
    let line = format!("git checkout -q -- src/pay.rs; printf '{text}' > src/pay.rs");
    shell(world, &mut cart, &repo, ("cart", &line));
    (pay, rescued)
}

#[test]
fn a_version_goes_beside_a_file_that_has_other_work_and_away_again() {
    let world = World::new();
    let (pay, rescued) = written_over(&world, "zulu yankee xray\\n");
    let (subject, other) = (pay.to_str().unwrap(), read(&pay));
    let refused = settled(&world, &[subject]);
    assert_eq!(refused.code, 3);
    assert!(refused.out.contains("--beside writes"), "{}{}", refused.out, refused.err);
    let [first, second] = ["pay.rs.rescued", "pay.rs.rescued-2"].map(|name| pay.with_file_name(name));
    for beside in [&first, &second] {
        let answer = world.run(&["rescue", subject, "--beside", "--yes"]);
        assert_eq!(answer.code, 0, "{}{}", answer.out, answer.err);
        assert_eq!((read(beside), read(&pay)), (rescued.clone(), other.clone()));
    }
    undone(&world);
    assert_eq!((read(&first), second.exists()), (rescued, false));
    undone(&world);
    assert!(!first.exists());
    assert_eq!(read(&pay), other);
}

#[test]
fn a_version_is_merged_into_other_work_and_taken_out_again() {
    let world = World::new();
    let (pay, _) = written_over(&world, "zulu yankee xray\\none\\nanother\\n");
    let (subject, other) = (pay.to_str().unwrap(), read(&pay));
    let plan = with_git(&world, &["rescue", subject, "--merge", "--dry-run"]);
    assert!(plan.out.contains("+alpha invoices bravo charlie"), "{}{}", plan.out, plan.err);
    assert!(!plan.out.contains("-zulu") && plan.out.contains("no conflict"), "{}", plan.out);
    assert_eq!(read(&pay), other, "only shown");
    let answer = settled(&world, &[subject, "--merge"]);
    assert_eq!(answer.code, 0, "{}{}", answer.out, answer.err);
    assert_eq!(read(&pay), "zulu yankee xray\none\nanother\nalpha invoices bravo charlie\n");
    let again = settled(&world, &[subject, "--merge"]);
    assert_eq!(again.code, 3, "nothing is gone any more: {}", again.out);
    undone(&world);
    assert_eq!(read(&pay), other);
    assert_eq!(
        std::fs::read_dir(world.path("home/.local/state/claimtop/copies")).map_or(0, Iterator::count),
        0
    );
}

#[test]
fn conflicts_are_put_in_place_only_by_who_names_them() {
    let world = World::new();
    let (pay, rescued) = written_over(&world, "one\\nanother\\nquebec romeo sierra\\n");
    let (subject, other) = (pay.to_str().unwrap(), read(&pay));
    let merge = |more: &[&str]| settled(&world, &[&[subject, "--merge"], more].concat());
    for more in [&[][..], &["--confirm", "2 conflicts"], &["--confirm", "src/pay.rs"]] {
        let answer = merge(more);
        assert_eq!((answer.code, read(&pay)), (3, other.clone()), "{more:?}: {}", answer.out);
        assert!(answer.out.contains("1 conflict"), "{}", answer.out);
    }
    let answer = merge(&["--confirm", "1 conflict"]);
    assert_eq!(answer.code, 0, "{}{}", answer.out, answer.err);
    let merged = read(&pay);
    for part in ["<<<<<<< now\nquebec romeo sierra\n=======\nalpha invoices", ">>>>>>> pay\n"] {
        assert!(merged.contains(part), "{merged}");
    }
    undone(&world);
    assert_eq!(read(&pay), other);
    assert_ne!(rescued, other);
}

#[test]
fn without_a_base_a_version_only_goes_beside() {
    let world = World::new();
    let repo = repository(&world);
    let [_pay, mut cart] = edited(&world, &repo);
    let new = repo.join("src/new.rs");
    shell(&world, &mut cart, &repo, ("cart", "echo zulu yankee xray > src/new.rs"));
    let subject = new.to_str().unwrap();
    let answer = settled(&world, &[subject, "--merge"]);
    assert_eq!(answer.code, 3, "the file began as nothing: {}", answer.out);
    assert!(answer.out.contains("began from is not known"), "{}{}", answer.out, answer.err);
    assert_eq!(world.run(&["rescue", subject, "--beside", "--yes"]).code, 0);
    assert_eq!(read(&new), "zulu yankee xray\n");
    assert!(read(&new.with_file_name("new.rs.rescued")).contains("golf opens hotel india"));
}

#[test]
fn a_link_in_the_way_is_not_followed_in_any_way() {
    let world = World::new();
    let repo = repository(&world);
    let [_pay, mut cart] = edited(&world, &repo);
    shell(&world, &mut cart, &repo, ("cart", "mv src/pay.rs ../out/; rm -r src"));
    std::fs::remove_file(world.path("out/pay.rs")).unwrap();
    for elsewhere in [world.path("elsewhere"), repo.join("lib")] {
        std::fs::create_dir(&elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, repo.join("src")).unwrap();
        for way in [&[][..], &["--beside"], &["--merge"]] {
            let answer = settled(&world, &[&["pay"], way].concat());
            assert_ne!(answer.code, 0, "{way:?}: {}", answer.out);
            assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0, "{way:?}");
        }
        std::fs::remove_file(repo.join("src")).unwrap();
    }
}

#[test]
fn two_rescues_at_once_bring_a_file_back_once() {
    let world = World::new();
    let repo = repository(&world);
    let [_pay, mut cart] = edited(&world, &repo);
    let pay = repo.join("src/pay.rs");
    let before = read(&pay);
    shell(&world, &mut cart, &repo, ("cart", "git checkout -q -- src/pay.rs"));
    let subject = pay.to_str().unwrap();
    while world.run(&["rescue", "--dry-run", subject]).out.contains(" s ago: wait") {}
    let codes: Vec<i32> = std::thread::scope(|scope| {
        let rescue = || world.run(&["rescue", subject, "--yes"]).code;
        let all: Vec<_> = (0..2).map(|_| scope.spawn(rescue)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(codes.iter().filter(|code| **code == 0).count(), 1, "{codes:?}");
    assert_eq!(codes.iter().filter(|code| **code == 3).count(), 1, "{codes:?}");
    assert_eq!(read(&pay), before);
    undone(&world);
    assert_ne!(read(&pay), before);
}

#[test]
fn what_is_stashed_comes_with_the_command_that_brings_it_back() {
    let world = World::new();
    let repo = repository(&world);
    let [_pay, mut cart] = edited(&world, &repo);
    let pay = repo.join("src/pay.rs");
    let before = read(&pay);
    shell(&world, &mut cart, &repo, ("cart", "git stash -q -- src/pay.rs"));
    let answer = world.run(&["rescue", "--dry-run", pay.to_str().unwrap()]);
    assert_eq!(answer.code, 3);
    let command = answer.err.lines().find_map(|line| line.split_once("is stashed: ")).expect("a command").1;
    let mut words = command.split(' ');
    assert_eq!(words.next(), Some("git"));
    let words: Vec<&str> = words.collect();
    git(&repo, &words);
    assert_eq!(read(&pay), before, "{command}");
}

/// A transcript may name any path. What lies outside the windows' working trees is brought back only by its name, and
/// what git may run never.
#[test]
fn a_transcript_brings_back_nothing_elsewhere_unless_it_is_named() {
    let world = World::new();
    let repo = repository_at(&world.path("home/shop"));
    let window = Window::open(&world, "68e42426-d304-4174-9fca-9ed786d1582e", &repo);
    let files =
        [repo.join("src/new.rs"), repo.join(".git/hooks/post-checkout"), world.path("home/notes/plan.txt")];
    std::fs::create_dir(world.path("home/notes")).unwrap();
    let [new, hook, elsewhere] = files.each_ref().map(|path| path.as_path());
    tell_of_new(&world, &window, &files.each_ref().map(|path| (path.as_path(), "what the tool wrote\n")));
    let answer = settled(&world, &[]);
    assert_eq!(read(new), "what the tool wrote\n", "{}{}", answer.out, answer.err);
    assert_eq!(std::fs::metadata(new).unwrap().permissions().mode() & 0o777, 0o644);
    assert!(!hook.exists() && !elsewhere.exists(), "{}{}", answer.out, answer.err);
    let named = settled(&world, &[hook.to_str().unwrap()]);
    assert!(named.code == 3 && !hook.exists(), "{}{}", named.out, named.err);
    std::os::unix::fs::symlink(world.path("home/notes"), world.path("home/link")).unwrap();
    for name in ["home/notes/plan.txt", "home/link/plan.txt"] {
        let named = settled(&world, &[world.path(name).to_str().unwrap()]);
        assert_eq!(read(elsewhere), "what the tool wrote\n", "{name}: {}{}", named.out, named.err);
        std::fs::remove_file(elsewhere).unwrap();
    }
}
