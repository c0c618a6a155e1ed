//! The life cycle of one machine's link: connect, receive, lose, and reconnect.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::asked::Inbox;
use super::child::{self, UnderWay};
use super::complaints::{ENDING, ErrorOutput, closed};
use super::lines::Lines;
use super::question::PostedQuestion;
use super::shared::{Pin, SharedState};
use crate::core::fleet::merge::remote_machine::FarMachine;
use crate::core::fleet::order::Allow;
use crate::core::fleet::transport::Machine;
use crate::core::fleet::wire::decoder::{Decoder, Message, StreamError};
use crate::core::fleet::wire::encoder::Encoder;
use crate::core::fleet::wire::line::Hello;
use crate::core::model::text::shown;
use crate::core::model::{MachineState, Untrusted};
use crate::source::os::clock;

/// How often it is sent a heartbeat request.
const BEAT: Duration = Duration::from_secs(5);

/// How long it may send nothing before it counts as silent.
const SILENT: Duration = Duration::from_secs(15);

/// How long it may take to greet: ssh itself gives up after 5 s if the host does not answer.
const GREETING: Duration = Duration::from_secs(15);

/// How long it may take to send a whole look after its beginning, and the first one after the connection, whatever
/// else it sends until then.
const LOOK: Duration = Duration::from_secs(30);

/// How long to wait before reconnecting, at first and at most.
const AGAIN: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(30)];

/// How far its clock may differ without a remark.
const CLOCK_DOUBT: SignedDuration = SignedDuration::from_secs(2);

/// How many times the duration of taking in and merging its looks to read nothing more of it, so that a machine that
/// sends looks without end takes a tenth of the thread that all machines share.
const REST: u32 = 9;

/// How long they must have taken to be worth a rest.
const WORTH_A_REST: Duration = Duration::from_millis(1);

/// The longest time in which nothing more of it is read.
const LONGEST_REST: Duration = Duration::from_secs(1);

/// One machine's link.
pub(super) struct Link {
    pub(super) machine: Machine,
    pub(super) at: usize,
    pub(super) shared: SharedState,
    pub(super) pin: Pin,
    pub(super) connecting: Arc<Semaphore>,
    /// When the thread of all machines began: all heartbeats are aligned to it.
    pub(super) began: Instant,
    /// How many bytes of texts of its own it may still send, over all its connections.
    pub(super) words_left: AtomicUsize,
}

/// Why a link has ended.
struct LinkError {
    why: String,
    /// Whether it has sent a whole look.
    was_live: bool,
}

impl LinkError {
    fn before(why: impl Into<String>) -> Self {
        Self { why: why.into(), was_live: false }
    }
}

impl Link {
    /// Connects to the machine again and again.
    pub(super) async fn keep(self) {
        let [first, longest] = AGAIN;
        let mut rest = first;
        loop {
            let Some(lost) = self.once().await else { return };
            tracing::debug!(machine = self.machine.name, why = lost.why, "lost a machine");
            self.change(|seen| {
                let was_seen = seen.report.is_some();
                seen.view.state = if was_seen { MachineState::Silent } else { MachineState::Unreached };
                seen.view.detail = Untrusted::new(lost.why);
                seen.view.latency_ms = None;
            });
            rest = if lost.was_live { first } else { rest };
            tokio::select! {
                () = sleep(rest.mul_f64(jitter())) => {}
                () = self.shared.wait_until_closed() => return,
            }
            rest = (rest * 2).min(longest);
        }
    }

