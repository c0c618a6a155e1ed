//! File systems that other hosts, or programs beside the kernel, may change without it: inotify(7)
//! tells of no such change.

use std::path::Path;

use rustix::fs::statfs;

/// Their magic numbers (linux/magic.h) and names; `f_type` of statfs(2) is one of them.
const KINDS: [(u64, &str); 13] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB"),
    (0x6573_5546, "FUSE"),
    (0x0102_1997, "9p"),
    (0x5346_414f, "AFS"),
    (0x6b41_4653, "AFS"),
    (0x00c3_6400, "Ceph"),
    (0x7375_7245, "Coda"),
    (0x564c, "NCP"),
    (0x7461_636f, "OCFS2"),
    (0x786f_4256, "shared folders of VirtualBox"),
];

/// Returns what kind of such a file system a folder lies on; `None` where it lies on another, or
/// that cannot be told.
pub(super) fn kind(folder: &Path) -> Option<&'static str> {
    name(number(statfs(folder).ok()?.f_type))
}

/// Widens `f_type`, which is signed or not and of 32 or 64 bits, by the machine.
fn number<T: TryInto<i64>>(magic: T) -> u64 {
    let magic = magic.try_into().unwrap_or_default();
    u64::try_from(magic & 0xffff_ffff).unwrap_or_default()
}

fn name(magic: u64) -> Option<&'static str> {
    KINDS.iter().find(|(known, _)| *known == magic).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(magic: i64, expected: Option<&str>) {
        assert_eq!(name(number(magic)), expected, "{magic:#x}");
    }

    #[test]
    fn only_what_others_may_change_is_named() {
        check(0x6969, Some("NFS"));
        check(0xff53_4d42, Some("CIFS"));
        check(0x6573_5546, Some("FUSE"));
        check(0x0102_1997, Some("9p"));
        // ext4, tmpfs, btrfs, overlayfs and proc.
        for local in [0xef53, 0x0102_1994, 0x9123_683e, 0x794c_7630, 0x9fa0, 0, -1] {
            check(local, None);
        }
    }

    #[test]
    fn a_number_of_32_bits_with_a_sign_is_the_same() {
        assert_eq!(name(number(0xff53_4d42_u32.cast_signed())), Some("CIFS"));
    }

    #[test]
    fn the_kernels_own_folders_are_nobody_elses() {
        assert_eq!(kind(Path::new("/proc")), None);
        assert_eq!(kind(Path::new("/no/such/folder")), None);
    }
}
