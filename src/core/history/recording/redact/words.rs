//! The words of systems' file names, states and our own badges, which identify no person.

/// Harmless words, in small letters.
pub(crate) const WORDS: &str = "a absent acp active agent agents ago alive and app approval are at background bare bash bin \
    binding blame blocked branch branches bun busy by cache canceled cancelled cat cc chat \
    checkouts checkpoint checkpoints ci claim claimed claims claimtop claude closed code codebase \
    codex com common compact completed config connection console context continue copilot \
    correlation credential current daemon dangerously darwin db dead default deferred demo denied \
    deno detached directories directory done draft ein ended entire env error etc exec failed \
    fallback false file files final fish for fork format found from fsmonitor gemini git gix \
    global gone has head heads held holds home hooked host id identity idle in input interactive \
    io is it its jj js json jsonl label last lazygit lead learning legacy leo lib linux live local \
    lock locks log logs looked maia main managed markdown marker markers master mcp md mode model \
    modules names namespace next no node none not npm null obra observability of ok on one only \
    opencode opt or org out output partial pending permission permissions pid pids pipe plan \
    planning pointer port pr pre print proc process processes progress project projects prompt pts \
    py python qf read records refs registry released remote repo repos repositories repository \
    resume review root rows rs run sbin sd serve server session sessions settings sh share shared \
    shell show skip sl sleep spawn sqlite src sse ssh stale startup state states status stdio \
    stopped swarm systemd tasks ted text the there tick tig tmp tmux to toml tool true ts tty tui \
    txt type unix unknown unlocked upload user usr var verbose version versions vscode waiting was \
    watch win with working worktree worktrees zsh";