    /// Connects once, and receives until the connection is lost; nothing if the machine is released.
    async fn once(&self) -> Option<LinkError> {
        let permit = tokio::select! {
            permit = self.connecting.acquire() => permit.ok()?,
            () = self.shared.wait_until_closed() => return None,
        };
        let command = self.machine.transport.command(self.machine.path.as_deref(), self.machine.allow);
        let mut program = match child::start(&command) {
            Ok(program) => program,
            Err(error) => {
                return Some(LinkError::before(format!("its program could not be started: {error}")));
            }
        };
        let (Some(input), Some(output), Some(errors)) =
            (program.stdin.take(), program.stdout.take(), program.stderr.take())
        else {
            return Some(LinkError::before("its program has no pipes"));
        };
        let mut connection = Connection {
            link: self,
            decoder: Decoder::again(&self.machine.name, self.words_left.load(Relaxed)).on_demand(),
            input,
            lines: Lines::new(output),
            errors: ErrorOutput::from_stderr(errors),
            heard_at: Instant::now(),
            beat: (0, Instant::now()),
            publish_at: Instant::now(),
            is_behind: false,
            looked_for: Duration::ZERO,
            rested_at: Instant::now(),
            look_by: Some(Instant::now() + LOOK),
            permit: Some(permit),
            remark: String::new(),
            asked: Inbox::default(),
        };
        let ended = tokio::select! {
            ended = connection.listen() => ended,
            () = self.shared.wait_until_closed() => {
                let under_way = match connection.decoder.hello() {
                    None => UnderWay::Nothing,
                    Some(_) if connection.asked.is_waited_for() => UnderWay::Order,
                    Some(_) => UnderWay::Looking,
                };
                // That ends its input.
                drop(connection);
                child::end(program, under_way).await;
                return None;
            }
        };
        if connection.is_behind {
            connection.publish(clock::now());
        }
        self.words_left.store(connection.decoder.words_left(), Relaxed);
        let was_live = connection.decoder.report().is_some();
        self.shared.doors().machines.remove(&self.machine.name);
        let why = match ended {
            LinkEnd::Closed => {
                connection.errors.read_remaining().await;
                let status = timeout(ENDING, program.wait()).await.ok().and_then(Result::ok);
                closed(&connection.errors.text, status.and_then(|status| status.code()), &self.machine)
            }
            LinkEnd::Silent(after) => format!("no contact for {} s", after.as_secs()),
            LinkEnd::StreamError(why) => why.to_string(),
            LinkEnd::Another(why) => why,
        };
        Some(LinkError { why, was_live })
    }

    fn change(&self, change: impl FnOnce(&mut FarMachine)) {
        if let Some(seen) = self.shared.seen().get_mut(self.at) {
            change(seen);
        }
        self.shared.changed();
    }
}

/// How a connection has ended.
enum LinkEnd {
    /// Its program has closed its output.
    Closed,
    Silent(Duration),
    StreamError(StreamError),
    /// It is not the machine that it was.
    Another(String),
}

/// A connection with a machine that was reached.
struct Connection<'a> {
    link: &'a Link,
    decoder: Decoder,
    input: ChildStdin,
    lines: Lines<tokio::process::ChildStdout>,
    errors: ErrorOutput,
    heard_at: Instant,
    /// The number of the last heartbeat, and when it was sent.
    beat: (u64, Instant),
    /// When its reports are merged next, if there is anything new.
    publish_at: Instant,
    is_behind: bool,
    /// How long its looks have taken since the last rest.
    looked_for: Duration,
    /// Until when nothing more of it is read.
    rested_at: Instant,
    /// The time by which it must have sent a whole look, if one is due.
    look_by: Option<Instant>,
    /// Held until it has greeted.
    permit: Option<tokio::sync::SemaphorePermit<'a>>,
    /// A remark on something odd about the machine.
    remark: String,
    /// The questions to it.
    asked: Inbox,
}

