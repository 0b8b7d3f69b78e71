// Small helpers for elements. Text of a trace goes in as text, never as markup.

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<Record<string, string>> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value !== undefined) {
      made.setAttribute(name, value);
    }
  }
  made.append(...children);
  return made;
}

export function byId<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (found === null) {
    throw new Error(`the page lacks ${id}`);
  }
  return found as T;
}

export function fill(select: HTMLSelectElement, options: { name: string; title: string; text?: string }[], chosen: string): void {
  select.replaceChildren(
    ...options.map(({ name, title, text }) => {
      const option = element("option", { value: name, ...(text === undefined || text === "" ? {} : { title: text }) }, title);
      option.selected = name === chosen;
      return option;
    }),
  );
}

/** "12.5 %" of 0.125. */
export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

export function showError(box: HTMLElement, error: unknown): void {
  box.replaceChildren(element("p", { class: "error", role: "alert" }, error instanceof Error ? error.message : String(error)));
}

/** The canvas at the screen's own pixels; true if its size changed. */
export function fit(canvas: HTMLCanvasElement, box: HTMLElement): boolean {
  const scale = window.devicePixelRatio || 1;
  const width = Math.max(1, Math.round(box.clientWidth * scale));
  const height = Math.max(1, Math.round(box.clientHeight * scale));
  if (canvas.width === width && canvas.height === height) {
    return false;
  }
  canvas.width = width;
  canvas.height = height;
  return true;
}
