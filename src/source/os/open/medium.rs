//! What kind of file system a file lies on.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{fstatfs, statfs};

use crate::core::model::{FileMeta, FolderId, Medium};

/// The file systems already examined, by mount and device: their kind does not change.
#[derive(Default)]
pub(crate) struct Media {
    known: HashMap<(Option<u64>, u64), Medium>,
}

impl Media {
    /// Returns the kind of file system of an open folder.
    pub(crate) fn medium(&mut self, folder: impl AsFd + Copy, id: FolderId) -> Medium {
        let mount = mount_of(folder, OsStr::new(""));
        *self.known.entry((mount, id.dev)).or_insert_with(|| {
            let sort = fstatfs(folder).map_or(Medium::Unknown, |stats| sort_of(&stats));
            with_owners(sort, mount)
        })
    }

    /// Returns the kind of file system of a file whose folder lies on `around`. A file can be a mount of its own,
    /// whose kind is unknown. Another device alone means nothing, as overlayfs gives its files those of its layers.
    pub(crate) fn of_file(
        &self,
        (folder, id): (impl AsFd + Copy, FolderId),
        file: (&OsStr, &FileMeta),
        around: Medium,
    ) -> Medium {
        let (name, meta) = file;
        let is_there = meta.dev == id.dev || {
            let mount = mount_of(folder, name);
            mount.is_some() && mount == mount_of(folder, OsStr::new(""))
        };
        if is_there { around } else { Medium::Unknown }
    }
}

/// Returns the kind of file system of the file at a path.
pub(crate) fn medium_at(path: &Path) -> Medium {
    let Ok(stats) = statfs(path) else { return Medium::Unknown };
    // Whether its mount maps owners is not determined.
    match sort_of(&stats) {
        Medium::Local => Medium::Mapped,
        other @ (Medium::Mapped | Medium::Shared | Medium::Unknown) => other,
    }
}

#[cfg(target_os = "linux")]
pub(crate) use self::linux::{file_system_of, has_certain_id, is_stacked, line_of, mount_of, remote};
#[cfg(not(target_os = "linux"))]
pub(crate) use self::others::{file_system_of, is_stacked};
#[cfg(target_os = "linux")]
use crate::source::os::open::medium::linux::{sort_of, with_owners};
#[cfg(not(target_os = "linux"))]
use crate::source::os::open::medium::others::{mount_of, sort_of, with_owners};

#[cfg(target_os = "linux")]
mod linux {
    //! Linux identifies a file system by a number, and an ID-mapped mount among its options.

