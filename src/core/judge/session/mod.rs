//! Which session a window runs: by the strongest evidence available, with its strength.
//!
//! Only an exact session drives anything: it is one of
//! [`World::sessions`](crate::core::judge::world::World::sessions) or the one that the agent's own lock names. A
//! strong one is also used to report whose edits collide, without any action; a guess is only shown.

pub(crate) mod arguments;
mod beginnings;
mod guess;
mod known;
pub(crate) mod lives;

pub(crate) use self::guess::may_run;

use self::guess::guessed;
use self::known::known;
use crate::core::judge::window::Window;
use crate::core::judge::world::World;
use crate::core::model::SessionView;

/// Returns the session that a window runs.
pub(crate) fn session_of(window: &Window<'_>, world: &World<'_>) -> Option<SessionView> {
    known(window, world).or_else(|| guessed(window, world))
}
