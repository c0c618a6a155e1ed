//! Hints over real files and real processes, every one of which is started and ended here.

mod faults;
mod limits;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use claimtop::core::judge::window::agent::Signatures;
use claimtop::core::model::{DescribedFormat, ProcessId};
use claimtop::observe::Hint;
use claimtop::source::places::Places;
use claimtop::testing::observe::{Collector, Watch};
use claimtop::testing::source::Scanner;

/// A session file's name of Maia.
const NAME: &str = "swarm_session_77.json";

/// A watch that has delivered its initial hints.
struct Watched {
    watch: Watch,
    hints: Receiver<Hint>,
}

impl Watched {
    fn new() -> Self {
        let (watch, hints) = Watch::new();
        Self { watch, hints }
    }

    /// Follows, and takes the hint to look once more if a watch was added.
    fn follow(&mut self, folders: &[&Path]) {
        let folders: Vec<PathBuf> = folders.iter().map(|folder| folder.to_path_buf()).collect();
        self.watch.follow(&folders, &[]);
        while let Ok(hint) = self.hints.try_recv() {
            assert!(!matches!(hint, Hint::Lost(_)), "{hint:?}");
        }
    }

    /// Fails if there is a hint within a time in which every real one has come.
    #[track_caller]
    fn expect_nothing(&mut self) {
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(self.hints.try_recv(), Err(TryRecvError::Empty));
    }

