#!/usr/bin/env bash
# Effect of unpublished settings on the gains of numrays and objects: prints the table of docs/validation-packings.md.
# usage: validation/one_weekend_sensitivity.sh [PATH OF rayreplay]
set -euo pipefail
program=${1:-build/release/rayreplay}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

row() {  # label, whatif options… -- trace options…
  local label=$1 whatif=() table
  shift
  while [ "$1" != -- ]; do whatif+=("$1"); shift; done
  shift
  "$program" trace --scene "${scene:-one-weekend}" --size 1280x720 "$@" -o "$folder/t.rrt" --force 2>/dev/null
  table=$("$program" whatif "$folder/t.rrt" --format csv "${whatif[@]}" --packing numrays --packing tiled-numrays \
    --packing objects --packing tiled-objects 2>/dev/null)
  awk -F, -v label="$label" '
    $1 == "identity" { identity = $2 }
    NR > 1 { change[$1] = $3 * 100 }
    END { printf "| %s | %.1f %% | %+.1f %% | %+.1f %% | %+.1f %% | %+.1f %% |\n", label, identity * 100,
          change["numrays"], change["tiled-numrays"], change["objects"], change["tiled-objects"] }' <<<"$table"
}

echo "| variant | identity η | numrays | tiled-numrays | objects | tiled-objects |"
echo "| --- | --- | --- | --- | --- | --- |"
row "as published: 6 samples, 16 bounces" --
for seed in 1 2 3 4; do
  scene=one-weekend:seed=$seed row "other random spheres, scene seed $seed" --
done
row "other random numbers in the paths" -- --seed 2
row "at most 8 bounces" -- --depth 8
row "at most 50 bounces" -- --depth 50
row "1 sample" -- --spp 1
row "16 samples" -- --spp 16
row "policy min-shader" --policy min-shader --
row "policy oldest-lane" --policy oldest-lane --
row "policy independent" --policy independent --
row "warps of 4×8" --order z-order:warp=4x8 --
row "warps of 64" --warp-size 64 --
row "one closest-hit shader per material" -- --hit-groups per-material
