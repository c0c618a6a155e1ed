//! The hosts of a fleet's database, read every 2 s: first which have beaten, and then their new reports.

mod asking;
pub(crate) mod signature;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, sleep_until};
use tokio_postgres::Row;

use self::asking::OpenQuestion;

use crate::core::fleet::database::host_name::only_named;
use crate::core::fleet::database::host_row::{HostRow, PartRow, ReadAt};
use crate::core::fleet::database::roster::Roster;
use crate::core::fleet::merge::remote_machine::FarMachine;
use crate::core::model::text::shown;
use crate::core::model::{MachineState, MachineView, Untrusted};
use crate::observe::fleet::{Hosts, PostedQuestion, SharedState};
use crate::source::database::postgres::Target;
use crate::source::database::postgres::session::Session;
use crate::source::os::clock;

/// How often hosts are read.
const EVERY: Duration = Duration::from_secs(2);

/// How often, while a person looks at one closely.
const CLOSELY: Duration = Duration::from_secs(1);

/// How often to check for answers, while any is waited for.
const ANSWERS: Duration = Duration::from_millis(500);

/// How often a host is notified again that a person looks at it closely; it forgets that after 30 s.
const TOLD_AGAIN: Duration = Duration::from_secs(8);

/// How often all of them are read, and not only those that have beaten: in polls.
const ALL_EVERY: u32 = 15;

/// How many hosts' reports are read at once: an answer of the server has a bound.
const AT_ONCE: usize = 20;

/// The name of the database itself among the machines, while it has not been read.
const DATABASE: &str = "fleet";

const HOSTS: &str =
    "SELECT claimtop.milliseconds(claimtop.clock()), claimtop.milliseconds(pg_postmaster_start_time()),
    has_function_privilege('claimtop.ask(uuid,bigint,text,text,json,text)', 'execute'),
    (SELECT json_agg(h)::text FROM claimtop.hosts($1::bigint) h)";

const PARTS: &str = "SELECT host::text, is_whole, kind, id, sequence, payload
    FROM claimtop.parts($1::uuid[], $2::bigint[])";

const LOOK_CLOSELY: &str = "SELECT claimtop.look_closely($1::uuid)";

/// Whether this login has permission to look.
const MAY_LOOK: &str = "SELECT has_function_privilege('claimtop.hosts(bigint)', 'execute')";

/// The message for a login without that permission.
const MAY_NOT: &str = "your login to the fleet's database may not read it: grant it claimtop_view";

