//! The kinds of conflict, and what is unknown.

use super::super::memory::Memory;
use super::*;

#[track_caller]
fn check(stage: &Stage, expected: &[(&str, ConflictKind)]) {
    let forecast = stage.pair();
    let found = kinds(&forecast);
    let found: Vec<(&str, ConflictKind)> = found.iter().map(|(path, kind)| (path.as_str(), *kind)).collect();
    assert_eq!(found, expected, "{forecast:?}");
    assert_eq!(forecast.outcome, Outcome::Conflicts);
}

#[track_caller]
fn check_unknown(stage: &Stage, expected: &str) {
    let forecast = stage.pair();
    let why = forecast.why.as_ref().map(|why| why.shown()).unwrap_or_default();
    assert!(forecast.outcome == Outcome::Unknown && why.contains(expected), "{forecast:?}");
}

#[test]
fn more_than_text_is_named_as_its_own_kind() {
    let Some(stage) = Stage::bare() else { return };
    stage.write("shop/Cargo.lock", "a\n");
    stage.write("shop/gone.rs", numbered(9));
    stage.write("shop/old.rs", numbered(40));
    stage.write("shop/logo.png", b"\0a");
    stage.commit("shop");
    stage.trees();
    for (tree, name) in [("api", "pay"), ("ui", "tax")] {
        stage.write(&format!("{tree}/Cargo.lock"), name);
        stage.write(&format!("{tree}/logo.png"), format!("\0{name}"));
        stage.write(&format!("{tree}/shop/migrations/0007_{name}.sql"), name);
        stage.git(tree, &["mv", "old.rs", &format!("{name}.rs")]);
    }
    stage.edit("api/gone.rs", 1, "edited");
    std::fs::remove_file(stage.at("ui/gone.rs")).unwrap();
    check(
        &stage,
        &[
            ("Cargo.lock", ConflictKind::LockFile),
            ("gone.rs", ConflictKind::DeletedAndEdited),
            ("logo.png", ConflictKind::Binary),
            ("old.rs", ConflictKind::Renamed),
            ("pay.rs", ConflictKind::Renamed),
            ("tax.rs", ConflictKind::Renamed),
            ("shop/migrations/0007_pay.sql", ConflictKind::SameNumber),
            ("shop/migrations/0007_tax.sql", ConflictKind::SameNumber),
        ],
    );
}

#[test]
fn an_unfinished_merge_is_unknown() {
    let Some(stage) = Stage::new() else { return };
    stage.edit("api/pay.rs", 1, "api");
    stage.commit("api");
    stage.edit("ui/pay.rs", 1, "ui");
    stage.commit("ui");
    assert!(!stage.try_git("ui", &["merge", "api"]).status.success());
    check_unknown(&stage, "a merge is not finished there");
    std::fs::remove_file(stage.git("ui", &["rev-parse", "--git-path", "MERGE_HEAD"]).trim()).unwrap();
    check_unknown(&stage, "files whose merge is not finished");
}

#[test]
fn unrelated_and_crossed_histories_are_unknown() {
    let Some(stage) = Stage::new() else { return };
    for tree in ["api", "ui"] {
        stage.write(&format!("{tree}/{tree}.rs"), tree);
        stage.commit(tree);
    }
    let [api, ui] = ["api", "ui"].map(|tree| stage.git(tree, &["rev-parse", "HEAD"]).trim().to_owned());
    stage.git("api", &["merge", "-q", "--no-edit", &ui]);
    stage.git("ui", &["merge", "-q", "--no-edit", &api]);
    check_unknown(&stage, "more than one base");
    stage.git("ui", &["checkout", "-q", "--orphan", "other"]);
    check_unknown(&stage, "it has no commit yet");
    stage.commit("ui");
    check_unknown(&stage, "no commit in common");
}

#[test]
fn a_missing_tree_and_a_missing_git_are_unknown() {
    let Some(stage) = Stage::new() else { return };
    let copies = Copies::in_folder(&stage.at("state/copies"));
    let (asker, fence) = (Asker { programs: Vec::new(), home: stage.at("home") }, Fence::default());
    let foreseer = Foreseer { asker: &asker, copies: &copies, fence: &fence };
    let forecasts = foreseer.foresee(&[stage.at("api"), stage.at("ui")], &mut Memory::default()).forecasts;
    assert_eq!(forecasts[0].why, Some("git was not found".into()));
    assert!(
        foreseer
            .foresee(&[stage.at("home"), stage.at("nowhere")], &mut Memory::default())
            .forecasts
            .is_empty()
    );
}

#[test]
fn a_submodule_that_both_move_is_unknown_and_one_that_one_moves_merges() {
    let Some(stage) = Stage::bare() else { return };
    std::fs::create_dir(stage.at("lib")).unwrap();
    stage.git("lib", &["init", "-q", "-b", "main"]);
    stage.commit("lib");
    stage.git("shop", &["submodule", "--quiet", "add", "../lib", "lib"]);
    stage.commit("shop");
    stage.trees();
    for tree in ["api", "ui"] {
        stage.git(tree, &["submodule", "--quiet", "update", "--init"]);
    }
    stage.commit("api/lib");
    stage.write("ui/other", "x");
    assert_eq!(stage.pair().outcome, Outcome::Clean);
    stage.write("ui/lib/x", "x");
    assert_eq!(stage.pair().outcome, Outcome::Clean, "what is not committed in a submodule is its own");
    stage.commit("ui/lib");
    check_unknown(&stage, "both move the submodule lib");
}

