//! Translates the agents' signatures from TOML, which people write, to JSON, which is read in a
//! tenth of the time: `context-id` runs in every hook and must cost next to nothing.

#![expect(clippy::disallowed_methods, reason = "it runs on the builder's machine, over our own files")]

use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=assets/agents.toml");
    let signatures: toml::Table = toml::from_str(&std::fs::read_to_string("assets/agents.toml")?)?;
    let out = std::env::var("OUT_DIR")?;
    std::fs::write(Path::new(&out).join("agents.json"), serde_json::to_vec(&signatures)?)?;
    Ok(())
}
