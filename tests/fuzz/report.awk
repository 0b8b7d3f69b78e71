# Reads libFuzzer's logs (NAME-0.log, …) and its lists of functions (coverage-NAME.log); prints what was run and reached.
# Variables: `root`, the repository's folder; `names`, the fuzzers. An edge is a branch between two blocks of instructions, as Clang counts them. Code of other libraries does not count,
# nor do the fuzzers themselves.
function room(path) { sub(/\/[^\/]*$/, "", path); return path }
FNR == 1 {
  log_name = FILENAME
  sub(/.*\//, "", log_name)
  is_coverage = log_name ~ /^coverage-/
  name = log_name
  sub(/^coverage-/, "", name)
  sub(/\.log$/, "", name)
  if (!is_coverage) sub(/-[0-9]+$/, "", name)
}
!is_coverage && /^stat::number_of_executed_units:/ { executed[name] += $2 }
!is_coverage && /^stat::average_exec_per_sec:/ { rate[name] += $2 }
is_coverage && /^(UN)?COVERED_FUNC: / {
  path = $NF
  if (index(path, root "/") != 1 || !match($0, /edges: [0-9]+\/[0-9]+/)) next
  split(substr($0, RSTART + 7, RLENGTH - 7), edges, "/")
  path = substr(path, length(root) + 2)
  sub(/^build\/fuzz\/\.\.\/\.\.\//, "", path)
  where = path
  sub(/:[0-9]+$/, "", path)
  if (path ~ /^(tests|build)\//) next
  reached[name, path] += edges[1]
  total[name, path] += edges[2]
  files[path] = 1
  # One function, several fuzzers: that which reaches most of it.
  if (!(where in all) || edges[2] > all[where]) all[where] = edges[2]
  if (edges[1] > best[where]) best[where] = edges[1]
  of_file[where] = path
}
END {
  printf "%-14s %12s %8s %14s %18s\n", "fuzzer", "inputs run", "a second", "edges reached", "of files entered"
  count = split(names, list, " ")
  for (i = 1; i <= count; ++i) {
    name = list[i]
    sum = of = 0
    for (path in files) {
      if (reached[name, path] > 0) {
        sum += reached[name, path]
        of += total[name, path]
        entered[path] = 1
      }
    }
    printf "%-14s %12d %8d %14d %11d (%d%%)\n", name, executed[name], rate[name], sum, of, of ? 100 * sum / of : 0
  }
  for (where in all) {
    if (of_file[where] in entered) {
      in_room = room(of_file[where])
      room_reached[in_room] += best[where]
      room_total[in_room] += all[where]
    }
  }
  printf "\n%-36s %14s %18s\n", "folder, all fuzzers", "edges reached", "of files entered"
  sorter = "sort"
  for (in_room in room_total) {
    printf "%-36s %14d %11d (%d%%)\n", in_room, room_reached[in_room], room_total[in_room], \
      100 * room_reached[in_room] / room_total[in_room] | sorter
  }
  close(sorter)
}
