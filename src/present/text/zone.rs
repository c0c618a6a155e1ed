//! Moments on a person's own clock. What is printed for scripts stays in UTC.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::present::text::age;

/// The time zone in which moments are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(pub TimeZone);

impl Default for Zone {
    fn default() -> Self {
        Self(TimeZone::UTC)
    }
}

impl Zone {
    /// Returns its name at a moment, such as `CET`; nothing for UTC, whose times say so themselves.
    pub(crate) fn name(&self, at: Timestamp) -> Option<String> {
        let zoned = at.to_zoned(self.0.clone());
        Some(zoned.strftime("%Z").to_string()).filter(|name| name != "UTC")
    }

    /// Returns the moment as people compare it with other evidence, with the date when it is not of the
    /// last 20 hours.
    pub(crate) fn clock(&self, now: Timestamp, at: Timestamp) -> String {
        if self.name(at).is_none() {
            return age::clock(now, at);
        }
        at.to_zoned(self.0.clone()).strftime(age::format(now, at)).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(zone: &str, at: &str, clock: &str, name: Option<&str>) {
        let zone = Zone(TimeZone::posix(zone).unwrap());
        let now = "2026-07-01T12:00:00Z".parse().unwrap();
        let at = at.parse().unwrap();
        assert_eq!((zone.clock(now, at).as_str(), zone.name(at).as_deref()), (clock, name));
    }

    #[test]
    fn moments_are_local_and_those_of_utc_say_so() {
        let berlin = "CET-1CEST,M3.5.0,M10.5.0/3";
        check(berlin, "2026-07-01T11:58:12Z", "13:58:12", Some("CEST"));
        check(berlin, "2026-01-01T11:58:12Z", "2026-01-01 12:58:12", Some("CET"));
        check("UTC0", "2026-07-01T11:58:12Z", "11:58:12Z", None);
        check("GMT0", "2026-07-01T11:58:12Z", "11:58:12", Some("GMT"));
        check("<+0530>-5:30", "2026-07-01T11:58:12Z", "17:28:12", Some("+0530"));
    }
}
