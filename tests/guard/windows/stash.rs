//! Windows in linked working trees, which share one stash: git's own list of its entries is the truth.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::windows::guard::{Window, git, repository_at};
use crate::world::World;

/// Runs a line in a folder, whether it does well or not, and returns what it prints.
fn shell(folder: &Path, line: &str) -> String {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]).current_dir(folder).stdin(Stdio::null()).stderr(Stdio::null());
    for (name, value) in [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_AUTHOR_NAME", "x"),
        ("GIT_AUTHOR_EMAIL", "x@x"),
        ("GIT_COMMITTER_NAME", "x"),
        ("GIT_COMMITTER_EMAIL", "x@x"),
    ] {
        command.env(name, value);
    }
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

fn entries(repo: &Path) -> Vec<String> {
    shell(repo, "git stash list --format=%H").lines().map(str::to_owned).collect()
}

/// Makes a repository, and linked working trees beside it.
fn trees<const N: usize>(world: &World, names: [&str; N]) -> (PathBuf, [PathBuf; N]) {
    let repo = repository_at(&world.path("shop"));
    let linked = names.map(|name| {
        git(&repo, &["worktree", "add", "-q", "-b", name, &format!("../{name}")]);
        world.path(name)
    });
    (repo, linked)
}

impl Window {
    /// Runs a line between its hooks; returns what its model is told after it, or else why it is refused.
    fn runs(&mut self, world: &World, line: &str) -> Result<Option<String>, String> {
        if let Some(reason) = self.line(world, line) {
            return Err(reason);
        }
        shell(&self.folder.clone(), line);
        Ok(self.after_line(world, line))
    }

    /// Stashes an edit of a file between its hooks, and returns the entry's commit.
    fn stashes(&mut self, world: &World, file: &str) -> String {
        std::fs::write(self.folder.join(file), format!("of {}\n", self.child.id())).unwrap();
        assert_eq!(self.runs(world, "git stash -q -u"), Ok(None));
        entries(&self.folder)[0].clone()
    }

    fn pid(&self) -> String {
        format!("PID {},", self.child.id())
    }
}

/// Who asks, the line, and whose entries it takes, as the stash is, the newest first: cart, pay, dead, nobody's.
const LINES: &[(&str, &str, &str)] = &[
    ("pay", "git stash pop", "cart"),
    ("pay", "git stash pop -q", "cart"),
    ("pay", "git stash pop --index stash@{0}", "cart"),
    ("pay", "git stash pop stash@{1}", ""),
    ("pay", "git stash pop -q --index 'stash@{1}'", ""),
    ("pay", "git stash pop 1", ""),
    ("pay", "git stash drop", "cart"),
    ("pay", "git stash drop -q stash@{2}", "dead"),
    ("pay", "git stash drop refs/stash@{2}", "dead"),
    ("pay", "git stash drop stash@{3}", ""),
    ("pay", "git stash drop stash@{9}", ""),
    ("pay", "git stash clear", "cart dead"),
    ("pay", "git stash branch more", "cart"),
    ("pay", "git stash branch more stash@{1}", ""),
    ("pay", "git stash apply", ""),
    ("pay", "git stash apply stash@{2}", ""),
    ("pay", "git stash list; git stash show -p stash@{0}", ""),
    ("pay", "git stash pop -q stash@{1}; git stash drop stash@{1}", "dead"),
    ("pay", "git stash drop; git stash pop", "cart"),
    ("pay", "echo x >> src/pay.rs; git stash -q && git stash pop -q", ""),
    ("pay", "echo x >> src/pay.rs; git stash -q; git stash drop stash@{1}", "cart"),
    ("pay", "cd ../side && git stash pop", "cart"),
    ("pay", "git -C ../side stash drop stash@{2}", "dead"),
    ("pay", "git stash drop $(git stash list | wc -l | xargs -I{} echo stash@{9})", ""),
    ("pay", "git update-ref -d refs/stash", "cart dead"),
    ("pay", "git reflog expire --expire=now --all", "cart dead"),
    ("pay", "git reflog expire --expire-unreachable=now refs/stash", "cart dead"),
    ("pay", "git reflog expire --all", ""),
    ("pay", "git reflog expire --expire=now HEAD", ""),
    ("pay", "git reflog delete --rewrite --updateref stash@{0}", "cart"),
    ("pay", "git gc -q --prune=now", ""),
    ("pay", "git prune", ""),
    ("cart", "git stash pop", ""),
    ("cart", "git stash drop stash@{1}", "pay"),
    ("cart", "git stash clear", "dead pay"),
    ("third", "git stash pop", "cart"),
    ("third", "git stash drop stash@{1}", "pay"),
    ("third", "git stash drop stash@{2}", "dead"),
    ("third", "git stash drop stash@{3}", ""),
    ("third", "git stash clear", "cart dead pay"),
];

