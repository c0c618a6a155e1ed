//! The thread that looks: when told, and now and then in case nobody tells.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::core::model::code::Code;
use crate::core::model::diagnosis::Measured;
use crate::core::model::process::ProcessId;
use crate::core::model::report::Report;
use crate::observe::ReportSource;
use crate::observe::watch::hint::Hint;
use crate::source::os::clock;

/// The longest rest after a look that took long.
const LONGEST_REST: Duration = Duration::from_secs(2);
/// How often to look while changes are told: a hint can be missed all the same.
const SAFETY: Duration = Duration::from_secs(60);
/// When to look again at a file that was being written: by then it is whole, or it is corrupt;
/// unless the clock was set back, which makes it young for as long.
const SETTLING: Duration = Duration::from_millis(1_200);
/// How often to look while nobody tells.
const UNTOLD: Duration = Duration::from_secs(2);
/// How often to ask for newcomers at first, and at most how seldom while none comes.
const GLANCES: [Duration; 2] = [Duration::from_secs(3), Duration::from_secs(6)];

/// How long after a program was opened to ask who has become it: the kernel opens it first.
const BECOMING: Duration = Duration::from_millis(300);
/// How often at most: agents open their own programs many times a minute.
const ASKED_AGAIN: Duration = Duration::from_millis(1_200);

/// How much of what changes is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    /// All of it, as far as is known.
    All,
    /// Not all of it.
    InPart,
}

/// What the thread that looks has to say.
#[derive(Debug)]
pub enum Said {
    /// What it saw.
    Looked(Arc<Report>),
    /// This process has exited; the look that tells what that means begins now.
    Exited(ProcessId),
    /// What that look was like.
    Measured(Measured),
    /// Not all changes are told from now on, so it looks now and then.
    HintsLost,
    /// It has panicked; its words. There will be no other look.
    Failed(String),
}

/// Whether anybody still listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Somebody does.
    Listens,
    /// Nobody does.
    Gone,
}

/// Starts the thread. It ends when nobody listens any more.
///
/// # Errors
/// The system has no more threads for us.
pub fn start(
    reports: impl ReportSource + Send + 'static,
    hints: Option<Receiver<Hint>>,
    say: impl FnMut(Said) -> Audience + Send + 'static,
) -> io::Result<()> {
    std::thread::Builder::new()
        .name("looking".to_owned())
        .spawn(move || keep_looking(reports, hints, say))?;
    Ok(())
}

fn keep_looking(
    mut reports: impl ReportSource,
    hints: Option<Receiver<Hint>>,
    mut say: impl FnMut(Said) -> Audience,
) {
    let told = if hints.is_some() { Told::All } else { Told::InPart };
    let mut ear = Ear { hints, told, becoming: Becoming::default() };
    if told == Told::InPart && say(Said::HintsLost) == Audience::Gone {
        return;
    }
    let mut torn = 0;
    for looks in 1.. {
        let began = clock::steady();
        // The reports is not used again after a panic, so nothing half-done is seen.
        match catch_unwind(AssertUnwindSafe(|| look(&mut reports, looks, &mut say))) {
            Ok(Some(Files::Torn)) => torn += 1,
            Ok(Some(Files::Whole)) => torn = 0,
            Ok(None) => return,
            Err(_) => {
                say(Said::Failed(super::terminal::last_panic()));
                return;
            }
        }
        let before = ear.told;
        let now = clock::steady();
        let longest = ear.patience().min(settling(torn));
        let exited = ear.wait(now + rest(now - began), now + longest, &mut reports);
        if exited.is_some_and(|id| say(Said::Exited(id)) == Audience::Gone) {
            return;
        }
        ear.hear_the_rest();
        if ear.told != before && say(Said::HintsLost) == Audience::Gone {
            return;
        }
    }
}

/// What a look has found files to be.
enum Files {
    /// One of them was being written, or is corrupt.
    Torn,
    /// All are whole.
    Whole,
}

