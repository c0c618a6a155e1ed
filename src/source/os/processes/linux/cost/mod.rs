//! What processes cost: their memory and their CPU time.

pub(crate) mod household;
pub(crate) mod load;
pub(crate) mod measure;
