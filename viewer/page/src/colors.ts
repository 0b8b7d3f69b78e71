// Colours of values, from the tables of the reports: a colour has the same meaning in both.

export type Color = readonly [number, number, number];

export const nothing: Color = [128, 128, 128];
const tables = new Map<string, Color[]>();

export function loadColors(colors: Record<string, string>): void {
  for (const [name, text] of Object.entries(colors)) {
    const list: Color[] = [];
    for (let i = 0; i + 6 <= text.length; i += 6) {
      list.push([
        parseInt(text.slice(i, i + 2), 16),
        parseInt(text.slice(i + 2, i + 4), 16),
        parseInt(text.slice(i + 4, i + 6), 16),
      ]);
    }
    tables.set(name, list);
  }
}

export interface Scale {
  map: string;
  least: number;
  most: number;
  nominal: boolean;
  /** Colours by the logarithm of 1 + value: for counts of very different sizes. */
  logarithmic?: boolean;
}

/** Colours that people with any colour vision tell apart (Okabe and Ito 2008); more categories have tints of them. */
const categories: Color[] = [
  [0, 114, 178],
  [230, 159, 0],
  [0, 158, 115],
  [204, 121, 167],
  [213, 94, 0],
  [86, 180, 233],
  [240, 228, 66],
  [120, 60, 20],
];

export function categoryColor(index: number): Color {
  const base = categories[index % categories.length] as Color;
  const round = Math.floor(index / categories.length) % 4;
  const mix = (part: number): number => Math.round(part + (255 - part) * 0.22 * round);
  return [mix(base[0]), mix(base[1]), mix(base[2])];
}

export function colorOf(value: number, scale: Scale): Color {
  if (!Number.isFinite(value)) {
    return nothing;
  }
  if (scale.nominal) {
    return categoryColor(value);
  }
  const table = tables.get(scale.map) ?? [];
  const size = (one: number): number => (scale.logarithmic === true ? Math.log1p(one) : one);
  const range = size(scale.most) - size(scale.least);
  const share = range > 0 ? (size(value) - size(scale.least)) / range : 0;
  const place = Math.round(Math.min(1, Math.max(0, share)) * (table.length - 1));
  return table[place] ?? nothing;
}

export const css = (color: Color): string => `rgb(${color[0]}, ${color[1]}, ${color[2]})`;

/** A number in few characters. */
export function short(value: number): string {
  if (!Number.isFinite(value)) {
    return "nothing";
  }
  if (Number.isInteger(value)) {
    return (value === 0 ? 0 : value).toLocaleString("en-US");
  }
  const text = value.toPrecision(4);
  return text.includes(".") && !text.includes("e") ? text.replace(/\.?0+$/, "") : text;
}

/** `names`: of a nominal scale's values, where they are few. */
export function drawLegend(box: HTMLElement, scale: Scale, title: string, names: Map<number, string> = new Map()): void {
  box.replaceChildren();
  if (scale.nominal) {
    const key = document.createElement("span");
    key.textContent = names.size > 0 ? `${title}:` : `${title}: colours are names, not amounts; 32 colours, used again`;
    box.append(key);
    for (const [value, name] of names) {
      const swatch = document.createElement("span");
      swatch.className = "swatch";
      swatch.style.background = css(categoryColor(value));
      const text = document.createElement("span");
      text.append(swatch, name);
      box.append(text);
    }
    return;
  }
  const canvas = document.createElement("canvas");
  canvas.width = 128;
  canvas.height = 1;
  canvas.setAttribute("aria-hidden", "true");
  const context = canvas.getContext("2d");
  for (let x = 0; context && x < canvas.width; ++x) {
    const part = x / (canvas.width - 1);
    const value = scale.logarithmic === true
      ? Math.expm1(Math.log1p(scale.least) + (Math.log1p(scale.most) - Math.log1p(scale.least)) * part)
      : scale.least + (scale.most - scale.least) * part;
    context.fillStyle = css(colorOf(value, scale));
    context.fillRect(x, 0, 1, 1);
  }
  const low = document.createElement("span");
  low.textContent = short(scale.least);
  const high = document.createElement("span");
  high.textContent = `${short(scale.most)} ${title}${scale.logarithmic === true ? " (logarithmic)" : ""}`;
  box.append(low, canvas, high);
}
