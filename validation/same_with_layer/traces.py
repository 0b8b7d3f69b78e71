"""Is a captured trace whole? Its counts, taken three times: by the capture, by `rayreplay info`, by `rayreplay validate`."""
import json
import subprocess

KINDS = {"closest_hits": "ClosestHit", "misses": "Miss", "any_hits": "AnyHit", "intersections": "Intersection"}


def _json_of(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    try:
        return done.returncode, json.loads(done.stdout), done.stderr.decode(errors="replace")
    except ValueError:
        return done.returncode, None, done.stderr.decode(errors="replace")


def _launch_faults(row, counts, info, lines):
    """Contradictions between one launch's counts. `lines`: the trace's lines on missing parts of this launch."""
    events, no_end = counts["events"], counts["rays_without_end"]
    faults = []

    def equal(what, *values):
        if len(set(values)) != 1:
            faults.append(f"{what}: " + ", ".join(f"{name} says {value}" for name, value in
                                                  zip(("the capture", "validate", "info"), values)))

    equal("rays", row["rays"], counts["rays"], info["rays"])
    equal("events", row["events"], sum(events.values()), info["events"])
    for key, kind in KINDS.items():
        equal(key, row[key], events[kind])
    begun = events["Begin"] + events["OcclusionBegin"]
    if begun != counts["rays"]:
        faults.append(f"{counts['rays']} rays, but {begun} were begun")
    ends, missing = events["ClosestHit"] + events["Miss"], sum(no_end.values())
    if not events["Begin"] - missing <= ends <= begun:
        faults.append(f"{begun} rays were begun, {missing} of them have no end, and there are {ends} ends")
    if no_end["lost"] != 0 and not lines:
        faults.append(f"{no_end['lost']} rays have neither closest hit nor miss, and nothing says why")
    said = lambda text: any(text in line for line in lines)
    if row["dropped_events"] != 0 and not said("did not fit into the event buffer"):
        faults.append(f"{row['dropped_events']} events were dropped, which the trace does not say")
    recorded = row["recorded_threads"]
    if recorded is None:
        if not said("which warp ran which thread") and not said("warps and groups"):
            faults.append("how many threads were recorded is not known, and the trace does not say so")
    elif recorded != counts["threads"] and not said("threads not recorded"):
        faults.append(f"{counts['threads'] - recorded} of {counts['threads']} threads are missing, which the trace does not say")
    return faults


def check(rayreplay, captured):
    """captured: the document of `rayreplay capture --format json`. Gives faults, notes, and a line that sums up."""
    faults, notes = [], []
    total = {"launches": 0, "rays": 0, "events": 0}
    for trace in captured["traces"]:
        path = trace["file"]
        code, found, errors = _json_of([rayreplay, "validate", "--format", "json", path])
        if found is None or code != 0 or not found["sound"]:
            rows = found["faults"] if found else []
            why = "; ".join(f"{row['where']}: {row['what']}" for row in rows[:3]) or errors.strip()
            faults.append(f"{path}: rayreplay validate: {why}")
            continue
        code, info, errors = _json_of([rayreplay, "info", "--format", "json", path])
        if info is None or code != 0:
            faults.append(f"{path}: rayreplay info: {errors.strip()}")
            continue
        rows = [row for row in captured["launches"] if row["trace"] == path]
        if not len(rows) == len(found["launches"]) == len(info["launches"]):
            faults.append(f"{path}: launches: the capture says {len(rows)}, validate {len(found['launches'])}, "
                          f"info {len(info['launches'])}")
            continue
        missing = trace["not_captured"]
        notes += [f"not captured: {line}" for line in missing]
        for row, counts, about in zip(rows, found["launches"], info["launches"]):
            own = f"launch {row['launch']}: "
            lines = [line for line in missing if line.startswith(own) or not line.startswith("launch ")]
            faults += [f"{path}: {own}{fault}" for fault in _launch_faults(row, counts, about, lines)]
            total["launches"] += 1
            total["rays"] += row["rays"]
            total["events"] += row["events"]
    return faults, notes, ", ".join(f"{key}: {value}" for key, value in total.items())
