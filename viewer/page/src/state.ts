// The state of the page, kept in the address behind '#', so that a link brings the same view back.

export type Settings = Record<string, string>;

export interface View {
  launch: number;
  colormap: string;
  theme: string;
  /** Maps of the two panels; "difference" in the second one is that of the first map under both settings. */
  mapA: string;
  mapB: string;
  settingsA: Settings;
  settingsB: Settings;
  metric: string;
  /** "log" or "linear": colours of faces. */
  faces: string;
  /** "modelled" or "captured": whose warp is shown. */
  warp: string;
  thread: number | null;
  ray: number | null;
}

const firstView = (launch: number): View => ({
  launch,
  colormap: "viridis",
  theme: "",
  mapA: "efficiency",
  mapB: "rays",
  settingsA: {},
  settingsB: {},
  metric: "closest-hits",
  faces: "log",
  warp: "modelled",
  thread: null,
  ray: null,
});

/** Only known fields with the right types: the address is the user's own text. */
function parseView(hash: string, launch: number): View {
  const view = firstView(launch);
  try {
    const given: unknown = JSON.parse(decodeURIComponent(hash.replace(/^#/, "")));
    if (typeof given === "object" && given !== null) {
      for (const [name, value] of Object.entries(given)) {
        const known = (view as unknown as Record<string, unknown>)[name];
        if (known === undefined || name === "__proto__") {
          continue;
        }
        const isNumber = name === "launch" || name === "thread" || name === "ray";
        if (isNumber ? Number.isSafeInteger(value) && (value as number) >= 0 : typeof value === typeof known) {
          if (typeof value === "object" && !Object.values(value as object).every((one) => typeof one === "string")) {
            continue;
          }
          (view as unknown as Record<string, unknown>)[name] = value;
        }
      }
    }
  } catch {
    // No view in the address.
  }
  return view;
}

type Listener = (view: View, changed: ReadonlySet<keyof View>) => void;

export class Store {
  readonly view: View;
  private listeners: Listener[] = [];

  /** `launch`: the first one that is shown, unless the address names another. */
  constructor(launch: number) {
    this.view = parseView(location.hash, launch);
    window.addEventListener("hashchange", () => this.set(parseView(location.hash, launch)));
  }
  listen(listener: Listener): void {
    this.listeners.push(listener);
  }
  set(changes: Partial<View>): void {
    const changed = new Set<keyof View>();
    for (const [name, value] of Object.entries(changes) as [keyof View, never][]) {
      if (JSON.stringify(this.view[name]) !== JSON.stringify(value)) {
        (this.view as unknown as Record<string, unknown>)[name] = value;
        changed.add(name);
      }
    }
    if (changed.size === 0) {
      return;
    }
    history.replaceState(null, "", "#" + encodeURIComponent(JSON.stringify(this.view)));
    for (const listener of this.listeners) {
      listener(this.view, changed);
    }
  }
}
