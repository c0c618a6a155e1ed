//! The thread that looks: when told, and now and then in case nobody tells.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{Receiver, Sender};
use tokio::time::{Instant, sleep, timeout};

use crate::app::msg::{Hints, Msg};
use crate::source::watch::Hint;

use super::{Event, Looker};

/// How long to wait for further hints after the first: one write raises several.
const COALESCE: Duration = Duration::from_millis(20);
/// The longest pause after a look that took long.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// How often to look while changes are told: hints can be missed, on NFS for one.
const SAFETY: Duration = Duration::from_secs(10);
/// How often to look while nobody tells.
const UNTOLD: Duration = Duration::from_secs(2);

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

async fn keep_looking(mut looker: impl Looker, mut hints: Option<Receiver<Hint>>, sender: Sender<Event>) {
    let mut told = if hints.is_some() { Told::All } else { Told::InPart };
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
        sleep(pause(began.elapsed())).await;
        let before = told;
        wait(&mut hints, &mut told).await;
        if told != before && sender.send(Event::Told(Msg::Hints(Hints::Lost))).await.is_err() {
            return;
        }
    }
}

/// Returns how long to rest after a look, so that a storm of changes costs a fifth of a core.
fn pause(took: Duration) -> Duration {
    (took * 4).min(LONGEST_PAUSE)
}

/// Waits for a hint or the safety look; forgets a channel that is closed.
async fn wait(hints: &mut Option<Receiver<Hint>>, told: &mut Told) {
    let Some(receiver) = hints else { return sleep(UNTOLD).await };
    let longest = match told {
        Told::All => SAFETY,
        Told::InPart => UNTOLD,
    };
    let mut lose = |hint| {
        if let Hint::Lost(_) = hint {
            *told = Told::InPart;
        }
    };
    match timeout(longest, receiver.recv()).await {
        Err(_) => {}
        Ok(None) => {
            *told = Told::InPart;
            *hints = None;
        }
        Ok(Some(hint)) => {
            lose(hint);
            sleep(COALESCE).await;
            while let Ok(hint) = receiver.try_recv() {
                lose(hint);
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
        assert!(looked(events.recv().await));
        assert!(lost(events.recv().await));
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
    fn long_looks_are_followed_by_long_pauses() {
        assert_eq!(pause(Duration::from_millis(5)), Duration::from_millis(20));
        assert_eq!(pause(Duration::from_secs(60)), LONGEST_PAUSE);
    }
}