/// Looks, says so, and only then follows what was found: whoever waits need not wait for that.
/// Returns nothing when nobody listens any more.
fn look(
    reports: &mut impl ReportSource,
    looks: u64,
    say: &mut impl FnMut(Said) -> Audience,
) -> Option<Files> {
    let began = clock::steady();
    let report = reports.next_report();
    let took = clock::steady() - began;
    tracing::debug!(
        took_us = took.as_micros(),
        windows = report.windows.len(),
        records = report.records.len(),
        findings = report.findings.len(),
        "looked"
    );
    let is_torn = report.findings.iter().any(|finding| finding.code == Code::TornRecord);
    let files = if is_torn { Files::Torn } else { Files::Whole };
    if say(Said::Looked(report)) == Audience::Gone {
        return None;
    }
    let measured = Measured { looks, took, watched: reports.follow() };
    (say(Said::Measured(measured)) == Audience::Listens).then_some(files)
}

/// Returns how long to wait at most after so many looks in a row that saw a torn file.
fn settling(looks: u32) -> Duration {
    looks.checked_sub(1).map_or(SAFETY, |before| SETTLING * (1 << before.min(6)))
}

/// Returns how long to leave files alone after a look, so that a storm of writes costs a few
/// hundredths of a core. Deaths do not wait: they cannot come in storms.
fn rest(took: Duration) -> Duration {
    (took * 40).min(LONGEST_REST)
}

/// Whoever listens for hints.
struct Ear {
    /// `None` when the channel is closed.
    hints: Option<Receiver<Hint>>,
    told: Told,
    becoming: Becoming,
}

/// When to ask whether an old process has become an agent.
#[derive(Default)]
struct Becoming {
    ask_at: Option<Instant>,
    asked_at: Option<Instant>,
}

impl Becoming {
    /// Notes that an agent's program was opened.
    fn expect(&mut self, now: Instant) {
        let earliest = self.asked_at.map_or(now, |at| at + ASKED_AGAIN);
        self.ask_at.get_or_insert(earliest.max(now + BECOMING));
    }

    /// Returns whether to ask now, and is answered by that.
    fn is_due(&mut self, now: Instant) -> bool {
        let is_due = self.ask_at.is_some_and(|at| at <= now);
        if is_due {
            *self = Self { ask_at: None, asked_at: Some(now) };
        }
        is_due
    }
}

/// What ends the waiting for a hint.
enum Heard {
    /// This process has exited.
    Death(ProcessId),
    /// Somebody waits for a look.
    Asked,
    /// A program of an agent's was opened.
    Program,
    /// Files have changed, or something was missed.
    Change,
    /// Nothing until the time was up, or ever again.
    Nothing,
}

impl Ear {
    /// Returns how long to wait at most, whether or not anything is heard.
    fn patience(&self) -> Duration {
        match self.told {
            Told::All => SAFETY,
            Told::InPart => UNTOLD,
        }
    }

    /// Waits until it is time for another look: at once after a death or when asked, after the rest
    /// when files change, when somebody has come, or for safety. Returns who has exited, if that is why.
    fn wait(
        &mut self,
        rested_at: Instant,
        over_at: Instant,
        reports: &mut impl ReportSource,
    ) -> Option<ProcessId> {
        let [mut glance_after, seldom] = GLANCES;
        let mut glance_at = clock::steady() + glance_after;
        let mut is_pending = false;
        loop {
            let until = if is_pending { rested_at } else { glance_at.min(over_at) };
            let until = self.becoming.ask_at.map_or(until, |at| at.min(until));
            let heard = self.hear(until);
            if self.becoming.is_due(clock::steady()) && reports.has_new_agent() {
                return None;
            }
            match heard {
                Heard::Death(id) => return Some(id),
                Heard::Asked => return None,
                Heard::Program => self.becoming.expect(clock::steady()),
                Heard::Change if clock::steady() >= rested_at => return None,
                Heard::Change => is_pending = true,
                Heard::Nothing if is_pending && clock::steady() >= rested_at => return None,
                Heard::Nothing if clock::steady() >= over_at => return None,
                Heard::Nothing if is_pending || clock::steady() < glance_at => {}
                Heard::Nothing if reports.has_news() => return None,
                Heard::Nothing => {
                    glance_after = (glance_after * 2).min(seldom);
                    glance_at = clock::steady() + glance_after;
                }
            }
        }
    }

