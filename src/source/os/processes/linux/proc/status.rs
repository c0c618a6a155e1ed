//! `/proc/<pid>/status` (proc(5)): one line for each fact.

/// The most bytes of it that are read; it has about 1.5 KiB.
pub(crate) const MOST: usize = 16 << 10;

/// Returns the effective user.
pub(crate) fn user(text: &[u8]) -> Option<u32> {
    // Real, effective, saved and file system user.
    numbers(text, b"Uid:").get(1).copied()
}

/// Returns the real, effective, saved and file-system user.
pub(crate) fn users(text: &[u8]) -> Vec<u32> {
    numbers(text, b"Uid:")
}

/// Returns whether a process has a capability, or may take one back.
pub(crate) fn has_capabilities(text: &[u8]) -> bool {
    let set = |name: &str| {
        let line = text.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(name.as_bytes()))?;
        u64::from_str_radix(std::str::from_utf8(line).ok()?.trim(), 16).ok()
    };
    ["CapPrm:", "CapEff:"].into_iter().any(|name| set(name).is_none_or(|set| set != 0))
}

/// Returns whether a user namespace maps all users as its parent does (user_namespaces(7)): `0 0 4294967295`.
pub(crate) fn is_whole_map(text: &[u8]) -> bool {
    let numbers = std::str::from_utf8(text).unwrap_or_default().split_ascii_whitespace();
    numbers.eq(["0", "0", "4294967295"])
}

/// Returns the PIDs in each namespace, from that of the `/proc` that was read inwards.
pub(crate) fn ns_pids(text: &[u8]) -> Vec<u32> {
    numbers(text, b"NSpid:")
}

/// Returns the PID of the process that it is a thread of.
pub(crate) fn process(text: &[u8]) -> Option<u32> {
    numbers(text, b"Tgid:").first().copied()
}

/// Returns the PID of the process that traces it; 0 if no process with a PID here does.
pub(crate) fn tracer(text: &[u8]) -> Option<u32> {
    numbers(text, b"TracerPid:").first().copied()
}

/// Returns how many threads it has.
pub(crate) fn threads(text: &[u8]) -> Option<u32> {
    numbers(text, b"Threads:").first().copied()
}

/// Returns how often its main thread has left the processor.
pub(crate) fn switches(text: &[u8]) -> Option<u64> {
    let own = numbers(text, b"voluntary_ctxt_switches:").first().copied()?;
    let forced = numbers(text, b"nonvoluntary_ctxt_switches:").first().copied()?;
    Some(u64::from(own) + u64::from(forced))
}

/// Returns the letter of its state.
pub(crate) fn state(text: &[u8]) -> Option<u8> {
    let line = text.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"State:\t"))?;
    line.first().copied()
}

/// Returns the numbers of one line.
fn numbers(text: &[u8], name: &[u8]) -> Vec<u32> {
    let line = text.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(name));
    let line = line.and_then(|line| std::str::from_utf8(line).ok()).unwrap_or_default();
    line.split_ascii_whitespace().filter_map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_effective_user_and_every_namespace_are_read() {
        let text = b"Name:\tUid: 7 7\nTgid:\t9898\nUid:\t1000\t1001\t1000\t1000\nNSpid:\t9899\t1\n";
        assert_eq!((user(text), ns_pids(text), process(text)), (Some(1001), vec![9899, 1], Some(9898)));
    }

    #[test]
    fn a_process_has_capabilities_where_any_bit_says_so_or_none_can_be_read() {
        let check = |text: &[u8], expected| assert_eq!(has_capabilities(text), expected);
        check(b"CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n", false);
        check(b"CapPrm:\t0000000000000002\nCapEff:\t0000000000000000\n", true);
        check(b"CapPrm:\t0000000000000000\n", true);
        assert!(is_whole_map(b"         0          0 4294967295\n"));
        assert!(!is_whole_map(b"         0       1000          1\n") && !is_whole_map(b""));
    }

    #[test]
    fn the_state_and_the_tracer_are_read() {
        let text = b"Name:\tState:\tR\nState:\tD (disk sleep)\nTracerPid:\t77\n";
        assert_eq!((state(text), tracer(text)), (Some(b'D'), Some(77)));
        assert_eq!((state(b"Name:\tx\n"), tracer(b"TracerPid:\tx\n")), (None, None));
    }
}
