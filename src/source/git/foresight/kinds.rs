//! Which kind of conflict it is: the way out differs.

use std::collections::BTreeMap;

use super::changes::{Change, Changes};
use super::merge_output::MergeOutput;
use crate::core::model::{Conflict, ConflictKind, Untrusted};

/// Files in which package managers lock versions.
const LOCK_FILES: [&[u8]; 20] = [
    b"Cargo.lock", b"Gemfile.lock", b"Package.resolved", b"Pipfile.lock", b"Podfile.lock", b"bun.lock",
    b"bun.lockb", b"composer.lock", b"deno.lock", b"flake.lock", b"go.sum", b"gradle.lockfile", b"mix.lock",
    b"npm-shrinkwrap.json", b"package-lock.json", b"packages.lock.json", b"pdm.lock", b"pnpm-lock.yaml",
    b"poetry.lock", b"uv.lock",
];

/// Another one, which would make the list too long for its array's name.
const YARN: &[u8] = b"yarn.lock";

/// How the names of generated files end.
const GENERATED: [&[u8]; 12] = [
    b".pb.go", b".pb.cc", b".pb.h", b"_pb2.py", b"_pb.js", b"_pb.ts", b".g.dart", b".freezed.dart",
    b".min.js", b".min.css", b".designer.cs", b".generated.ts",
];

/// Folders of files that have a number each (Django, Rails, Flyway, sqlx, Prisma, alembic and others).
const NUMBERED: [&[u8]; 5] = [b"migrations", b"migrate", b"migration", b"versions", b"changelog"];

/// Returns what cannot be merged, by path.
pub(super) fn conflicts(output: &MergeOutput, sides: [&Changes; 2]) -> Vec<Conflict> {
    let mut kinds: BTreeMap<&[u8], ConflictKind> = BTreeMap::new();
    for (path, sort) in &output.sorts {
        let stages = output.stages.get(path);
        let kind = kind(path, sort, stages.is_some_and(|stages| stages[0].is_none()));
        // The first message about a path names what is wrong with it.
        kinds.entry(path).or_insert(kind);
    }
    for path in output.stages.keys() {
        kinds.entry(path).or_insert(ConflictKind::Other);
    }
    let made = |(path, kind): (&[u8], ConflictKind)| Conflict {
        path: Untrusted::from_bytes(path),
        kind,
        lines: Vec::new(),
    };
    let numbers = same_numbers(sides).into_iter().filter(|path| !kinds.contains_key(path.as_slice()));
    let numbers: Vec<Vec<u8>> = numbers.collect();
    let all = kinds.into_iter().chain(numbers.iter().map(|path| (path.as_slice(), ConflictKind::SameNumber)));
    all.map(made).collect()
}

fn kind(path: &[u8], sort: &str, is_new: bool) -> ConflictKind {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    let sort = sort.trim_start_matches("CONFLICT").trim_matches([' ', '(', ')']);
    let is_content = matches!(sort, "contents" | "binary");
    if is_content && (LOCK_FILES.contains(&name) || name == YARN) {
        return ConflictKind::LockFile;
    }
    if is_content && GENERATED.iter().any(|end| name.ends_with(end)) {
        return ConflictKind::Generated;
    }
    match sort {
        "contents" if is_new => ConflictKind::SameNewPath,
        "contents" => ConflictKind::Lines,
        "binary" if is_new => ConflictKind::SameNewPath,
        "binary" => ConflictKind::Binary,
        "modify/delete" => ConflictKind::DeletedAndEdited,
        "file/directory" => ConflictKind::FileAndFolder,
        "distinct modes" => ConflictKind::Sort,
        _ if sort.contains("rename") => ConflictKind::Renamed,
        _ => ConflictKind::Other,
    }
}