    /// Hears what else was said: the next look answers all of it.
    fn hear_the_rest(&mut self) {
        while let Some(Ok(hint)) = self.hints.as_ref().map(Receiver::try_recv) {
            match hint {
                Hint::Lost(_) => self.told = Told::InPart,
                // A look does not read everybody again.
                Hint::Program => self.becoming.expect(clock::steady()),
                Hint::Files | Hint::Process(_) | Hint::Asked => {}
            }
        }
    }

    fn hear(&mut self, until: Instant) -> Heard {
        let left = until.saturating_duration_since(clock::steady());
        let Some(hints) = &self.hints else {
            std::thread::sleep(left);
            return Heard::Nothing;
        };
        match hints.recv_timeout(left) {
            Err(RecvTimeoutError::Timeout) => Heard::Nothing,
            Ok(Hint::Process(id)) => Heard::Death(id),
            Ok(Hint::Asked) => Heard::Asked,
            Ok(Hint::Program) => Heard::Program,
            Ok(Hint::Files) => Heard::Change,
            Ok(Hint::Lost(why)) => {
                tracing::warn!(why, "not all changes are told");
                self.told = Told::InPart;
                Heard::Change
            }
            Err(RecvTimeoutError::Disconnected) => {
                self.told = Told::InPart;
                self.hints = None;
                Heard::Change
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel, sync_channel};

    use super::*;
    use crate::app::testing;
    use crate::core::model::diagnosis::Watched;

    fn looking(reports: impl ReportSource + Send + 'static, hints: Option<Receiver<Hint>>) -> Receiver<Said> {
        let (sender, said) = channel();
        let say = move |said| {
            let is_heard = matches!(said, Said::Measured(_)) || sender.send(said).is_ok();
            if is_heard { Audience::Listens } else { Audience::Gone }
        };
        start(reports, hints, say).unwrap();
        said
    }

    fn looked(said: &Receiver<Said>) -> bool {
        matches!(said.recv(), Ok(Said::Looked(..)))
    }

    fn lost(said: &Receiver<Said>) -> bool {
        matches!(said.recv(), Ok(Said::HintsLost))
    }

    #[test]
    fn many_hints_make_one_look_and_a_closed_channel_is_told() {
        let (hint, hints) = sync_channel(64);
        for _ in 0..50 {
            hint.send(Hint::Files).unwrap();
        }
        drop(hint);
        let said = looking(testing::quiet, Some(hints));
        assert!(looked(&said));
        let looks = said.iter().take_while(|said| matches!(said, Said::Looked(..))).count();
        assert!(looks <= 2, "{looks} looks for hints that were there before");
        assert!(looked(&said));
    }

    #[test]
    fn a_loss_is_told_once_and_the_looking_goes_on() {
        let (hint, hints) = sync_channel(64);
        hint.send(Hint::Lost("too many".to_owned())).unwrap();
        let said = looking(testing::quiet, Some(hints));
        assert!(looked(&said));
        assert!(lost(&said));
        assert!(looked(&said));
        hint.send(Hint::Lost("again".to_owned())).unwrap();
        assert!(looked(&said));
    }

    /// Says what is asked of it.
    struct Telling(std::sync::mpsc::Sender<&'static str>);

    impl ReportSource for Telling {
        fn next_report(&mut self) -> Arc<Report> {
            self.0.send("look").unwrap();
            Arc::new(testing::quiet())
        }

        fn follow(&mut self) -> Watched {
            self.0.send("follow").unwrap();
            Watched::default()
        }
    }

    #[test]
    fn a_look_is_said_before_it_is_followed() {
        let (sender, order) = channel();
        let said = sender.clone();
        let mut say = |what| {
            said.send(if matches!(what, Said::Looked(_)) { "looked" } else { "measured" }).unwrap();
            Audience::Listens
        };
        look(&mut Telling(sender), 1, &mut say);
        assert_eq!(order.try_iter().collect::<Vec<_>>(), ["look", "looked", "follow", "measured"]);
    }

    /// Has no time for glances: whoever waits instead of looking fails.
    struct Hurried;

    impl ReportSource for Hurried {
        fn next_report(&mut self) -> Arc<Report> {
            Arc::new(testing::quiet())
        }

        fn has_news(&mut self) -> bool {
            panic!("it waited")
        }
    }

    #[test]
    fn a_death_waits_for_nothing() {
        let (hint, hints) = sync_channel(64);
        hint.send(Hint::Files).unwrap();
        let id = ProcessId { pid: 77, start_ticks: 1 };
        hint.send(Hint::Process(id)).unwrap();
        let rested_at = clock::steady() + Duration::from_secs(3_600);
        let mut ear = Ear { hints: Some(hints), told: Told::All, becoming: Becoming::default() };
        assert_eq!(ear.wait(rested_at, rested_at, &mut Hurried), Some(id));
        hint.send(Hint::Asked).unwrap();
        assert_eq!(ear.wait(rested_at, rested_at, &mut Hurried), None, "nor does who asks");
    }

    /// Somebody has become an agent, and nobody has come.
    struct Converted;

    impl ReportSource for Converted {
        fn next_report(&mut self) -> Arc<Report> {
            Arc::new(testing::quiet())
        }

        fn has_new_agent(&mut self) -> bool {
            true
        }
    }

    #[test]
    fn who_becomes_an_agent_is_asked_for_when_its_program_was_opened_and_also_before_the_last_look() {
        let (hint, hints) = sync_channel(64);
        let mut ear = Ear { hints: Some(hints), told: Told::All, becoming: Becoming::default() };
        let never = clock::steady() + Duration::from_secs(3_600);
        hint.send(Hint::Program).unwrap();
        assert_eq!(ear.wait(never, never, &mut Converted), None);
        hint.send(Hint::Program).unwrap();
        ear.hear_the_rest();
        assert_eq!(ear.wait(never, never, &mut Converted), None, "what was heard during a look counts");
    }

    #[test]
    fn openings_of_programs_make_few_questions() {
        let now = clock::steady();
        let mut becoming = Becoming::default();
        (0..100).for_each(|_| becoming.expect(now));
        assert!(!becoming.is_due(now), "the kernel opens a program before it runs");
        assert!(becoming.is_due(now + BECOMING) && !becoming.is_due(now + BECOMING * 2));
        becoming.expect(now + BECOMING);
        assert!(!becoming.is_due(now + BECOMING * 2) && becoming.is_due(now + BECOMING + ASKED_AGAIN));
    }

    #[test]
    fn a_panic_is_told_and_ends_the_looking() {
        let broken = || -> Report { panic!("broken on purpose") };
        let said = looking(broken, None);
        assert!(lost(&said));
        assert!(matches!(said.recv(), Ok(Said::Failed(_))));
        assert!(said.recv().is_err());
    }

    #[test]
    fn a_file_that_stays_torn_is_looked_at_ever_more_seldom() {
        assert_eq!(settling(0), SAFETY);
        assert_eq!(settling(1), SETTLING);
        assert_eq!(settling(2), SETTLING * 2);
        assert!(settling(7) > SAFETY && settling(u32::MAX) > SAFETY);
    }

    #[test]
    fn long_looks_are_followed_by_long_rests() {
        assert_eq!(rest(Duration::from_millis(5)), Duration::from_millis(200));
        assert_eq!(rest(Duration::from_secs(60)), LONGEST_REST);
    }
}
