// What-ifs: controls of the engine's keys, and their answers in one table. The settings of an answer can be given to
// the left or the right map.
import { address, isExported, json } from "./data";
import { byId, element, fill, percent, showError } from "./dom";
import type { KeyFacts, WhatIfFacts } from "./facts";
import type { Settings, Store } from "./state";

interface Shown {
  settings: Settings;
  facts: WhatIfFacts;
}

const change = (share: number): string => `${share < 0 ? "−" : "+"}${Math.abs(share * 100).toFixed(1)} %`;

export class WhatIf {
  private readonly form = byId<HTMLFormElement>("controls");
  private readonly box = byId("answers");
  private readonly inputs = new Map<string, HTMLInputElement | HTMLSelectElement>();
  private answers: Shown[] = [];
  private readonly status = element("p", { class: "empty", "aria-live": "polite" });

  constructor(
    private readonly store: Store,
    keys: KeyFacts[],
  ) {
    for (const key of keys) {
      const input = key.choices.length > 0 ? element("select") : element("input", { size: "4", inputmode: "numeric" });
      if (input instanceof HTMLSelectElement) {
        const names = key.choices.map((choice) => ({ name: choice.name, title: choice.name, text: choice.text }));
        fill(input, names.some((one) => one.name === key.value) ? names : [{ name: key.value, title: key.value }, ...names], key.value);
      } else {
        input.value = key.value;
      }
      input.name = key.key;
      this.inputs.set(key.key, input);
      this.form.append(element("label", { title: key.text }, key.key.replaceAll("_", " "), input));
      input.dataset["usual"] = key.value;
    }
    const button = element("button", { type: "submit" }, "Compare");
    button.disabled = isExported();
    this.form.append(button);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.add(this.chosen());
    });
    store.listen((_, changed) => {
      if (changed.has("launch")) {
        this.answers = [];
        void this.load();
      } else if (changed.has("settingsA") || changed.has("settingsB")) {
        this.render();
      }
    });
    this.render();
  }

  /** The start: the command line's settings, with which the others are compared; and the answers of an exported page. */
  async load(): Promise<void> {
    const { launch } = this.store.view;
    const answers: Shown[] = [];
    for (const settings of keptAnswers(launch)) {
      answers.push({ settings, facts: await json<WhatIfFacts>(`launch/${launch}/whatif`, settings) });
    }
    if (launch === this.store.view.launch) {
      this.answers = answers;
      this.render();
    }
  }

  /** Change of SIMT efficiency against the start. */
  private changeOf(facts: WhatIfFacts): number {
    const start = this.answers.find((one) => Object.keys(one.settings).length === 0);
    const before = start ? last(start.facts).efficiency : 0;
    return before > 0 ? last(facts).efficiency / before - 1 : 0;
  }

  private chosen(): Settings {
    const settings: Settings = {};
    for (const [key, input] of this.inputs) {
      if (input.value !== input.dataset["usual"]) {
        settings[key] = input.value;
      }
    }
    return settings;
  }

  async add(settings: Settings): Promise<void> {
    this.status.textContent = "The engine computes…";
    const began = performance.now();
    try {
      const facts = await json<WhatIfFacts>(`launch/${this.store.view.launch}/whatif`, settings);
      this.answers = this.answers.filter((one) => address("", one.settings) !== address("", settings));
      this.answers.push({ settings, facts });
      this.status.textContent = `Answered in ${((performance.now() - began) / 1000).toFixed(2)} s.`;
      this.render();
      this.store.set({ settingsB: settings });
    } catch (error) {
      showError(this.status, error);
    }
  }

  private render(): void {
    const { settingsA, settingsB } = this.store.view;
    if (this.answers.length === 0) {
      this.box.replaceChildren(
        element("p", { class: "empty" }, isExported() ? "An exported page has no engine: run rayreplay view on the trace." : "Choose a packing, an order or a policy above."),
        this.status,
      );
      return;
    }
    const sorted = [...this.answers].sort((x, y) => last(y.facts).efficiency - last(x.facts).efficiency);
    const body = element("tbody");
    for (const { settings, facts } of sorted) {
      const row = last(facts);
      const same = (one: Settings): boolean => address("", one) === address("", settings);
      const use = (name: "settingsA" | "settingsB", text: string): HTMLButtonElement => {
        const button = element("button", { type: "button", "aria-pressed": String(same(name === "settingsA" ? settingsA : settingsB)) }, text);
        button.addEventListener("click", () => this.store.set({ [name]: settings }));
        return button;
      };
      const copy = element("button", { type: "button", title: facts.command }, "copy command");
      copy.addEventListener("click", () => void navigator.clipboard.writeText(facts.command));
      body.append(
        element(
          "tr",
          same(settingsB) ? { class: "chosen" } : {},
          element("td", {}, named(settings, row.packing)),
          element("td", { class: "number" }, percent(row.efficiency)),
          element("td", { class: "number" }, Object.keys(settings).length === 0 ? "start" : change(this.changeOf(facts))),
          element("td", { class: "number" }, row.warp_events.toLocaleString("en-US")),
          element("td", {}, use("settingsA", "left"), " ", use("settingsB", "right"), " ", copy),
        ),
      );
    }
    const head = ["settings", "SIMT efficiency", "change to the start", "warp events", "maps"].map((text, i) =>
      element("th", i > 0 && i < 4 ? { class: "number" } : {}, text),
    );
    const best = sorted[0] as Shown;
    const gain = this.changeOf(best.facts);
    const verdict =
      this.answers.length === 1
        ? "Choose a packing, an order or a policy above."
        : gain > 0
          ? `${named(best.settings, last(best.facts).packing)} is best of these: ${change(gain)} SIMT efficiency. Efficiency is not speed: whatif --models gives time.`
          : "None of these is better than the start.";
    this.box.replaceChildren(element("p", { class: "readout", id: "answer" }, verdict), element("table", {}, element("thead", {}, element("tr", {}, ...head)), body), this.status);
  }
}

const last = (facts: WhatIfFacts): WhatIfFacts["rows"][number] => facts.rows[facts.rows.length - 1] as WhatIfFacts["rows"][number];

/** Settings of the answers that the page can ask for at once: the start, and those of an exported page. */
function keptAnswers(launch: number): Settings[] {
  const path = `launch/${launch}/whatif`;
  const kept = window.rayreplayData;
  return kept === undefined
    ? [{}]
    : Object.keys(kept)
        .filter((where) => where === path || where.startsWith(`${path}?`))
        .map((where) => Object.fromEntries(new URLSearchParams(where.slice(path.length + 1))));
}

function named(settings: Settings, packing: string): string {
  const others = Object.entries(settings).filter(([key]) => key !== "packing");
  return [packing.split(":")[0], ...others.map(([key, value]) => `${key} ${value}`)].join(", ");
}
