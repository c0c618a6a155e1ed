//! Names of controlling terminals, from the device number in `stat` (proc(5), `tty_nr`).

/// Returns the name below `/dev`, or `major:minor` if the kernel's list of devices
/// (`Documentation/admin-guide/devices.txt`) has no interactive terminal of that number.
pub(crate) fn name(tty_nr: i64) -> Option<String> {
    // The number is an `int`: minor in bits 31 to 20 and 7 to 0, major in bits 19 to 8.
    let device = u32::try_from(tty_nr & 0xFFFF_FFFF).ok().filter(|device| *device != 0)?;
    let major = (device >> 8) & 0xFFF;
    let minor = (device & 0xFF) | ((device >> 12) & 0xF_FF00);
    Some(match major {
        4 if minor < 64 => format!("tty{minor}"),
        4 => format!("ttyS{}", minor - 64),
        136..=143 => format!("pts/{}", minor + (major - 136) * 256),
        _ => format!("{major}:{minor}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(major: i64, minor: i64, expected: &str) {
        let device = (minor & 0xFF) | (major << 8) | ((minor & !0xFF) << 12);
        assert_eq!(name(device).as_deref(), Some(expected));
    }

    #[test]
    fn terminals_are_named_as_below_dev() {
        check(136, 3, "pts/3");
        check(136, 300, "pts/300");
        check(137, 1, "pts/257");
        check(4, 2, "tty2");
        check(4, 64, "ttyS0");
        check(229, 0, "229:0");
        assert_eq!(name(0), None);
    }
}