    use std::ffi::OsStr;
    use std::os::fd::AsFd;
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, StatFs, StatxFlags, fstatfs, statfs, statx};

    use crate::core::model::Medium;
    use crate::source::os::open::plain::small;

    /// File systems that other machines, or programs beside the kernel, may change without it: inotify(7) does not
    /// report such a change. Magic number (linux/magic.h; `f_type` of statfs(2)) and name.
    const REMOTE: [(u64, &str); 19] = [
        (0x6969, "NFS"),
        (0x517b, "SMB"),
        (0xff53_4d42, "CIFS"),
        (0xfe53_4d42, "SMB"),
        // Also virtiofs, sshfs and many folders that a virtual machine shares.
        (0x6573_5546, "FUSE"),
        (0x0102_1997, "9p"),
        (0x5346_414f, "AFS"),
        (0x6b41_4653, "AFS"),
        (0x00c3_6400, "Ceph"),
        (0x7375_7245, "Coda"),
        (0x564c, "NCP"),
        (0x7461_636f, "OCFS2"),
        (0x0116_1970, "GFS2"),
        (0x0bd0_0bd0, "Lustre"),
        (0x4750_4653, "GPFS"),
        (0x1983_0326, "BeeGFS"),
        (0x786f_4256, "shared folders of VirtualBox"),
        (0xbacb_acbc, "shared folders of VMware"),
        (0x7c7c_6673, "shared folders of Parallels"),
    ];

    /// File systems that are carried from machine to machine and keep one owner for all files: FAT,
    /// exFAT and both drivers of NTFS.
    const CARRIED: [u64; 4] = [0x4d44, 0x2011_bab0, 0x5346_544e, 0x7366_746e];

    /// File systems on which only the kernel of one machine writes: ext, XFS, Btrfs, bcachefs, F2FS, ZFS,
    /// tmpfs, ramfs, overlayfs, aufs, eCryptfs, JFS, ReiserFS, NILFS, UBIFS, JFFS2, UFS, proc.
    const LOCAL: [u64; 20] = [
        0xef53, 0x5846_5342, 0x9123_683e, 0xca45_1a4e, 0xf2f5_2010, 0x2fc1_2fc1, 0x0102_1994, 0x8584_58f6,
        0x794c_7630, 0x6175_6673, 0xf15f, 0x3153_464a, 0x5265_4973, 0x3434, 0x2405_1905, 0x72b6, 0x0001_1954,
        0x9fa0, 0x6265_6572, 0x6462_6720,
    ];

    /// File systems that show files of other file systems under their own devices and inodes: overlayfs, aufs and
    /// eCryptfs.
    const STACKED: [u64; 3] = [0x794c_7630, 0x6175_6673, 0xf15f];

    /// The most bytes of mountinfo that are read.
    const MOUNTS: usize = 4 << 20;

    /// Returns the name of a folder's file system if other machines or programs may change the folder; `None` if they
    /// cannot, or if that is unknown.
    pub(crate) fn remote(folder: &Path) -> Option<&'static str> {
        name(number(statfs(folder).ok()?.f_type))
    }

    pub(crate) fn sort_of(told: &StatFs) -> Medium {
        sort(number(told.f_type))
    }

    /// Returns whether a file system shows files of other file systems.
    pub(crate) fn is_stacked(stats: &StatFs) -> bool {
        STACKED.contains(&number(stats.f_type))
    }

    /// Returns whether device and inode distinguish an open folder from all others in every namespace: stacked file
    /// systems, networks and programs may show one folder under several.
    pub(crate) fn has_certain_id(folder: impl AsFd) -> bool {
        fstatfs(folder).is_ok_and(|stats| sort_of(&stats) == Medium::Local && !is_stacked(&stats))
    }

    fn sort(magic: u64) -> Medium {
        if name(magic).is_some() || CARRIED.contains(&magic) {
            Medium::Shared
        } else if LOCAL.contains(&magic) {
            Medium::Local
        } else {
            Medium::Unknown
        }
    }

    /// Widens `f_type`, which is signed or not and of 32 or 64 bits, by the machine.
    fn number<T: TryInto<i64>>(magic: T) -> u64 {
        let magic = magic.try_into().unwrap_or_default();
        u64::try_from(magic & 0xffff_ffff).unwrap_or_default()
    }

    fn name(magic: u64) -> Option<&'static str> {
        REMOTE.iter().find(|(known, _)| *known == magic).map(|(_, name)| *name)
    }

    /// Returns the ID of the mount through which a name, or without one the folder itself, is reached (statx(2)).
    /// Kernels before 5.8 do not report it, and have no ID-mapped mounts (5.12).
    pub(crate) fn mount_of(folder: impl AsFd, name: &OsStr) -> Option<u64> {
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::EMPTY_PATH;
        let stats = statx(folder, name, flags, StatxFlags::MNT_ID).ok()?;
        StatxFlags::from_bits_retain(stats.stx_mask).contains(StatxFlags::MNT_ID).then_some(stats.stx_mnt_id)
    }

    /// Returns the line of a mount (proc_pid_mountinfo(5)), by its ID: the lines are not in the order in which mounts
    /// cover one another.
    pub(crate) fn line_of(mounts: &str, mount: u64) -> Option<&str> {
        mounts.lines().find(|line| line.split(' ').next().and_then(|id| id.parse().ok()) == Some(mount))
    }

    /// Returns the type of file system that a path is on, as the kernel calls it.
    pub(crate) fn file_system_of(path: &Path) -> Option<String> {
        let mount = mount_of(CWD, path.as_os_str())?;
        let mounts = small(Path::new("/proc/self/mountinfo"), MOUNTS).ok()?;
        let mounts = String::from_utf8_lossy(&mounts);
        line_of(&mounts, mount)?.split_once(" - ")?.1.split(' ').next().map(str::to_owned)
    }

    /// Adds whether a mount maps owners.
    pub(crate) fn with_owners(sort: Medium, mount: Option<u64>) -> Medium {
        let (Medium::Local, Some(mount)) = (sort, mount) else { return sort };
        let mounts = small(Path::new("/proc/self/mountinfo"), MOUNTS).unwrap_or_default();
        if keeps_owners(&String::from_utf8_lossy(&mounts), mount) { sort } else { Medium::Mapped }
    }

    /// Returns whether a mount is listed (proc_pid_mountinfo(5)) without `idmapped` among its options. One
    /// outside our root is not listed.
    fn keeps_owners(mounts: &str, mount: u64) -> bool {
        let options = line_of(mounts, mount).and_then(|line| line.split(' ').nth(5));
        options.is_some_and(|options| !options.split(',').any(|option| option == "idmapped"))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[track_caller]
        fn check(magic: i64, expected: Option<&str>, sorted: Medium) {
            assert_eq!(name(number(magic)), expected, "{magic:#x}");
            assert_eq!(sort(number(magic)), sorted, "{magic:#x}");
        }

        #[test]
        fn only_what_others_may_change_is_named() {
            check(0x6969, Some("NFS"), Medium::Shared);
            check(0xff53_4d42, Some("CIFS"), Medium::Shared);
            check(0x6573_5546, Some("FUSE"), Medium::Shared);
            check(0x0102_1997, Some("9p"), Medium::Shared);
            // ext4, tmpfs, btrfs, overlayfs and proc.
            for local in [0xef53, 0x0102_1994, 0x9123_683e, 0x794c_7630, 0x9fa0] {
                check(local, None, Medium::Local);
            }
        }

        #[test]
        fn what_is_carried_about_is_shared_and_what_is_not_known_is_neither() {
            check(0x4d44, None, Medium::Shared);
            check(0x7366_746e, None, Medium::Shared);
            check(0, None, Medium::Unknown);
            check(-1, None, Medium::Unknown);
        }

        #[test]
        fn a_number_of_32_bits_with_a_sign_is_the_same() {
            assert_eq!(name(number(0xff53_4d42_u32.cast_signed())), Some("CIFS"));
        }

        #[test]
        fn the_kernels_own_folders_are_nobody_elses() {
            assert_eq!(remote(Path::new("/proc")), None);
            assert_eq!(remote(Path::new("/no/such/folder")), None);
        }

        #[test]
        fn a_mount_that_maps_owners_says_so_among_its_options() {
            let mounts = "27 1 259:0 / / rw,relatime shared:1 - ext4 /dev/root rw\n\
                          31 27 259:0 /srv /mnt rw,relatime,idmapped shared:9 - ext4 /dev/root rw\n";
            assert!(keeps_owners(mounts, 27));
            assert!(!keeps_owners(mounts, 31), "its owners are mapped");
            assert!(!keeps_owners(mounts, 2), "it is not listed");
            assert!(!keeps_owners("", 27), "nothing is");
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod others {
    //! Elsewhere a flag says whether a file system is local.

    use std::ffi::OsStr;
    use std::os::fd::AsFd;

    use rustix::fs::StatFs;

    use crate::core::model::Medium;

    /// `MNT_LOCAL` of macOS (sys/mount.h).
    #[cfg(target_vendor = "apple")]
    const LOCAL: u32 = 0x1000;

    #[cfg(target_vendor = "apple")]
    pub(crate) fn sort_of(told: &StatFs) -> Medium {
        if told.f_flags & LOCAL == 0 { Medium::Shared } else { Medium::Local }
    }

    #[cfg(not(target_vendor = "apple"))]
    pub(crate) fn sort_of(_: &StatFs) -> Medium {
        Medium::Unknown
    }

    /// Returns `None`: this system does not report it.
    pub(crate) fn file_system_of(_: &std::path::Path) -> Option<String> {
        None
    }

    /// Returns `false`: no stacked file system is known here.
    pub(crate) fn is_stacked(_: &StatFs) -> bool {
        false
    }

    pub(crate) fn mount_of(_: impl AsFd, _: &OsStr) -> Option<u64> {
        None
    }

    pub(crate) fn with_owners(sort: Medium, _: Option<u64>) -> Medium {
        sort
    }
}
