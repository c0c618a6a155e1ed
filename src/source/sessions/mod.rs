//! Finds the session files that agents keep of their own windows: names, folders, locks and times,
//! never what was said.

pub(crate) mod codex;
pub(crate) mod copilot;
pub(crate) mod head;
pub(crate) mod look;
pub(crate) mod opencode;
pub(crate) mod per_folder;
pub(crate) mod sole;

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;

use self::head::Heads;
use super::homes::{HomeBase, Homes};
use crate::core::model::session::SessionFile;
use crate::format::Base;
use crate::source::os::fence::Fence;
use crate::source::sessions::look::{Look, Wanted};
use crate::source::sqlite::copies::Copies;

/// Looks again and again, and remembers how the files that it read begin.
#[derive(Default)]
pub(crate) struct Reader {
    copies: Copies,
    heads: Heads,
    /// The databases of opencode, by home.
    opencode: BTreeMap<PathBuf, opencode::Store>,
}

impl Reader {
    /// Prepares to read; copies go where it is said.
    pub(crate) fn new(copies: &Copies) -> Self {
        Self { copies: copies.clone(), ..Self::default() }
    }

    /// Finds what may belong to these windows, in the homes that they may use.
    pub(crate) fn read(
        &mut self,
        homes: &Homes,
        fence: &Fence,
        wanted: &[Wanted],
        now: Timestamp,
    ) -> Vec<SessionFile> {
        if wanted.is_empty() {
            return Vec::new();
        }
        let mut look = Look {
            fence,
            locks: OnceCell::new(),
            heads: &mut self.heads,
            found: Vec::new(),
            is_cut: Cell::new(false),
        };
        for config in homes.of(Base::ClaudeConfig) {
            per_folder::claude(&mut look, &config.path, &of("claude-code", config, wanted));
        }
        let mut before = std::mem::take(&mut self.opencode);
        for folder in homes.of(Base::Home) {
            let (home, of) = (&folder.path, |agent| of(agent, folder, wanted));
            per_folder::qwen(&mut look, home, &of("qwen"));
            per_folder::gemini(&mut look, home, &of("gemini"));
            sole::noted(&mut look, |look| codex::read(look, home, &of("codex"), now));
            sole::noted(&mut look, |look| copilot::read(look, home, &of("copilot")));
            let mut store = before.remove(home).unwrap_or_default();
            store.read(&mut look, home, &of("opencode"), now, &self.copies);
            self.opencode.insert(home.clone(), store);
        }
        let found = look.found;
        self.heads.keep_used();
        found
    }
}

/// Returns the windows of an agent that may keep their sessions below a folder.
fn of<'a>(agent: &str, folder: &HomeBase, wanted: &'a [Wanted]) -> Vec<&'a Wanted> {
    wanted.iter().filter(|one| one.agent == agent && one.may_use(folder)).collect()
}
