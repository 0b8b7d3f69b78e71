#!/usr/bin/env bash
# Proves rewritten shaders on this machine: captures a program with counts of blocks, branches and loads, rewrites its
# shaders in the exact forms (--outline and --scalar among them) and for the profile alone (rayreplay optimise), and
# compares the program's own shaders with each form (rayreplay capture --alternate). Prints the mean time of a launch of
# both, and the change with a confidence interval of 95 % (Student's t over the pairs of runs). A form that changes no
# module gets a line that says so. Ends with an error if a picture changes by a bit, or if a module that was written did
# not run.
#
# usage: validation/optimised_shaders.sh [options] -- PROGRAM ARGUMENTS…
#   --build DIR    build/release: where rayreplay is
#   --rounds N     pairs of runs of each form (10)     --warm-up N   first launches of each run that do not count (1)
#   --output DIR   keep trace, modules and answers there
# PROGRAM must take --image FILE and make several launches (--frames of the programs in docs/apps.md).
set -euo pipefail
build=build/release rounds=10 warm_up=1 output=''
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  case $1 in
    --build) build=${2-} ;;
    --rounds) rounds=${2-} ;;
    --warm-up) warm_up=${2-} ;;
    --output) output=${2-} ;;
    *) false ;;
  esac && [ $# -gt 1 ] || { echo "optimised_shaders: cannot read '$1' (usage: see the head of this file)" >&2; exit 2; }
  shift 2
done
[ $# -gt 1 ] || { echo "optimised_shaders: a program is needed behind --" >&2; exit 2; }
shift
app=("$@")
fail() { echo "optimised_shaders: error: $*" >&2; exit 1; }
[[ $rounds =~ ^[0-9]+$ && $rounds -ge 2 ]] || fail "an interval needs 2 pairs of runs or more, not '$rounds'"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if [ -n "$output" ]; then mkdir -p "$output"; else output=$folder; fi
program=$build/rayreplay

"$program" capture --profile blocks,branches,loads --launch 0 --force -o "$output/profile.rrt" -- "${app[@]}" --image "$folder/own.png" \
  >"$folder/log" 2>&1 || { cat "$folder/log" >&2; fail "the capture failed"; }

echo "$(date -u +%F), pairs of runs: $rounds: ${app[*]}"
declare -A options=([exact]='' [outlined]=--outline [scalar]=--scalar [assumed]=--assume-profile)
for form in exact outlined scalar assumed; do
  # No word for the exact form.
  # shellcheck disable=SC2086
  "$program" optimise "$output/profile.rrt" -o "$output/$form" --force ${options[$form]} >"$output/$form.txt"
  if [ "$(wc -l <"$output/$form/modules.list")" -le 1 ]; then
    printf '\n%s: nothing to change\n' "$form"
    continue
  fi
  rm -f "$folder/picture.png"
  "$program" capture --record off --shaders "$output/$form" --alternate "$rounds" --warm-up "$warm_up" \
    --picture "$folder/picture.png" --format json -- "${app[@]}" --image "$folder/picture.png" \
    >"$output/$form.json" 2>"$folder/log" || { cat "$folder/log" >&2; fail "the comparison of $form failed"; }
  printf '\n%s: %s\n' "$form" "$(sed -n 's/^  "verdict": "\(.*\)",$/\1/p' "$output/$form.json")"
  tr -d ' \n' <"$output/$form.json" | grep -q '"not_asked_for":\[\]' || fail "a module of $form did not run"
done
