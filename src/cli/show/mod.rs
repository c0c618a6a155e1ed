//! Commands that look once and show what they saw.

pub(crate) mod config;
pub(crate) mod context_id;
pub(crate) mod doctor;
pub(crate) mod doctor_self;
pub(crate) mod explain;
pub(crate) mod foresee;
pub(crate) mod formats;
pub(crate) mod grants;
pub(crate) mod left_overs;
pub(crate) mod list;
pub(crate) mod names;
pub(crate) mod now;
pub(crate) mod report;
pub(crate) mod stats;
pub(crate) mod statusline;
