//! Qwen Code: it keeps no claims, and its sessions say what they do.

use crate::format::spec::Spec;

/// How claimtop reads it.
pub(crate) const SPEC: Spec = Spec::of_files(&[]);
