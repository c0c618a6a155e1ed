use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::PathBuf;

use proptest::prelude::*;
use tempfile::TempDir;

use crate::core::model::{Doing, Format, TurnState, WhyUnread};
use crate::format;

use super::*;

fn claude() -> Adapter {
    format::spec(Format::ClaudeCode).unwrap().transcripts.unwrap().adapter
}

fn codex() -> Adapter {
    format::spec(Format::Codex).unwrap().transcripts.unwrap().adapter
}

/// A transcript in a folder of its own, and what was read of it.
struct Transcript {
    folder: TempDir,
    path: PathBuf,
    uid: u32,
    adapter: Adapter,
    tail: Option<Tail>,
}

impl Transcript {
    fn new(adapter: Adapter, text: &[u8]) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("session.jsonl");
        let uid = folder.path().metadata().unwrap().uid();
        let new = Self { folder, path, uid, adapter, tail: None };
        new.write(text);
        new
    }

    fn write(&self, text: &[u8]) {
        File::create(&self.path).unwrap().write_all(text).unwrap();
    }

    fn append(&self, text: &[u8]) {
        OpenOptions::new().append(true).open(&self.path).unwrap().write_all(text).unwrap();
    }

    fn look(&mut self) -> &Tail {
        self.tail = Tail::read(&self.path, self.adapter, self.uid, self.tail.take()).ok();
        self.tail.as_ref().unwrap()
    }

    /// Looks, and returns the edited files.
    fn edits(&mut self) -> Vec<String> {
        paths(&self.look().draft().doing())
    }

    #[track_caller]
    fn check_refused(&self, why: Option<WhyUnread>) {
        assert_eq!(Tail::read(&self.path, self.adapter, self.uid, None).err(), Some(why));
    }
}

fn paths(doing: &Doing) -> Vec<String> {
    doing.edits.iter().map(|edit| edit.path.raw().to_owned()).collect()
}

/// The lines of a call that has edited a file.
fn edit(name: &str) -> String {
    format!(
        r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t"}}]}},"toolUseResult":{{"filePath":"/{name}","structuredPatch":[]}},"timestamp":"2026-11-22T11:00:06Z"}}"#
    ) + "\n"
}

/// A line that says nothing, of so many bytes.
fn filler(length: usize) -> String {
    let line = |text: &str| format!("{{\"type\":\"api-request\",\"body\":\"{text}\"}}\n");
    line(&"x".repeat(length - line("").len()))
}

const LONG: usize = 2 << 20;

#[test]
fn what_is_appended_is_read_and_a_torn_line_waits() {
    let mut file = Transcript::new(claude(), edit("a").as_bytes());
    assert_eq!(file.edits(), ["/a"]);
    file.append(edit("b").as_bytes());
    assert_eq!(file.edits(), ["/a", "/b"]);
    let line = edit("c");
    let (first, second) = line.as_bytes().split_at(40);
    assert!(!file.look().is_torn());
    file.append(first);
    assert_eq!(file.edits(), ["/a", "/b"]);
    assert!(file.look().is_torn());
    file.append(second);
    assert!(!file.look().is_torn());
    assert_eq!(file.edits(), ["/a", "/b", "/c"]);
    assert_eq!(file.look().draft().skipped, 0);
}

#[test]
fn a_file_that_was_written_anew_is_read_anew() {
    let mut file = Transcript::new(claude(), (edit("a") + &edit("b")).as_bytes());
    assert_eq!(file.edits(), ["/a", "/b"]);
    file.write(edit("b").as_bytes());
    assert_eq!(file.edits(), ["/b"], "it was cut");
    file.write(edit("c").as_bytes());
    assert_eq!(file.edits(), ["/c"], "the same size");
    file.write((edit("d") + &edit("e")).as_bytes());
    assert_eq!(file.edits(), ["/d", "/e"], "it has grown, and begins otherwise");
    let other = file.folder.path().join("other");
    std::fs::write(&other, edit("f") + &edit("e") + &edit("g")).unwrap();
    std::fs::rename(other, &file.path).unwrap();
    assert_eq!(file.edits(), ["/e", "/f", "/g"], "another file took its name");
}

#[test]
fn a_file_that_has_not_changed_is_not_opened() {
    let mut file = Transcript::new(claude(), edit("a").as_bytes());
    file.look();
    let before = file.tail.take().unwrap();
    // Its present content would show.
    let same = Tail::read(&file.path, claude(), file.uid, Some(Tail { end: Lines::default(), ..before }));
    assert_eq!(same.unwrap().draft().doing(), Doing::default());
}

