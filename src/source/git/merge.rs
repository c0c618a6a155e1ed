//! Merges three texts with `git merge-file`, in a folder of claimtop's own and without any repository or settings.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::program_in;
use super::run::{answer_of, bare};
use crate::source::database::sqlite::copies::Copies;

/// The largest text that is merged, in bytes.
const MOST: usize = 1 << 20;
/// The exit codes that count conflicts; from this one on there may be more (git-merge-file(1)).
const MOST_CONFLICTS: i32 = 127;

/// A text to merge, with its name for people in the markers.
pub(crate) type NamedText<'a> = (&'a str, &'a [u8]);

/// The result of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MergeResult {
    /// The whole text.
    pub(crate) text: Vec<u8>,
    /// How many conflicts it has; 127 stands for at least so many.
    pub(crate) conflicts: usize,
}

/// Merges what differs between a base and a text into another one.
///
/// # Errors
/// Git was not found, failed, or did not answer in time; a text is too large or none; the files cannot be written.
pub(crate) fn merge(
    programs: &[PathBuf],
    copies: &Copies,
    [ours, base, theirs]: [NamedText<'_>; 3],
) -> Result<MergeResult, String> {
    let all = [("ours", ours), ("base", base), ("theirs", theirs)];
    if all.iter().any(|(_, (_, text))| text.len() > MOST || text.contains(&0)) {
        return Err(format!("only texts of at most {} KiB are merged", MOST >> 10));
    }
    let program = program_in(programs).ok_or("git was not found")?;
    let folder = copies.make().map_err(|error| error.to_string())?;
    for (name, (_, text)) in all {
        write(&folder.folder().join(name), text).map_err(|error| error.to_string())?;
    }
    let mut command = bare(&program, folder.folder());
    command.args(["merge-file", "-p", "--marker-size=7"]);
    for (_, (label, _)) in all {
        command.args(["-L", &label.replace(char::is_control, " ")]);
    }
    command.args(all.map(|(name, _)| name));
    let answer = answer_of(command).ok_or("git did not answer in time")?;
    match usize::try_from(answer.code) {
        Ok(conflicts) if answer.code <= MOST_CONFLICTS && !answer.is_cut => {
            Ok(MergeResult { text: answer.out, conflicts })
        }
        _ => Err(format!("git merge-file failed with exit code {}", answer.code)),
    }
}

fn write(path: &Path, text: &[u8]) -> std::io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(texts: [&str; 3]) -> Result<MergeResult, String> {
        let state = tempfile::tempdir().unwrap();
        let copies = Copies::in_folder(&state.path().join("copies"));
        let programs = ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from);
        let [ours, base, theirs] = texts.map(str::as_bytes);
        let merged = merge(&programs, &copies, [("now", ours), ("before", base), ("pay\n>>>", theirs)]);
        let left = std::fs::read_dir(state.path().join("copies")).map_or(0, Iterator::count);
        assert_eq!(left, 0, "nothing is left behind");
        merged
    }

    #[test]
    fn edits_of_different_lines_are_both_there() {
        let result = merged(["ONE\ntwo\nthree\n", "one\ntwo\nthree\n", "one\ntwo\nTHREE\n"]).unwrap();
        assert_eq!((result.text.as_slice(), result.conflicts), (&b"ONE\ntwo\nTHREE\n"[..], 0));
    }

    #[test]
    fn edits_of_the_same_line_conflict_under_their_names() {
        let result = merged(["ours\n", "base\n", "theirs\n"]).unwrap();
        assert_eq!(result.conflicts, 1);
        let text = String::from_utf8(result.text).unwrap();
        assert_eq!(text, "<<<<<<< now\nours\n=======\ntheirs\n>>>>>>> pay >>>\n");
    }

    #[test]
    fn what_is_no_text_is_not_merged() {
        assert!(merged(["a\0", "b", "c"]).unwrap_err().contains("only texts"));
        assert!(merged([&"x".repeat(MOST + 1), "b", "c"]).unwrap_err().contains("1024 KiB"));
        let copies = Copies::in_folder(Path::new("/nowhere"));
        assert_eq!(
            merge(&[], &copies, [("", b""), ("", b""), ("", b"")]),
            Err("git was not found".to_owned())
        );
    }
}
