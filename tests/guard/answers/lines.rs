//! The real effect of git lines on other windows' uncommitted edits, and the sessions for whose sake the guard holds
//! them up: git itself is the truth, in a tree that is made anew for each line.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::world::World;

/// One file of each other session, with the session's name.
const FILES: [(&str, &str); 8] = [
    ("changed", "src/changed.rs"),
    ("staged", "src/staged.rs"),
    ("both", "src/both.rs"),
    ("added", "src/added.rs"),
    ("new", "src/new.rs"),
    ("fresh", "fresh/new.rs"),
    ("log", "src/x.log"),
    ("built", "out/x.js"),
];

/// The state of the tree; in a plain one an edit was staged and edited further, and a file is gone: there git does
/// many things without touching a file.
const PLAIN: &str = "true";
const TIDY: &str = ":";
const MERGE: &str = "git merge clash || true";
const REBASE: &str = "git rebase clash || true";
const PICK: &str = "git cherry-pick clash || true";
const MAIL: &str = "git format-patch -q -1 --stdout clash > ../mail; git am -3 ../mail || true";
const REVERT: &str = "git revert --no-edit clash || true";

/// The comparison to make.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// It is held up for the sake of those whose bytes it takes, and of no others.
    Exactly,
    /// It puts the whole tree on another commit: it is held up whenever others have edits there, though git would
    /// carry them over or refuse.
    ByRule,
    /// The line does not show its effect, or it takes files that were given to it by name.
    Silent,
}

use Expected::{ByRule, Exactly, Silent};

/// How a tree's repository differs from a usual one.
#[derive(Clone, Copy, Default)]
struct Sort {
    /// How it is made.
    options: &'static str,
    /// The command that changes it then.
    more: &'static str,
    /// The index extension that it then has.
    has: &'static str,
    /// Whether claimtop cannot read all of it: then it may be silent though something is taken.
    is_unread: bool,
}

