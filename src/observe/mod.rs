//! One way to look, for the screen, the commands and the actions: collector, cache and watch.

pub(crate) mod bounds;
pub(crate) mod collect;
pub(crate) mod fleet;
#[cfg_attr(not(feature = "postgres"), path = "hosts/stub.rs")]
pub(crate) mod hosts;
pub(crate) mod observer;
pub(crate) mod report_source;
pub(crate) mod watch;

pub use self::observer::{Observer, Options, Recorder, TombstoneStore};
pub use self::report_source::ReportSource;
pub use self::watch::notice::Hint;
