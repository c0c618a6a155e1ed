//! The arrows between modules are those that the crate documentation allows.

mod forgotten;
mod graph;
mod words;

use std::path::{Path, PathBuf};

use graph::{Graph, Module, leaves, module_of, without_text};

/// The allowed imports of each module with `crate::`, beside itself.
const ARROWS: [(&str, &[&str]); 12] = [
    ("core", &[]),
    ("config", &["core"]),
    ("format", &["core"]),
    ("source", &["core", "format"]),
    ("observe", &["core", "format", "source"]),
    ("act", &["core", "format", "source", "observe"]),
    ("present", &["core"]),
    ("guard", &["core", "config", "format", "source", "act", "present"]),
    ("app", &["core", "config", "present"]),
    ("ui", &["app", "core", "config", "present"]),
    ("run", &["core", "config", "format", "source", "observe", "act", "app", "ui", "present"]),
    (
        "cli",
        &["core", "config", "format", "source", "observe", "act", "guard", "app", "ui", "run", "present"],
    ),
];

/// The allowed imports of each room of `core` from the others.
const ROOMS: [(&str, &[&str]); 7] = [
    ("model", &[]),
    ("guard", &["model"]),
    ("judge", &["model"]),
    ("plan", &["model", "judge"]),
    ("history", &["model", "judge"]),
    ("fleet", &["model", "judge", "plan"]),
    ("assess", &["model", "judge", "plan"]),
];

/// Crates that a module must not name.
const NEVER: [(&str, &[&str]); 10] = [
    ("core", &["std::fs", "std::env", "std::process", "std::net", "ratatui", "tokio", "crossterm", "rustix"]),
    ("config", &["std::fs", "std::env", "ratatui", "tokio", "rustix", "clap"]),
    ("format", &["std::fs", "std::env", "std::process", "ratatui", "tokio", "rustix"]),
    ("source", &["ratatui", "crossterm"]),
    ("observe", &["ratatui", "crossterm"]),
    ("act", &["ratatui", "crossterm"]),
    ("present", &["std::fs", "std::env", "std::process", "ratatui", "tokio", "rustix"]),
    ("app", &["std::fs", "std::env", "std::process", "ratatui", "tokio", "crossterm::terminal", "rustix"]),
    ("ui", &["std::fs", "std::env", "std::process", "tokio", "rustix"]),
    ("run", &["clap"]),
];

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            out.push(path);
        }
    }
}

/// Returns the code of a source file, without the tests at its end.
fn code_of(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    text.split("\nmod tests {").next().unwrap_or_default().to_owned()
}

/// Returns whether a path below `src` belongs to tests alone.
fn is_of_tests(below: &Path) -> bool {
    below.iter().any(|part| ["tests", "tests.rs", "testing.rs"].iter().any(|name| part == *name))
}

/// Returns each source file with its top module and its lines of code, without the tests at its end.
fn modules() -> Vec<(PathBuf, String, Vec<String>)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    let read = |path: PathBuf| {
        let first = path.strip_prefix(&src).unwrap().components().next().unwrap();
        let module = Path::new(&first).file_stem().unwrap().to_string_lossy().into_owned();
        let code = code_of(&path);
        let lines =
            code.lines().filter(|line| !line.trim_start().starts_with("//")).map(str::to_owned).collect();
        (path, module, lines)
    };
    files.into_iter().map(read).collect()
}

