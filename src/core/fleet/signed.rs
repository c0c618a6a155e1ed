//! What is signed of a question that travels through a database: all that decides what is done, and where.

/// What `ssh-keygen -Y` calls the purpose of a signature, so that one made for something else is none.
pub(crate) const NAMESPACE: &str = "claimtop-order@claimtop";

/// Returns what is signed: to which host and in which epoch, under which ID, and what is asked.
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
