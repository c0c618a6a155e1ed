//! Reads the versions of what a window wrote, on a thread of its own: a session's file can be large.

use std::sync::Arc;

use tokio::sync::mpsc::Sender;

use crate::app::msg::Msg;
use crate::app::page::versions::VersionsQuestion;
use crate::core::model::ListedVersion;
use crate::run::threads::event::Event;

/// Reads versions.
pub(crate) type ReadVersions = Arc<dyn Fn(&VersionsQuestion) -> Vec<ListedVersion> + Send + Sync>;

/// Reads, and sends the result to the screen.
pub(crate) fn start(question: VersionsQuestion, read: ReadVersions, sender: Sender<Event>) {
    let work = move || {
        let all = Arc::new(read(&question));
        // The screen may have ended in between.
        let _ = sender.blocking_send(Event::Message(Msg::Versions(question.key, all)));
    };
    // Without a thread nothing is read, and the page says so until it is closed.
    let _ = std::thread::Builder::new().name("versions".to_owned()).spawn(work);
}
