#!/usr/bin/env bash
# Does the classification find known causes of unnecessary tests? Prints the tables of docs/validation-causes.md.
# Hardware is simulated: an order of traversal and a layout, or boxes enlarged by a known share of their diagonal.
# usage: validation/ground_truth.sh [PATH OF rayreplay]
set -euo pipefail
program=${1:-build/release/rayreplay}
here=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

explain() {  # trace, explain options…
  "$program" explain "$1" --ground-truth --worst 0 --format json "${@:2}" 2>/dev/null
}

row() {  # cells of the label, trace, explain options…
  local label=$1 trace=$2
  shift 2
  local blind='"same | same"'
  # Where the classifier's own models have the hardware's boxes anyway, being told adds nothing.
  if [[ "$*" == *--hardware-builder* ]]; then
    blind=$(explain "$trace" "$@" --blind | jq '.ground_truth |
      "\(.undecided_share * 10000 | round / 100) | \(.wrong - .wrong_within_slack)"')
  fi
  explain "$trace" "$@" | jq -r --arg name "$label" --argjson blind "$blind" '
      def percent: (. * 10000 | round) / 100;
      ([.rows[] | {(.kind): .tests}] | add) as $kinds | .ground_truth as $truth | $truth.tests as $all |
      "| \($name) | \($all) | \($kinds["R1 overlap"] / $all | percent) | \($kinds["R2 enlargement"] / $all | percent) | " +
      "\($kinds["R3 order"] / $all | percent) | \($truth.undecided_share | percent) | \($truth.joint_share | percent) | " +
      "\($truth.wrong) | \($truth.wrong - $truth.wrong_within_slack) | \($blind) |"'
}

"$program" trace --scene one-weekend --size 160x90 --spp 2 -o "$folder/weekend.rrt" 2>/dev/null
"$program" trace --scene hall --size 96x54 --spp 1 --depth 4 --next-event -o "$folder/hall.rrt" 2>/dev/null
"$program" trace --scene cornell --size 64x64 --spp 2 --depth 6 --next-event -o "$folder/cornell.rrt" 2>/dev/null
ln -s "$here/tests/data/h200/teapot-alpha.rrt" "$folder/teapot.rrt"

echo "| rays | order | boxes | tests | R1 % | R2 % | R3 % | R2 or R3 % | joint % | wrong | beyond the slack | blind: R2 or R3 % | blind: beyond the slack |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
for scene in weekend hall cornell teapot; do
  trace=$folder/$scene.rrt
  for layout in wide-8 quantised-6 half-4; do
    for order in ordered near-first any-order:seed=1; do
      row "$scene | $order | $layout" "$trace" --hardware "$order" --hardware-layout "$layout"
    done
  done
  for order in ordered any-order:seed=1; do
    row "$scene | $order | boxes + 0.001" "$trace" --hardware "$order" --hardware-layout wide-8 --enlarge 0.001 \
      --enlarged-layout none
  done
  row "$scene | near-first | boxes + 0.001, --culls" "$trace" --hardware near-first --hardware-layout wide-8 \
    --enlarge 0.001 --enlarged-layout none --culls
  for builder in low median medium:leaf_size=3; do
    row "$scene | near-first | quantised-6, $builder" "$trace" --hardware near-first --hardware-layout quantised-6 \
      --hardware-builder "$builder"
  done
done

for scene in weekend hall; do
  echo
  echo "$scene, any-order:seed=1, quantised-6:"
  "$program" explain "$folder/$scene.rrt" --ground-truth --worst 0 --hardware any-order:seed=1 \
    --hardware-layout quantised-6 2>/dev/null | sed -n '/^ground truth/,$p'
done
