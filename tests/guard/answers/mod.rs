//! `guard` over recorded worlds: what it answers to every call, beside what is true there.

mod corpus;
mod forms;
mod lines;
mod replay;
mod returned;
mod simulator;
