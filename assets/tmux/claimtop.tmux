#!/usr/bin/env bash
# A tmux plugin, for TPM or `run-shell`: a summary in the status line, and the screen over your windows with `prefix C`.
#
#   set -g @claimtop-key C          # the key after the prefix; "" binds none
#   set -g @claimtop-status on      # "off" leaves the status line alone
#   set -g @claimtop-size 90%       # how large the screen is
#
# `#{claimtop}` in status-left or status-right is replaced; without it the summary goes before status-right.
set -euo pipefail

summary='#(claimtop statusline </dev/null)'

option() {
  local value
  # An option that is set to nothing is set.
  if value=$(tmux show-option -gqv "$1") && [ -n "$(tmux show-option -gq "$1")" ]; then printf '%s' "$value"; else printf '%s' "$2"; fi
}

key=$(option @claimtop-key C)
size=$(option @claimtop-size 90%)
[ -z "$key" ] || tmux bind-key "$key" display-popup -E -w "$size" -h "$size" -d '#{pane_current_path}' claimtop

[ "$(option @claimtop-status on)" = on ] || exit 0
has_place=false
for side in status-left status-right; do
  now=$(tmux show-option -gqv "$side")
  case $now in
    *"$summary"*) has_place=true ;;
    *'#{claimtop}'*)
      tmux set-option -g "$side" "${now//'#{claimtop}'/$summary}"
      has_place=true
      ;;
  esac
done
$has_place || tmux set-option -g status-right "$summary $(tmux show-option -gqv status-right)"
