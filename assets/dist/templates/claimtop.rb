class Claimtop < Formula
  desc "See every coding-agent window, what it claims and what collides"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_linux do
    on_intel do
      url "@REPOSITORY@/releases/download/v@VERSION@/claimtop-@VERSION@-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256_x86_64-unknown-linux-musl@"
    end
    on_arm do
      url "@REPOSITORY@/releases/download/v@VERSION@/claimtop-@VERSION@-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256_aarch64-unknown-linux-musl@"
    end
  end

  # Never run on macOS yet: built from source there, by whoever asks for it.
  on_macos do
    head "@REPOSITORY@.git", branch: "main"
    depends_on "rust" => :build
  end

  def install
    return system "cargo", "install", *std_cargo_args(path: ".") if build.head?

    bin.install "claimtop"
    man1.install "claimtop.1"
    bash_completion.install "completions/claimtop.bash" => "claimtop"
    zsh_completion.install "completions/_claimtop"
    fish_completion.install "completions/claimtop.fish"
  end

  def caveats
    "`claimtop setup` connects it with your agents."
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/claimtop --version")
  end
end