/// Checks that a line is passed over and counted once, wherever it stands.
#[track_caller]
fn check_long(length: usize, skipped: u64) {
    let long = filler(length);
    let mut file = Transcript::new(claude(), edit("a").as_bytes());
    assert_eq!(file.edits(), ["/a"]);
    for part in long.as_bytes().chunks(length / 3) {
        file.append(part);
        assert_eq!(file.edits(), ["/a"]);
    }
    file.append(edit("b").as_bytes());
    assert_eq!(file.edits(), ["/a", "/b"], "it came in pieces");
    file.append((long.clone() + &edit("c")).as_bytes());
    assert_eq!(file.edits(), ["/a", "/b", "/c"], "it came at once");
    assert_eq!(file.look().draft().skipped, 2 * skipped);

    let mut first = Transcript::new(claude(), (long + &edit("d")).as_bytes());
    assert_eq!(first.edits(), ["/d"], "it stands first");
}

#[test]
fn a_line_longer_than_any_is_passed_over_and_counted_once() {
    check_long(540_000, 0);
    check_long(LONG, 0);
    check_long(LONG + 1, 1);
    check_long(3 * LONG + 7, 1);
}

#[test]
fn a_file_whose_end_is_one_long_line_is_followed() {
    let long = filler(LONG + 99);
    let mut file = Transcript::new(claude(), (edit("a") + long.trim_end()).as_bytes());
    assert_eq!((file.edits(), file.look().draft().skipped), (vec!["/a".to_owned()], 1));
    assert!(file.look().edits_since().is_some());
    file.append(format!("\n{}", edit("b")).as_bytes());
    assert_eq!((file.edits(), file.look().draft().skipped), (vec!["/a".to_owned(), "/b".to_owned()], 1));
}

#[test]
fn what_is_no_plain_file_of_the_user_is_not_read() {
    let mut file = Transcript::new(claude(), edit("a").as_bytes());
    file.look();
    file.uid += 1;
    file.check_refused(Some(WhyUnread::ForeignOwner));
    file.uid -= 1;
    let beside = file.folder.path().join("beside");
    std::fs::hard_link(&file.path, &beside).unwrap();
    file.check_refused(Some(WhyUnread::SeveralNames));
    file.look_refused();
    std::fs::remove_file(&file.path).unwrap();
    symlink(&beside, &file.path).unwrap();
    file.check_refused(Some(WhyUnread::Link));
    std::fs::remove_file(&file.path).unwrap();
    crate::source::os::pipe::make_pipe(&file.path).unwrap();
    file.check_refused(Some(WhyUnread::NoPlainFile));
    std::fs::remove_file(&file.path).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(&file.path).unwrap();
    file.check_refused(Some(WhyUnread::NoPlainFile));
    drop(socket);
    std::fs::remove_file(&file.path).unwrap();
    file.check_refused(None);
    std::fs::create_dir(&file.path).unwrap();
    file.check_refused(Some(WhyUnread::NoPlainFile));
}

impl Transcript {
    /// Looks at a file that was read before and may not be read any more.
    #[track_caller]
    fn look_refused(&mut self) {
        let beside = self.folder.path().join("beside");
        std::fs::remove_file(&beside).unwrap();
        self.look();
        std::fs::rename(&self.path, &beside).unwrap();
        symlink(&beside, &self.path).unwrap();
        let read = Tail::read(&self.path, self.adapter, self.uid, self.tail.take());
        assert_eq!(read.err(), Some(Some(WhyUnread::Link)));
        std::fs::remove_file(&self.path).unwrap();
        std::fs::rename(&beside, &self.path).unwrap();
        std::fs::hard_link(&self.path, &beside).unwrap();
    }
}

const SNAPSHOT: &str = "{\"type\":\"file-history-snapshot\",\"snapshot\":{\"trackedFileBackups\":{}}}\n";

#[test]
fn edits_are_known_since_the_first_line_that_was_read() {
    let mut file = Transcript::new(claude(), edit("a").as_bytes());
    assert_eq!(file.look().edits_since(), None);
    // The end is enough only when it says everything, and two million bytes are the most.
    let mut file =
        Transcript::new(claude(), (edit("a") + &filler(100_000).repeat(30) + &edit("b")).as_bytes());
    assert_eq!(file.edits(), ["/b"]);
    let first = "2026-11-22T11:00:06Z".parse::<Timestamp>().unwrap();
    assert_eq!(file.look().edits_since(), Some(first));
    assert_eq!(file.look().began_at(), None);
    file.append(SNAPSHOT.as_bytes());
    assert_eq!(file.look().edits_since(), None, "it names all that were edited before");
}

