//! Shell lines as agents write them, each with its effect, which is known here from writing the line, not from reading
//! it.

/// The files that a line takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    Nothing,
    Tracked,
    All,
    New,
    /// These, as they lie in the working tree.
    Files(Vec<String>),
}

/// The effect on the working tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    None,
    Stash,
    StashAll,
    Reset,
    Restore,
    Clean,
    Commit,
    CommitAll,
    Remove,
    /// It begins a branch where the tree is.
    Begin,
}

/// Lines that lose nothing, however they look.
pub(crate) const HARMLESS: [&str; 26] = [
    "git status --short",
    "git diff",
    "git log --oneline -5",
    "git stash list",
    "git stash show -p",
    "git branch -a",
    "git restore --staged .",
    "git add a.rs",
    "git commit -m 'do not git stash here'",
    "git commit -m \"git reset --hard\"",
    "echo git stash",
    "grep -rn 'git checkout .' docs",
    "git reset",
    "git reset --soft HEAD~1",
    "git clean -nfd",
    "git clean --dry-run -f -d",
    "git merge --abort",
    "git rebase --continue",
    "git show HEAD:a.rs",
    "cargo test 2>&1 | tail -20",
    "git worktree list",
    "git checkout --help",
    "# git stash",
    "ls .git && cat .git/HEAD",
    "git config --get user.name",
    "git fetch origin && git log HEAD..origin/main",
];

/// Whole-tree verbs, with their reach and effect.
pub(crate) const WHOLE: [(&str, Reach, Effect); 28] = [
    ("git stash", Reach::Tracked, Effect::Stash),
    ("git stash push -m wip", Reach::Tracked, Effect::Stash),
    ("git stash save", Reach::Tracked, Effect::Stash),
    ("git stash -u", Reach::All, Effect::StashAll),
    ("git stash push --include-untracked", Reach::All, Effect::StashAll),
    ("git reset --hard", Reach::Tracked, Effect::Reset),
    ("git reset --hard HEAD", Reach::Tracked, Effect::Reset),
    ("git -c advice.detachedHead=false reset --hard", Reach::Tracked, Effect::Reset),
    ("git checkout .", Reach::Tracked, Effect::Reset),
    ("git checkout -- .", Reach::Tracked, Effect::Reset),
    ("git checkout -f", Reach::Tracked, Effect::Reset),
    ("git checkout HEAD -- .", Reach::Tracked, Effect::Reset),
    ("git restore .", Reach::Tracked, Effect::Reset),
    ("git restore --staged --worktree .", Reach::Tracked, Effect::Reset),
    ("git clean -fd", Reach::New, Effect::Clean),
    ("git clean -f -d", Reach::New, Effect::Clean),
    ("git clean -xfd", Reach::New, Effect::Clean),
    ("git commit -am 'wip'", Reach::Tracked, Effect::Commit),
    ("git commit -a -m \"All of it\"", Reach::Tracked, Effect::Commit),
    ("git commit --all --message=all", Reach::Tracked, Effect::Commit),
    ("git commit -am \"$(cat <<'EOF'\nAll of it\n\nEOF\n)\"", Reach::Tracked, Effect::Commit),
    ("git add -A && git commit -m wip", Reach::All, Effect::CommitAll),
    ("git add . && git commit -m 'all of it'", Reach::All, Effect::CommitAll),
    ("git add --all", Reach::All, Effect::None),
    ("git rebase main", Reach::Tracked, Effect::None),
    ("git merge topic", Reach::Tracked, Effect::None),
    ("git switch -c other", Reach::Nothing, Effect::Begin),
    ("git checkout -b other", Reach::Nothing, Effect::Begin),
];

/// Verbs for one file, and programs that remove or change it.
pub(crate) const OF_FILES: [(&str, Effect); 8] = [
    ("git checkout -- {}", Effect::Restore),
    ("git checkout HEAD -- {}", Effect::Restore),
    ("git restore {}", Effect::Restore),
    ("git restore --source HEAD {}", Effect::Restore),
    ("git checkout {}", Effect::Restore),
    ("/usr/bin/git restore -- {}", Effect::Restore),
    ("rm -f {}", Effect::Remove),
    ("sed -i s/0/0/ {}", Effect::None),
];

/// Text around a command that does not change its effect: `{}`.
pub(crate) const AROUND: [&str; 21] = [
    "{}",
    "{}",
    "{}",
    "{}",
    "{} && cargo test",
    "cargo test; {}",
    "{} 2>&1 | tail -3",
    "FOO=1 {}",
    "set -e; {}",
    "if ! cargo test -q; then {}; fi",
    "true\n{}",
    "timeout 60 {}",
    "{} > /dev/null 2>&1",
    "({})",
    "time {}",
    "{} || echo failed",
    "cargo test && \\\n  {}",
    "cat > notes.md <<'EOF'\ngit checkout .\nEOF\n{}",
    "echo \"$(date)\"; {}",
    "/usr/bin/env -- {}",
    "bash <<'X'\n{}\nX",
];

/// Wrappers that hide a command in another shell or program.
pub(crate) const HIDING: [&str; 6] = [
    "sh < ./tidy.sh",
    "sh ./tidy.sh",
    "make reset",
    "$GIT stash",
    "cd \"$TOP\" && {}",
    "python3 -c 'import os; os.system(\"{}\")'",
];