const LINES: &[(&str, Expected, &str)] = &[
    (PLAIN, Exactly, "git stash"),
    (PLAIN, Exactly, "git stash push"),
    (PLAIN, Exactly, "git stash push -m 'my work'"),
    (PLAIN, Exactly, "git stash -m wip"),
    (PLAIN, Exactly, "git stash save my work"),
    (PLAIN, Exactly, "git stash save -u my work"),
    (PLAIN, Exactly, "git stash -u"),
    (PLAIN, Exactly, "git stash --include-untracked"),
    (PLAIN, Exactly, "git stash -a"),
    (PLAIN, Exactly, "git stash --all"),
    (PLAIN, Exactly, "git stash -k"),
    (PLAIN, Exactly, "git stash push --keep-index"),
    (PLAIN, Exactly, "git stash -ku"),
    (PLAIN, Exactly, "git stash push -- own.rs"),
    (PLAIN, Exactly, "git stash push own.rs"),
    (PLAIN, Exactly, "git stash -- own.rs"),
    (PLAIN, Exactly, "git stash push -m x -- src/changed.rs"),
    (PLAIN, Exactly, "git stash push -u -- src/new.rs"),
    (PLAIN, Exactly, "git stash push -u -- fresh"),
    (PLAIN, Exactly, "git stash push src"),
    (PLAIN, Exactly, "git stash push 'src/ch*.rs'"),
    (PLAIN, Exactly, "cd src && git stash push ."),
    (PLAIN, Exactly, "git stash list"),
    (PLAIN, Exactly, "git stash create"),
    (PLAIN, Exactly, "git stash show -p"),
    (PLAIN, Exactly, "git stash own.rs"),
    (PLAIN, ByRule, "git stash branch elsewhere"),
    (PLAIN, Exactly, "git reset"),
    (PLAIN, Exactly, "git reset -q HEAD -- src"),
    (PLAIN, Exactly, "git reset --soft HEAD~1"),
    (PLAIN, Exactly, "git reset --mixed HEAD~1"),
    (PLAIN, Exactly, "git reset --keep HEAD~1"),
    (PLAIN, Exactly, "git reset --hard"),
    (PLAIN, Exactly, "git reset -q --hard HEAD~1"),
    (PLAIN, Exactly, "git reset --hard other"),
    (PLAIN, Exactly, "git checkout"),
    (PLAIN, Exactly, "git checkout HEAD"),
    (PLAIN, Exactly, "git checkout -q HEAD"),
    (PLAIN, Exactly, "git checkout -f"),
    (PLAIN, Exactly, "git checkout -f HEAD"),
    (PLAIN, Exactly, "git checkout --force other"),
    (PLAIN, ByRule, "git checkout other"),
    (PLAIN, ByRule, "git checkout -m other"),
    (PLAIN, Silent, "git checkout -b elsewhere"),
    (PLAIN, ByRule, "git checkout -b elsewhere other"),
    (PLAIN, ByRule, "git checkout --detach"),
    (PLAIN, ByRule, "git checkout HEAD~1"),
    (PLAIN, Exactly, "git checkout own.rs"),
    (PLAIN, Exactly, "git checkout -- own.rs"),
    (PLAIN, Exactly, "git checkout gone.rs"),
    (PLAIN, Exactly, "git checkout -- gone.rs"),
    (PLAIN, Exactly, "git checkout HEAD own.rs"),
    (PLAIN, Exactly, "git checkout HEAD~1 own.rs gone.rs"),
    (PLAIN, Exactly, "git checkout other docs"),
    (PLAIN, Exactly, "git checkout src/changed.rs"),
    (PLAIN, Exactly, "git checkout src/changed.rs own.rs"),
    (PLAIN, Exactly, "git checkout src"),
    (PLAIN, Exactly, "git checkout grown -- src/new.rs"),
    (PLAIN, Exactly, "git checkout grown src/new.rs src/x.log"),
    (PLAIN, Exactly, "git checkout grown -- docs src/new.rs"),
    (PLAIN, Exactly, "git restore --source=grown src/new.rs"),
    (PLAIN, Exactly, "git restore -s grown -SW src/x.log"),
    (PLAIN, Exactly, "git stash --incl"),
    (PLAIN, Exactly, "git reset --har"),
    (PLAIN, Exactly, "git commit --mess x -a"),
    (PLAIN, Exactly, "git clean --forc -d"),
    (PLAIN, Exactly, "cd -- src && git checkout ."),
    (PLAIN, Exactly, "git checkout ."),
    (PLAIN, Exactly, "git checkout -- ."),
    (PLAIN, Exactly, "git checkout -- :/"),
    (PLAIN, Exactly, "cd docs && git checkout ."),
    (PLAIN, Exactly, "git checkout HEAD ."),
    (PLAIN, Exactly, "git checkout HEAD -- src"),
    (PLAIN, Exactly, "git checkout --no-overlay HEAD -- src"),
    (PLAIN, Exactly, "git checkout '*.rs'"),
    (PLAIN, Exactly, "git checkout -- 'src/s*.rs'"),
    (PLAIN, Exactly, "git checkout -- 'docs/*'"),
    (PLAIN, Exactly, "git checkout -- ':!own.rs'"),
    (PLAIN, Exactly, "git checkout -- . ':!src/changed.rs'"),
    (PLAIN, Exactly, "git checkout . ':(exclude)src'"),
    (PLAIN, Exactly, "git checkout HEAD . ':^src/b*.rs'"),
    (PLAIN, Exactly, "git stash push -u -- . ':!src/changed.rs' ':!fresh'"),
    (PLAIN, Exactly, "git checkout :/"),
    (PLAIN, Exactly, "cd docs && git checkout HEAD :/"),
    (PLAIN, Exactly, "git mv -f own.rs src/changed.rs"),
    (PLAIN, Exactly, "cp own.rs new.rs && git mv -f own.rs src"),
    (PLAIN, Exactly, "git mv -k own.rs src/changed.rs"),
    (PLAIN, Exactly, "git stage -A"),
    (PLAIN, Exactly, "git add ./"),
    (PLAIN, Exactly, "cd src && git add .."),
    (PLAIN, Exactly, "git commit -m x ./"),
    (PLAIN, Exactly, "true && \\\n  git stash \\\n  -u"),
    (PLAIN, Exactly, "cat > list <<'EOF'\ngit stash\nEOF\ngit checkout ."),
    (PLAIN, Exactly, "x=$(pwd) git restore ."),
    (PLAIN, Exactly, "eval 'git clean -fd'"),
    (PLAIN, Exactly, "/bin/sh -ec 'git checkout src'"),
    (PLAIN, Exactly, "((n = 1)); x=$((1 << 2))\ngit checkout ."),
    (PLAIN, Exactly, "D=\"${D:-$PWD}\"; git restore ."),
    (PLAIN, Exactly, "R=HEAD; git checkout \"$R\" -- ."),
    (PLAIN, Exactly, "R=HEAD; git reset -q --hard \"$R\""),
    (PLAIN, Exactly, "export PATH=\"$PATH:/x\" && git checkout ."),
    (PLAIN, Exactly, "git checkout-index -a -f --prefix=made/"),
    (PLAIN, Exactly, "git add '*'"),
    (PLAIN, Exactly, "git stash save \"wip $HOME\""),
    (PLAIN, Silent, "mkdir made && cd made && git init -q && git add -A"),
    (PLAIN, Silent, "git -C \"$HOME\" stash"),
    (PLAIN, Exactly, "git checkout -- *.rs"),
    (PLAIN, Exactly, "git checkout -- src/c*.rs src/?dded.rs"),
    (PLAIN, Exactly, "git restore s*"),
    (PLAIN, Exactly, "git checkout s*/both.rs own.*"),
    (PLAIN, Exactly, "git add *"),
    (PLAIN, Exactly, "cd src && git add *"),
    (PLAIN, Exactly, "git clean -f src/n*"),
    (PLAIN, Exactly, "git clean -fd f* --exclude=.env*"),
    (PLAIN, Exactly, "git clean -fdx -e *.js -e src"),
    (PLAIN, Exactly, "git rm -f -q src/ch*"),
    (PLAIN, Exactly, "git checkout main"),
    (PLAIN, Exactly, "git checkout -q main --"),
    (PLAIN, Exactly, "git switch main"),
    (PLAIN, Exactly, "git merge --ff-only main"),
    (PLAIN, Exactly, "git checkout main 2>/dev/null || git checkout HEAD --"),
    (PLAIN, Exactly, "git checkout -f main"),
    (PLAIN, Exactly, "F=src/changed.rs; git checkout -- $F"),
    (PLAIN, Exactly, "FILES='own.rs src/staged.rs'; git restore -s HEAD -- $FILES"),
    (PLAIN, Exactly, "FILES='own.rs src/staged.rs'; git restore -s HEAD -- \"$FILES\""),
    (PLAIN, Exactly, "D=$(pwd)/src; cd \"$D\" && git checkout -- ."),
    (PLAIN, Exactly, "cd src; cd \"$(git rev-parse --show-toplevel)\" && git stash -u"),
    (PLAIN, Exactly, "for f in own.rs src/both.rs; do git checkout HEAD -- \"$f\"; done"),
    (PLAIN, Exactly, "for d in src docs; do git -C \"$d\" clean -fd .; done"),
    (PLAIN, Exactly, "out=$(git stash 2>&1); echo \"$out\""),
    (PLAIN, Exactly, "echo \"now $(cd src && git checkout -- changed.rs)\""),
    (PLAIN, Exactly, "cd docs && ls; cd - >/dev/null; git checkout -- src/changed.rs"),
    (PLAIN, Exactly, "pushd docs; popd; git checkout -- src/changed.rs"),
    (PLAIN, Exactly, "cd $NOWHERE_AT_ALL; git -C $PWD/src checkout changed.rs"),
    (PLAIN, Exactly, "T=docs; [ -n \"$NOTHING\" ] && T=src; git status $T; git checkout -- own.rs"),
    (PLAIN, Silent, "T=docs; [ -n \"$NOTHING\" ] && T=src; git checkout -- $T"),
    (PLAIN, Silent, "f=src/changed.rs; echo own.rs | while read -r f; do git checkout -- \"$f\"; done"),
    (PLAIN, Exactly, "cd src && D=docs && git -C .. checkout -- $D own.rs"),
    (PLAIN, Silent, "P=src; P+=/changed.rs; git restore \"$P\""),
    (PLAIN, Silent, "C='git stash'; C+=' list'; $C"),
    (PLAIN, Exactly, "exit 0; git stash"),
    (PLAIN, Silent, "for f in src/changed.rs own.rs; do echo $f; done; git checkout -- $f"),
    (PLAIN, Silent, "X=src/changed.rs; [ -e x ] || X=$X; git status $X; read X; git checkout -- $X"),
    (PLAIN, Silent, "git checkout $BRANCH"),
    (PLAIN, Silent, "git checkout --pathspec-from-file=list"),
    (PLAIN, Silent, "git --work-tree=. checkout -f"),
    (PLAIN, Silent, "GIT_INDEX_FILE=other git checkout-index -fa"),
    (PLAIN, ByRule, "git switch other"),
    (PLAIN, Silent, "git switch -c elsewhere"),
    (PLAIN, ByRule, "git switch --detach"),
    (PLAIN, Exactly, "git switch -f other"),
    (PLAIN, Exactly, "git switch --discard-changes other"),
    (PLAIN, Exactly, "git restore"),
    (PLAIN, Exactly, "git restore own.rs"),
    (PLAIN, Exactly, "git restore ."),
    (PLAIN, Exactly, "git restore :/"),
    (PLAIN, Exactly, "git restore -m src/changed.rs"),
    (PLAIN, Exactly, "git restore -- src/both.rs"),
    (PLAIN, Exactly, "git restore --staged ."),
    (PLAIN, Exactly, "git restore -S src/staged.rs"),
    (PLAIN, Exactly, "git restore -S -W ."),
    (PLAIN, Exactly, "git restore -SW src/staged.rs"),
    (PLAIN, Exactly, "git restore --staged --worktree src"),
    (PLAIN, Exactly, "git restore -s HEAD ."),
    (PLAIN, Exactly, "git restore --source=HEAD~1 src"),
    (PLAIN, Exactly, "git restore --source HEAD own.rs"),
    (PLAIN, Exactly, "git restore --overlay -s HEAD ."),
    (PLAIN, Exactly, "git restore -s HEAD -S src"),
    (PLAIN, Exactly, "git restore 'src/b*'"),
    (PLAIN, Silent, "git restore --pathspec-from-file list"),
    (PLAIN, Exactly, "git clean"),
    (PLAIN, Exactly, "git clean -n"),
    (PLAIN, Exactly, "git clean -fdn"),
    (PLAIN, Exactly, "git clean -f"),
    (PLAIN, Exactly, "git clean -fq"),
    (PLAIN, Exactly, "git clean -fd"),
    (PLAIN, Exactly, "git clean -f -d --quiet"),
    (PLAIN, Exactly, "git clean -fx"),
    (PLAIN, Exactly, "git clean -fdx"),
    (PLAIN, Exactly, "git clean -fX"),
    (PLAIN, Exactly, "git clean -fdX"),
    (PLAIN, Exactly, "git clean -f docs"),
    (PLAIN, Exactly, "git clean -f -- fresh"),
    (PLAIN, Exactly, "git clean -f fresh/new.rs"),
    (PLAIN, Exactly, "git clean -fdx src"),
    (PLAIN, Exactly, "cd src && git clean -fd"),
    (PLAIN, Exactly, "cd fresh && git clean -f"),
    (PLAIN, Exactly, "git clean -fd -e new.rs"),
    (PLAIN, Exactly, "git clean -fd --exclude=fresh"),
    (PLAIN, Exactly, "git clean -fdx -e '*.log'"),
    (PLAIN, Exactly, "git clean -fdx -eout"),
    (PLAIN, Silent, "git clean -fd -e \"$KEEP\""),
    (PLAIN, Exactly, "git add own.rs"),
    (PLAIN, Exactly, "git add -A"),
    (PLAIN, Exactly, "git add --all"),
    (PLAIN, Exactly, "git add ."),
    (PLAIN, Exactly, "git add -A docs"),
    (PLAIN, Exactly, "cd docs && git add ."),
    (PLAIN, Exactly, "cd docs && git add -A"),
    (PLAIN, Exactly, "cd docs && git add :/"),
    (PLAIN, Exactly, "git add -u"),
    (PLAIN, Exactly, "git add -u docs"),
    (PLAIN, Exactly, "git add -Af"),
    (PLAIN, Exactly, "git add -An"),
    (PLAIN, Exactly, "git add -N ."),
    (PLAIN, Exactly, "git add --refresh ."),
    (PLAIN, Exactly, "git add -p ."),
    (PLAIN, Exactly, "git add --renormalize ."),
    (PLAIN, Exactly, "git add src"),
    (PLAIN, Silent, "git add src/changed.rs"),
    (PLAIN, Exactly, "git add fresh docs"),
    (PLAIN, Exactly, "git commit -i . -m x"),
    (PLAIN, Exactly, "git checkout -- ':(top)src'"),
    (PLAIN, Exactly, "cd docs && git restore :/src"),
    (PLAIN, Exactly, "cd docs && git checkout HEAD -- :/src/changed.rs ':(top)own.rs'"),
    (PLAIN, Exactly, "rm src/new.rs"),
    (PLAIN, Exactly, "rm -rf src fresh"),
    (PLAIN, Exactly, "rm -f src/*.rs"),
    (PLAIN, Exactly, "cd src && rm -f -- new.rs ../own.rs"),
    (PLAIN, Exactly, "unlink src/changed.rs"),
    (PLAIN, Exactly, "find src -name 'n*.rs' -delete"),
    (PLAIN, Exactly, "find . -type f -name '*.log' -exec rm {} +"),
    (PLAIN, Exactly, "find fresh -delete"),
    (PLAIN, Exactly, "mv src/changed.rs ../gone.rs"),
    (PLAIN, Exactly, "mv own.rs src/changed.rs"),
    (PLAIN, Exactly, "mv src lib"),
    (PLAIN, Exactly, "cp own.rs src/new.rs"),
    (PLAIN, Exactly, "cp own.rs fresh"),
    (PLAIN, Exactly, "cp own.rs new.rs && cp -t fresh new.rs"),
    (PLAIN, Exactly, "install -m 644 own.rs src/new.rs"),
    (PLAIN, Exactly, "ln -sf ../own.rs src/new.rs"),
    (PLAIN, Exactly, "echo x > src/both.rs"),
    (PLAIN, Exactly, "cat > src/new.rs <<'EOF'\nx\nEOF"),
    (PLAIN, Exactly, "git show HEAD:src/changed.rs > src/changed.rs"),
    (PLAIN, Exactly, "cat own.rs | tee src/staged.rs > /dev/null"),
    (PLAIN, Exactly, "truncate -s 0 src/changed.rs"),
    (PLAIN, Exactly, "dd if=/dev/null of=src/new.rs status=none"),
    (PLAIN, Exactly, "sed -i s/edited/x/ src/changed.rs src/staged.rs"),
    (PLAIN, Exactly, "sort -r own.rs -o src/new.rs"),
    (PLAIN, Exactly, "sed s/edited/x/ src/changed.rs; cat src/new.rs; echo x > ../other; cp -r src ../copy"),
    (PLAIN, Exactly, "git checkout -- $(git diff --name-only)"),
    (PLAIN, Exactly, "for f in $(git diff --name-only); do git checkout -- \"$f\"; done"),
    (PLAIN, Exactly, "git diff --name-only | xargs git checkout --"),
    (PLAIN, Exactly, "git ls-files -m | xargs git restore"),
    (PLAIN, Exactly, "bash <<'X'\ngit reset --hard\nX"),
    (PLAIN, Exactly, "cat <<X | sh\ngit clean -fd\nX"),
    (PLAIN, Exactly, "echo 'git checkout -- .' | sh"),
    (PLAIN, Silent, "echo x >> src/changed.rs"),
    (PLAIN, Silent, "python3 -c 'open(\"src/new.rs\", \"w\")'"),
    (PLAIN, Exactly, "git commit -am x"),
    (PLAIN, Exactly, "git commit -qam x"),
    (PLAIN, Exactly, "git commit -a -m 'a b'"),
    (PLAIN, Exactly, "git commit --all --message x"),
    (PLAIN, Exactly, "git commit --amend --no-edit -a"),
    (PLAIN, Exactly, "git commit --dry-run -a"),
    (PLAIN, Exactly, "git commit -m x ."),
    (PLAIN, Exactly, "git commit -m x -- own.rs"),
    (PLAIN, Exactly, "git commit -ma own.rs"),
    (PLAIN, Exactly, "git commit -uall -m x own.rs"),
    (PLAIN, ByRule, "git commit -m x"),
    (PLAIN, ByRule, "git commit --amend --no-edit"),
    (PLAIN, Exactly, "git commit -m x src"),
    (PLAIN, Silent, "git commit -m x src/changed.rs"),
    (PLAIN, Exactly, "git rm own.rs"),
    (PLAIN, Exactly, "git rm -r src"),
    (PLAIN, Exactly, "git rm -f own.rs"),
    (PLAIN, Exactly, "git rm -rf src"),
    (PLAIN, Exactly, "git rm -rf ."),
    (PLAIN, Exactly, "git rm -rf --cached src"),
    (PLAIN, Exactly, "git rm -rfn src"),
    (PLAIN, Exactly, "git rm -f 'src/*.rs'"),
    (PLAIN, Exactly, "git rm -f src/new.rs"),
    (PLAIN, Exactly, "git read-tree HEAD"),
    (PLAIN, Exactly, "git read-tree -u --reset HEAD"),
    (PLAIN, Exactly, "git checkout-index -a"),
    (PLAIN, Exactly, "git checkout-index -f -a"),
    (PLAIN, Exactly, "git checkout-index -f src/changed.rs"),
    (PLAIN, ByRule, "git merge other"),
    (PLAIN, ByRule, "git merge --no-ff -m x other"),
    (PLAIN, ByRule, "git merge --ff-only other"),
    (PLAIN, ByRule, "git merge --squash other"),
    (PLAIN, ByRule, "git merge -q --autostash other"),
    (PLAIN, ByRule, "git rebase other"),
    (PLAIN, ByRule, "git rebase --autostash other"),
    (PLAIN, Exactly, "git merge --abort"),
    (PLAIN, Exactly, "git rebase --abort"),
    (PLAIN, Exactly, "git cherry-pick --skip"),
    (PLAIN, Exactly, "git status && git diff HEAD && git log -1"),
    (PLAIN, Exactly, "git branch -f elsewhere other"),
    (PLAIN, Exactly, "git cherry-pick other"),
    (PLAIN, Exactly, "git revert --no-edit HEAD"),
    (PLAIN, Exactly, "git apply /dev/null"),
    (PLAIN, Exactly, "git stash push own.rs && git stash pop"),
    (PLAIN, Exactly, "git add own.rs && git commit -qm x -- own.rs && git reset -q --hard"),
    (TIDY, Exactly, "git stash -S"),
    (TIDY, Exactly, "git stash --staged"),
    (TIDY, Exactly, "git stash push --staged -m x"),
    (TIDY, Exactly, "git stash -k"),
    (TIDY, Exactly, "git reset --merge"),
    (TIDY, Exactly, "git reset --keep HEAD~1"),
    (TIDY, Exactly, "git reset --merge HEAD~1"),
    (TIDY, Exactly, "git stash pop"),
    (TIDY, Exactly, "git cherry-pick --abort"),
    (TIDY, Exactly, "git cherry-pick other"),
    (MERGE, Exactly, "git merge --abort"),
    (MERGE, Exactly, "git merge --continue"),
    (MERGE, Exactly, "git reset --merge"),
    (MERGE, Exactly, "git merge --quit"),
    (MERGE, Exactly, "git checkout --ours docs/a.md"),
    (MERGE, Exactly, "git checkout --theirs -- docs"),
    (REBASE, Exactly, "git rebase --abort"),
    (REBASE, Exactly, "git rebase --skip"),
    (REBASE, Exactly, "git rebase --quit"),
    (REBASE, Exactly, "git rebase --continue"),
    (PICK, Exactly, "git cherry-pick --abort"),
    (PICK, Exactly, "git cherry-pick --skip"),
    (PICK, Exactly, "git cherry-pick --quit"),
    (REVERT, Exactly, "git revert --abort"),
    (REVERT, Exactly, "git revert --skip"),
    (MAIL, Exactly, "git am --abort"),
    (MAIL, Exactly, "git am --skip"),
    (MAIL, Exactly, "git am --quit"),
];

