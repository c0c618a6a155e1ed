//! Orders through the database, with claimtop's own witness on one side and its commands on the other.

use crate::cluster::Database;
use crate::fleet::machine::{Machine, Running, far_records, key, text, until};
use crate::fleet::stage::fleet;

/// A host that takes orders, and the operator that gives them.
pub(crate) struct Stage {
    database: Database,
    pub(crate) host: Machine,
    pub(crate) operator: Machine,
    _witness: Running,
    /// The record that the host has left, as the operator names it.
    left: String,
}

impl Stage {
    pub(crate) fn new(of_host: &str, of_operator: &str) -> Self {
        let (host, operator) = (Machine::new("one"), Machine::new("two"));
        Self::of(host, operator, of_host, of_operator)
    }

    fn of(host: Machine, operator: Machine, of_host: &str, of_operator: &str) -> Self {
        let database = fleet();
        host.configure(&format!("team = 'core'\n{of_host}"));
        operator.configure(of_operator);
        let alice = database.url_of("alice", database.cluster.port);
        let witness = host.witness(&alice);
        let url = database.url_of("oscar", database.cluster.port);
        let left = until("what the host has left", || far_records(&operator.seen(&url)).pop());
        Self { database, host, operator, _witness: witness, left }
    }

    pub(crate) fn url(&self) -> String {
        self.database.url_of("oscar", self.database.cluster.port)
    }

    /// Runs a command of the operator's, until its file is old enough to be touched; returns its code and its output.
    fn asks(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let url = self.url();
        let arguments = [arguments, &["--fleet", &url]].concat();
        until("what is old enough", || {
            let output = self.operator.run(&arguments);
            let said = text(&output);
            let is_settled = output.status.success() || !said.contains("s ago: wait");
            is_settled.then_some((output.status.code(), said))
        })
    }

    pub(crate) fn orders(&self) -> String {
        self.database
            .sql("SELECT string_agg(kind || ' ' || state, ', ' ORDER BY number) FROM claimtop.\"order\"")
    }
}