impl Connection<'_> {
    async fn listen(&mut self) -> LinkEnd {
        let greeting_by = self.heard_at + GREETING;
        // When the next heartbeat is sent, once it has greeted.
        let mut beat_at = greeting_by;
        loop {
            let is_resting = self.rested_at > Instant::now();
            let is_greeted = self.decoder.hello().is_some();
            tokio::select! {
                biased;
                // However much it sends, none of these waits until it pauses.
                () = sleep_until(greeting_by), if !is_greeted => return LinkEnd::Silent(GREETING),
                () = sleep_until(self.look_by.unwrap_or(greeting_by)), if self.look_by.is_some() => {
                    return LinkEnd::Another(self.overdue());
                }
                () = sleep_until(beat_at), if is_greeted => {
                    if !self.ask().await {
                        return LinkEnd::Closed;
                    }
                    beat_at = next_beat(self.link.began, Instant::now());
                }
                posted = self.asked.next() => {
                    if !self.send(posted).await {
                        return LinkEnd::Closed;
                    }
                }
                () = sleep_until(self.publish_at), if self.is_behind => {
                    let began = Instant::now();
                    self.publish(clock::now());
                    self.rest(began.elapsed());
                }
                () = sleep_until(self.rested_at), if is_resting => {}
                complained = self.errors.more() => {
                    if let Err(why) = self.lines.spend(complained) {
                        return LinkEnd::StreamError(why);
                    }
                }
                line = self.lines.next(), if !is_resting => match line {
                    Ok(Some(line)) => {
                        let began = Instant::now();
                        let heard = match self.decoder.receive(line) {
                            Ok(heard) => heard,
                            Err(why) => return LinkEnd::StreamError(why),
                        };
                        if let Err(why) = self.take(heard) {
                            return LinkEnd::Another(why);
                        }
                        if heard == Message::Look {
                            self.rest(began.elapsed());
                        }
                        if heard == Message::Hello {
                            beat_at = Instant::now();
                        }
                    }
                    Ok(None) => return LinkEnd::Closed,
                    Err(why) => return LinkEnd::StreamError(why),
                },
                // This comes last: what waits to be read was sent in time, however late we are.
                () = sleep_until(self.heard_at + SILENT), if is_greeted => return LinkEnd::Silent(SILENT),
            }
        }
    }

    /// Returns the text for a missing look.
    fn overdue(&self) -> String {
        let seconds = LOOK.as_secs();
        match self.decoder.report() {
            None => format!("it has sent no data for {seconds} s"),
            Some(_) => format!("no complete scan for {seconds} s"),
        }
    }

    /// Sends a heartbeat request; returns whether the machine could receive it.
    async fn ask(&mut self) -> bool {
        let number = self.beat.0 + 1;
        self.beat = (number, Instant::now());
        let Ok(line) = Encoder::beat(number) else { return true };
        // A machine that does not read must not keep us from noticing that it sends nothing.
        match timeout(BEAT, self.input.write_all(line.as_bytes())).await {
            Ok(written) => written.is_ok(),
            Err(_) => true,
        }
    }

    /// Sends a question; returns whether all of it could be sent.
    async fn send(&mut self, posted: PostedQuestion) -> bool {
        let Some(line) = self.asked.line(posted) else { return true };
        timeout(BEAT, self.input.write_all(line.as_bytes())).await.is_ok_and(|written| written.is_ok())
    }

    /// Takes in a parsed line.
    ///
    /// # Errors
    /// It is not the machine that it was.
    fn take(&mut self, heard: Message) -> Result<(), String> {
        if self.decoder.hello().is_none() {
            return Ok(());
        }
        self.heard_at = Instant::now();
        if heard == Message::Look {
            self.look_by = None;
        } else if self.decoder.is_amid() {
            self.look_by = self.look_by.or(Some(self.heard_at + LOOK));
        }
        let now = clock::now();
        match heard {
            Message::Hello => {
                self.permit = None;
                let Some(hello) = self.decoder.hello() else { return Ok(()) };
                (self.link.pin)(&self.link.machine.name, &hello.identity)?;
                let hello = hello.clone();
                let twin = self.twin(&hello);
                self.link.change(|seen| seen.view.same_as.clone_from(&twin));
                if let Some(twin) = twin {
                    return Err(format!("it is already shown as {twin}"));
                }
                self.remark = self.remark_on(&hello, now);
                let ahead = hello.now.duration_since(now);
                self.link.change(|seen| {
                    seen.view.clock_ahead_seconds =
                        if ahead.abs() < CLOCK_DOUBT { 0 } else { ahead.as_secs() };
                    seen.view.version = Some(Untrusted::new(shown(&hello.version)));
                    seen.view.host = Some(Untrusted::new(shown(&hello.host)));
                    seen.view.seen_at = Some(now);
                    seen.view.no_orders = no_orders(&hello, self.link.machine.allow).map(Untrusted::new);
                    seen.hello = Some(hello);
                });
                self.asked.open(&self.link.shared, &self.link.machine.name);
            }
            Message::Look if Instant::now() < self.publish_at => {
                self.is_behind = true;
                self.heard(now, None);
            }
            Message::Look => self.publish(now),
            Message::Beat(number) => {
                let latency = (number == self.beat.0).then(|| self.beat.1.elapsed());
                let latency = latency.and_then(|latency| u64::try_from(latency.as_millis()).ok());
                self.heard(now, latency);
            }
            Message::Answer => {
                self.heard(now, None);
                if let Some(answer) = self.decoder.answer() {
                    self.asked.answered(answer);
                }
            }
            Message::Other => self.heard(now, None),
        }
        Ok(())
    }

    /// Publishes its reports.
    fn publish(&mut self, now: Timestamp) {
        (self.publish_at, self.is_behind) = (Instant::now() + self.link.shared.apart(), false);
        self.decoder.put_together();
        let report = self.decoder.report().cloned();
        let tombstones = self.decoder.tombstones().cloned().collect();
        let not_understood = self.decoder.not_understood();
        let remark = Untrusted::new(self.remark.clone());
        self.link.change(|seen| {
            seen.view.state = MachineState::Live;
            seen.view.detail = remark;
            seen.view.windows = report.as_ref().map_or(0, |report| report.windows.len());
            seen.view.seen_at = Some(now);
            seen.view.not_understood = not_understood;
            seen.report = report;
            seen.tombstones = tombstones;
        });
    }

    /// Reads nothing more of it for a while, if its looks have taken long enough to be worth it.
    fn rest(&mut self, took: Duration) {
        self.looked_for += took;
        if self.looked_for >= WORTH_A_REST {
            self.rested_at = Instant::now() + (self.looked_for * REST).min(LONGEST_REST);
            self.looked_for = Duration::ZERO;
        }
    }

    /// Returns the other name under which a machine is shown.
    fn twin(&self, hello: &Hello) -> Option<String> {
        self.others(|name, known| {
            let (one, two) = (&known.identity.store, &hello.identity.store);
            let is_one = one.is_some() && one == two && known.boot.is_some() && known.boot == hello.boot;
            (is_one && known.pid_namespace == hello.pid_namespace).then(|| name.to_owned())
        })
    }

    /// Returns the remark on the first other connected machine that has one.
    fn others(&self, say: impl Fn(&str, &Hello) -> Option<String>) -> Option<String> {
        let all = self.link.shared.seen();
        let others = all.iter().enumerate().filter(|(at, _)| *at != self.link.at).map(|(_, other)| other);
        let live = others.filter(|other| other.view.state.is_heard());
        live.filter_map(|other| say(&other.view.name, other.hello.as_ref()?)).next()
    }

    /// Returns a remark on something odd about a machine.
    fn remark_on(&self, hello: &Hello, now: Timestamp) -> String {
        let clone = self.others(|name, known| {
            let (one, two) = (&known.identity.machine, &hello.identity.machine);
            let is_clone = one.is_some() && one == two && known.boot != hello.boot;
            is_clone.then(|| format!("it has the ID of {name}: one is a clone of the other"))
        });
        let mut remarks: Vec<String> = clone.into_iter().collect();
        let ahead = hello.now.duration_since(now);
        if ahead.abs() >= CLOCK_DOUBT {
            let way = if ahead.is_positive() { "ahead of" } else { "behind" };
            let by = SignedDuration::from_secs(ahead.abs().as_secs());
            remarks.push(format!("its clock is {by:#} {way} this one, and so are the ages it reports"));
        }
        remarks.join("; ")
    }

    /// Notes a sign of life, which alone changes nothing that is shown.
    fn heard(&self, now: Timestamp, latency: Option<u64>) {
        if let Some(seen) = self.link.shared.seen().get_mut(self.link.at) {
            seen.view.seen_at = Some(now);
            seen.view.latency_ms = latency.or(seen.view.latency_ms);
        }
    }
}