fn imported(line: &str) -> Vec<String> {
    let after = line.split("crate::").skip(1);
    after
        .flat_map(|rest| match rest.strip_prefix('{') {
            Some(group) => group.split(',').map(|part| part.trim().to_owned()).collect(),
            None => vec![rest.to_owned()],
        })
        .map(|path| path.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
        .collect()
}

#[test]
fn every_import_follows_an_arrow_of_the_house() {
    let mut wrong = Vec::new();
    for (path, module, lines) in modules() {
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == module) else { continue };
        for target in lines.iter().flat_map(|line| imported(line)) {
            let is_module = ARROWS.iter().any(|(name, _)| *name == target);
            if is_module && target != module && !allowed.contains(&target.as_str()) {
                wrong.push(format!("{}: {module} may not import {target}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_rooms_of_the_core_lie_above_each_other() {
    let mut wrong = Vec::new();
    for (path, module, lines) in modules().into_iter().filter(|(_, module, _)| module == "core") {
        let Some(room) = path.iter().skip_while(|part| *part != module.as_str()).nth(1) else { continue };
        let room = Path::new(room).file_stem().unwrap().to_string_lossy().into_owned();
        let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| *name == room) else { continue };
        for line in &lines {
            let named = line.split("crate::core::").skip(1);
            let named =
                named.map(|rest| rest.chars().take_while(|c| c.is_alphanumeric()).collect::<String>());
            let bad = named.filter(|name| *name != room && ROOMS.iter().any(|(other, _)| other == name));
            wrong.extend(
                bad.filter(|name| !allowed.contains(&name.as_str()))
                    .map(|name| format!("{}: {room} may not import {name}", path.display())),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pure_modules_name_nothing_that_does_io() {
    let mut wrong = Vec::new();
    // Tests may read real files.
    for (path, module, lines) in modules().into_iter().filter(|(path, ..)| !path.ends_with("testing.rs")) {
        let Some((_, banned)) = NEVER.iter().find(|(name, _)| *name == module) else { continue };
        for line in &lines {
            for name in banned.iter().filter(|name| line.contains(**name)) {
                wrong.push(format!("{}: {module} never names {name}: {}", path.display(), line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns whether a line reads a record's facts or its variant, which are for people.
fn reads_what_is_for_people(line: &str) -> bool {
    [".facts.iter()", "&record.facts", "record.facts.", ".variant"].iter().any(|read| line.contains(read))
}

#[test]
fn nothing_that_decides_reads_what_is_for_people() {
    let decides = |path: &Path| {
        let path = path.to_string_lossy();
        ["/core/judge/", "/core/plan/", "/core/assess.rs", "/act/", "/source/"]
            .iter()
            .any(|part| path.contains(part))
    };
    let mut wrong = Vec::new();
    for (path, _, lines) in modules().into_iter().filter(|(path, _, _)| decides(path)) {
        let read = lines.iter().filter(|line| reads_what_is_for_people(line));
        wrong.extend(read.map(|line| format!("{}: {}", path.display(), line.trim())));
    }
    assert!(wrong.is_empty(), "a rule reads a typed detail, not:\n{}", wrong.join("\n"));
}

/// Returns every source file that is not a test as a module, with its code.
fn files() -> Vec<(Module, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    let ours = files.iter().filter_map(|path| path.strip_prefix(&src).ok().map(|below| (path, below)));
    ours.filter(|(_, below)| !is_of_tests(below))
        .map(|(path, below)| {
            // The visibility of an item is not an import.
            let code = code_of(path).replace("pub(in crate::", "pub(in ");
            (module_of(below), without_text(&code))
        })
        .collect()
}

#[test]
fn no_file_is_in_a_circle_of_imports() {
    let circles = Graph::new(&files()).circles();
    let names = |circle: &Vec<Module>| circle.iter().map(|module| module.join("::")).collect::<Vec<_>>();
    let circles: Vec<String> = circles.iter().map(|circle| names(circle).join(" ")).collect();
    assert!(circles.is_empty(), "circles of imports:\n{}", circles.join("\n"));
}

/// Draws files of these names and codes, and returns its circles.
fn circles(files: &[(&str, &str)]) -> Vec<String> {
    let module = |name: &str| name.split("::").map(str::to_owned).collect();
    let files: Vec<(Module, String)> =
        files.iter().map(|(name, code)| (module(name), without_text(code))).collect();
    let circles = Graph::new(&files).circles();
    circles
        .iter()
        .map(|circle| circle.iter().map(|file| file.join("::")).collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn a_circle_is_found_however_it_is_written() {
    let none = [("a", "use crate::b::B;"), ("b", "//! [`crate::a`]\nconst X: &str = \"crate::a::A\";")];
    assert_eq!(circles(&none), Vec::<String>::new());
    assert_eq!(circles(&[("a", "use crate::b::B;"), ("b", "fn f() { crate::a::f() }")]), ["a b"]);
    assert_eq!(circles(&[("a", "mod c;\nfn f() { c::f() }"), ("a::c", "use super::X;")]), ["a a::c"]);
    // An item that a parent only re-exports is its child's.
    let handed_on =
        [("a", "pub use self::c::C;"), ("a::c", ""), ("a::d", "use super::C;"), ("b", "use crate::a::C;")];
    assert_eq!(circles(&handed_on), Vec::<String>::new());
    let through =
        [("a", "pub use self::c::C;"), ("a::c", "use crate::b::B;"), ("b", "use crate::a::{C, self};")];
    assert_eq!(circles(&through), ["a::c b"]);
}

#[test]
fn every_file_that_the_architecture_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let named = page.split('`').skip(1).step_by(2).filter(|name| name.contains('/') && !name.contains(' '));
    let mut checked = 0;
    for name in named {
        // A file that does not exist yet must have an existing folder with other files.
        let known = name.split('<').next().unwrap_or_default();
        let is_there = match known.rsplit_once('/') {
            Some((folder, _)) if known != name => root.join(folder).is_dir(),
            _ => root.join(name).exists(),
        };
        assert!(is_there, "ARCHITECTURE.md names {name}");
        checked += 1;
    }
    assert!(checked > 20, "only {checked} files are named");
}

/// The most rooms of one hall: files and folders of a folder, without its own file and its tests.
const MOST_ROOMS: usize = 15;

#[test]
fn no_hall_has_too_many_rooms() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    let mut halls: std::collections::BTreeMap<PathBuf, std::collections::BTreeSet<String>> =
        Default::default();
    for path in files.iter().filter(|path| !is_of_tests(path.strip_prefix(&src).unwrap())) {
        let mut below = path.as_path();
        while let Some(hall) = below.parent().filter(|hall| hall.starts_with(&src)) {
            let room = below.file_stem().unwrap().to_string_lossy().into_owned();
            if room != "mod" {
                halls.entry(hall.to_owned()).or_default().insert(room);
            }
            below = hall;
        }
    }
    let large = halls.iter().filter(|(_, rooms)| rooms.len() > MOST_ROOMS);
    let large: Vec<String> =
        large.map(|(hall, rooms)| format!("{}: {}", hall.display(), rooms.len())).collect();
    assert!(halls.len() > 50 && large.is_empty(), "{}", large.join("\n"));
}

#[test]
fn the_check_itself_can_fail() {
    assert!(reads_what_is_for_people("if record.variant == \"task\" {"));
    assert!(reads_what_is_for_people("let status = record.facts.iter().find(is_status);"));
    assert_eq!(leaves("crate::{a::{b, c}, d}"), ["crate::a::b", "crate::a::c", "crate::d"]);
    assert_eq!(imported("use crate::{core::key, ui};"), ["core", "ui"]);
    assert_eq!(imported("let x = crate::act::lock::take();"), ["act"]);
}
