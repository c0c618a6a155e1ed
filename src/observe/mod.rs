//! One way to look, for the screen, the commands and the actions: collector, cache and watch.

pub mod bounds;
pub mod collect;
pub mod observer;
pub mod report_source;
pub mod watch;

pub use self::observer::{Observer, Options};
pub use self::report_source::ReportSource;