/// A rollout of Codex's, in which every line stands for itself.
fn rollout(edits: usize) -> String {
    let line = |at: usize| {
        let change = format!(
            r#"{{"timestamp":"2026-11-22T11:00:{:02}Z","type":"event_msg","payload":{{"type":"item_completed","item":{{"type":"FileChange","id":"c","changes":{{"/src/{at}.rs":{{"type":"update"}}}},"status":"completed"}}}}}}"#,
            at % 60
        );
        change + "\n" + &filler(100_000)
    };
    (0..edits).map(line).collect()
}

#[test]
fn what_stands_before_the_end_is_read_piece_by_piece() {
    let text = rollout(140) + &filler(LONG + 9) + &rollout(3);
    let mut file = Transcript::new(codex(), text.as_bytes());
    let all: std::collections::BTreeSet<String> = (0..140).map(|at| format!("/src/{at}.rs")).collect();
    let first = file.edits();
    assert!(first.contains(&"/src/139.rs".to_owned()) && !first.contains(&"/src/50.rs".to_owned()));
    assert!(file.look().edits_since().is_some());
    let mut looks = 0;
    while let Some(left) = file.look().behind() {
        looks += 1;
        let (path, tail) = (file.path.clone(), file.tail.as_mut().unwrap());
        tail.catch_up(&path, codex());
        let read = left - tail.behind().unwrap_or_default();
        assert!(0 < read && read <= LONG as u64, "{read} bytes in one look");
        // It grows meanwhile.
        if looks == 4 {
            file.append(rollout(1).replace("/src/0.rs", "/src/new.rs").as_bytes());
        }
    }
    assert!(looks >= 6, "{looks}");
    let mut expected = all;
    expected.insert("/src/new.rs".to_owned());
    assert_eq!(file.edits(), expected.into_iter().collect::<Vec<_>>());
    let tail = file.look();
    assert_eq!((tail.edits_since(), tail.draft().skipped), ("2026-11-22T11:00:00Z".parse().ok(), 1));
    file.append(rollout(1).replace("/src/0.rs", "/src/last.rs").as_bytes());
    assert!(file.edits().contains(&"/src/last.rs".to_owned()));
}

#[test]
fn a_file_of_600_mb_is_read_at_its_end() {
    let mut file = Transcript::new(codex(), b"");
    File::options().write(true).open(&file.path).unwrap().set_len(600 << 20).unwrap();
    file.append(("\n".to_owned() + &rollout(1)).as_bytes());
    assert_eq!(file.edits(), ["/src/0.rs"]);
    let before = file.look().behind().unwrap();
    let path = file.path.clone();
    file.tail.as_mut().unwrap().catch_up(&path, codex());
    assert_eq!(before - file.look().behind().unwrap(), LONG as u64, "one line of nothing but zeros");
}

#[test]
fn a_file_that_has_become_much_longer_is_read_at_its_end() {
    let mut file = Transcript::new(codex(), rollout(1).as_bytes());
    file.look();
    File::options().write(true).open(&file.path).unwrap().set_len(600 << 20).unwrap();
    file.append(("\n".to_owned() + &rollout(2)).as_bytes());
    assert_eq!(file.edits(), ["/src/0.rs", "/src/1.rs"]);
    assert!(file.look().behind().unwrap() > 600 << 20);
}