/// Returns the new files of which the other side makes another one with the same number in the same folder.
fn same_numbers([left, right]: [&Changes; 2]) -> Vec<Vec<u8>> {
    let numbered = |changes: &Changes| -> Vec<(Vec<u8>, Vec<u8>, Vec<u8>)> {
        let of = |change: &Change| numbered(&change.path);
        changes.new_files().filter_map(of).collect()
    };
    let [left, right] = [numbered(left), numbered(right)];
    let mut found = Vec::new();
    for (folder, number, name) in &left {
        let others = right.iter().filter(|(other, same, _)| other == folder && same == number);
        let others: Vec<_> = others.filter(|(.., other)| other != name).collect();
        if !others.is_empty() {
            found.push([folder.as_slice(), b"/", name].concat());
            found.extend(others.iter().map(|(.., other)| [folder.as_slice(), b"/", other].concat()));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the folder of migrations that a path lies in, its number, and its name there.
fn numbered(path: &[u8]) -> Option<(Vec<u8>, Vec<u8>, Vec<u8>)> {
    let parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    let at = parts.iter().rposition(|part| NUMBERED.contains(part))?;
    let name = *parts.get(at + 1)?;
    let digits =
        name.iter().skip_while(|byte| matches!(byte, b'V' | b'v')).take_while(|byte| byte.is_ascii_digit());
    let digits: Vec<u8> = digits.copied().collect();
    let short: Vec<u8> = digits.iter().copied().skip_while(|digit| *digit == b'0').collect();
    let folder = parts.get(..=at)?.join(&b'/');
    (!digits.is_empty()).then(|| (folder, short, name.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(paths: &[&str]) -> Changes {
        let entry = || super::super::changes::Entry { mode: "100644".into(), object: "a".into() };
        let one = |path: &&str| Change { path: path.as_bytes().to_vec(), before: None, after: Some(entry()) };
        Changes { all: paths.iter().map(one).collect() }
    }

    #[track_caller]
    fn check(left: &[&str], right: &[&str], expected: &[&str]) {
        let found = same_numbers([&new(left), &new(right)]);
        let found: Vec<&str> = found.iter().map(|path| std::str::from_utf8(path).unwrap()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn one_number_in_one_folder_is_found_however_it_is_written() {
        check(
            &["shop/migrations/0007_pay.py"],
            &["shop/migrations/7_tax.py"],
            &["shop/migrations/0007_pay.py", "shop/migrations/7_tax.py"],
        );
        check(
            &["db/migration/V3__a.sql"],
            &["db/migration/V3__b.sql"],
            &["db/migration/V3__a.sql", "db/migration/V3__b.sql"],
        );
        check(
            &["a/migrations/1_x/up.sql"],
            &["a/migrations/1_y/up.sql"],
            &["a/migrations/1_x", "a/migrations/1_y"],
        );
    }

    #[test]
    fn other_numbers_folders_and_the_same_file_are_not() {
        check(&["a/migrations/1_x.sql"], &["a/migrations/2_y.sql"], &[]);
        check(&["a/migrations/1_x.sql"], &["b/migrations/1_y.sql"], &[]);
        check(&["a/migrations/1_x.sql"], &["a/migrations/1_x.sql"], &[]);
        check(&["a/src/1_x.sql"], &["a/src/1_y.sql"], &[]);
        check(&["a/migrations/x.sql"], &["a/migrations/y.sql"], &[]);
    }

    #[test]
    fn lock_files_and_generated_ones_are_their_own_kinds() {
        assert_eq!(kind(b"web/yarn.lock", "CONFLICT (contents)", false), ConflictKind::LockFile);
        assert_eq!(kind(b"api/pay.pb.go", "CONFLICT (contents)", true), ConflictKind::Generated);
        assert_eq!(kind(b"Cargo.lock", "CONFLICT (modify/delete)", false), ConflictKind::DeletedAndEdited);
        assert_eq!(kind(b"a", "CONFLICT (rename/delete)", false), ConflictKind::Renamed);
        assert_eq!(kind(b"a", "CONFLICT(directory rename unclear split)", false), ConflictKind::Renamed);
    }
}
