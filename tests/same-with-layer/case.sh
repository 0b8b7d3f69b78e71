#!/usr/bin/env bash
# One case of same_with_layer.sh's test: case.sh NAME SCRIPT RAYREPLAY SCENARIOS ONE_WEEKEND MESH_VIEWER
set -euo pipefail
name=$1 script=$2 rayreplay=$3 scenarios=$4 one_weekend=$5 mesh_viewer=$6
run() { "$script" --rayreplay "$rayreplay" "$@"; }
. "$(dirname "$(readlink -f "$0")")/../support/script_case.sh"

# program NAME: makes NAME a program of standard input, in which $seen is 1 under the layer.
program() {
  { echo '#!/bin/sh'; echo 'seen=${RAYREPLAY_CAPTURE_SPOOL:+1}'; cat; } > "$1"
  chmod +x "$1"
}

case $name in
  scenarios)
    for scenario in modules library indirect frames; do
      expect 0 "same: exit code 0" "$scenarios" $scenario
    done
    expect 0 "trace: launches: 2, rays: 512," "$scenarios" devices
    ;;
  full_buffer) expect 0 "did not fit into the event buffer" --capture='--memory 64KiB' "$scenarios" many-launches ;;
  sampled) expect 0 "threads not recorded: 170 of 256 (--window, --every)" --capture='--every 3' "$scenarios" modules ;;
  failing)
    expect 0 "same: exit code 7" "$scenarios" exit-behind
    expect 0 "same: signal 11" "$scenarios" crash-behind
    ;;
  timed) expect 0 "trace: no trace was asked for" --no-trace --capture='--record off' "$scenarios" modules ;;
  one_weekend)
    expect 0 "1 of its files; trace: launches: 2" --output p.png \
      "$one_weekend" --size 24x16 --spp 2 --depth 4 --frames 2 --image p.png
    # An existing file is replaced only with --force.
    touch p.png
    expect 2 "p.png is there already" --output p.png "$one_weekend" --image p.png
    ;;
  mesh_viewer)
    expect 0 "1 of its files; trace: launches: 1" --output p.png \
      "$mesh_viewer" --scene cornell --size 16x16 --spp 1 --depth 2 --image p.png
    ;;
  prints)
    program prints <<< '[ -z "$seen" ] || echo noticed; exec "$1" modules'
    expect 1 "differs: standard output: 1 lines without the layer, 2 with it" ./prints "$scenarios"
    program prints <<< 'echo "seen:$seen"; exec "$1" modules'
    expect 1 "differs: standard output: line 1: b'seen:' without the layer, b'seen:1' with it" ./prints "$scenarios"
    # The kept streams exist.
    kept=$(sed -n 's/^same_with_layer: streams, files and trace are in //p' said)
    grep -qx seen:1 "$kept/with/stdout"
    [ -s "$kept/t.rrt" ]
    ;;
  exits)
    program exits <<< '"$1" modules; exit ${seen:+3}'
    expect 1 "differs: exit code 0 without the layer, exit code 3 with it" ./exits "$scenarios"
    program exits <<< '"$1" modules; [ -z "$seen" ] || kill -TERM $$'
    expect 1 "differs: exit code 0 without the layer, signal 15 (Terminated) with it" ./exits "$scenarios"
    ;;
  paints)
    program paints <<< 'printf "P6 2 2 255\nabcdef%sjkl" "${seen:+X}${seen:-g}hi" | head -c 23 > p.ppm; exec "$1" modules'
    expect 1 "differs: p.ppm: 2 of 4 pixels; first at (0, 1): (103, 104, 105) without the layer, (88, 49, 104) with it" \
      --output p.ppm ./paints "$scenarios"
    # The same pixels in other bytes are the same picture.
    program paints <<< 'printf "P6 %s2 2 255\nabcdefghijkl" "${seen:+ }" > p.ppm; exec "$1" modules'
    expect 0 "same: exit code 0" --output p.ppm ./paints "$scenarios"
    ;;
  writes_less)
    program writes <<< '[ -n "$seen" ] || echo data > data.txt; exec "$1" modules'
    expect 1 "differs: data.txt: not written with the layer" --output data.txt ./writes "$scenarios"
    program writes <<< 'exec "$1" modules'
    expect 2 "the program does not write data.txt" --output data.txt ./writes "$scenarios"
    ;;
  unsteady)
    # A line that changes from run to run is left aside, and the others are still compared.
    program unsteady <<< 'echo $$; echo "$$" > data.txt; exec "$1" modules'
    expect 0 "not compared, as the program itself changes it: standard output" --output data.txt ./unsteady "$scenarios"
    grep -qF "changes it: data.txt" said
    program unsteady <<< 'echo $$; echo "seen:$seen"; exec "$1" modules'
    expect 1 "differs: standard output: line 2" ./unsteady "$scenarios"
    ;;
  loses_events)
    # Another command in front of ours, which counts otherwise.
    real=$rayreplay rayreplay=$folder/miscounts
    printf '#!/bin/sh\nif [ "$1" = validate ]; then "%s" "$@" | sed "s/\\"lost\\": 0/\\"lost\\": 1/"; else exec "%s" "$@"; fi\n' \
      "$real" "$real" > miscounts
    chmod +x miscounts
    expect 1 "1 rays have neither closest hit nor miss, and nothing says why" "$scenarios" modules
    sed -i 's/lost.*1\/"/Miss\\": 158\/\\"Miss\\": 157\/"/' miscounts
    expect 1 "misses: the capture says 158, validate says 157" "$scenarios" modules
    grep -qF "events: the capture says" said
    ;;
  no_trace)
    expect 2 "there is no trace to check" "$scenarios" plain-device
    expect 0 "same: exit code 0" --no-trace "$scenarios" plain-device
    ;;
  wrong_use)
    expect 0 "usage: same_with_layer.sh" --help
    expect 2 "usage: same_with_layer.sh"
    expect 2 "no-such-program is no program" no-such-program
    for runs in 1 -5 99999999999999999999; do
      expect 2 "two are needed" --runs $runs "$scenarios" modules
    done
    for seconds in 0 -1 nan inf; do
      expect 2 "--timeout: more than 0" --timeout $seconds "$scenarios" modules
    done
    expect 2 "the trace and its format are chosen here" --capture='-ot.rrt' "$scenarios" modules
    expect 2 "the program follows behind them" --capture='-- ls' "$scenarios" modules
    # A file that the system cannot run, though it may be executed.
    echo 'exit 0' > no-program
    chmod +x no-program
    expect 2 "Exec format error" ./no-program
    # Outputs are removed before a run: neither the program nor one file twice.
    cp /bin/true program
    expect 2 "is the program" --force --output program ./program
    [ -s program ]
    expect 2 "named before" --output o --output ./o ./program
    for arguments in "" here "missing /bin/true"; do
      ended=0
      "$script" --run-as-child $arguments > said 2>&1 || ended=$?
      [ "$ended" -eq 2 ] && grep -qF "is for the captured run alone" said
    done
    (rayreplay=$folder; expect 2 "cannot be run" "$scenarios" modules)
    expect 2 "the trace and its format are chosen here" --capture='-o t.rrt' "$scenarios" modules
    rayreplay=/no/such/rayreplay
    expect 2 "/no/such/rayreplay cannot be run" "$scenarios" modules
    ;;
  *) echo "no case $name"; exit 1 ;;
esac
