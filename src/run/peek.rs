//! Looks into a window for a person, on a thread of its own: a session's file can be large, and a multiplexer may not
//! answer at all.

use std::sync::Arc;

use tokio::sync::mpsc::Sender;

use crate::app::msg::Msg;
use crate::core::model::{Peek, PeekQuestion, SessionPlace, Talk};
use crate::run::jump::lines_of;
use crate::run::threads::event::Event;

/// Reads what was said in a session; why not, in words.
pub(crate) type ReadTalk = Arc<dyn Fn(&SessionPlace) -> Result<Talk, String> + Send + Sync>;

/// Looks, and sends what was seen to the screen.
pub(crate) fn start(question: PeekQuestion, read: Option<ReadTalk>, sender: Sender<Event>) {
    let work = move || {
        let talk = match (&question.session, &read) {
            (Some(session), Some(read)) => read(session),
            (None, _) => Err("no file of its session is known".to_owned()),
            (_, None) => Err("what was said cannot be read here".to_owned()),
        };
        let pane = question.place.as_ref().and_then(lines_of);
        // The screen may have ended in between.
        let _ =
            sender.blocking_send(Event::Message(Msg::Peeked(question.key, Arc::new(Peek { talk, pane }))));
    };
    // Without a thread nothing is seen, and the page says so until it is closed.
    let _ = std::thread::Builder::new().name("peeking".to_owned()).spawn(work);
}
