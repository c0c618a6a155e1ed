//! `demo --machines`: other machines, each with a world of its own and a claimtop that reports it.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use anyhow::{Context, anyhow};
use rustix::fs::{FlockOperation, flock};

use super::lifeline::{self, Lifeline};
use super::owner::OwnFolder;
use super::stage::{make, write};
use super::story::{There, Which};
use super::world::{World, end};
use crate::act::executor::Executor;
use crate::cli::args::Options;
use crate::cli::fleet::stream;
use crate::cli::look;
use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::cli::settings::environment::Environment;
use crate::cli::settings::signatures::signatures;
use crate::core::fleet::order::Allow;
use crate::core::fleet::transport::{Machine, Transport};
use crate::source::os::clock;

/// The argument by which claimtop plays a machine of the demo.
const PLAYS: &str = "demo-machine";

/// The argument by which it plays one within the namespaces of that.
const INSIDE: &str = "inside";

/// The namespaces of a machine, as unshare(1) names them; with those of a user where root's are not granted.
const NAMESPACES: [&str; 6] = ["--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "--uts"];
const OF_A_USER: [&str; 2] = ["--user", "--map-root-user"];

/// For how long one that falls silent is heard before, and how long after that it can be reached again.
const AWAKE: Duration = Duration::from_secs(20);
const ASLEEP: Duration = Duration::from_secs(25);

/// The other machines, which end with the demo.
pub(super) struct Machines {
    folder: OwnFolder,
    lifeline: Option<File>,
    there: Vec<There>,
}

impl Machines {
    /// Prepares so many machines; each begins when it is reached.
    ///
    /// # Errors
    /// Their folder cannot be made.
    pub(super) fn prepare(count: usize, within: &Path) -> anyhow::Result<Self> {
        let folder = OwnFolder::make(within)?;
        let lifeline = Some(lifeline::hold(&folder.path().join("lifeline"))?);
        let there: Vec<There> = There::ALL.into_iter().take(count).collect();
        for one in &there {
            make(&state(folder.path(), *one))?;
            write(&lock(folder.path(), *one), "")?;
        }
        Ok(Self { folder, lifeline, there })
    }

    /// Returns how each is reached.
    ///
    /// # Errors
    /// The name of this program or of a folder is no text.
    pub(super) fn links(&self) -> anyhow::Result<Vec<Machine>> {
        let text = |path: PathBuf| path.into_os_string().into_string().ok();
        let own = std::env::current_exe().ok().and_then(text).context("claimtop's path is not UTF-8")?;
        let folder =
            text(self.folder.path().to_owned()).context("the temporary folder's name is not UTF-8")?;
        let link = |there: &There| {
            let name = there.name().to_owned();
            let words = vec![own.clone(), PLAYS.to_owned(), name.clone(), folder.clone()];
            Machine { name, transport: Transport::Command(words), path: None, allow: Allow::Operate }
        };
        Ok(self.there.iter().map(link).collect())
    }

    /// Ends them all, and removes what was theirs.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub(super) fn end(mut self) -> anyhow::Result<()> {
        self.lifeline = None;
        for there in &self.there {
            let lock = OpenOptions::new().write(true).open(lock(self.folder.path(), *there))?;
            lifeline::wait_until(|| flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok());
        }
        self.folder.remove()
    }
}

/// Returns what a machine holds for as long as it lasts; when it was changed last says until when it is asleep.
fn lock(folder: &Path, there: There) -> PathBuf {
    folder.join(there.name()).with_extension("lock")
}

fn state(folder: &Path, there: There) -> PathBuf {
    folder.join(there.name())
}

/// Plays the machine that these arguments ask for.
pub(in crate::cli) fn play(arguments: &[OsString]) -> Option<Outcome> {
    let [_, plays, name, folder, rest @ ..] = arguments else { return None };
    let there = There::ALL.into_iter().find(|there| plays == PLAYS && name == there.name())?;
    let is_inside = rest.first().is_some_and(|first| first == INSIDE);
    let played = if is_inside { Ok(()) } else { begin_apart(there, folder) };
    Some(played.map_err(failed).and_then(|()| stream(there, Path::new(folder), is_inside)))
}

fn failed(error: anyhow::Error) -> Failure {
    Failure::new(Exit::Failed, error)
}

/// Goes on in namespaces of its own; returns where none are granted, and it is but processes of this machine.
#[expect(clippy::disallowed_methods, reason = "the demo starts processes, and each one is our own program")]
fn begin_apart(there: There, folder: &OsString) -> anyhow::Result<()> {
    let own = std::env::current_exe()?;
    let unshare = |of_a_user: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(of_a_user).args(NAMESPACES).arg("--");
        command
    };
    for of_a_user in [&[][..], &OF_A_USER] {
        let mut trial = unshare(of_a_user);
        trial.arg("true").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if !trial.status().is_ok_and(|status| status.success()) {
            continue;
        }
        let mut machine = unshare(of_a_user);
        machine.args(["sh", "-c", r#"hostname "$0" 2>/dev/null; exec "$@""#, there.name()]);
        let error = machine.arg(own).args([PLAYS, there.name()]).arg(folder).arg(INSIDE).exec();
        return Err(anyhow!(error).context("failed to run unshare"));
    }
    Ok(())
}

/// Makes the machine's world, and reports it until its reader has gone or the demo ends.
fn stream(there: There, folder: &Path, is_alone: bool) -> Outcome {
    let lock = Arc::new(OpenOptions::new().write(true).open(lock(folder, there))?);
    // One that was lost may still be ending.
    flock(&*lock, FlockOperation::LockExclusive).map_err(std::io::Error::from)?;
    let mut lifeline = Lifeline::open(&folder.join("lifeline"))?;
    let is_asleep = lock.metadata()?.modified()? > SystemTime::from(clock::now());
    if is_asleep || !lifeline.is_held() {
        return Err(failed(anyhow!("{} is asleep", there.name())));
    }
    let environment = Environment::read();
    let mut world = World::make(Which::There(there), folder, &environment.programs).map_err(failed)?;
    let options = Options { state: Some(state(folder, there)), ..Options::default() };
    let settings = world.settings(&options, environment)?;
    let observer = look::observer(&settings, signatures(&settings)?);
    let stage = world.stage.path().to_owned();
    let here = stage.clone();
    let staged = move |executor: Executor| match is_alone {
        true => executor.alone_with(stage),
        false => executor.only_below(Some(stage)),
    };
    let mut observer = if is_alone { observer.alone_with(here) } else { observer.only_below(Some(here)) };
    observer.observe();
    world.cast.end_dead(&world.story);
    let world = Arc::new(Mutex::new(Some(world)));
    let held = Arc::clone(&world);
    std::thread::spawn(move || {
        lifeline.wait();
        // No reader is left for an error.
        drop(end(&held, World::end));
        std::process::exit(0);
    });
    if there == There::Web {
        let lock = Arc::clone(&lock);
        std::thread::spawn(move || fall_silent(&lock));
    }
    let outcome = stream::run_staged(observer, &settings, Allow::Operate, staged);
    end(&world, World::end).map_err(failed)?;
    outcome
}

/// Has nothing of what is said heard any more, as behind a broken link: the pipe stays open, and nothing comes.
fn fall_silent(lock: &File) -> std::io::Result<()> {
    std::thread::sleep(AWAKE);
    lock.set_modified(SystemTime::from(clock::now()) + ASLEEP)?;
    let _open = rustix::io::dup(rustix::stdio::stdout())?;
    rustix::stdio::dup2_stdout(OpenOptions::new().write(true).open("/dev/null")?)?;
    loop {
        std::thread::park();
    }
}