    #[track_caller]
    fn expect(&mut self, expected: &Hint) {
        for _ in 0..2_000 {
            match self.hints.try_recv() {
                Ok(hint) if hint == *expected => return,
                Ok(_) => {}
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
        panic!("{expected:?} never came");
    }
}

fn sleeping() -> Child {
    crate::program::spawn(Command::new("/bin/sleep").arg("600").stdin(Stdio::null()))
}

fn id(child: &Child) -> ProcessId {
    let table = Scanner::new(&Signatures::default()).scan(&BTreeSet::new());
    table.get(child.id()).unwrap().id
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_written_a_renamed_and_a_removed_file_are_hints() {
    let world = tempfile::tempdir().unwrap();
    let mut watched = Watched::new();
    watched.follow(&[world.path()]);
    let file = world.path().join(NAME);
    std::fs::write(&file, "{}").unwrap();
    watched.expect(&Hint::Files);
    watched.follow(&[world.path()]);
    std::fs::write(world.path().join("other"), "{}").unwrap();
    std::fs::rename(world.path().join("other"), &file).unwrap();
    watched.expect(&Hint::Files);
    watched.follow(&[world.path()]);
    std::fs::remove_file(&file).unwrap();
    watched.expect(&Hint::Files);
}

#[test]
fn files_of_a_format_of_a_persons_own_and_of_databases_are_hints_where_they_were_described() {
    let world = tempfile::tempdir().unwrap();
    let at = |below: &str| world.path().canonicalize().unwrap().join(below);
    for folder in ["tmp/locks", "home/mcp_agent_mail"] {
        std::fs::create_dir_all(at(folder)).unwrap();
    }
    let text = "name = 'x'\nfiles = ['{tmp}/locks/*.hold']\nread = 'lines'\n[fields]\ntitle = '1'\n";
    let own = [DescribedFormat::new(claimtop::described::parse(text, &|_| None).unwrap())];
    let mail = "CREATE TABLE file_reservations (id INTEGER, path_pattern TEXT, expires_ts TEXT)";
    let mail_at = at("home/mcp_agent_mail/storage.sqlite3");
    rusqlite::Connection::open(&mail_at).unwrap().execute_batch(mail).unwrap();
    let places =
        Places { tmp: at("tmp"), home: at("home"), bindings: at("b"), confined: true, ..Places::default() };
    let mut collector = Collector::new(places, Signatures::default()).with_own(&own);
    collector.look();
    let mut watched = Watched::new();
    let follow = |watched: &mut Watched| {
        let folders = collector.folders();
        watched.watch.expect(collector.names());
        watched.follow(&folders.iter().map(PathBuf::as_path).collect::<Vec<_>>());
    };
    follow(&mut watched);
    std::fs::write(at("tmp/locks/build.hold"), "mine").unwrap();
    watched.expect(&Hint::Files);
    follow(&mut watched);
    rusqlite::Connection::open(&mail_at)
        .unwrap()
        .execute_batch("INSERT INTO file_reservations VALUES (1, 'x', 'y')")
        .unwrap();
    watched.expect(&Hint::Files);
    follow(&mut watched);
    let names = collector.names();
    assert!(!names.contains_key(&at("tmp")), "the names count in their folder alone: {names:?}");
}

#[test]
fn a_folder_that_comes_late_is_taken_up() {
    let world = tempfile::tempdir().unwrap();
    let late = world.path().join(".maia/sessions");
    let mut watched = Watched::new();
    watched.follow(&[&late]);
    std::fs::create_dir(world.path().join(".maia")).unwrap();
    watched.expect(&Hint::Files);
    watched.follow(&[&late]);
    std::fs::create_dir(&late).unwrap();
    watched.expect(&Hint::Files);
    watched.follow(&[&late]);
    std::fs::write(late.join(NAME), "{}").unwrap();
    watched.expect(&Hint::Files);
}

#[test]
fn a_folder_that_was_replaced_is_taken_up_anew() {
    let world = tempfile::tempdir().unwrap();
    let folder = world.path().join("sessions");
    std::fs::create_dir(&folder).unwrap();
    let mut watched = Watched::new();
    watched.follow(&[&folder]);
    std::fs::rename(&folder, world.path().join("moved")).unwrap();
    std::fs::create_dir(&folder).unwrap();
    watched.expect(&Hint::Files);
    watched.follow(&[&folder]);
    std::fs::write(folder.join(NAME), "{}").unwrap();
    watched.expect(&Hint::Files);
}

#[test]
fn a_new_folder_under_a_star_is_a_hint() {
    let world = tempfile::tempdir().unwrap();
    let mut watched = Watched::new();
    watched.follow(&[&world.path().join("*")]);
    std::fs::create_dir(world.path().join("context_77")).unwrap();
    watched.expect(&Hint::Files);
}

#[test]
fn one_folder_under_two_names_is_watched_under_both() {
    let world = tempfile::tempdir().unwrap();
    let (folder, link) = (world.path().join("real"), world.path().join("link"));
    std::fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink(&folder, &link).unwrap();
    let mut watched = Watched::new();
    watched.follow(&[&link, &folder]);
    std::fs::write(folder.join(NAME), "{}").unwrap();
    watched.expect(&Hint::Files);
    watched.follow(&[&folder]);
    std::fs::write(folder.join(NAME), "{ }").unwrap();
    watched.expect(&Hint::Files);
}

#[test]
fn a_death_is_a_hint() {
    let mut watched = Watched::new();
    let (one, other) = (sleeping(), sleeping());
    let ids = [id(&one), id(&other)];
    watched.watch.follow(&[], &ids);
    end(one);
    watched.expect(&Hint::Process(ids[0]));
    watched.watch.follow(&[], &ids);
    end(other);
    watched.expect(&Hint::Process(ids[1]));
}

#[test]
fn a_death_before_the_watch_is_a_hint_and_only_one() {
    let mut watched = Watched::new();
    let child = sleeping();
    let id = id(&child);
    end(child);
    watched.watch.follow(&[], &[id]);
    watched.expect(&Hint::Process(id));
    watched.watch.follow(&[], &[id]);
    assert!(watched.hints.try_recv().is_err());
}

#[test]
fn whoever_has_the_pid_by_now_is_not_waited_for() {
    let mut watched = Watched::new();
    let child = sleeping();
    let before = ProcessId { start_ticks: 1, ..id(&child) };
    watched.watch.follow(&[], &[before]);
    watched.expect(&Hint::Process(before));
    end(child);
}

#[test]
fn a_program_that_somebody_starts_is_a_hint_and_a_look_at_it_is_none() {
    let world = tempfile::tempdir().unwrap();
    let program = world.path().join("agent");
    std::fs::copy("/bin/true", &program).unwrap();
    let mut watched = Watched::new();
    watched.watch.expect_programs(vec![program.clone(), world.path().join("not-there")]);
    watched.follow(&[]);
    std::fs::metadata(&program).unwrap();
    watched.expect_nothing();
    assert!(Command::new(&program).status().unwrap().success());
    watched.expect(&Hint::Program);
}
