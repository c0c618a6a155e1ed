//! Random pairs, each really merged afterwards: no forecast of a clean merge is wrong, and none of a conflict.

use std::collections::BTreeSet;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

/// How many pairs, unless `CLAIMTOP_ROUNDS` says otherwise.
const ROUNDS: u64 = 30;

/// Numbers from a seed (splitmix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % below
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        let at = self.roll(u64::try_from(all.len()).unwrap());
        &all[usize::try_from(at).unwrap()]
    }
}

fn make(stage: &Stage, dice: &mut Dice) {
    for (name, lines) in
        [("a.rs", 12), ("b.rs", 30), ("src/c.rs", 20), ("src/deep/d.rs", 8), ("src/deep/e.rs", 25)]
    {
        let text: String = (0..lines).map(|line| format!("{name} {line}\n")).collect();
        let is_crlf = dice.roll(6) == 0;
        stage.write(&format!("shop/{name}"), if is_crlf { text.replace('\n', "\r\n") } else { text });
    }
    stage.write("shop/logo.png", b"\0\x01\x02");
    stage.write("shop/.gitignore", "*.log\n");
    symlink("a.rs", stage.at("shop/link")).unwrap();
    let attributes = [
        "",
        "",
        "",
        "* text=auto\n",
        "*.rs text\n",
        "*.rs eol=crlf\n",
        "a.rs merge=union\nb.rs -merge\n",
        "*.rs ident\n",
    ];
    stage.write("shop/.gitattributes", dice.pick(&attributes));
    for (key, values) in [
        ("core.autocrlf", &["false", "false", "true", "input"][..]),
        ("core.fileMode", &["true", "true", "false"]),
        ("merge.renames", &["true", "true", "false"]),
        ("merge.directoryRenames", &["conflict", "true", "false"]),
        ("merge.renormalize", &["false", "false", "true"]),
    ] {
        stage.git("shop", &["config", key, dice.pick::<&str>(values)]);
    }
    stage.commit("shop");
    stage.trees();
    if dice.roll(6) == 0 {
        stage.git(
            "ui",
            &["sparse-checkout", "set", dice.pick::<&str>(&["--sparse-index", "--no-sparse-index"]), "src"],
        );
    }
}

/// Does one random thing to a working tree.
fn act(stage: &Stage, dice: &mut Dice, tree: &str) {
    let top = stage.at(tree);
    let listed = stage.git(tree, &["ls-files", "-z"]);
    let files: BTreeSet<&str> = listed.split('\0').filter(|name| !name.is_empty()).collect();
    let files: Vec<&str> = files
        .into_iter()
        .filter(|name| top.join(name).symlink_metadata().is_ok_and(|meta| !meta.is_dir()))
        .collect();
    if files.is_empty() {
        return;
    }
    let name = *dice.pick(&files);
    let path = top.join(name);
    let is_file = path.symlink_metadata().unwrap().is_file();
    match dice.roll(16) {
        0..=4 if is_file => {
            let text = std::fs::read(&path).unwrap();
            let mut lines: Vec<Vec<u8>> =
                text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
            let at = usize::try_from(dice.roll(u64::try_from(lines.len() + 1).unwrap())).unwrap();
            let new = format!("{tree} {}\n", dice.roll(3)).into_bytes();
            if at < lines.len() {
                lines[at] = new
            } else {
                lines.push(new)
            }
            std::fs::write(&path, lines.concat()).unwrap();
        }
        5 => std::fs::remove_file(&path).unwrap(),
        6 | 7 => {
            let targets = ["moved.rs", "src/moved.rs", "lib/moved.rs", "lib/other.rs"];
            let target = top.join(dice.pick(&targets));
            if target.parent().unwrap().exists() || std::fs::create_dir_all(target.parent().unwrap()).is_ok()
            {
                let _ = std::fs::rename(&path, target);
            }
        }
        8 if is_file => {
            let mode = dice.pick(&[0o755, 0o644]);
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(*mode)).unwrap();
        }
        9 if is_file => {
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).replace("\r\n", "\n");
            std::fs::write(&path, text.replace('\n', "\r\n")).unwrap();
        }
        10 => {
            let new = ["new.rs", "src/new.rs", "x.log", "new.bin", "link2"];
            let path = top.join(dice.pick(&new));
            if path.parent().unwrap().is_dir() {
                let _ = std::fs::write(path, format!("{tree} {}\n\0", dice.roll(2)));
            }
        }
        11 => {
            let _ = std::fs::remove_file(&path);
            symlink(dice.pick(&["x", "y"]), &path).unwrap();
        }
        12 => {
            let _ = std::fs::remove_file(&path);
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join("inside"), tree).unwrap();
        }
        13 => {
            let _ = std::fs::rename(top.join("src/deep"), top.join(dice.pick(&["deep", "src/far"])));
        }
        14 => std::fs::write(top.join("logo.png"), format!("\0{}", dice.roll(3))).unwrap_or_default(),
        15 => {
            let other = dice.pick(&["* text=auto\n", "*.rs -text\n", "*.rs merge=union\n"]);
            let _ = std::fs::write(top.join(".gitattributes"), other);
        }
        _ => {}
    }
    match dice.roll(6) {
        0 => stage.commit(tree),
        1 => drop(stage.git(tree, &["add", "-A", "--sparse"])),
        2 => drop(stage.try_git(tree, &["add", "-N", "."])),
        _ => {}
    }
}

/// Returns a name without the branch that git adds where a folder is in the way.
fn plain(name: &str) -> String {
    let ends = ["~ui", "~HEAD"];
    ends.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name).to_owned()
}

#[test]
fn what_is_foreseen_is_what_a_merge_does() {
    let rounds =
        std::env::var("CLAIMTOP_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS);
    let first = std::env::var("CLAIMTOP_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut counts = [0; 3];
    let mut wrong = Vec::new();
    for seed in first..first + rounds {
        let Some(stage) = Stage::bare() else { return };
        let mut dice = Dice(seed);
        make(&stage, &mut dice);
        for _ in 0..2 + dice.roll(9) {
            let tree = dice.pick(&["api", "ui"]);
            act(&stage, &mut dice, tree);
        }
        let before = stage.fingerprint();
        let forecast = stage.pair();
        stage.check_untouched(&before);
        let attributes =
            ["shop", "api", "ui"].map(|tree| std::fs::read(stage.at(tree).join(".gitattributes")).ok());
        let has_attributes = attributes.iter().any(|one| *one != attributes[0]);
        let (is_merged, unmerged) = stage.really_merge();
        counts[match forecast.outcome {
            Outcome::Clean => 0,
            Outcome::Conflicts => 1,
            Outcome::Unknown => 2,
        }] += 1;
        let foreseen: Vec<String> =
            forecast.conflicts.iter().map(|conflict| conflict.path.raw().to_owned()).collect();
        let is_right = match forecast.outcome {
            Outcome::Clean => is_merged,
            // What else is in conflict can depend on whose attributes count.
            Outcome::Conflicts => {
                !is_merged && (has_attributes || unmerged.iter().all(|name| foreseen.contains(&plain(name))))
            }
            Outcome::Unknown => true,
        };
        if !is_right {
            wrong.push(format!("seed {seed}: {forecast:?}; git: {is_merged} {unmerged:?}"));
        } else if forecast.outcome == Outcome::Unknown {
            eprintln!("seed {seed}: {:?}", forecast.why);
        }
    }
    eprintln!("clean, conflicts, unknown: {counts:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
