//! Programs that the dynamic loader was called to run.

use std::borrow::Cow;

use crate::core::judge::window::interpreter::file_name;
use crate::core::model::{Details, Untrusted};

/// The loader's options that take the next argument with them (ld.so(8)).
const WITH_VALUE: [&str; 7] = [
    "--argv0", "--audit", "--glibc-hwcaps-mask", "--glibc-hwcaps-prepend", "--inhibit-rpath",
    "--library-path", "--preload",
];

/// Returns whether an executable's file name is a dynamic loader's, of glibc or musl, such as `ld-linux-x86-64.so.2`.
pub(crate) fn is_loader(name: &str) -> bool {
    name.starts_with("ld.so") || name.starts_with("ld-") && name.contains(".so")
}

/// Returns a process as it would look if the loader had not been called by name: as the program that it runs.
pub(crate) fn without_loader(details: &Details) -> Cow<'_, Details> {
    let is_loaders = details.exe.as_ref().is_some_and(|exe| is_loader(file_name(exe.raw())));
    match program(&details.argv).filter(|_| is_loaders) {
        Some(argv) => Cow::Owned(Details {
            exe: argv
                .first()
                .map(|program| from_folder(program.raw(), details.cwd.as_ref()).into_owned().into()),
            argv: argv.to_vec(),
            ..details.clone()
        }),
        None => Cow::Borrowed(details),
    }
}

/// Returns the program among a loader's arguments, and those of its own.
fn program(argv: &[Untrusted]) -> Option<&[Untrusted]> {
    let mut at = 1;
    while argv.get(at)?.raw().starts_with("--") {
        at += if WITH_VALUE.contains(&argv.get(at)?.raw()) { 2 } else { 1 };
    }
    argv.get(at..)
}

/// Returns a path as it stands in the folder of a process, if that is known.
pub(crate) fn from_folder<'a>(path: &'a str, cwd: Option<&Untrusted>) -> Cow<'a, str> {
    match cwd.filter(|_| !path.starts_with('/')) {
        Some(cwd) => Cow::Owned(format!("{}/{}", cwd.raw(), path.trim_start_matches("./"))),
        None => Cow::Borrowed(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(argv: &[&str], expected: Option<(&str, &[&str])>) {
        let argv = argv.iter().map(|arg| (*arg).into()).collect();
        let exe = Some("/lib64/ld-linux-x86-64.so.2".into());
        let details = Details { exe, argv, cwd: Some("/opt/a".into()), ..Details::default() };
        let found = without_loader(&details);
        let exe = found.exe.as_ref().map_or("", Untrusted::raw);
        let argv: Vec<&str> = found.argv.iter().map(Untrusted::raw).collect();
        let expected = expected.unwrap_or(("/lib64/ld-linux-x86-64.so.2", &argv));
        assert_eq!((exe, argv.as_slice()), expected);
    }

    #[test]
    fn the_program_is_the_first_argument_that_is_no_option_of_the_loaders() {
        check(&["ld.so", "/o/claude", "-p", "x"], Some(("/o/claude", &["/o/claude", "-p", "x"])));
        check(&["ld.so", "--library-path", "/l", "--list", "./c"], Some(("/opt/a/c", &["./c"])));
        check(&["ld.so"], None);
        check(&["ld.so", "--preload"], None);
    }

    #[test]
    fn loaders_are_known_by_their_names() {
        assert!(
            ["ld-linux-x86-64.so.2", "ld-musl-aarch64.so.1", "ld.so", "ld-2.31.so"]
                .into_iter()
                .all(is_loader)
        );
        assert!(!["ld", "ld-gold", "claude", "lld"].into_iter().any(is_loader));
    }
}
