//! A folder whose name is another folder's in mounts of its own (mount_namespaces(7)).

use crate::namespaces::stage::{World, is_allowed};

/// Makes an empty repository, as git lays it out (gitrepository-layout(5)), and runs a program in it.
const WORKS: &str = r#"mkdir -p "$0/home/ws/.git/objects" "$0/home/ws/.git/refs" && echo 'ref: refs/heads/main' > "$0/home/ws/.git/HEAD" &&
cd "$0/home/ws" && exec "$@""#;

/// Counts the findings of a code.
fn told(world: &World, code: &str) -> usize {
    let report = world.look(&[]);
    let codes = report["findings"].as_array().unwrap().iter().map(|finding| &finding["code"]);
    codes.filter(|found| *found == code).count()
}

#[test]
fn windows_in_two_folders_of_one_name_do_not_work_in_one_tree() {
    let world = World::new();
    std::fs::create_dir_all(world.path("home/ws")).unwrap();
    let root = world.path("");
    let root = root.to_str().unwrap();
    let apart = format!("mount -t tmpfs none \"$0/home/ws\" && {WORKS}");
    let apart = ["unshare", "--mount", "/bin/sh", "-c", &apart, root];
    if !is_allowed("mounts of its own", &apart) {
        return;
    }
    let is_told = || told(&world, "same-worktree");
    let _here = world.agent(&["/bin/sh", "-c", WORKS, root]);
    let mut there = world.agent(&apart);
    assert_eq!(is_told(), 0, "another folder");
    there.end();
    let mut there = world.agent(&["unshare", "--mount", "/bin/sh", "-c", WORKS, root]);
    assert_eq!(is_told(), 1, "the same folder, in mounts of its own");
    there.end();
    // By the name of another folder, and a part of it alone.
    for part in ["ws", "ws/src"] {
        let bound = format!(
            "mkdir -p \"$0/home/{part}\" \"$0/home/bound\" && mount --bind \"$0/home/{part}\" \"$0/home/bound\" && \
             cd \"$0/home/bound\" && exec \"$@\""
        );
        let mut there = world.agent(&["unshare", "--mount", "/bin/sh", "-c", &bound, root]);
        assert_eq!(is_told(), 1, "{part} under another name");
        there.end();
    }
    // Its own copy over it: writes there never reach the other.
    let over = "mkdir -p \"$0/up\" && mount -t tmpfs none \"$0/up\" && mkdir \"$0/up/u\" \"$0/up/w\" && \
                mount -t overlay overlay -o \"lowerdir=$0/home/ws,upperdir=$0/up/u,workdir=$0/up/w\" \"$0/home/ws\" && \
                cd \"$0/home/ws\" && exec \"$@\"";
    let over = ["unshare", "--mount", "/bin/sh", "-c", over, root];
    if is_allowed("an overlay over a folder", &over) {
        let _there = world.agent(&over);
        assert_eq!(is_told(), 0, "a copy of its own, over the folder");
    }
}

#[test]
fn windows_of_one_container_share_the_folders_that_only_it_has() {
    let world = World::new();
    std::fs::create_dir_all(world.path("home/ws")).unwrap();
    let root = world.path("");
    let root = root.to_str().unwrap();
    let apart = "mount -t tmpfs none \"$0/home/ws\" && cd \"$0/home/ws\" && exec \"$@\"";
    let apart = ["unshare", "--mount", "/bin/sh", "-c", apart, root];
    if !is_allowed("mounts of its own", &apart) {
        return;
    }
    let is_told = || told(&world, "same-folder");
    let one = world.agent(&apart);
    let _other = world.agent(&apart);
    assert_eq!(is_told(), 0, "each has mounts of its own");
    let mounts = one.shell().to_string();
    let beside = [
        "nsenter",
        "--target",
        &mounts,
        "--mount",
        "/bin/sh",
        "-c",
        "cd \"$0/home/ws\" && exec \"$@\"",
        root,
    ];
    let _beside = world.agent(&beside);
    assert_eq!(is_told(), 1, "in the mounts of the first");
}
