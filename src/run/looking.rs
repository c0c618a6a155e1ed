//! The thread that looks: when told, and now and then in case nobody tells.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{Receiver, Sender};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::app::msg::{Hints, Msg};
use crate::source::watch::Hint;

use super::{Event, Looker};

/// The longest rest after a look that took long.
const LONGEST_REST: Duration = Duration::from_secs(2);
/// How often to look while changes are told: hints can be missed, on NFS for one.
const SAFETY: Duration = Duration::from_secs(30);
/// How often to look while nobody tells.
const UNTOLD: Duration = Duration::from_secs(2);
/// How often to ask for newcomers at first, and at most how seldom while none comes.
const GLANCES: [Duration; 2] = [Duration::from_secs(3), Duration::from_secs(6)];

/// How much of what changes is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    /// All of it, as far as is known.
    All,
    /// Not all of it.
    InPart,
}

/// Starts the thread. It ends when nobody listens any more.
pub(super) fn start(
    looker: impl Looker + Send + 'static,
    hints: Option<Receiver<Hint>>,
    sender: Sender<Event>,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    std::thread::Builder::new()
        .name("looking".to_owned())
        .spawn(move || runtime.block_on(keep_looking(looker, hints, sender)))?;
    Ok(())
}

async fn keep_looking(mut looker: impl Looker, hints: Option<Receiver<Hint>>, sender: Sender<Event>) {
    let told = if hints.is_some() { Told::All } else { Told::InPart };
    let mut ear = Ear { hints, told };
    if told == Told::InPart && sender.send(Event::Told(Msg::Hints(Hints::Lost))).await.is_err() {
        return;
    }
    loop {
        let began = Instant::now();
        // The looker is not used again after a panic, so nothing half-done is seen.
        let event = match catch_unwind(AssertUnwindSafe(|| looker.look())) {
            Ok(report) => Event::Told(Msg::Looked(Arc::new(report))),
            Err(_) => Event::Failed(super::terminal::last_panic()),
        };
        let has_failed = matches!(event, Event::Failed(_));
        if sender.send(event).await.is_err() || has_failed {
            return;
        }
        let now = Instant::now();
        let before = ear.told;
        ear.wait(now + rest(now - began), &mut looker, &sender).await;
        ear.hear_the_rest();
        if ear.told != before && sender.send(Event::Told(Msg::Hints(Hints::Lost))).await.is_err() {
            return;
        }
    }
}

/// Returns how long to leave files alone after a look, so that a storm of writes costs a
/// twentieth of a core. Deaths do not wait: they cannot come in storms.
fn rest(took: Duration) -> Duration {
    (took * 20).min(LONGEST_REST)
}

/// Whoever listens for hints.
struct Ear {
    /// `None` when the channel is closed.
    hints: Option<Receiver<Hint>>,
    told: Told,
}

/// What ends the waiting for a hint.
enum Heard {
    /// A process has exited.
    Death,
    /// Files have changed, or something was missed.
    Change,
    /// Nothing until the time was up, or ever again.
    Nothing,
}

impl Ear {
    /// Waits until it is time for another look: at once after a death, after the rest when files
    /// change, when somebody has come, or for safety.
    async fn wait(&mut self, rested_at: Instant, looker: &mut impl Looker, sender: &Sender<Event>) {
        let longest = match self.told {
            Told::All => SAFETY,
            Told::InPart => UNTOLD,
        };
        let over_at = Instant::now() + longest;
        let [mut glance_after, seldom] = GLANCES;
        let mut glance_at = Instant::now() + glance_after;
        let mut is_pending = false;
        loop {
            let until = if is_pending { rested_at } else { glance_at.min(over_at) };
            match self.hear(until, sender).await {
                Heard::Death => return,
                Heard::Change if Instant::now() >= rested_at => return,
                Heard::Change => is_pending = true,
                Heard::Nothing if is_pending || Instant::now() >= over_at || looker.has_newcomer() => return,
                Heard::Nothing => {
                    glance_after = (glance_after * 2).min(seldom);
                    glance_at = Instant::now() + glance_after;
                }
            }
        }
    }

    /// Hears what else was said: the next look answers all of it.
    fn hear_the_rest(&mut self) {
        while let Some(Ok(hint)) = self.hints.as_mut().map(Receiver::try_recv) {
            if let Hint::Lost(_) = hint {
                self.told = Told::InPart;
            }
        }
    }

    async fn hear(&mut self, until: Instant, sender: &Sender<Event>) -> Heard {
        let Some(hints) = &mut self.hints else {
            tokio::select! {
                () = sleep_until(until) => {}
                () = sender.closed() => {}
            }
            return Heard::Nothing;
        };
        match timeout_at(until, hints.recv()).await {
            Err(_) => Heard::Nothing,
            Ok(Some(Hint::Process(_))) => Heard::Death,
            Ok(Some(Hint::Files)) => Heard::Change,
            Ok(Some(Hint::Lost(_))) => {
                self.told = Told::InPart;
                Heard::Change
            }
            Ok(None) => {
                self.told = Told::InPart;
                self.hints = None;
                Heard::Change
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;
    use crate::app::testing;

    fn looked(event: Option<Event>) -> bool {
        matches!(event, Some(Event::Told(Msg::Looked(_))))
    }

    fn lost(event: Option<Event>) -> bool {
        matches!(event, Some(Event::Told(Msg::Hints(Hints::Lost))))
    }

    #[tokio::test]
    async fn many_hints_make_one_look_and_a_closed_channel_is_told() {
        let (hint, hints) = mpsc::channel(64);
        for _ in 0..50 {
            hint.send(Hint::Files).await.unwrap();
        }
        drop(hint);
        let (sender, mut events) = mpsc::channel(64);
        tokio::spawn(keep_looking(testing::quiet, Some(hints), sender));
        assert!(looked(events.recv().await));
        let mut looks = 0;
        loop {
            match events.recv().await {
                Some(Event::Told(Msg::Hints(Hints::Lost))) => break,
                event => {
                    assert!(looked(event));
                    looks += 1;
                }
            }
        }
        assert!(looks <= 2, "{looks} looks for hints that were there before");
        assert!(looked(events.recv().await));
    }

    #[tokio::test]
    async fn a_loss_is_told_once_and_the_looking_goes_on() {
        let (hint, hints) = mpsc::channel(64);
        hint.send(Hint::Lost("too many".to_owned())).await.unwrap();
        let (sender, mut events) = mpsc::channel(64);
        tokio::spawn(keep_looking(testing::quiet, Some(hints), sender));
        assert!(looked(events.recv().await));
        assert!(lost(events.recv().await));
        assert!(looked(events.recv().await));
        hint.send(Hint::Lost("again".to_owned())).await.unwrap();
        assert!(looked(events.recv().await));
    }

    #[tokio::test]
    async fn a_panic_is_told_and_ends_the_looking() {
        let (sender, mut events) = mpsc::channel(64);
        let broken = || -> crate::core::report::Report { panic!("broken on purpose") };
        tokio::spawn(keep_looking(broken, None, sender));
        assert!(lost(events.recv().await));
        assert!(matches!(events.recv().await, Some(Event::Failed(_))));
        assert!(events.recv().await.is_none());
    }

    #[test]
    fn long_looks_are_followed_by_long_rests() {
        assert_eq!(rest(Duration::from_millis(5)), Duration::from_millis(100));
        assert_eq!(rest(Duration::from_secs(60)), LONGEST_REST);
    }
}
