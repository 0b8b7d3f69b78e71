#!/usr/bin/env bash
# Validates what-if on this machine: captures the unmodified one_weekend, predicts each packing, runs the same program
# under each swizzle through the capture layer, and compares. Prints the tables of docs/validation-swizzles.md; ends
# with an error if a picture changes by a bit, events were dropped, or a swizzled launch did not run in the predicted
# warps and lanes.
#
# usage: validation/swizzle_round_trip.sh [BUILD FOLDER] [options]       (default: build/release)
#   --size WxH      1280x720     --spp N     6      --depth N     16
#   --frames N      frames timed in each run (50)   --rounds N    runs of each packing, in turn (3)
#   --warm-up N     frames before them (5)
#   --device NAME   as one_weekend's option         --output DIR  keep JSON, CSV and the times there
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
build=build/release
size=1280x720 spp=6 depth=16 frames=50 rounds=3 warm_up=5 device='' output=''
if [ $# -gt 0 ] && [ "${1#--}" = "$1" ]; then build=$1; shift; fi
while [ $# -gt 0 ]; do
  option=${1#--}
  case $option in
    size | spp | depth | frames | rounds | device | output) [ $# -gt 1 ] && printf -v "$option" %s "$2" ;;
    warm-up) [ $# -gt 1 ] && warm_up=$2 ;;
    *) false ;;
  esac || { echo "swizzle_round_trip: cannot read '$1' (usage: see the head of this file)" >&2; exit 2; }
  shift 2
done
fail() { echo "swizzle_round_trip: error: $*" >&2; exit 1; }
say() { echo "swizzle_round_trip: $*" >&2; }

program=$build/rayreplay
packings=(identity random numrays tiled-numrays objects tiled-objects)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
results=$folder
if [ -n "$output" ]; then mkdir -p "$output"; results=$output; fi
rm -f "$results"/*.times "$results"/rows

app=("$build/one_weekend" --size "$size" --spp "$spp" --depth "$depth")
if [ -n "$device" ]; then app+=(--device "$device"); fi
# Room for 640 bytes of events for each sample; about 300 are used by warps of 8 lanes, fewer by wider ones.
memory=$((${size%x*} * ${size#*x} * spp * 640))

# Field of a CSV of one row, by the name of its column.
field() { awk -F, -v name="$1" '{ sub(/\r$/, "") } NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) at = i } NR == 2 { print $at }' "$2"; }

# One recorded launch behind one that warms up: name, capture options…
record() {
  local name=$1 rows dropped
  shift
  say "capture $name"
  "$program" capture --frames 1 --memory "$memory" "$@" --force --format csv -o "$folder/$name.rrt" -- \
    "${app[@]}" --warm-up 1 --image "$folder/$name.png" >"$results/$name-capture.csv" 2>"$folder/log" ||
    { cat "$folder/log" >&2; fail "the capture of $name failed"; }
  rows=$(($(wc -l <"$results/$name-capture.csv") - 1))
  [ "$rows" = 1 ] || fail "$rows launches were recorded, not one"
  dropped=$(field dropped_events "$results/$name-capture.csv")
  [ "$dropped" = 0 ] || fail "$dropped events of $name were dropped: a larger memory is needed"
  cmp "$folder/alone.png" "$folder/$name.png" || fail "the picture of $name is another one"
}

# Launches by name of what runs, without recording: appends milliseconds to NAME.times.
time_run() {
  local name=$1 log=$folder/timed
  shift
  "$@" "${app[@]}" --time --warm-up "$warm_up" --frames "$frames" >"$log" 2>"$folder/log" ||
    { cat "$folder/log" >&2; fail "the timed run of $name failed"; }
  awk '/^frame [0-9]+ launch [0-9]+: [0-9.]+ ms$/ { print $5 }' "$log" >>"$results/$name.times"
}
mean() { awk '{ sum += $1 } END { print sum / NR }' "$1"; }
median() { sort -n "$1" | awk '{ x[NR] = $1 } END { print (x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) / 2 }'; }

# Number of the observed table's row with this name, from whatif's JSON.
observed() {
  awk -v name="\"$2\"," -v key="\"$3\":" '/"observed":/ { inside = 1 } inside && $1 == "\"name\":" { here = ($2 == name) }
    inside && here && $1 == key { sub(/,$/, "", $2); print $2; exit }' "$1"
}
# Number of identity's row, from whatif's JSON.
synthetic() { awk -v key="\"$2\":" '$1 == key && rows { sub(/,$/, "", $2); print $2; exit } /"rows":/ { rows = 1 }' "$1"; }
# What the what-if said; random's row has its parameters: "random:seed=1,tiled=false".
said() {
  awk -v name="$1" '/"rows":/ { rows = 1 } rows && $1 == "\"packing\":" { split($2, part, /[":,]/); here = part[2] == name }
    rows && here && $1 == "\"efficiency\":" { sub(/,$/, "", $2); print $2; exit }' "$results/whatif.json"
}
published() {
  awk -v name="\"$1\"" -v key="$2" '/^\[\[packing\]\]/ { here = 0 } $1 == "name" { here = ($3 == name) }
    here && $1 == key { print $3 }' "$here/published/one-weekend.toml"
}

say "the application alone"
"${app[@]}" --image "$folder/alone.png"
record plain
"$program" info "$folder/plain.rrt" | awk '/^(device|driver|warp size)/' >"$results/device"
say "what-if"
whatif=()
for packing in "${packings[@]}"; do whatif+=(--packing "$packing"); done
"$program" whatif "$folder/plain.rrt" --order captured "${whatif[@]}" --format json >"$results/whatif.json"

for packing in "${packings[@]}"; do
  # The order and warp size of the capture, as above: so that both speak of the same warps.
  "$program" swizzle "$folder/plain.rrt" --packing "$packing" --order captured -o "$folder/$packing.h5" 2>"$folder/log" ||
    { cat "$folder/log" >&2; fail "no swizzle"; }
  record "$packing" --swizzle "$folder/$packing.h5"
  "$build/same_warps" "$folder/plain.rrt" "$folder/$packing.h5" "$folder/$packing.rrt" >"$results/$packing-warps" ||
    fail "$packing: $(cat "$results/$packing-warps")"
  say "$packing: $(cat "$results/$packing-warps")"
  "$program" whatif "$folder/$packing.rrt" --order captured --packing identity --format json >"$results/$packing.json"
  rm "$folder/$packing.rrt"
done

say "times: $rounds rounds of $frames frames"
for ((round = 0; round < rounds; ++round)); do
  time_run alone
  for packing in "${packings[@]}"; do
    time_run "$packing" "$program" capture --record off --format csv --swizzle "$folder/$packing.h5" --
    awk -F, '/^process,launch,/ { for (i = 1; i <= NF; ++i) if ($i == "swizzled") at = i; next }
             at && $at != "true" { other = 1 }
             END { exit !at || other }' "$folder/timed" || fail "launches of the timed run of $packing ran without the swizzle"
  done
done

for packing in "${packings[@]}"; do
  json=$results/$packing.json
  echo "$packing $(said "$packing") $(synthetic "$json" efficiency) $(observed "$json" all united_efficiency) $(observed "$json" all efficiency)" \
    "$(field device_ms "$results/$packing-capture.csv") $(mean "$results/$packing.times") $(median "$results/$packing.times")" \
    "x$(published "$packing" synthetic_change) x$(published "$packing" measured_change)" \
    "x$(published "$packing" frame_time_mean_change) x$(published "$packing" frame_time_median_change)"
done >"$results/rows"

echo "$(date -u +%F), $size, $spp samples, $depth bounces: $(field rays "$results/plain-capture.csv") rays," \
  "$(field events "$results/plain-capture.csv") events; $(paste -sd';' "$results/device" |
    sed 's/  */ /g; s/;/; /g')"
echo
echo "| packing | what-if η | change | η of what ran | change | observed η, united | change | observed η | change | published, synthetic | published, measured |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
awk 'function share(x) { return sprintf("%.2f %%", x * 100) }
     function change(x, y) { return sprintf("%+.1f %%", (x / y - 1) * 100) }
     function said(x) { return x == "x" ? "" : sprintf("%+.0f %%", substr(x, 2) * 100) }
     NR == 1 { for (i = 2; i <= 5; ++i) base[i] = $i }
     { printf "| %s |", $1
       for (i = 2; i <= 5; ++i) printf " %s | %s |", share($i), change($i, base[i])
       printf " %s | %s |\n", said($9), said($10) }' "$results/rows"
echo
echo "| packing | ms, mean | change | ms, median | change | recorded, ms | published: frame time, mean | median |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- |"
echo "no-layer x x x x x $(mean "$results/alone.times") $(median "$results/alone.times") x x x x" | cat - "$results/rows" |
  awk 'function change(x, y) { return sprintf("%+.1f %%", (x / y - 1) * 100) }
       function said(x) { return x == "x" ? "" : sprintf("%+.1f %%", substr(x, 2) * 100) }
       { mean[NR] = $7; median[NR] = $8; line[NR] = $1; recorded[NR] = $6 == "x" ? "" : sprintf("%.3f", $6)
         said_mean[NR] = said($11); said_median[NR] = said($12) }
       END { for (i = 1; i <= NR; ++i)
               printf "| %s | %.3f | %s | %.3f | %s | %s | %s | %s |\n", line[i], mean[i], change(mean[i], mean[2]),
                      median[i], change(median[i], median[2]), recorded[i], said_mean[i], said_median[i] }'
echo
echo "| packing: synthetic η / united / observed | trace calls | intersection | miss | closest hit |"
echo "| --- | --- | --- | --- | --- |"
for packing in "${packings[@]}"; do
  json=$results/$packing.json
  printf '| %s |' "$packing"
  for stage in begin:Begin intersection:Intersection miss:Miss closest_hit:ClosestHit; do
    echo "$(synthetic "$json" "${stage%:*}_efficiency") $(observed "$json" "${stage#*:}" united_efficiency)" \
      "$(observed "$json" "${stage#*:}" efficiency)" |
      awk '{ printf " %.1f / %.1f / %.1f %% |", $1 * 100, $2 * 100, $3 * 100 }'
  done
  echo
done
say "every picture is the same, nothing was dropped, all threads ran where the what-if had them"
