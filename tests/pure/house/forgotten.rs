//! Every file below `tests` belongs to a program that `Cargo.toml` names: with `autotests = false`, cargo searches for
//! none itself, and a file without its `mod` line would never be compiled.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Returns the files that a root's `mod` lines lead to, and the root.
fn reached(file: &Path, all: &mut BTreeSet<PathBuf>) {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    all.insert(file.canonicalize().unwrap());
    let folder = file.parent().unwrap();
    // Modules of `a/mod.rs` and of a root lie beside it, those of `a.rs` in `a`.
    let is_folder = ["main.rs", "mod.rs"].iter().any(|name| file.ends_with(name));
    let below = if is_folder { folder.to_owned() } else { file.with_extension("") };
    let mut given = None;
    for line in text.lines().map(str::trim) {
        if let Some(path) = line.strip_prefix("#[path = \"").and_then(|rest| rest.strip_suffix("\"]")) {
            given = Some(folder.join(path));
        } else if let Some(name) = module(line) {
            let candidates = [
                below.join(format!("{name}.rs")),
                below.join(name).join("mod.rs"),
                folder.join(format!("{name}.rs")),
            ];
            let found = given.take().or_else(|| candidates.into_iter().find(|path| path.exists()));
            reached(&found.unwrap_or_else(|| panic!("{}: no file of `mod {name};`", file.display())), all);
        }
    }
}

/// Returns the module that a line declares.
fn module(line: &str) -> Option<&str> {
    let line = line.strip_suffix(';')?;
    line.strip_prefix("mod ").or_else(|| line.strip_prefix("pub(crate) mod "))
}

fn every_source(folder: &Path, all: &mut BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            every_source(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.insert(path.canonicalize().unwrap());
        }
    }
}

#[test]
fn every_file_of_a_test_belongs_to_a_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest: toml::Table =
        toml::from_str(&std::fs::read_to_string(root.join("Cargo.toml")).unwrap()).unwrap();
    let programs = ["test", "bench"].iter().flat_map(|kind| manifest[*kind].as_array().unwrap());
    let mut all = BTreeSet::new();
    for program in programs {
        reached(&root.join(program["path"].as_str().unwrap()), &mut all);
    }
    let mut sources = BTreeSet::new();
    every_source(&root.join("tests"), &mut sources);
    let forgotten: Vec<_> = sources.difference(&all).collect();
    assert!(forgotten.is_empty(), "no program of `Cargo.toml` has {forgotten:#?}");
}