#[test]
fn a_sparse_tree_keeps_what_is_not_checked_out() {
    let Some(stage) = Stage::bare() else { return };
    for folder in ["a", "b"] {
        stage.write(&format!("shop/{folder}/x"), numbered(9));
    }
    stage.commit("shop");
    stage.trees();
    stage.git("ui", &["sparse-checkout", "set", "--sparse-index", "a"]);
    assert!(!stage.at("ui/b").exists());
    stage.edit("ui/a/x", 1, "ui");
    stage.edit("api/b/x", 1, "api");
    let before = stage.fingerprint();
    let forecast = stage.pair();
    assert_eq!((forecast.outcome, forecast.sides[1].uncommitted), (Outcome::Clean, 1), "{forecast:?}");
    stage.check_untouched(&before);
    stage.edit("api/a/x", 1, "api");
    check(&stage, &[("a/x", ConflictKind::Lines)]);
}

#[test]
fn nested_working_trees_are_not_part_of_the_outer_one() {
    let Some(stage) = Stage::new() else { return };
    stage.git("shop", &["worktree", "add", "-q", "-b", "fix", ".claude/worktrees/fix"]);
    stage.edit("shop/.claude/worktrees/fix/pay.rs", 1, "fix");
    let forecasts = stage.foresee(&["shop", "shop/.claude/worktrees/fix"]);
    assert_eq!(
        (forecasts[0].outcome, forecasts[0].sides[0].uncommitted),
        (Outcome::Clean, 0),
        "{forecasts:?}"
    );
}

#[test]
fn a_split_index_and_a_hash_of_another_length_are_read() {
    let Some(stage) = Stage::bare() else { return };
    std::fs::remove_dir_all(stage.at("shop/.git")).unwrap();
    stage.git("shop", &["init", "-q", "-b", "main", "--object-format=sha256"]);
    stage.write("shop/pay.rs", numbered(9));
    stage.commit("shop");
    stage.trees();
    stage.git("ui", &["update-index", "--split-index"]);
    stage.edit("ui/pay.rs", 3, "ui");
    stage.edit("api/pay.rs", 3, "api");
    let before = stage.fingerprint();
    check(&stage, &[("pay.rs", ConflictKind::Lines)]);
    stage.check_untouched(&before);
}

#[test]
fn what_is_too_large_is_unknown() {
    let Some(stage) = Stage::new() else { return };
    let file = std::fs::File::create(stage.at("ui/film.bin")).unwrap();
    file.set_len(65 << 20).unwrap();
    check_unknown(&stage, "more than 64 MiB are not committed there");
}

#[test]
fn a_file_that_cannot_be_read_is_unknown() {
    let Some(stage) = Stage::new() else { return };
    stage.write("ui/secret", "x");
    std::fs::set_permissions(stage.at("ui/secret"), std::os::unix::fs::PermissionsExt::from_mode(0o0))
        .unwrap();
    if std::fs::File::open(stage.at("ui/secret")).is_ok() {
        return eprintln!("skipped: root reads everything");
    }
    check_unknown(&stage, "could not be read");
}

#[test]
fn a_shallow_and_a_partial_clone_are_merged_without_a_fetch() {
    let Some(stage) = Stage::new() else { return };
    for _ in 0..3 {
        stage.edit("shop/pay.rs", 1, "more");
        stage.commit("shop");
    }
    stage.git("shop", &["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", stage.at("shop").display());
    let far = stage.at("far").display().to_string();
    stage.git("home", &["clone", "-q", "--depth=1", "--filter=blob:none", &url, &far]);
    for name in ["one", "two"] {
        stage.git("far", &["worktree", "add", "-q", "-b", name, &format!("../{name}")]);
        stage.edit(&format!("{name}/pay.rs"), 2, name);
    }
    stage.commit("one");
    let forecasts = stage.foresee(&["one", "two"]);
    assert_eq!(kinds(&forecasts[0]), [("pay.rs".to_owned(), ConflictKind::Lines)], "{forecasts:?}");
}

#[test]
fn a_repository_inside_and_unwatched_files_are_not_known() {
    let check = |harm: &dyn Fn(&Stage), why: &str| {
        let Some(stage) = Stage::new() else { return };
        harm(&stage);
        let forecast = stage.pair();
        let said = forecast.why.unwrap_or_default();
        assert_eq!(forecast.outcome, Outcome::Unknown, "{why}");
        assert!(said.raw().contains(why), "{said}");
    };
    check(
        &|stage| {
            stage.write("api/sub/inner", "a\n");
            stage.git("api/sub", &["init", "-q"]);
            stage.write("ui/sub/inner", "b\n");
        },
        "a repository of its own inside, sub/",
    );
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        check(
            &|stage| {
                stage.git("api", &["update-index", flag, "pay.rs"]);
                stage.edit("api/pay.rs", 3, "api");
                stage.edit("ui/pay.rs", 3, "ui");
            },
            "not to watch some of its files, such as pay.rs",
        );
    }
}

#[test]
fn an_ignored_file_that_the_other_side_adds_is_a_conflict_unless_it_is_the_same() {
    let Some(stage) = Stage::new() else { return };
    stage.write("shop/.git/info/exclude", "*.env\n");
    stage.write("api/pay.env", "mine\n");
    stage.write("ui/pay.env", "theirs\n");
    stage.git("ui", &["add", "-f", "pay.env"]);
    check(&stage, &[("pay.env", ConflictKind::Ignored)]);
    stage.write("api/pay.env", "theirs\n");
    assert_eq!(stage.pair().outcome, Outcome::Clean);
}
