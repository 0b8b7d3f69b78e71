// The page: loads the trace's facts, makes the views, and joins them by one state.
import { loadColors } from "./colors";
import { isExported, json } from "./data";
import { byId, element, fill } from "./dom";
import type { KeyFacts, LaunchFacts, TraceFacts } from "./facts";
import { Pixels } from "./pixels";
import { Ranking } from "./ranking";
import { Scene } from "./scene";
import { Store } from "./state";
import { Thread } from "./thread";
import { Warp } from "./warp";
import { WhatIf } from "./whatif";

function setTheme(theme: string): void {
  const dark = theme === "" ? matchMedia("(prefers-color-scheme: dark)").matches : theme === "dark";
  document.documentElement.dataset["theme"] = dark ? "dark" : "light";
}

function showFacts(trace: TraceFacts, launch: LaunchFacts): void {
  const parts = [
    trace.application,
    trace.device,
    `${launch.width}×${launch.height}${launch.depth > 1 ? `×${launch.depth}` : ""}`,
    `${launch.rays.toLocaleString("en-US")} rays`,
    `${launch.events.toLocaleString("en-US")} events`,
    ...(launch.milliseconds === null ? [] : [`${launch.milliseconds.toFixed(3)} ms`]),
    ...(trace.not_captured.length === 0 ? [] : [`${trace.not_captured.length} ${trace.not_captured.length === 1 ? "note" : "notes"} on missing data`]),
  ];
  const facts = byId("facts");
  facts.textContent = parts.join(" · ");
  facts.title = [trace.file, `trace hash ${trace.hash}`, `rayreplay ${trace.tool_version}`, ...trace.not_captured].join("\n");
}

async function main(): Promise<void> {
  setTheme("");
  const [trace, keys] = await Promise.all([json<TraceFacts>("trace"), json<KeyFacts[]>("keys")]);
  const store = new Store(trace.launch);
  setTheme(store.view.theme);
  if (store.view.launch >= trace.launches.length) {
    store.set({ launch: trace.launch });
  }
  const launchOf = (): LaunchFacts => trace.launches[store.view.launch] as LaunchFacts;
  document.title = `${trace.file.split("/").pop() ?? ""} · rayreplay`;
  loadColors(trace.colors);
  showFacts(trace, launchOf());

  const launches = byId<HTMLSelectElement>("launch");
  // An exported page has one launch.
  const shown = trace.launches
    .map((one, index) => ({ name: String(index), title: `${index}: ${one.width}×${one.height}, frame ${one.frame}` }))
    .filter(({ name }) => !isExported() || Number(name) === trace.launch);
  fill(launches, shown, String(store.view.launch));
  launches.addEventListener("change", () => store.set({ launch: Number(launches.value), thread: null, ray: null }));
  const colors = byId<HTMLSelectElement>("colormap");
  fill(colors, ["viridis", "plasma"].map((name) => ({ name, title: name })), store.view.colormap);
  colors.addEventListener("change", () => store.set({ colormap: colors.value }));
  byId("theme").addEventListener("click", () =>
    store.set({ theme: document.documentElement.dataset["theme"] === "dark" ? "light" : "dark" }),
  );
  const help = byId<HTMLDialogElement>("help-text");
  byId("help").addEventListener("click", () => {
    help.showModal();
    help.scrollTop = 0;
  });
  const terms = byId("terms");
  const all = [...(trace.launches[0]?.maps ?? []), ...trace.face_metrics];
  for (const term of new Map(all.map((one) => [one.title, one])).values()) {
    terms.append(element("dt", {}, term.title), element("dd", {}, term.text));
  }

  store.listen((view, changed) => {
    if (changed.has("theme")) {
      setTheme(view.theme);
    }
    if (changed.has("launch")) {
      showFacts(trace, launchOf());
    }
  });
  const scene = new Scene(store, trace);
  const pixels = new Pixels(store, launchOf, Object.fromEntries(keys.map((key) => [key.key, key.value])));
  const warp = new Warp(store, trace, launchOf);
  const thread = new Thread(store, trace, (facts) => scene.showThread(facts));
  const whatIf = new WhatIf(store, keys);
  const ranking = new Ranking(store, (kind, shader) => warp.callName(kind, shader), launchOf);
  document.addEventListener("keydown", (event) => {
    if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement || event.ctrlKey || event.metaKey) {
      return;
    }
    if (event.key === "?") {
      help.showModal();
    } else if (event.key === "0") {
      pixels.fitAll();
      scene.fit();
    } else if (event.key === "c" || event.key === "C") {
      void scene.capturedCamera();
    }
  });
  await Promise.all([pixels.load(), scene.load(), warp.load(), thread.load(), ranking.load(), whatIf.load()]);
  document.documentElement.dataset["ready"] = "yes";
}

main().catch((error: unknown) => {
  const facts = document.getElementById("facts");
  if (facts) {
    facts.className = "error";
    facts.textContent = error instanceof Error ? error.message : String(error);
  }
});
