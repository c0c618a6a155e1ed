//! A home that is an overlay (overlayfs): its files are in its upper folder as well, under another device or inode.

use std::process::Command;

use crate::namespaces::stage::{World, check, is_allowed};

#[test]
fn a_window_whose_home_is_an_overlay_over_this_one_may_own_what_lies_here() {
    let world = World::new();
    for below in ["low", "work", "merged", "other/.claude"] {
        std::fs::create_dir_all(world.path(below)).unwrap();
    }
    let options = "lowerdir=\"$0/low\",upperdir=\"$0/home\",workdir=\"$0/work\"";
    let script =
        format!("mount -t overlay none -o {options} \"$0/merged\" && HOME=\"$0/merged\" exec \"$@\"");
    let root = world.path("");
    let within = ["unshare", "--mount", "/bin/sh", "-c", &script, root.to_str().unwrap()];
    if !is_allowed("an overlay", &within) {
        return;
    }
    // The shell of a hook, which has ended: its record is dead unless a live process may own it.
    let mut shell = Command::new("/bin/true").spawn().unwrap();
    shell.wait().unwrap();
    world.write_pid_only(shell.id());
    let other = format!("HOME={}", world.path("other").display());
    let _stranger = world.agent(&["env", &other]);
    check(&world.look(&[]), "maia", ("dead", "no-process"));
    let _owner = world.agent(&within);
    check(&world.look(&[]), "maia", ("unknown", "wrong-role"));
}
