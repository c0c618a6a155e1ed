//! What claimtop knows of a format: where its files are, and how its rows are let go.

use jiff::Timestamp;

use crate::core::model::Columns;
use crate::format::reading::place::Place;
use crate::format::transcripts::Transcripts;
use crate::format::transcripts::sessions::{Document, SessionFiles};

/// What the rows of a release say about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Release<'a> {
    /// The moment.
    pub(crate) at: Timestamp,
    /// The reason, as text.
    pub(crate) why: &'a str,
}

/// One format. Properties of its system for the judgement are in [`Format`].
///
/// [`Format`]: crate::core::model::Format
#[derive(Debug)]
pub(crate) struct Spec {
    /// Where its files are, and how each is read.
    pub(crate) places: &'static [Place],
    /// Returns a row of a table after its release; `None` if it holds nothing that could be released.
    pub(crate) released: fn(table: &str, before: &Columns, release: Release<'_>) -> Option<Columns>,
    /// Whether its database is a file, which is copied before it is changed.
    pub(crate) is_backed_up: bool,
    /// Where the transcripts of its sessions are, if they are files of lines.
    pub(crate) transcripts: Option<Transcripts>,
    /// The files that state its sessions, if they name folders.
    pub(crate) sessions: Option<SessionFiles>,
    /// How the work of a session is read that is one document.
    pub(crate) document: Option<Document>,
}

impl Spec {
    /// Describes a format that keeps files, and no rows that claimtop changes.
    pub(crate) const fn of_files(places: &'static [Place]) -> Self {
        Self {
            places,
            released: |_, _, _| None,
            is_backed_up: false,
            transcripts: None,
            sessions: None,
            document: None,
        }
    }

    /// States that it keeps transcripts as well.
    pub(crate) const fn with_transcripts(self, transcripts: Transcripts) -> Self {
        Self { transcripts: Some(transcripts), ..self }
    }

    /// States the files that state its sessions.
    pub(crate) const fn with_sessions(self, sessions: SessionFiles) -> Self {
        Self { sessions: Some(sessions), ..self }
    }

    /// States that the work of a session is one document.
    pub(crate) const fn with_document(self, document: Document) -> Self {
        Self { document: Some(document), ..self }
    }
}
