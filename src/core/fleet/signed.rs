//! The signed part of a request that travels through a database: everything that decides what is done, and where.

/// The purpose of a signature, for `ssh-keygen -Y`, so that one made for something else is not valid.
pub(crate) const NAMESPACE: &str = "claimtop-order@claimtop";

/// Returns the text to sign: the host and the epoch it is for, its ID, and the request.
pub(crate) fn message(host: &str, epoch: i64, id: &str, payload: &str) -> String {
    format!("claimtop order 1\n{host}\n{epoch}\n{id}\n{}\n", payload.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_signed() {
        let usual = message("h", 1, "o-1", "{}");
        for other in [
            message("i", 1, "o-1", "{}"),
            message("h", 2, "o-1", "{}"),
            message("h", 1, "o-2", "{}"),
            message("h", 1, "o-1", "{ }"),
        ] {
            assert_ne!(usual, other);
        }
        assert_eq!(usual, message("h", 1, "o-1", "{}\n"));
    }
}
