//! Obra's database with a real writer beside it: read, released, undone, and never harmed.

mod cut_off;
mod faults;
mod full;
mod opening;
mod release;
mod stage;
mod writer;
