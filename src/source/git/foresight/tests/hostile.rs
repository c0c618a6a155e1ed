//! Repositories that name programs: none of them runs, and what they would have done is unknown.

use std::os::unix::fs::PermissionsExt;

use super::super::memory::Memory;
use super::*;

/// Makes a program that leaves a mark, and returns it and the mark.
fn evil(stage: &Stage) -> (String, PathBuf) {
    let marker = stage.at("ran");
    stage.write("evil", format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", marker.display()));
    std::fs::set_permissions(stage.at("evil"), std::fs::Permissions::from_mode(0o700)).unwrap();
    (stage.at("evil").display().to_string(), marker)
}

#[test]
fn nothing_that_a_repository_names_is_run() {
    let Some(stage) = Stage::new() else { return };
    let (evil, marker) = evil(&stage);
    stage.write("shop/.gitattributes", "* filter=a.b=c diff=evil merge=evil\n");
    stage.commit("shop");
    for tree in ["api", "ui"] {
        stage.git(tree, &["reset", "-q", "--hard", "main"]);
    }
    stage.write("shop/.git/info/attributes", "*.rs filter=a.b=c merge=evil\n");
    for (key, value) in [
        ("filter.a.b=c.clean", evil.as_str()),
        ("filter.a.b=c.process", &evil),
        ("filter.a.b=c.required", "true"),
        ("merge.evil.driver", &format!("{evil} %A %O %B")),
        ("merge.default", "evil"),
        ("diff.external", &evil),
        ("diff.evil.textconv", &evil),
        ("diff.evil.command", &evil),
        ("core.fsmonitor", &evil),
        ("core.sshCommand", &evil),
        ("core.pager", &evil),
        ("core.editor", &evil),
        ("core.alternateRefsCommand", &evil),
        ("core.hooksPath", &stage.at("shop/.git/hooks").display().to_string()),
        ("alias.ls-files", &format!("!{evil}")),
        ("remote.far.url", &format!("ext::{evil}")),
        ("remote.far.promisor", "true"),
        ("protocol.ext.allow", "always"),
        ("extensions.partialClone", "far"),
        ("submodule.lib.update", &format!("!{evil}")),
    ] {
        stage.git("shop", &["config", key, value]);
    }
    for hook in
        ["post-index-change", "fsmonitor-watchman", "reference-transaction", "pre-commit", "pre-merge-commit"]
    {
        std::fs::copy(stage.at("evil"), stage.at("shop/.git/hooks").join(hook)).unwrap();
    }
    let _ = std::fs::remove_file(&marker);
    stage.edit("api/pay.rs", 2, "api");
    stage.edit("ui/pay.rs", 25, "ui");
    let before = stage.fingerprint();
    let forecast = stage.pair();
    let ran = std::fs::read_to_string(&marker).unwrap_or_default();
    assert_eq!(ran, "", "nothing ran");
    stage.check_untouched(&before);
    assert_eq!(forecast.why, Some("pay.rs goes through a filter, which was not run".into()));
    // It would have run all the same: the world is as hostile as it seems.
    stage.try_git("ui", &["status"]);
    assert!(marker.exists(), "git status runs what it names");
}

#[test]
fn a_merge_driver_makes_unknown_what_both_change() {
    let Some(stage) = Stage::new() else { return };
    let (evil, marker) = evil(&stage);
    stage.git("shop", &["config", "merge.evil.driver", &evil]);
    stage.write("shop/.git/info/attributes", "pay.rs merge=evil\n");
    stage.edit("api/pay.rs", 2, "api");
    stage.edit("ui/tax.rs", 2, "ui");
    assert_eq!(stage.pair().outcome, Outcome::Clean);
    stage.edit("ui/pay.rs", 25, "ui");
    let forecast = stage.pair();
    assert_eq!(forecast.why, Some("pay.rs has a merge driver, which was not run".into()));
    assert!(!marker.exists());
}

#[test]
fn a_git_that_does_not_answer_is_ended() {
    let Some(stage) = Stage::new() else { return };
    stage.write("bin/git", "#!/bin/sh\nexec /bin/sleep 600\n");
    std::fs::set_permissions(stage.at("bin/git"), std::fs::Permissions::from_mode(0o700)).unwrap();
    let (asker, fence) =
        (Asker { programs: vec![stage.at("bin")], home: stage.at("home") }, Fence::default());
    let copies = Copies::in_folder(&stage.at("state/copies"));
    let forecasts = Foreseer { asker: &asker, copies: &copies, fence: &fence }
        .foresee(&[stage.at("api"), stage.at("ui")], &mut Memory::default())
        .forecasts;
    assert!(forecasts[0].why.as_ref().unwrap().shown().contains("in time"), "{forecasts:?}");
}

#[test]
fn a_window_that_commits_meanwhile_is_not_held_up() {
    let Some(stage) = Stage::new() else { return };
    stage.edit("ui/pay.rs", 3, "ui");
    let is_done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..30 {
                stage.edit("api/pay.rs", 12, &format!("round {round}"));
                stage.commit("api");
            }
            is_done.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        // A window that fails must not keep the test waiting.
        for _ in 0..200 {
            if is_done.load(std::sync::atomic::Ordering::Relaxed) {
                break;
            }
            let forecast = stage.pair();
            assert_ne!(forecast.outcome, Outcome::Conflicts, "{forecast:?}");
        }
    });
    assert_eq!(stage.pair().outcome, Outcome::Clean);
}