const TURN: &str = r#"{"type":"user","message":{"role":"user","content":"Fix it"},"origin":{"kind":"human"},"permissionMode":"default","cwd":"/src","version":"2.1.330","timestamp":"2026-11-22T11:00:00Z"}
{"type":"file-history-snapshot","snapshot":{"trackedFileBackups":{"ä.rs":{"backupTime":"2026-11-22T10:59:00Z","realParentDir":"/src"}}}}
{"type":"assistant","message":{"model":"m","usage":{"input_tokens":5},"content":[{"type":"tool_use","id":"t1","name":"Edit","input":{"file_path":"/src/b.rs"}}]},"timestamp":"2026-11-22T11:00:05Z"}
no line of JSON
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1"}]},"toolUseResult":{"filePath":"b.rs","structuredPatch":[]},"cwd":"/src","timestamp":"2026-11-22T11:00:06Z"}
{"type":"assistant","message":{"model":"m","usage":{"input_tokens":9},"content":[{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"cargo test"}}]},"timestamp":"2026-11-22T11:00:07Z"}
"#;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn however_a_file_grows_it_says_the_same(
        turns in 1..3_usize,
        long in prop_oneof![Just(0), Just(70_000_usize), Just(LONG + 1)],
        mut cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..12),
        torn in 0..80_usize,
    ) {
        let middle = if long > 0 { filler(long) } else { String::new() };
        let text = TURN.repeat(turns) + &middle + TURN;
        let text = &text.as_bytes()[..text.len() - torn];
        let mut file = Transcript::new(claude(), b"");
        file.look();
        let mut at = 0;
        cuts.sort_by_key(|cut| cut.index(text.len()));
        for end in cuts.iter().map(|cut| cut.index(text.len())).chain([text.len()]) {
            file.append(&text[at..end]);
            file.look();
            at = end;
        }
        let mut whole = Lines::default();
        let (fd, meta) = open_plain(&file.path).unwrap();
        whole.go_on(&fd, meta.size, claude()).unwrap();
        let tail = file.look();
        prop_assert_eq!(tail.draft().doing(), whole.draft.doing());
        prop_assert_eq!(tail.draft().skipped, whole.draft.skipped);
        prop_assert_eq!(tail.edits_since(), "2026-11-22T11:00:06Z".parse().ok(), "after the line that is none");
        prop_assert_eq!(tail.draft().doing().turn.state, TurnState::Working);
        // Read at once, its end says what all of it says.
        let end = Tail::read(&file.path, claude(), file.uid, None).unwrap();
        prop_assert_eq!(end.draft().doing(), whole.draft.doing());
    }
}

/// A line that is longer than what is read of one.
fn huge() -> String {
    filler(LONG + (LONG >> 1))
}

#[test]
fn a_line_that_is_too_long_hides_nothing_that_stands_before_it() {
    let text = r#"{"type":"assistant","message":{"id":"m","content":[]},"timestamp":"2026-11-22T11:00:09Z"}"#;
    for (before, after) in [
        (String::new(), String::new()),
        (String::new(), format!("{text}\n")),
        (filler(4 << 20), huge() + &huge() + text + "\n"),
    ] {
        let lines = before + &edit("a") + &huge() + &after;
        let mut file = Transcript::new(claude(), lines.as_bytes());
        assert_eq!(file.edits(), ["/a"]);
        let tail = file.look();
        assert!(tail.draft().skipped > 0);
        assert!(tail.edits_since().is_some(), "it may have named an edit");
    }
}

#[test]
fn what_cannot_be_read_is_a_loss_until_all_edits_are_named_again() {
    let mut file = Transcript::new(claude(), (edit("a") + "no line\n").as_bytes());
    assert_eq!(file.look().edits_since(), Some(file.look().meta().modified_at));
    file.append(edit("b").as_bytes());
    assert_eq!(file.look().edits_since(), "2026-11-22T11:00:06Z".parse().ok());
    file.append(b"{\"type\":\"file-history-snapshot\",\"snapshot\":{\"trackedFileBackups\":{}}}\n");
    assert_eq!((file.look().edits_since(), file.look().draft().skipped), (None, 1));
}

#[test]
fn a_record_behind_any_number_of_nulls_is_read() {
    for nulls in [1, 400, 1 << 20, 3 << 20, 5 << 20] {
        let mut lines = edit("a").into_bytes();
        lines.resize(lines.len() + nulls, 0);
        lines.extend(edit("b").as_bytes());
        let mut file = Transcript::new(claude(), &lines);
        assert_eq!(file.edits(), ["/a", "/b"], "{nulls}");
        assert_eq!(file.look().draft().skipped, 1, "{nulls}");
        let mut grown = Transcript::new(claude(), edit("a").as_bytes());
        grown.look();
        grown.append(lines.get(edit("a").len()..).unwrap());
        assert_eq!(grown.edits(), ["/a", "/b"], "{nulls}");
    }
}

#[test]
fn whose_turn_it_is_after_a_line_that_was_not_read_is_not_known() {
    let prompt =
        "{\"type\":\"user\",\"message\":{\"content\":\"Go on\"},\"timestamp\":\"2026-11-22T11:00:01Z\"}\n";
    let done = "{\"type\":\"system\",\"subtype\":\"turn_duration\",\"timestamp\":\"2026-11-22T11:00:09Z\"}\n";
    let mut file = Transcript::new(claude(), format!("{prompt}{done}").as_bytes());
    let state = |file: &mut Transcript| file.look().draft().doing().turn.state;
    assert_eq!(state(&mut file), TurnState::Finished);
    file.append(filler(LONG + 10).as_bytes());
    assert_eq!(state(&mut file), TurnState::Unknown);
    file.append(prompt.as_bytes());
    assert_eq!(state(&mut file), TurnState::Working);
}
