//! Looks at real files in folders of their own: hostile ones, torn ones, and repositories.

#[cfg(target_os = "linux")]
mod obra;
mod opening;
mod repositories;

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use claimtop::core::judge::window::agent::Signatures;
use claimtop::core::model::{Code, Format, Snapshot, SourceState};
use claimtop::source::places::Places;
use claimtop::testing::observe::Collector;
use claimtop::testing::source::make_pipe;

/// A session as Maia writes it.
const SESSION: &str =
    r#"{"current_agent":"sre_agent","session_start":"2026-11-20T21:40:35.193569","version":"1.5"}"#;

/// A home and a temporary folder of their own.
struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        world.folder("home");
        world.folder("tmp");
        world
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(below)
    }

    fn folder(&self, below: &str) -> PathBuf {
        let path = self.path(below);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    fn write(&self, below: &str, text: &str) -> PathBuf {
        let path = self.path(below);
        self.folder(path.parent().unwrap().to_str().unwrap());
        std::fs::write(&path, text).unwrap();
        path
    }

    fn places(&self) -> Places {
        Places::new(self.path("home"), self.path("tmp"), Vec::new())
    }

    fn collector(&self) -> Collector {
        collector(self.places())
    }
}

fn collector(places: Places) -> Collector {
    Collector::new(places, Signatures::built_in().unwrap())
}

fn names(snapshot: &Snapshot) -> Vec<String> {
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    snapshot.records.iter().map(|record| name(record.location.path().unwrap())).collect()
}

#[track_caller]
fn health(snapshot: &Snapshot, id: &str) -> (SourceState, String) {
    let found = snapshot.sources.iter().find(|source| source.id == id);
    let found = found.unwrap_or_else(|| panic!("no {id} among {:?}", snapshot.sources));
    (found.state, found.detail.raw().to_owned())
}

#[test]
fn records_are_read_and_sources_are_told() {
    let world = World::new();
    world.write("home/.maia/sessions/swarm_session_77.json", SESSION);
    world.write("home/.maia/sessions/notes.txt", "not Maia's");
    let snapshot = world.collector().look();
    assert_eq!(names(&snapshot), ["swarm_session_77.json"]);
    assert_eq!(health(&snapshot, "maia"), (SourceState::Ok, "1 record".to_owned()));
    assert_eq!(health(&snapshot, "claude-code").0, SourceState::Absent);
    assert!(snapshot.processes.listed.contains(&std::process::id()));
}

#[test]
fn a_hostile_file_under_a_sessions_name_is_told_as_broken() {
    let world = World::new();
    let folder = world.folder("home/.maia/sessions");
    make_pipe(&folder.join("swarm_session_1.json")).unwrap();
    symlink("/dev/zero", folder.join("swarm_session_2.json")).unwrap();
    let snapshot = world.collector().look();
    let codes: Vec<_> = snapshot.broken.iter().map(|broken| (broken.format, broken.problem.code)).collect();
    assert_eq!(codes, [(Format::Maia, Code::SpecialFile); 2]);
    assert_eq!(health(&snapshot, "maia").1, "0 records, 2 unusable files");
}

#[test]
fn one_file_is_one_record_however_many_ways_lead_to_it() {
    let world = World::new();
    world.write("home/maia_active_swarm_session_context_77.json", SESSION);
    world.write("home/.maia/sessions/swarm_session_78.json", SESSION);
    symlink(world.path("home"), world.path("also-home")).unwrap();
    for tmp in ["home", "also-home"] {
        let places = Places { tmp: world.path(tmp), ..world.places() };
        let found = names(&collector(places).look());
        assert_eq!(found.len(), 2, "{tmp}: {found:?}");
    }
}

#[test]
fn a_link_that_anybody_can_change_is_a_failure_and_a_folder_that_is_missing_is_none() {
    let world = World::new();
    world.write("elsewhere/swarm_session_77.json", SESSION);
    world.folder("home/.maia");
    symlink(world.path("elsewhere"), world.path("home/.maia/sessions")).unwrap();
    let own = |mode| {
        for folder in ["home/.maia", "elsewhere"] {
            std::fs::set_permissions(world.path(folder), PermissionsExt::from_mode(mode)).unwrap();
        }
    };
    own(0o755);
    assert_eq!(names(&world.collector().look()), ["swarm_session_77.json"]);
    own(0o777);
    let snapshot = world.collector().look();
    assert!(snapshot.records.is_empty());
    let (state, detail) = health(&snapshot, "maia");
    assert_eq!(state, SourceState::Partial);
    assert!(detail.ends_with(".maia/sessions: it is a symlink, not a folder"), "{detail}");
}

#[test]
fn folders_come_go_and_are_replaced_between_looks() {
    let world = World::new();
    let mut collector = world.collector();
    assert!(collector.look().records.is_empty());
    world.write("home/.maia/sessions/swarm_session_77.json", SESSION);
    assert_eq!(names(&collector.look()), ["swarm_session_77.json"]);
    std::fs::rename(world.path("home/.maia"), world.path("home/.maia-old")).unwrap();
    assert!(collector.look().records.is_empty());
    world.write("home/.maia/sessions/swarm_session_78.json", SESSION);
    assert_eq!(names(&collector.look()), ["swarm_session_78.json"]);
    assert!(collector.folders().contains(&world.path("home/.maia/sessions")));
    assert!(collector.folders().contains(&world.path("home/.maia/checkpoints/*")));
}

#[test]
fn a_file_being_written_keeps_what_it_gave_before() {
    let world = World::new();
    let mut collector = world.collector();
    let path = world.write("home/.maia/sessions/swarm_session_77.json", SESSION);
    let before = collector.look().records;
    for torn in ["", "{\"current_agent\":"] {
        std::fs::write(&path, torn).unwrap();
        // However slow this machine is, the file was written less than a second ago.
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(3_600);
        std::fs::File::open(&path).unwrap().set_modified(later).unwrap();
        let snapshot = collector.look();
        assert_eq!(snapshot.records, before);
        assert_eq!(snapshot.broken.iter().map(|b| b.problem.code).collect::<Vec<_>>(), [Code::TornRecord]);
    }
    std::fs::write(&path, SESSION.replace("sre", "dba")).unwrap();
    let after = collector.look();
    assert_eq!(after.records.iter().map(|r| r.title.raw()).collect::<Vec<_>>(), ["dba_agent"]);
    std::fs::remove_file(&path).unwrap();
    assert!(collector.look().records.is_empty());
}

#[test]
fn a_corrupt_file_gives_nothing_whatever_it_gave_before() {
    let world = World::new();
    let mut collector = world.collector();
    let path = world.write("home/.maia/sessions/swarm_session_77.json", SESSION);
    assert_eq!(collector.look().records.len(), 1);
    std::fs::write(&path, "[5]").unwrap();
    // It is called corrupt after it has been unchanged for a second.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let snapshot = collector.look();
    assert!(snapshot.records.is_empty());
    assert_eq!(snapshot.broken.iter().map(|b| b.problem.code).collect::<Vec<_>>(), [Code::CorruptRecord]);
}
