{
  description = "See every coding-agent window, what it claims and what collides";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "aarch64-darwin" ];
      source = ../..;
      manifest = (builtins.fromTOML (builtins.readFile (source + "/Cargo.toml"))).package;
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
    in
    {
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = manifest.name;
          version = manifest.version;
          src = source;
          cargoLock.lockFile = source + "/Cargo.lock";
          # The tests make namespaces, databases and terminals of their own; `bash tests/run` runs them.
          doCheck = false;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            $out/bin/claimtop man > claimtop.1
            installManPage claimtop.1
            for shell in bash zsh fish; do
              installShellCompletion --cmd claimtop --$shell <($out/bin/claimtop completions $shell)
            done
          '';
          meta = {
            inherit (manifest) description;
            license = with pkgs.lib.licenses; [ mit asl20 ];
            mainProgram = "claimtop";
          };
        };
      });
    };
}