/// Returns why a machine gets no orders, if it does not.
fn no_orders(hello: &Hello, allow: Allow) -> Option<String> {
    match allow {
        Allow::Observe => {
            Some("it is only watched from here (allow = \"operate\" permits orders)".to_owned())
        }
        Allow::Operate if hello.takes_orders => None,
        Allow::Operate => {
            let why = hello.no_orders.as_deref().map_or("its claimtop accepts none".to_owned(), shown);
            Some(format!("it accepts no orders: {why}"))
        }
    }
}

/// Returns when the next heartbeat is due: at one time for all machines, so that one wake-up is enough.
fn next_beat(began: Instant, now: Instant) -> Instant {
    let beats = now.saturating_duration_since(began).as_secs() / BEAT.as_secs();
    began + Duration::from_secs((beats + 1) * BEAT.as_secs())
}

/// Returns a factor between 0.5 and 1.5, so that machines that were lost together do not all reconnect at once.
fn jitter() -> f64 {
    let random = RandomState::new().hash_one(0_u8) >> 32;
    0.5 + u32::try_from(random).map_or(0.5, f64::from) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_machines_are_asked_at_once_and_each_every_5_s() {
        let began = Instant::now();
        let next = |ms| (next_beat(began, began + Duration::from_millis(ms)) - began).as_secs();
        assert_eq!([0, 1, 4_999, 5_000, 5_003, 12_345].map(next), [5, 5, 5, 10, 10, 15]);
    }
}
