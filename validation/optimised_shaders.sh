#!/usr/bin/env bash
# Proves rewritten shaders on this machine: captures a program with counts of blocks, branches and loads, rewrites its
# shaders in the exact forms (--outline and --scalar among them) and for the profile alone (rayreplay optimise), runs the program with each of them in turn, and compares. Prints
# the mean time of a launch of each, and its change against the program's own shaders with a confidence interval of 95 %
# (Student's t over the rounds, each round compared with itself). A form that has nothing to change gets a row that says
# so, and the others go on. Ends with an error if a picture changes by a bit, or if a module that was written did not run.
#
# usage: validation/optimised_shaders.sh [options] -- PROGRAM ARGUMENTS…
#   --build DIR    build/release: where rayreplay is
#   --rounds N     runs of each form, in turn (10)     --warm-up N   first launches of each run that do not count (1)
#   --output DIR   keep trace, modules and times there
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
say() { echo "optimised_shaders: $*" >&2; }
[[ $rounds =~ ^[0-9]+$ && $rounds -ge 2 ]] || fail "an interval needs 2 rounds or more, not '$rounds'"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if [ -n "$output" ]; then mkdir -p "$output"; else output=$folder; fi
program=$build/rayreplay

say "the program's profile"
"$program" capture --profile blocks,branches,loads --launch 0 --force -o "$output/profile.rrt" -- "${app[@]}" --image "$folder/own.png" \
  >"$folder/log" 2>&1 || { cat "$folder/log" >&2; fail "the capture failed"; }
"$program" optimise "$output/profile.rrt" -o "$output/exact" --force >"$output/exact.txt"
"$program" optimise "$output/profile.rrt" -o "$output/outlined" --force --outline >"$output/outlined.txt"
"$program" optimise "$output/profile.rrt" -o "$output/scalar" --force --scalar >"$output/scalar.txt"
"$program" optimise "$output/profile.rrt" -o "$output/assumed" --force --assume-profile >"$output/assumed.txt"

# A form that changes no module has a row and no runs: they would be those of the program's own shaders.
all=(own exact outlined scalar assumed)
forms=(own)
for form in "${all[@]:1}"; do
  if [ "$(wc -l <"$output/$form/modules.list")" -gt 1 ]; then forms+=("$form"); else say "$form: nothing to change"; fi
done

# One run of a form: the mean time of its launches is appended to FORM.times.
run() {
  local form=$1 shaders=()
  if [ "$form" != own ]; then shaders=(--shaders "$output/$form"); fi
  "$program" capture --record off "${shaders[@]}" --format json -- "${app[@]}" --image "$folder/$form.png" \
    >"$folder/times.json" 2>"$folder/log" || { cat "$folder/log" >&2; fail "the run of $form failed"; }
  cmp -s "$folder/own.png" "$folder/$form.png" || fail "the picture of $form is another one"
  # A line for each launch in the JSON; the list of modules that never ran is empty.
  if [ "$form" != own ]; then
    tr -d ' \n' <"$folder/times.json" | grep -q '"not_asked_for":\[\]' || fail "a module of $form did not run"
  fi
  awk -v skip="$warm_up" '/"device_ms":/ { sub(/,$/, "", $2); if (n++ >= skip) { sum += $2; ++count } }
    END { if (!count) exit 1; print sum / count }' "$folder/times.json" >>"$output/$form.times" ||
    fail "no launch of $form was timed behind $warm_up that warm up: more --frames are needed"
}

rm -f "$output"/*.times
for ((round = 0; round < rounds; ++round)); do
  # The order turns, so that no form always runs behind the same other.
  for ((f = 0; f < ${#forms[@]}; ++f)); do run "${forms[(f + round) % ${#forms[@]}]}"; done
done

echo "$(date -u +%F), $rounds rounds: ${app[*]}"
echo
echo "| shaders | ms a launch | change, 95 % confidence |"
echo "| --- | --- | --- |"
for form in "${all[@]}"; do
  if [ ! -e "$output/$form.times" ]; then
    echo "| $form | | nothing to change |"
    continue
  fi
  paste "$output/own.times" "$output/$form.times" | awk -v form="$form" '
    # Quantile 0.975 of the t distribution: a table up to 30 degrees, then the expansion of Cornish and Fisher.
    function t(df,   z) {
      split("12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262 2.228 2.201 2.179 2.160 2.145 2.131 2.120 2.110 " \
            "2.101 2.093 2.086 2.080 2.074 2.069 2.064 2.060 2.056 2.052 2.048 2.045 2.042", table, " ")
      z = 1.959964
      return df <= 30 ? table[df] : z + (z ^ 3 + z) / (4 * df) + (5 * z ^ 5 + 16 * z ^ 3 + 3 * z) / (96 * df ^ 2)
    }
    { own += $1; ms[NR] = $2; change[NR] = ($2 / $1 - 1) * 100 }
    END {
      for (i = 1; i <= NR; ++i) { mean += ms[i] / NR; m += change[i] / NR }
      for (i = 1; i <= NR; ++i) { v += (change[i] - m) ^ 2 / (NR - 1); w += (ms[i] - mean) ^ 2 / (NR - 1) }
      printf "| %s | %.3f ± %.3f | %s |\n", form, mean, t(NR - 1) * sqrt(w / NR),
             form == "own" ? "" : sprintf("(%+.2f ± %.2f) %%", m, t(NR - 1) * sqrt(v / NR))
    }'
done
if [ ${#forms[@]} -eq 1 ]; then say "no form changes a module"; else say "every picture is the same, and every module that was written ran"; fi