fn shell(world: &World, folder: &Path, line: &str) -> String {
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(folder).env_clear().env("HOME", world.path("home"));
    shell.env("PATH", std::env::var_os("PATH").unwrap()).env("GIT_EDITOR", "true").stdin(Stdio::null());
    let output = shell.stderr(Stdio::null()).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn guard(world: &World, hook: &Value) -> String {
    guard_with(world, hook, &[])
}

fn guard_with(world: &World, hook: &Value, environment: &[(&str, &str)]) -> String {
    let mut guard = Command::new(env!("CARGO_BIN_EXE_claimtop"));
    guard.args(["guard", "--for", "claude"]).env_clear().env("HOME", world.path("home"));
    guard.envs(environment.iter().copied());
    // A debug build beside other tests may be slower than any user's machine.
    guard.env("CLAIMTOP_GUARD_MS", "20000").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut guard = guard.spawn().unwrap();
    guard.stdin.take().unwrap().write_all(hook.to_string().as_bytes()).unwrap();
    let output = guard.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    String::from_utf8(output.stdout).unwrap()
}

/// Makes a tree with other sessions' uncommitted edits, which they have written down.
fn tree(world: &World, sort: Sort, under_way: &str) -> PathBuf {
    let shop = world.path("shop");
    world.write("home/.gitconfig", "[user]\nname = x\nemail = x@x\n");
    std::fs::create_dir_all(&shop).unwrap();
    let begin = "git init -qb main OPTIONS; mkdir src docs far; echo 0 > far/a.rs; printf 'out/\n*.log\n' > .gitignore; \
        for f in own.rs gone.rs src/changed.rs src/staged.rs src/both.rs docs/a.md; do echo 0 > $f; done; \
        git add -A; git commit -qm one; git branch other; git branch clash; \
        echo 1 > docs/a.md; git commit -qam two; echo 0 > docs/c.md; git add -A; git commit -qm three; \
        git checkout -q other; echo 0 > docs/b.md; git add -A; git commit -qm b; \
        git checkout -qb grown; echo 0 > src/new.rs; echo 0 > src/x.log; git add -f src; git commit -qm grown; \
        git checkout -q clash; echo 2 > docs/a.md; git commit -qam clash; git checkout -q main";
    let begin = begin.replace("OPTIONS", sort.options);
    shell(world, &shop, &format!("{begin}; {under_way}; {}", sort.more));
    // An edit in the same second as the last commit may be part of it.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let (half, gone) = if under_way == PLAIN { ("half", "rm gone.rs") } else { ("edited", "true") };
    let edits = "mkdir -p fresh out; echo own > own.rs; GONE; \
        echo edited > src/staged.rs; echo HALF > src/both.rs; echo new > src/added.rs; \
        git add src/staged.rs src/both.rs src/added.rs; echo edited > src/both.rs; echo edited > src/changed.rs; \
        for f in src/new.rs fresh/new.rs src/x.log out/x.js; do echo $f > $f; done; echo own.rs > list";
    shell(world, &shop, &edits.replace("HALF", half).replace("GONE", gone));
    for (session, file) in FILES {
        let hook = json!({"session_id": session, "cwd": shop, "hook_event_name": "PostToolUse",
            "tool_name": "Write", "tool_input": {"file_path": shop.join(file), "content": "x"}});
        assert_eq!(guard(world, &hook), "");
    }
    shop
}

/// Returns each session's file in the tree, the index and the commit.
fn state(world: &World, shop: &Path) -> Vec<[String; 3]> {
    let names = FILES.map(|(_, file)| file).join(" ");
    let ask = format!(
        "for f in {names}; do git hash-object $f 2>&1; git rev-parse :$f 2>&1; git rev-parse HEAD:$f 2>&1; done"
    );
    let out = shell(world, shop, &format!("exec 2>/dev/null; {}", ask.replace(" 2>&1", " || echo -")));
    // Git repeats a name that it does not know.
    let mut lines = out.lines().filter(|line| !line.contains(':')).map(str::to_owned);
    let mut next = || lines.next().unwrap();
    FILES.iter().map(|_| [next(), next(), next()]).collect()
}

/// Returns the sessions whose bytes a line takes: they are gone, or have come into the index or a commit.
fn taken(before: &[[String; 3]], after: &[[String; 3]]) -> BTreeSet<String> {
    let is_taken = |before: &[String; 3], after: &[String; 3]| {
        let own = &before[0];
        own != &after[0] || (1..3).any(|at| before[at] != *own && after[at] == *own)
    };
    let each = FILES.iter().zip(before.iter().zip(after));
    each.filter(|(_, (before, after))| is_taken(before, after))
        .map(|((session, _), _)| (*session).to_owned())
        .collect()
}

/// Returns the sessions for whose sake a line is held up.
fn held_up(world: &World, shop: &Path, line: &str) -> BTreeSet<String> {
    let hook = json!({"session_id": "asker", "cwd": shop, "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": line}});
    if guard(world, &hook).is_empty() {
        return BTreeSet::new();
    }
    let trees = world.path("home/.local/state/claimtop/guard/trees");
    let mut ledgers =
        std::fs::read_dir(trees).unwrap().map(|tree| tree.unwrap().path().join("asker.0.jsonl"));
    // What it does to the stash stands in another one.
    let has =
        |ledger: &PathBuf| std::fs::read_to_string(ledger).is_ok_and(|text| text.contains("\"held-up\""));
    let ledger = ledgers.find(has).unwrap();
    let text = std::fs::read_to_string(&ledger).unwrap();
    // The next line is the first that this session asks about.
    std::fs::remove_file(ledger).unwrap();
    let mut lines = text.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let held_up = lines.find_map(|line| line.get("held-up").cloned()).unwrap();
    held_up["others"].as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
}

