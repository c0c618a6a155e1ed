//! The name of a folder in another mount namespace (mount_namespaces(7), proc(5) `mountinfo`).

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::source::os::open::plain::small;

/// The most bytes of mounts that are read.
const MOUNTS: usize = 8 << 20;

/// One line of `mountinfo`: a folder of a file system, and where it is mounted.
struct Mount {
    device: String,
    root: PathBuf,
    point: PathBuf,
}

/// A folder by its file system, which is the same in every mount namespace.
pub(crate) struct MountedFolder {
    device: String,
    path: PathBuf,
}

/// Reads where the folders of file systems are mounted for a process; `None` if that may not be read.
fn mounts(of: &str) -> Option<Vec<Mount>> {
    let text = small(Path::new(&format!("/proc/{of}/mountinfo")), MOUNTS).ok()?;
    Some(text.split(|byte| *byte == b'\n').filter_map(mount).collect())
}

fn mount(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ').skip(2);
    let device = String::from_utf8(fields.next()?.to_vec()).ok()?;
    Some(Mount { device, root: path(fields.next()?), point: path(fields.next()?) })
}

/// Reads a path in which the kernel writes blanks and backslashes as three octal digits.
fn path(text: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let octal =
            after.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = octal.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { after.get(3..).unwrap_or_default() } else { after };
    }
    OsString::from_vec(bytes).into()
}

/// Finds a folder by its file system; its path has no links.
pub(crate) fn place(folder: &Path) -> Option<MountedFolder> {
    place_in(&mounts("self")?, folder)
}

fn place_in(mounts: &[Mount], folder: &Path) -> Option<MountedFolder> {
    // Of mounts over one another the last one is on top.
    let above = mounts.iter().filter(|mount| folder.starts_with(&mount.point));
    let mount = above.max_by_key(|mount| mount.point.components().count())?;
    let below = folder.strip_prefix(&mount.point).ok()?;
    Some(MountedFolder { device: mount.device.clone(), path: mount.root.join(below) })
}

/// Returns all names that places, or parts of them, have for a process; `None` if that may not be read.
pub(crate) fn names(of: &str, places: &[MountedFolder]) -> Option<Vec<PathBuf>> {
    let mounts = mounts(of)?;
    Some(places.iter().flat_map(|place| mounts.iter().filter_map(|mount| name(mount, place))).collect())
}

/// Returns the possible names here of a folder of a process's own mounts, if all of it is mounted.
#[cfg(target_os = "linux")]
pub(crate) fn called_here(of: &str, folder: &Path) -> Vec<PathBuf> {
    let place = mounts(of).and_then(|mounts| place_in(&mounts, folder));
    let own = mounts("self").unwrap_or_default();
    own.iter().filter_map(|mount| whole(mount, place.as_ref()?)).collect()
}

fn name(mount: &Mount, place: &MountedFolder) -> Option<PathBuf> {
    let is_part = || mount.device == place.device && mount.root.starts_with(&place.path);
    whole(mount, place).or_else(|| is_part().then(|| mount.point.clone()))
}

/// Returns the name of a place if all of it lies in a mount.
fn whole(mount: &Mount, place: &MountedFolder) -> Option<PathBuf> {
    let is_its = mount.device == place.device;
    place.path.strip_prefix(&mount.root).ok().filter(|_| is_its).map(|below| mount.point.join(below))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
                        23 22 8:2 / /home rw - ext4 /dev/sda2 rw\n";
    const THEIRS: &str = "99 1 0:50 / / rw - overlay overlay rw\n\
                          98 99 8:2 /dev/my\\040shop /work rw - ext4 /dev/sda2 rw\n\
                          97 99 8:2 /dev/my\\040shop/src /src rw - ext4 /dev/sda2 rw\n\
                          96 99 8:1 /dev/my\\040shop /other rw - ext4 /dev/sda1 rw\n";

    fn read(text: &str) -> Vec<Mount> {
        text.lines().filter_map(|line| mount(line.as_bytes())).collect()
    }

    #[test]
    fn a_folder_has_another_name_in_a_container() {
        let place = place_in(&read(OURS), Path::new("/home/dev/my shop")).unwrap();
        assert_eq!((place.device.as_str(), place.path.as_path()), ("8:2", Path::new("/dev/my shop")));
        let names: Vec<_> = read(THEIRS).iter().filter_map(|mount| name(mount, &place)).collect();
        assert_eq!(names, [Path::new("/work"), Path::new("/src")]);
        let own: Vec<_> = read(OURS).iter().filter_map(|mount| name(mount, &place)).collect();
        assert_eq!(own, [Path::new("/home/dev/my shop")]);
    }
}
