// Addresses of the viewer's data: fetched from the server, or taken from the data of an exported page.

type TypedColumn = Float32Array | Uint32Array | Uint8Array;

interface Slice {
  facts: Record<string, unknown>;
  columns: Map<string, TypedColumn>;
}

declare global {
  interface Window {
    /** Of an exported page: bytes by address, in base64. */
    rayreplayData?: Record<string, string>;
  }
}

export const isExported = (): boolean => window.rayreplayData !== undefined;

/** The address with its parameters, in the form that an exported page keeps. */
export function address(path: string, parameters: Record<string, string> = {}): string {
  const query = Object.entries(parameters)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join("&");
  return query === "" ? path : `${path}?${query}`;
}

async function bytesAt(where: string): Promise<ArrayBuffer> {
  const kept = window.rayreplayData;
  if (kept !== undefined) {
    const text = kept[where];
    if (text === undefined) {
      throw new Error("This page was exported without that answer: run rayreplay view on the trace.");
    }
    const binary = atob(text);
    return Uint8Array.from(binary, (letter) => letter.charCodeAt(0)).buffer;
  }
  let response: Response;
  try {
    response = await fetch(`data/${where}`);
  } catch {
    throw new Error("The server does not answer: is rayreplay view still running?");
  }
  const bytes = await response.arrayBuffer();
  if (!response.ok) {
    let text = new TextDecoder().decode(bytes);
    try {
      text = String((JSON.parse(text) as { error?: string }).error ?? text);
    } catch {
      // A refusal of the server is plain text.
    }
    throw new Error(text);
  }
  return bytes;
}

export async function json<T>(path: string, parameters: Record<string, string> = {}): Promise<T> {
  return JSON.parse(new TextDecoder().decode(await bytesAt(address(path, parameters)))) as T;
}

interface ColumnFacts {
  name: string;
  type: "f32" | "u32" | "u8";
  count: number;
  offset: number;
}

/** viewer/content/slice.hpp has the form. */
function parseSlice(bytes: ArrayBuffer): Slice {
  const view = new DataView(bytes);
  if (bytes.byteLength < 8 || view.getUint32(0, true) !== 0x31535252) {
    throw new Error("The data is no slice of rayreplay.");
  }
  const length = view.getUint32(4, true);
  const facts = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, length))) as Record<string, unknown>;
  const start = Math.ceil((8 + length) / 8) * 8;
  const columns = new Map<string, TypedColumn>();
  for (const column of facts["columns"] as ColumnFacts[]) {
    const at = start + column.offset;
    columns.set(
      column.name,
      column.type === "f32"
        ? new Float32Array(bytes, at, column.count)
        : column.type === "u32"
          ? new Uint32Array(bytes, at, column.count)
          : new Uint8Array(bytes, at, column.count),
    );
  }
  return { facts, columns };
}

export async function slice(path: string, parameters: Record<string, string> = {}): Promise<Slice> {
  return parseSlice(await bytesAt(address(path, parameters)));
}