/// Compares every nth line in a tree with this state and this change of the repository, so that its index has the
/// expected extension.
fn check(every: usize, under_way: &str, sort: Sort) {
    let world = World::new();
    let shop = tree(&world, sort, under_way);
    if !sort.options.is_empty() && !shop.join(".git").exists() {
        return eprintln!("skipped: git knows no {}", sort.options);
    }
    let index = std::fs::read(shop.join(".git/index")).unwrap();
    let has = sort.has.as_bytes();
    assert!(has.is_empty() || index.windows(has.len()).any(|part| part == has), "{}", sort.has);
    let kept = world.path("kept");
    let copy = |from: &Path, to: &Path| {
        assert!(Command::new("cp").arg("-a").args([from, to]).status().unwrap().success());
    };
    copy(&shop, &kept);
    let (mut wrong, mut counts) = (Vec::new(), [0; 2]);
    for (_, expected, line) in LINES.iter().filter(|(of, _, _)| *of == under_way).step_by(every) {
        std::fs::remove_dir_all(&shop).unwrap();
        copy(&kept, &shop);
        // A copy has other numbers, which some verbs take for changes.
        shell(&world, &shop, "git update-index -q --refresh");
        let held = held_up(&world, &shop, line);
        let before = state(&world, &shop);
        shell(&world, &shop, line);
        let taken = taken(&before, &state(&world, &shop));
        let is_right = match expected {
            Exactly if sort.is_unread => held.is_subset(&taken),
            ByRule if sort.is_unread => true,
            Exactly => held == taken,
            ByRule => !held.is_empty() && held.is_superset(&taken),
            Silent => held.is_empty(),
        };
        if !is_right {
            wrong.push(format!("{line}\n  takes {taken:?}\n  held up for {held:?}"));
        }
        counts[usize::from(held.is_empty())] += 1;
    }
    eprintln!("{under_way}: {counts:?} held up and not");
    assert!(wrong.is_empty(), "{under_way}: {} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_line_is_held_up_for_those_whose_bytes_it_takes() {
    check(1, PLAIN, Sort::default());
}

/// What settings and hooks make of a line; the first column prepares the tree.
#[test]
fn settings_of_git_decide_what_a_line_stashes() {
    const HOOK: &str = "printf '#!/bin/sh\ngit stash -q -k\n' > .git/hooks/pre-commit";
    const HUSKY: &str =
        "mkdir -p .husky/_; git config core.hooksPath .husky/_; echo 'npx lint-staged' > .husky/pre-commit";
    const REBASES: &str = "git config rebase.autoStash true";
    for (before, line, is_held) in [
        ("git config alias.sv 'stash -u'", "git sv", true),
        ("git config --global alias.nuke '!git reset --hard && git clean -fd'", "cd src && git nuke", true),
        ("git config alias.st 'status -s'", "git st", false),
        ("true", "git pull", false),
        ("true", "git pull --rebase", false),
        (REBASES, "git pull", false),
        (REBASES, "git pull --rebase", true),
        (REBASES, "git pull -r origin main", true),
        (REBASES, "git pull --rebase --no-autostash", false),
        ("git config --global rebase.autoStash true; git config pull.rebase true", "git pull", true),
        ("git config rebase.autoStash true; git config branch.main.rebase true", "git pull", true),
        ("git config rebase.autoStash true; git config pull.rebase true", "git pull --no-rebase", false),
        ("git config --global merge.autoStash true", "git pull --ff-only", true),
        ("true", "git -c rebase.autoStash=true pull --rebase", true),
        ("true", "git commit -qm x -- own.rs", false),
        (HOOK, "git commit -qm x -- own.rs", true),
        (HOOK, "git commit -nqm x -- own.rs", false),
        (HOOK, "git -c core.hooksPath=/dev/null commit -qm x -- own.rs", false),
        (HUSKY, "git commit -qm x -- own.rs", true),
    ] {
        let world = World::new();
        let shop = tree(&world, Sort::default(), PLAIN);
        shell(&world, &shop, before);
        assert_eq!(!held_up(&world, &shop, line).is_empty(), is_held, "{before}: {line}");
    }
}

/// A submodule with another session's edits: what a line really takes there, by its bytes, is what it is held up for.
#[test]
fn a_line_is_held_up_for_what_it_takes_of_a_submodule() {
    const LINES: &[&str] = &[
        "git submodule update --force",
        "git submodule update --init --recursive --force",
        "git submodule update",
        "git submodule foreach --recursive 'git reset --hard'",
        "git submodule foreach git checkout .",
        "git submodule foreach git status",
        "git submodule deinit -f packages/engine",
        "git submodule deinit --all -f",
        "git submodule sync",
        "git reset -q --hard --recurse-submodules",
        "git reset -q --hard",
        "git checkout -f --recurse-submodules main",
        "git restore --recurse-submodules .",
        "git rm -rfq packages/engine",
        "git clean -ffdx",
        "git -C packages/engine stash -u",
        "cd packages/engine && git clean -fd",
        "rm -rf packages",
        "rm -rf packages/engine",
        "git stash",
    ];
    let world = World::new();
    world.write("home/.gitconfig", "[user]\nname = x\nemail = x@x\n[protocol \"file\"]\nallow = always\n");
    let shop = world.path("shop");
    std::fs::create_dir_all(world.path("engine")).unwrap();
    std::fs::create_dir_all(&shop).unwrap();
    let begin = "git init -qb main; echo 0 > lib.rs; git add -A; git commit -qm one";
    shell(&world, &world.path("engine"), begin);
    shell(
        &world,
        &shop,
        &format!("{begin}; git submodule -q add ../engine packages/engine; git commit -qm sub"),
    );
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let engine = shop.join("packages/engine");
    let kept = world.path("kept");
    let copy = |from: &Path, to: &Path| {
        assert!(Command::new("cp").arg("-a").args([from, to]).status().unwrap().success());
    };
    for (file, text) in [("lib.rs", "lib of pay\n"), ("new.rs", "new of pay\n")] {
        std::fs::write(engine.join(file), text).unwrap();
        let hook = json!({"session_id": "pay", "cwd": shop, "hook_event_name": "PostToolUse",
            "tool_name": "Write", "tool_input": {"file_path": engine.join(file), "content": "x"}});
        assert_eq!(guard(&world, &hook), "");
    }
    copy(&shop, &kept);
    let state = || ["lib.rs", "new.rs"].map(|file| std::fs::read_to_string(engine.join(file)).ok());
    let (before, mut wrong) = (state(), Vec::new());
    for line in LINES {
        std::fs::remove_dir_all(&shop).unwrap();
        copy(&kept, &shop);
        let is_held = !held_up(&world, &shop, line).is_empty();
        shell(&world, &shop, line);
        if (state() != before) != is_held {
            wrong.push(format!("{line}: held up {is_held}, after it {:?}", state()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_under_way_decides_whose_bytes_an_end_of_it_takes() {
    [TIDY, MERGE, REBASE, PICK, REVERT, MAIL].iter().for_each(|one| check(1, one, Sort::default()));
}

#[test]
fn an_index_is_read_whatever_git_keeps_in_it() {
    let split = "git config core.splitIndex true; git update-index --split-index";
    let version = "git config core.untrackedCache true; git update-index --index-version 4 --untracked-cache";
    let monitor = "git config core.fsmonitor /bin/false; git update-index --fsmonitor";
    let sparse = "git sparse-checkout set --sparse-index src docs fresh out";
    for (more, has) in [
        (split, "link"),
        (version, "DIRC\0\0\0\u{4}"),
        (version, "UNTR"),
        (monitor, "FSMN"),
        (sparse, "sdir"),
    ] {
        check(6, PLAIN, Sort { more, has, ..Sort::default() });
    }
}

#[test]
fn what_cannot_be_read_holds_nobody_up_who_takes_nothing() {
    for options in ["--object-format=sha256", "--ref-format=reftable"] {
        check(4, PLAIN, Sort { options, is_unread: true, ..Sort::default() });
    }
}

#[test]
fn where_git_is_told_to_work_elsewhere_nobody_is_held_up() {
    let world = World::new();
    let shop = tree(&world, Sort::default(), PLAIN);
    let hook = json!({"session_id": "asker", "cwd": shop, "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": "git stash"}});
    for (name, is_elsewhere) in
        [("GIT_INDEX_FILE", true), ("GIT_DIR", true), ("GIT_WORK_TREE", true), ("GIT_PAGER", false)]
    {
        let said = guard_with(&world, &hook, &[(name, "/nowhere")]);
        assert_eq!(said.is_empty(), is_elsewhere, "{name}: {said}");
    }
}

#[test]
fn a_working_tree_inside_goes_with_what_removes_it() {
    let world = World::new();
    let shop = tree(&world, Sort::default(), PLAIN);
    let more = "git worktree add -q trees/f other; git worktree add -q out/g clash; sleep 1.1; \
        echo edited > trees/f/own.rs; echo edited > out/g/own.rs";
    shell(&world, &shop, more);
    for (session, below) in [("changed", "trees/f/own.rs"), ("staged", "out/g/own.rs")] {
        let file = shop.join(below);
        let hook = json!({"session_id": session, "cwd": file.parent().unwrap(), "hook_event_name": "PostToolUse",
            "tool_name": "Write", "tool_input": {"file_path": file, "content": "x"}});
        assert_eq!(guard(&world, &hook), "");
    }
    for (line, held) in [
        ("git clean -ffd trees", &["changed"][..]),
        ("git clean -f --force trees/f", &["changed"]),
        ("git clean -ffdX", &["built", "log"]),
        ("git clean -ffdX out/g", &["staged"]),
        ("git clean -fd trees", &[]),
        ("git clean -ffd trees -e f", &[]),
        ("git clean -ffd docs", &[]),
    ] {
        assert!(held_up(&world, &shop, line).iter().eq(held), "{line}");
    }
}

#[test]
fn a_submodule_is_a_tree_of_its_own() {
    let world = World::new();
    let shop = tree(&world, Sort::default(), PLAIN);
    let more = "git -C shop stash -u -q; git init -q top; cd top; git -c protocol.file.allow=always submodule --quiet \
        add ../shop sub; git commit -qm sub; sleep 1.1; echo edited > sub/own.rs";
    shell(&world, &world.path(""), more);
    let (top, sub) = (world.path("top"), world.path("top/sub"));
    let hook = json!({"session_id": "changed", "cwd": top, "hook_event_name": "PostToolUse",
        "tool_name": "Write", "tool_input": {"file_path": sub.join("own.rs"), "content": "x"}});
    assert_eq!(guard(&world, &hook), "");
    for (line, is_held) in [
        ("git stash", false),
        ("git clean -ffdx", false),
        ("git checkout .", false),
        ("git -C sub stash", true),
        ("cd sub && git checkout .", true),
    ] {
        assert_eq!(!held_up(&world, &top, line).is_empty(), is_held, "{line}");
    }
    assert!(shop.exists());
}
