//! Commands that go on looking: the screen, events, recordings and their replay.

pub(crate) mod events;
pub(crate) mod following;
pub(crate) mod frames;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod screen;
pub(crate) mod wait;