#[test]
fn a_line_is_held_up_for_those_whose_entries_it_takes() {
    let world = World::new();
    let (repo, [side]) = trees(&world, ["side"]);
    std::fs::write(repo.join("by-hand.rs"), "by hand\n").unwrap();
    shell(&repo, "git stash -q -u");
    let mut dead = Window::open(&world, "dead", &repo);
    let of_dead = dead.stashes(&world, "dead.rs");
    dead.die();
    let mut pay = Window::open(&world, "pay", &repo);
    let of_pay = pay.stashes(&world, "src/pay.rs");
    let mut cart = Window::open(&world, "cart", &side);
    let of_cart = cart.stashes(&world, "src/cart.rs");
    let mut third = Window::open(&world, "third", &repo);
    let owners = [("cart", of_cart.clone()), ("pay", of_pay.clone()), ("dead", of_dead)];
    let before = entries(&repo);
    assert_eq!(before.len(), 4);
    let keep = "rm -rf kept; mkdir kept; cp -a shop/.git/refs/stash kept/ref; cp -a shop/.git/logs/refs/stash kept/log; cp -a home/.local/state/claimtop/guard kept/guard";
    let back = "mkdir -p shop/.git/logs/refs; cp -a kept/ref shop/.git/refs/stash; cp -a kept/log shop/.git/logs/refs/stash; rm -rf home/.local/state/claimtop/guard; cp -a kept/guard home/.local/state/claimtop/guard; for tree in shop side; do git -C $tree reset -q --hard; git -C $tree clean -qfd; done; git -C shop checkout -q $0; git -C shop branch -q -D more";
    shell(&world.path(""), keep);
    let branch = shell(&repo, "git branch --show-current");
    let mut wrong = Vec::new();
    for (asker, line, expected) in LINES {
        let window = match *asker {
            "pay" => &mut pay,
            "cart" => &mut cart,
            _ => &mut third,
        };
        let reason = window.line(&world, line);
        shell(&window.folder.clone(), line);
        let left = entries(&repo);
        let taken: BTreeSet<&str> = owners
            .iter()
            .filter(|(owner, commit)| owner != asker && !left.contains(commit))
            .map(|(owner, _)| *owner)
            .collect();
        let taken = taken.into_iter().collect::<Vec<_>>().join(" ");
        if taken != *expected || reason.is_some() == expected.is_empty() {
            wrong.push(format!("{asker}: {line}\n  takes {taken:?}, expected {expected:?}\n  {reason:?}"));
        }
        let own = if *asker == "pay" { Some(&of_pay) } else { (*asker == "cart").then_some(&of_cart) };
        if let Some(reason) = reason {
            let is_advised = own.is_none_or(|own| reason.contains(&format!("`git stash apply {own}`")));
            let is_one = !expected.contains(' ') && expected.contains("dead");
            if !is_advised || is_one && !reason.contains("has died") {
                wrong.push(format!("{asker}: {line}\n  {reason}"));
            }
        }
        shell(&world.path(""), &back.replace("$0", branch.trim()));
        assert_eq!(entries(&repo), before, "{line}");
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_is_held_up_goes_through_when_it_is_made_again() {
    let world = World::new();
    let (repo, [side]) = trees(&world, ["side"]);
    let [mut pay, mut cart] =
        [("pay", &repo), ("cart", &side)].map(|(name, at)| Window::open(&world, name, at));
    let commit = pay.stashes(&world, "src/pay.rs");
    let wait = || std::thread::sleep(std::time::Duration::from_millis(2_100));
    assert!(cart.line(&world, "git stash pop").is_some());
    wait();
    assert_eq!(cart.line(&world, "git stash pop"), None, "it is meant");
    let reason = cart.runs(&world, "git stash drop").expect_err("this leaves nothing");
    assert!(reason.contains(&pay.pid()) && reason.contains("stash@{0}: 1 file of"), "{reason}");
    assert!(reason.contains("None of the entries is known to be yours"), "{reason}");
    wait();
    let note = cart.runs(&world, "git stash drop").unwrap().expect("a note");
    assert!(note.contains(&commit) && note.contains(&pay.pid()), "{note}");
    assert!(entries(&repo).is_empty());
    // Its objects are there until git removes them.
    let mut third = Window::open(&world, "third", &side);
    assert!(third.runs(&world, "git gc -q --prune=now").unwrap_err().contains(&pay.pid()));
    assert_eq!(cart.runs(&world, &format!("git stash store -m back {commit}")), Ok(None));
    assert_eq!(entries(&repo), [commit]);
    assert!(third.runs(&world, "git stash pop").is_err(), "it is still the same window's");
    assert_eq!(pay.runs(&world, "git stash pop -q"), Ok(None));
    assert_eq!(third.runs(&world, "git gc -q --prune=now"), Ok(None), "its owner has taken it");
}

#[test]
fn what_is_taken_between_is_said_after_it() {
    let world = World::new();
    let (repo, [side]) = trees(&world, ["side"]);
    let [mut pay, mut cart] =
        [("pay", &repo), ("cart", &side)].map(|(name, at)| Window::open(&world, name, at));
    let of_pay = pay.stashes(&world, "src/pay.rs");
    assert_eq!(pay.line(&world, "git stash pop -q"), None, "its own");
    let of_cart = cart.stashes(&world, "src/cart.rs");
    shell(&repo, "git stash pop -q");
    let note = pay.after_line(&world, "git stash pop -q").expect("a note");
    assert!(note.contains(&cart.pid()) && note.contains(&format!("store -m back {of_cart}")), "{note}");
    assert!(note.contains(&format!("`git stash apply {of_pay}`")), "{note}");
    // Not even the one that has made it knows the entry.
    shell(&repo, "git reset -q --hard");
    assert_eq!(pay.line(&world, "git stash pop -q"), None, "its own");
    std::fs::write(side.join("src/cart.rs"), "more\n").unwrap();
    assert_eq!(cart.line(&world, "git stash -q"), None);
    shell(&side, "git stash -q");
    shell(&repo, "git stash pop -q");
    let note = pay.after_line(&world, "git stash pop -q").expect("a note");
    assert!(note.contains("may have taken") && note.contains(&cart.pid()), "{note}");
    assert_eq!(cart.after_line(&world, "git stash -q"), None);
    shell(&repo, "git reset -q --hard");
    assert_eq!(pay.runs(&world, "git stash pop -q"), Ok(None));
    assert!(entries(&repo).is_empty());
}

#[test]
fn in_a_race_of_four_windows_none_takes_anothers_entry_unannounced() {
    let rounds: usize = std::env::var("CLAIMTOP_ROUNDS").map_or(10, |text| text.parse().unwrap());
    let world = World::new();
    let (repo, linked) = trees(&world, ["one", "two", "three"]);
    let trees: Vec<PathBuf> = std::iter::once(repo.clone()).chain(linked).collect();
    let open = |tree: &PathBuf| Window::open(&world, tree.file_name().unwrap().to_str().unwrap(), tree);
    let windows: Vec<Window> = trees.iter().map(open).collect();
    let run = |mut window: Window| {
        let tree = &window.folder.clone();
        let name = tree.file_name().unwrap().to_str().unwrap();
        let file = format!("{name}.rs");
        let (mut own, mut held_up, mut foreign) = (0, 0, 0);
        for round in 0..rounds {
            shell(tree, "git reset -q --hard; git clean -qfd");
            std::fs::write(tree.join(&file), format!("{round}\n")).unwrap();
            shell(tree, "git add -N .");
            shell(tree, &format!("git add {file}"));
            assert_eq!(window.runs(&world, "git stash -q"), Ok(None));
            match window.runs(&world, "git stash pop -q") {
                Err(reason) => {
                    held_up += 1;
                    assert!(!reason.contains(&window.pid()), "its own: {reason}");
                    let Some((_, advice)) = reason.split_once("`git stash apply ") else { continue };
                    let commit = advice.split('`').next().unwrap();
                    let line = format!("git stash apply -q {commit}");
                    assert_eq!(window.runs(&world, &line), Ok(None));
                    let status = shell(tree, "git status --porcelain");
                    assert!(status.trim().ends_with(&file) && status.lines().count() == 1, "{status}");
                }
                Ok(note) => {
                    let status = shell(tree, "git status --porcelain");
                    let is_foreign = status.lines().any(|line| !line.ends_with(&file));
                    assert!(!is_foreign || note.is_some(), "{name}: unannounced: {status}");
                    *if is_foreign { &mut foreign } else { &mut own } += 1;
                }
            }
        }
        (own, held_up, foreign)
    };
    let counts = std::thread::scope(|scope| {
        let windows: Vec<_> = windows.into_iter().map(|window| scope.spawn(|| run(window))).collect();
        windows.into_iter().map(|window| window.join().unwrap()).collect::<Vec<_>>()
    });
    eprintln!("own, held up, foreign but announced: {counts:?}");
    assert!(counts.iter().any(|(_, held_up, _)| *held_up > 0), "no window met another: {counts:?}");
}
