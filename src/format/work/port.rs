//! The output of a command when another process listens on the port that it wants.

/// The messages of programs, in lower case: libuv and Node.js, Go, Python, nginx; Docker; Vite, Next.js, Flask.
const SAYINGS: [&str; 4] = ["eaddrinuse", "address already in use", "port is already allocated", "is in use"];
/// The text before a port's number, the surest first: `:::3000`, `port 3000`, `('127.0.0.1', 8000)`.
const BEFORE: [&str; 3] = ["port ", ":", ", "];
/// Below this a port is the system's own, and a number is likely to mean something else.
const LOWEST: u16 = 80;

/// The most bytes from either end of an output that are searched: errors are at one of them.
const ENDS: usize = 16 << 10;

/// Returns the port that a command could not get, if its output names one.
pub(super) fn taken_port(text: &str) -> Option<u16> {
    let bytes = text.as_bytes();
    let (first, rest) = bytes.split_at(bytes.len().min(ENDS));
    let last = rest.get(rest.len().saturating_sub(ENDS)..).unwrap_or_default();
    [first, last].into_iter().find_map(|end| String::from_utf8_lossy(end).lines().find_map(of_line))
}

fn of_line(line: &str) -> Option<u16> {
    let line = line.to_ascii_lowercase();
    SAYINGS.iter().any(|saying| line.contains(saying)).then_some(())?;
    BEFORE.iter().find_map(|before| line.split(before).skip(1).find_map(number))
}

/// Reads the number at the beginning of a text.
fn number(text: &str) -> Option<u16> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    // An address or a time continues.
    let goes_on = text.get(end..)?.starts_with(['.', ':'])
        && text.get(end + 1..)?.starts_with(|c: char| c.is_ascii_digit());
    text.get(..end)?.parse().ok().filter(|port| *port >= LOWEST && !goes_on)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<u16>) {
        assert_eq!(taken_port(text), expected, "{text}");
    }

    #[test]
    fn programs_say_in_their_own_ways_that_a_port_is_taken() {
        check(
            "Error: listen EADDRINUSE: address already in use :::3000\n    at Server.setupListenHandle",
            Some(3000),
        );
        check("Error: listen EADDRINUSE: address already in use 127.0.0.1:5173", Some(5173));
        check("Port 5173 is in use, trying another one...", Some(5173));
        check(" ⚠ Port 3000 is in use by process 4711, using available port 3001 instead.", Some(3000));
        check("listen tcp :8080: bind: address already in use", Some(8080));
        check("listen tcp 127.0.0.1:8080: bind: address already in use", Some(8080));
        check(
            "ERROR:    [Errno 98] error while attempting to bind on address ('127.0.0.1', 8000): address already in use",
            Some(8000),
        );
        check("Bind for 0.0.0.0:5432 failed: port is already allocated", Some(5432));
        check("nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)", Some(80));
        check("Address already in use\nPort 5000 is in use by another program.", Some(5000));
    }

    #[test]
    fn what_names_no_port_or_says_something_else_counts_for_nothing() {
        check("OSError: [Errno 98] Address already in use", None);
        check("listening on :3000", None);
        check("12:30:05 the mutex is in use", None);
        check("port 99999 is in use", None);
        check("port 7 is in use", None);
        check("branch main is in use at /src/shop", None);
        check("", None);
    }

    #[test]
    fn of_a_long_output_both_ends_are_looked_through() {
        let much = "x".repeat(1 << 20);
        check(&format!("port 3000 is in use\n{much}"), Some(3000));
        check(&format!("{much}ä\nport 3000 is in use"), Some(3000));
        check(&format!("{much}\nport 3000 is in use\n{much}"), None);
    }
}