/// Starts to read the hosts of a database, and puts them after the first `first` machines.
///
/// # Errors
/// The system cannot start another thread.
pub(crate) fn watch(
    target: Target,
    Hosts { only, taken, key }: Hosts,
    (shared, first): (SharedState, usize),
) -> io::Result<()> {
    let placeholder = unreached(&target, MachineState::Connecting, "");
    shared.replace_after(first, vec![placeholder]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let name = target.clone();
    let (door, posted) = unbounded_channel();
    shared.doors().database = Some(door);
    std::thread::Builder::new().name("hosts".to_owned()).spawn(move || {
        runtime.block_on(async {
            let mut viewer = Viewer {
                session: Session::new(target),
                roster: Roster::beside(taken),
                polls: 0,
                connections: 0,
                posted,
                open: Vec::new(),
                key,
                last_named: None,
            };
            loop {
                let began = Instant::now();
                let polled = viewer.poll().await;
                let machines = viewer.roster.machines(steady(), clock::now());
                let machines = if only.is_empty() { machines } else { only_named(&machines, &only) };
                match polled {
                    Err(why) if viewer.polls == 0 => {
                        let why = viewer.why_unread(why).await;
                        let unreached = unreached(&name, MachineState::Unreached, &why);
                        shared.replace_after(first, vec![unreached]);
                    }
                    Ok(()) | Err(_) => shared.replace_after(first, machines),
                }
                let closely = shared.closely().clone();
                viewer.look_closely(closely.as_deref()).await;
                let every = if closely.is_some() { CLOSELY } else { EVERY };
                viewer.answer_until(began + every).await;
            }
        });
    })?;
    Ok(())
}

/// Creates the machine that stands for a database that has not been read yet.
fn unreached(target: &Target, state: MachineState, why: &str) -> FarMachine {
    let detail = Untrusted::new(shown(why));
    let view = MachineView { state, detail, ..MachineView::new(DATABASE, target.name.shown()) };
    FarMachine { view, hello: None, report: None, tombstones: std::sync::Arc::default() }
}

fn steady() -> Duration {
    // Its starting point does not matter.
    clock::since_boot().and_then(|since| Duration::try_from(since).ok()).unwrap_or_default()
}

/// Hosts, each with the last known sequence, and their reports since.
type HostNews = (Vec<(String, i64)>, Vec<Row>);

struct Viewer {
    session: Session,
    roster: Roster,
    /// How often hosts were read.
    polls: u32,
    /// How often it had connected by the last poll.
    connections: u32,
    /// The questions to hosts.
    posted: UnboundedReceiver<PostedQuestion>,
    open: Vec<OpenQuestion>,
    /// The key that signs them.
    key: Option<PathBuf>,
    /// The host that was notified that a person looks at it closely, and when.
    last_named: Option<(String, Instant)>,
}

impl Viewer {
    async fn poll(&mut self) -> Result<(), String> {
        let is_all = self.session.is_closed() || self.polls.is_multiple_of(ALL_EVERY);
        let since = self.roster.since().filter(|_| !is_all).map(|since| since.to_string());
        let rows = self.session.query(HOSTS, &[since]).await?;
        let unread = || "its functions do not answer as claimtop's do".to_owned();
        let (at, hosts) = rows.first().and_then(head).ok_or_else(unread)?;
        if self.session.connections() != self.connections {
            self.connections = self.session.connections();
            self.roster.reached_again(at.steady);
        }
        self.roster.hosts(hosts, is_all, at);
        self.polls = self.polls.wrapping_add(1).max(1);
        let wanted = self.roster.wanted();
        let mut ready = None;
        for some in wanted.chunks(AT_ONCE) {
            // Some reports are taken in while the server prepares those of other hosts.
            let taken_in = taken_in(&mut self.roster, ready.take());
            let (rows, ()) = tokio::join!(parts(&mut self.session, some), taken_in);
            match rows {
                Ok(rows) => ready = Some((some.to_vec(), rows)),
                // A host that sends too much must not hide the others.
                Err(_) => self.one_by_one(some).await?,
            }
        }
        taken_in(&mut self.roster, ready).await;
        Ok(())
    }

    /// Returns why hosts cannot be read: the server does not explain it to a login that may only publish.
    async fn why_unread(&mut self, why: String) -> String {
        if self.session.connections() == 0 {
            return why;
        }
        let rows = self.session.query(MAY_LOOK, &[]).await.unwrap_or_default();
        let may_look: Option<bool> = rows.first().and_then(|row| row.try_get(0).ok());
        if may_look == Some(false) { MAY_NOT.to_owned() } else { why }
    }

    /// Notifies a host that a person looks at it closely.
    async fn look_closely(&mut self, name: Option<&str>) {
        let Some((host, _)) = name.and_then(|name| self.roster.address(name)) else { return };
        let is_known = |(named, at): &(String, Instant)| *named == host && at.elapsed() < TOLD_AGAIN;
        if self.last_named.as_ref().is_some_and(is_known) || self.session.is_closed() {
            return;
        }
        if let Err(why) = self.session.query(LOOK_CLOSELY, &[Some(host.clone())]).await {
            tracing::debug!(why, "a host is not told that it is looked at");
        }
        self.last_named = Some((host, Instant::now()));
    }

    /// Sends questions, and checks for answers, until hosts are to be read again.
    async fn answer_until(&mut self, due: Instant) {
        loop {
            let is_any = !self.open.is_empty();
            let next = if is_any { due.min(Instant::now() + ANSWERS) } else { due };
            tokio::select! {
                Some(posted) = self.posted.recv() => {
                    let asked = asking::asked(posted, &self.roster, self.key.as_deref(), steady()).await;
                    self.open.extend(asked);
                }
                () = sleep_until(next) => {}
            }
            self.answers().await;
            if Instant::now() >= due {
                return;
            }
        }
    }

    async fn answers(&mut self) {
        for mut asked in std::mem::take(&mut self.open) {
            match asked.goes_on(&mut self.session, &mut self.roster, steady()).await {
                Ok(false) => {}
                Ok(true) => self.open.push(asked),
                Err(why) => {
                    tracing::debug!(why, "a question is sent again");
                    self.open.push(asked);
                }
            }
        }
    }

    async fn one_by_one(&mut self, some: &[(String, i64)]) -> Result<(), String> {
        for one in some.chunks(1) {
            match parts(&mut self.session, one).await {
                Ok(rows) => {
                    taken_in(&mut self.roster, Some((one.to_vec(), rows))).await;
                }
                Err(why) => {
                    // A broken connection shows nothing about a host.
                    self.session.query("SELECT 1", &[]).await?;
                    one.iter().for_each(|(host, _)| self.roster.unreadable(host, &why));
                }
            }
        }
        Ok(())
    }
}

async fn parts(session: &mut Session, of: &[(String, i64)]) -> Result<Vec<Row>, String> {
    let array = |all: Vec<String>| Some(format!("{{{}}}", all.join(",")));
    let hosts = array(of.iter().map(|(host, _)| host.clone()).collect());
    let known = array(of.iter().map(|(_, known)| known.to_string()).collect());
    session.query(PARTS, &[hosts, known]).await
}

/// Takes in hosts' reports, after sending the questions that arrived meanwhile.
async fn taken_in(roster: &mut Roster, ready: Option<HostNews>) {
    let Some((of, rows)) = ready else { return };
    tokio::task::yield_now().await;
    roster.parts(&of, rows.iter().filter_map(part).collect());
}

fn head(row: &Row) -> Option<(ReadAt, Vec<HostRow>)> {
    let (server, started, may_ask) = (row.try_get(0).ok()?, row.try_get(1).ok()?, row.try_get(2).ok()?);
    let at = ReadAt { steady: steady(), server, started, may_ask };
    let hosts: Option<String> = row.try_get(3).ok()?;
    let hosts = hosts.map_or_else(|| Some(Vec::new()), |hosts| serde_json::from_str(&hosts).ok())?;
    Some((at, hosts))
}

fn part(row: &Row) -> Option<PartRow<'_>> {
    Some(PartRow {
        host: row.try_get(0).ok()?,
        is_whole: row.try_get(1).ok()?,
        kind: row.try_get(2).ok()?,
        id: row.try_get(3).ok()?,
        sequence: row.try_get(4).ok()?,
        payload: row.try_get(5).ok()?,
    })
}
