//! One way to look, for the screen, the commands and the actions: collector, cache and watch.

pub mod bounds;
pub mod collect;
pub mod watch;
