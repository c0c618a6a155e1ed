//! `guard` over recorded worlds: its answer to every call, compared with the truth there.

mod bash;
mod corpus;
mod forms;
mod lines;
mod replay;
mod returned;
mod simulator;
