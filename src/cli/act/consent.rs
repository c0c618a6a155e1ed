//! What a person is asked before plans are carried out.

use crate::core::model::{Confirmation, Plan};

/// Asks for a plain yes to so many plans.
pub(super) fn question(number: usize) -> String {
    if number == 1 { "Do it".to_owned() } else { format!("Do all {number}") }
}

/// Returns whether there are plans, and a plain yes is enough for each.
pub(super) fn asks_only_for_yes<'a>(mut plans: impl Iterator<Item = &'a Plan> + Clone) -> bool {
    plans.clone().next().is_some() && plans.all(|plan| plan.confirmation == Confirmation::Yes)
}
