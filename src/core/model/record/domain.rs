//! Where a PID counts: on which machine, and in which of its PID namespaces.

use serde::{Deserialize, Serialize};

use crate::core::model::Untrusted;

/// Where a PID counts, as stated by Claude Code's registry since 2.1.330 (`pidDomain`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Domain {
    /// On Linux.
    Linux {
        /// The machine ID (machine-id(5)), if it was known. It is private, so it is compared and never shown.
        machine: Option<Untrusted>,
        /// The inode of the PID namespace, if it was known.
        namespace: Option<u64>,
    },
    /// On a Mac, without stating which one.
    Darwin,
    /// On another system, or in a form that is not known.
    Other,
}

impl Domain {
    /// Parses `linux:<machine-id>:pid:[<inode>]`, of which each part may be empty, or `darwin`.
    pub(crate) fn parse(text: &str) -> Self {
        if text == "darwin" {
            return Self::Darwin;
        }
        let Some(rest) = text.strip_prefix("linux:") else { return Self::Other };
        let (machine, namespace) = rest.split_once(':').unwrap_or((rest, ""));
        let inode = namespace.strip_prefix("pid:[").and_then(|inode| inode.strip_suffix(']'));
        let machine = Some(machine).filter(|machine| !machine.is_empty());
        Self::Linux {
            machine: machine.map(Untrusted::from),
            namespace: inode.and_then(|inode| inode.parse().ok()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, machine: Option<&str>, namespace: Option<u64>) {
        let expected = Domain::Linux { machine: machine.map(Untrusted::from), namespace };
        assert_eq!(Domain::parse(text), expected, "{text:?}");
    }

    #[test]
    fn each_part_may_be_missing() {
        check("linux:0af3:pid:[4026531836]", Some("0af3"), Some(4_026_531_836));
        check("linux::pid:[4026531836]", None, Some(4_026_531_836));
        check("linux:0af3:", Some("0af3"), None);
        check("linux:0af3", Some("0af3"), None);
        check("linux::", None, None);
        check("linux:0af3:pid:[x]", Some("0af3"), None);
        check("linux:0af3:net:[4026531836]", Some("0af3"), None);
    }

    #[test]
    fn what_is_not_linux_is_another_systems() {
        assert_eq!(Domain::parse("darwin"), Domain::Darwin);
        for text in ["", "darwin:0af3", "win32:BOX", "linux", "Linux:0af3:pid:[1]"] {
            assert_eq!(Domain::parse(text), Domain::Other, "{text:?}");
        }
    }
}