#[test]
fn what_is_dead_on_a_host_is_released_through_the_database_and_brought_back() {
    let stage = Stage::new("accept = 'dead-only'", "");
    let (code, said) = stage.asks(&["release", &stage.left, "--yes"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(!stage.host.record().exists(), "{said}");
    assert!(stage.orders().ends_with("plan done, order done"), "{}", stage.orders());
    let (there, here) = (stage.host.journal(), stage.operator.journal());
    assert_eq!((there.len(), here.len()), (1, 1), "{there:?} {here:?}");
    let (code, said) = stage.asks(&["undo", "--yes"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(stage.host.record().exists(), "{said}");
    assert_eq!(stage.host.journal()[1]["undone_by"].as_u64(), Some(2), "{:?}", stage.host.journal());
}

#[test]
fn what_only_a_person_can_decide_is_done_where_the_host_takes_that() {
    let stage = Stage::new("accept = 'dead-only'", "");
    let broken = stage.host.folder.path().join("home/.maia/sessions/swarm_session_1.json");
    std::fs::create_dir_all(broken.parent().unwrap()).unwrap();
    std::fs::write(&broken, "{").unwrap();
    let key = until("the broken file", || {
        let seen = stage.operator.seen(&stage.url());
        let findings = seen["findings"].as_array()?.iter();
        let key = findings
            .filter(|one| one["code"] == "corrupt-record")
            .find_map(|one| one["subjects"][0].as_str());
        key.map(str::to_owned)
    });
    let (code, said) = stage.asks(&["park", &key, "--yes"]);
    assert!(code == Some(3) && said.contains("only for what is proven dead"), "{said}");
    stage.host.configure("team = 'core'\naccept = 'typed'");
    let (code, said) = stage.asks(&["park", &key, "--yes"]);
    assert!(code == Some(3) && broken.exists(), "a yes is not enough: {said}");
    let wanted = said.split("--confirm ").nth(1).unwrap().split_whitespace().next().unwrap();
    let (code, said) = stage.asks(&["park", &key, "--confirm", "aaaaaa"]);
    assert!(code == Some(3) && broken.exists(), "{said}");
    let (code, said) = stage.asks(&["park", &key, "--confirm", wanted]);
    assert!(code == Some(0) && !broken.exists(), "{said}");
    let (code, said) = stage.asks(&["undo", "--yes"]);
    assert!(code == Some(0), "{said}");
    assert_eq!(std::fs::read(&broken).unwrap(), b"{");
}

#[test]
fn a_host_is_named_by_its_name_alone_and_one_that_takes_no_orders_is_not_asked() {
    let stage = Stage::new("", "");
    let name = stage.left.split_once('@').unwrap().1;
    let (code, said) = stage.asks(&["clean", "--yes", "--on", name]);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("does not accept orders"), "{said}");
    let (code, said) = stage.asks(&["clean", "--yes", "--on", "nowhere"]);
    assert_eq!(code, Some(4), "{said}");
    assert_eq!(stage.orders(), "", "nothing was asked");
    assert!(stage.host.record().exists());
}

#[test]
fn a_login_that_may_only_look_asks_nothing() {
    let stage = Stage::new("accept = 'typed'", "");
    let vera = stage.database.url_of("vera", stage.database.cluster.port);
    let output = stage.operator.run(&["release", &stage.left, "--yes", "--fleet", &vera]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    assert!(text(&output).contains("claimtop_operate"), "{}", text(&output));
    assert!(stage.host.record().exists());
}

#[test]
fn where_signatures_are_wanted_only_an_allowed_signer_is_obeyed() {
    let (host, operator) = (Machine::new("one"), Machine::new("two"));
    let folder = operator.folder.path().to_path_buf();
    let (right, wrong) = (key(&folder, "right"), key(&folder, "wrong"));
    let public = std::fs::read_to_string(right.with_extension("pub")).unwrap();
    let signers = host.folder.path().join("signers");
    std::fs::write(&signers, format!("oscar@example namespaces=\"claimtop-order@claimtop\" {public}"))
        .unwrap();
    let of_host = format!("accept = 'typed'\nallowed_signers = '{}'", signers.display());
    let stage = Stage::of(host, operator, &of_host, "");
    for (lines, why) in [
        (String::new(), "it is not signed"),
        (format!("sign_with = '{}'", wrong.display()), "not signed by an allowed signer"),
        (format!("sign_with = '{}'", folder.join("none").display()), "it could not be signed"),
    ] {
        stage.operator.configure(&lines);
        let (code, said) = stage.asks(&["release", &stage.left, "--yes"]);
        assert!(code != Some(0) && said.contains(why), "{lines}: {said}");
        assert!(stage.host.record().exists());
    }
    // A signature made for something else, or with an unknown key, does not count.
    assert_eq!(stage.host.journal().len(), 0);
    stage.operator.configure(&format!("sign_with = '{}'", right.display()));
    let (code, said) = stage.asks(&["release", &stage.left, "--yes"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(!stage.host.record().exists());
}

#[test]
fn a_person_declares_a_host_lost_by_typing_its_name_and_that_is_shown_as_their_word() {
    let stage = Stage::new("", "");
    let name = stage.left.split_once('@').unwrap().1.to_owned();
    let lost = |confirm: &[&str]| stage.asks(&[&["fleet", "declare-lost", &name], confirm].concat());
    let (code, said) = lost(&["--confirm", &name]);
    assert!(code == Some(3) && said.contains("was seen less than 50 s ago"), "{said}");
    drop(stage._witness);
    stage.database.sql("UPDATE claimtop.host SET beat_at = clock_timestamp() - interval '70 seconds'");
    let stage = (stage.database, stage.operator);
    let url = stage.0.url_of("oscar", stage.0.cluster.port);
    let lost = |confirm: &[&str]| {
        let output = stage.1.run(&[&["fleet", "declare-lost", &name], confirm, &["--fleet", &url]].concat());
        (output.status.code(), text(&output))
    };
    for (confirm, code, why) in [
        (vec![], Some(3), format!("--confirm {name}")),
        (vec!["--confirm", "other"], Some(3), format!("--confirm {name}")),
        (vec!["--confirm", name.as_str()], Some(0), "proves nothing".to_owned()),
    ] {
        let (found, said) = lost(&confirm);
        assert!(found == code && said.contains(&why), "{confirm:?}: {said}");
    }
    let seen = stage.1.seen(&url);
    let detail = seen["machines"][0]["detail"].as_str().unwrap();
    assert!(detail.contains("declared lost by oscar"), "{detail}");
    let (code, said) = {
        let output = stage.1.run(&["fleet", "declare-lost", "nowhere", "--confirm", "x", "--fleet", &url]);
        (output.status.code(), text(&output))
    };
    assert!(code == Some(2) && said.contains("no host"), "{said}");
}
