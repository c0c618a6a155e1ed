//! What is kept of the screen from one start to the next: the view, its order, its columns, the filter.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::rows::source::columns;
use crate::app::table::filter::{Filter, type_into};
use crate::app::table::order::{Direction, Sort};
use crate::app::table::view::{View, ViewPosition, ViewPositions};

/// The version that this claimtop writes and reads.
const VERSION: u32 = 1;

/// What is kept, by the names that a person sees: a later claimtop may have other columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScreenState {
    version: u32,
    view: String,
    filter: String,
    views: BTreeMap<String, KeptView>,
}

/// What is kept of one view, if anything is not as usual.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct KeptView {
    /// The column that it is sorted by, if it is by one.
    sort: Option<String>,
    reversed: bool,
    /// The columns that are hidden.
    hidden: BTreeSet<String>,
}

/// What a screen starts with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    pub(crate) kept: Option<ScreenState>,
    /// What became of it, for the diagnosis.
    pub(crate) origin: String,
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

impl ScreenState {
    /// Reads what an earlier claimtop has written.
    ///
    /// # Errors
    /// Why it is ignored.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match serde_json::from_str(text) {
            Ok(Version { version: VERSION }) => {
                serde_json::from_str(text).map_err(|_| "ignored: it is not in claimtop's format".to_owned())
            }
            Ok(Version { version }) => Err(format!("ignored: it has version {version}, not {VERSION}")),
            Err(_) => Err("ignored: damaged, or not claimtop's".to_owned()),
        }
    }

    /// Returns what is to be kept of a screen.
    pub(crate) fn from_screen(view: View, places: &ViewPositions, filter: &Filter) -> Self {
        let views = View::ALL.iter().filter_map(|view| {
            let kept = of_place(*view, places.place(*view));
            (kept != KeptView::default()).then(|| (view.title().to_owned(), kept))
        });
        Self {
            version: VERSION,
            view: view.title().to_owned(),
            filter: filter.text.clone(),
            views: views.collect(),
        }
    }

    /// Sets a screen as it was; what this claimtop does not know is left out.
    pub(crate) fn apply(&self, shown: &mut View, places: &mut ViewPositions, filter: &mut Filter) {
        for view in View::ALL {
            if view.title() == self.view {
                *shown = view;
            }
            if let Some(kept) = self.views.get(view.title()) {
                set_place(view, places.of_mut(view), kept);
            }
        }
        self.filter.chars().for_each(|c| type_into(&mut filter.text, c));
    }
}

fn of_place(view: View, place: &ViewPosition) -> KeptView {
    let title = |at: &usize| columns(view).get(*at).map(|column| column.title.to_owned());
    KeptView {
        sort: place.sort.by.as_ref().and_then(title),
        reversed: place.sort.direction == Direction::Backward,
        hidden: place.hidden.iter().filter_map(title).collect(),
    }
}

fn set_place(view: View, place: &mut ViewPosition, kept: &KeptView) {
    let titles = || columns(view).iter().map(|column| column.title).enumerate();
    let by = titles().find(|(_, title)| Some(*title) == kept.sort.as_deref()).map(|(at, _)| at);
    let direction = if kept.reversed { Direction::Backward } else { Direction::Forward };
    place.sort = Sort { by, direction };
    let hidden: BTreeSet<usize> =
        titles().filter(|(_, title)| kept.hidden.contains(*title)).map(|(at, _)| at).collect();
    // One column stays, whatever the file says.
    if hidden.len() < columns(view).len() {
        place.hidden = hidden;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::app::msg::{Msg, Press};
    use crate::app::state::{Options, State};
    use crate::app::table::geometry::Size;
    use crate::app::update;
    use crate::core::model::text::json;
    use crate::core::testing;

    /// Starts with what is kept, looks and presses keys.
    fn after(kept: Option<ScreenState>, keys: &str) -> State {
        let options = Options { start: Start { kept, origin: String::new() }, ..Options::default() };
        let mut state = State::new(options, Size { width: 80, height: 24 }, testing::now());
        update(&mut state, Msg::Looked(Arc::new(testing::busy())));
        for c in keys.chars() {
            update(&mut state, Msg::Pressed(if c == '\n' { Press::Enter } else { Press::Char(c) }));
        }
        state
    }

    fn written(state: &State) -> String {
        json::to_line(&state.kept()).unwrap()
    }

    #[test]
    fn a_second_start_is_as_the_first_ended() {
        let first = after(None, "2s3Scj q4ss/alpha\n");
        let text = written(&first);
        let second = after(Some(ScreenState::parse(&text).unwrap()), "");
        assert_eq!((second.view, second.filter.text.as_str()), (View::Claims, "alpha"));
        assert_eq!(second.places.place(View::Windows).sort, first.places.place(View::Windows).sort);
        assert_eq!(second.places.place(View::Windows).hidden, [1].into());
        assert_eq!(written(&second), text);
    }

    #[test]
    fn a_kept_filter_is_told() {
        let kept = ScreenState::parse(&written(&after(None, "2/alpha\n"))).unwrap();
        let said = after(Some(kept), "").message;
        assert_eq!(said.as_deref(), Some("The filter alpha is kept from last time; Esc clears it"));
    }

    #[track_caller]
    fn check_ignored(text: &str, why: &str) {
        assert_eq!(ScreenState::parse(text), Err(why.to_owned()));
    }

    #[test]
    fn what_is_torn_unknown_or_not_ours_is_ignored() {
        let text = written(&after(None, "2s"));
        for end in 0..text.len() {
            check_ignored(&text[..end], "ignored: damaged, or not claimtop's");
        }
        check_ignored(r#"{"version":2,"more":[]}"#, "ignored: it has version 2, not 1");
        check_ignored(r#"{"version":1,"view":7}"#, "ignored: it is not in claimtop's format");
        check_ignored(&"[".repeat(10_000), "ignored: damaged, or not claimtop's");
    }

    #[test]
    fn hostile_content_names_nothing() {
        let nasty = "\\u001b]0;owned\\u0007\\u202e".repeat(200);
        let hidden: Vec<String> =
            columns(View::Windows).iter().map(|one| format!("{:?}", one.title)).collect();
        let text = format!(
            r#"{{"version":1,"view":"{nasty}","filter":"{nasty}","views":{{"{nasty}":{{}},"Windows":{{"sort":"{nasty}","hidden":[{}]}}}}}}"#,
            hidden.join(",")
        );
        let state = after(Some(ScreenState::parse(&text).unwrap()), "");
        assert_eq!(state.view, View::Now);
        assert_eq!(*state.places.place(View::Windows), ViewPosition::default(), "one column stays");
        assert!(state.filter.text.chars().count() <= 100 && !state.filter.text.contains('\u{1b}'));
    }
}
