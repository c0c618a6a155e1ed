//! Actions over the real disk and real processes.

mod between;
mod faults;
mod last_moment;
mod parking;
mod races;
mod rescue;
mod road;
mod setup;
mod strangers;
mod testimony;
mod undo;
