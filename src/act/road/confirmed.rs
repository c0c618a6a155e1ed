//! A plan that was confirmed, and the look that verifies it under the lock.

use super::Seen;
use super::verified::Verified;
use crate::act::disk::Disk;
use crate::act::lock::Lock;
use crate::act::trouble::Trouble;
use crate::act::witness::{self, Witness};

/// A plan that a person has confirmed, for the state in which it was seen.
#[derive(Clone, Debug)]
pub struct Confirmed(pub(super) Seen);

impl Confirmed {
    /// Looks at everything again, under the lock.
    ///
    /// # Errors
    /// Anything is not as it was seen; nothing was touched.
    pub fn verify<'l, 's, D: Disk>(
        self,
        lock: &'l mut Lock<'s, D>,
        witness: &mut impl Witness,
    ) -> Result<Verified<'l, 's, D>, Trouble> {
        let seen = self.0;
        let report = witness::report(witness);
        let again = Seen::see(lock, &report, seen.request.clone(), &seen.rules, witness.now());
        let again = again.map_err(|trouble| match trouble {
            Trouble::Never(why) => Trouble::Changed(why),
            Trouble::NotConfirmed(_)
            | Trouble::Changed(_)
            | Trouble::NotNow(_)
            | Trouble::Taken(_)
            | Trouble::Failed { .. }
            | Trouble::Refused(_)
            | Trouble::Unsure(_)
            | Trouble::Stuck(_) => trouble,
        })?;
        if again.state != seen.state {
            return Err(Trouble::Changed("it is not as it was when the plan was shown".to_owned()));
        }
        if let Some(wait) = again.wait {
            return Err(Trouble::NotNow(wait));
        }
        Ok(Verified { seen, lock })
    }
}
