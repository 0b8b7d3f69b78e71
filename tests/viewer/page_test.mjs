// The viewer's page in headless Chromium: its contents equal those of the server, the trace and the command.
//
// RAYREPLAY_COMMAND, RAYREPLAY_CHROMIUM, RAYREPLAY_PACKAGES: the program, the browser, and the folder of node_modules.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";

const command = process.env.RAYREPLAY_COMMAND;
const { chromium } = createRequire(join(process.env.RAYREPLAY_PACKAGES, "package.json"))("playwright-core");

const folder = mkdtempSync(join(tmpdir(), "rayreplay-view-"));
const trace = join(folder, "t.rrt");
const kWidth = 40;
const kHeight = 24;
let browser;
let server;
let url;

before(async () => {
  execFileSync(command, ["trace", "--scene", "one-weekend", "--size", `${kWidth}x${kHeight}`, "--spp", "2", "-o", trace], { stdio: "pipe" });
  browser = await chromium.launch({
    executablePath: process.env.RAYREPLAY_CHROMIUM,
    args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
  });
  server = spawn(command, ["view", trace, "--browser", "none"], { stdio: ["ignore", "pipe", "pipe"] });
  url = await new Promise((resolve, reject) => {
    server.stdout.once("data", (bytes) => resolve(String(bytes).trim()));
    server.once("exit", (code) => reject(new Error(`view ended with ${code}`)));
  });
});

after(async () => {
  await browser?.close();
  server?.kill();
  rmSync(folder, { recursive: true, force: true });
});

/** A page with the trace, and the errors that it met. */
async function opened(address = url, size = { width: 1000, height: 640 }) {
  const page = await browser.newPage({ viewport: size });
  page.faults = [];
  page.on("pageerror", (error) => page.faults.push(error.message));
  page.on("console", (message) => message.type() === "error" && page.faults.push(message.text()));
  page.on("request", (request) => {
    const where = request.url();
    if (!where.startsWith(new URL(address).origin) && !where.startsWith("data:") && !where.startsWith("file:")) {
      page.faults.push(`a request to ${where}`);
    }
  });
  await page.goto(address);
  await page.waitForSelector("html[data-ready=yes]", { state: "attached", timeout: 60000 });
  return page;
}

async function data(path) {
  const address = new URL(url);
  const response = await fetch(`${address.origin}/data/${path}${path.includes("?") ? "&" : "?"}token=${address.searchParams.get("token")}`);
  assert.equal(response.status, 200, path);
  return response;
}

const json = async (path) => (await data(path)).json();

/** Facts and columns of f32 and u32, read by the form that docs/viewer.md states. */
async function slice(path) {
  const bytes = await (await data(path)).arrayBuffer();
  const length = new DataView(bytes).getUint32(4, true);
  const facts = JSON.parse(new TextDecoder().decode(bytes.slice(8, 8 + length)));
  const start = Math.ceil((8 + length) / 8) * 8;
  const columns = {};
  for (const column of facts.columns) {
    const Type = column.type === "f32" ? Float32Array : Uint32Array;
    columns[column.name] = new Type(bytes.slice(start + column.offset, start + column.offset + 4 * column.count));
  }
  return { facts, columns };
}

/** Where pixel x, y of the launch lies in the panel's canvas: both have the scale that fits the first one. */
async function placeOf(page, panel, x, y) {
  const first = await page.locator("#canvas-a").boundingBox();
  const scale = Math.min(first.width / kWidth, first.height / kHeight);
  const box = await page.locator(`#canvas-${panel}`).boundingBox();
  return {
    x: box.x + (box.width - scale * kWidth) / 2 + scale * (x + 0.5),
    y: box.y + (box.height - scale * kHeight) / 2 + scale * (y + 0.5),
    inner: [(box.width - scale * kWidth) / 2 + scale * (x + 0.5), (box.height - scale * kHeight) / 2 + scale * (y + 0.5)],
  };
}

async function clickPixel(page, x, y) {
  const place = await placeOf(page, "a", x, y);
  await page.mouse.click(place.x, place.y);
}

test("pixels have the colours of their values", async () => {
  const page = await opened();
  const { colors } = await json("trace");
  const { facts, columns } = await slice("launch/0/pixels?map=efficiency");
  const table = colors.viridis.match(/.{6}/g).map((text) => [0, 2, 4].map((at) => parseInt(text.slice(at, at + 2), 16)));
  for (const [x, y] of [[0, 0], [20, 12], [39, 23], [7, 19], [31, 5]]) {
    const place = await placeOf(page, "a", x, y);
    const color = await page.locator("#canvas-a").evaluate((canvas, [px, py]) => {
      const ratio = window.devicePixelRatio;
      return [...canvas.getContext("2d").getImageData(Math.round(px * ratio), Math.round(py * ratio), 1, 1).data].slice(0, 3);
    }, place.inner);
    const share = (columns.values[y * kWidth + x] - facts.least) / (facts.most - facts.least);
    assert.deepEqual(color, table[Math.round(share * 255)], `pixel ${x}, ${y}`);
  }
  assert.deepEqual(page.faults, []);
  await page.close();
});

test("a click opens the warp and the thread that the data name", async () => {
  const page = await opened();
  for (const [x, y] of [[3, 2], [25, 17]]) {
    await clickPixel(page, x, y);
    const thread = y * kWidth + x;
    const warp = await json(`launch/0/warp?thread=${thread}`);
    assert.equal(warp.lanes.some((lane) => lane?.thread === thread), true);
    await page.locator("#warp-facts", { hasText: `warp ${warp.warp}, starts as ${warp.start}: ${warp.event_count} warp events` }).waitFor();
    const facts = await json(`launch/0/thread/${thread}`);
    await page.locator("#thread", { hasText: `thread ${thread}, pixel ${x}, ${y}: ${facts.ray_count} rays` }).waitFor();
    assert.equal(await page.locator("#thread tbody tr").count(), facts.rays.length);
  }
  // The matrix: a cell is painted where the lane takes part, and nowhere else.
  const warp = await json(`launch/0/warp?thread=${17 * kWidth + 25}`);
  const painted = await page.locator("#warp-view canvas").evaluate((canvas, [lanes, columns]) => {
    const context = canvas.getContext("2d");
    const cells = [];
    for (let lane = 0; lane < lanes; ++lane) {
      for (let column = 0; column < columns; ++column) {
        cells.push(context.getImageData(34 + column * 12 + 5, lane * 12 + 5, 1, 1).data[3] === 255);
      }
    }
    return cells;
  }, [warp.warp_size, warp.events.length]);
  for (let lane = 0; lane < warp.warp_size; ++lane) {
    warp.events.forEach((event, column) => {
      const active = ((lane < 32 ? event[2] >>> lane : event[3] >>> (lane - 32)) & 1) === 1;
      assert.equal(painted[lane * warp.events.length + column], active, `lane ${lane}, event ${column}`);
    });
  }
  await page.locator("#canvas-a").focus();
  await page.keyboard.press("ArrowRight");
  await page.locator("#thread", { hasText: "pixel 26, 17" }).waitFor();
  assert.deepEqual(page.faults, []);
  await page.close();
});

test("a live what-if is the command's answer, and the second map shows it", async () => {
  const page = await opened();
  await page.selectOption("[name=packing]", "numrays");
  await page.click("#controls button");
  const row = page.locator("#answers tbody tr", { hasText: "numrays" });
  await row.waitFor();
  const said = JSON.parse(execFileSync(command, ["whatif", trace, "--packing", "numrays", "--format", "json"], { stdio: "pipe" })).rows.find((one) => one.packing.startsWith("numrays"));
  const cells = await row.locator("td").allTextContents();
  assert.equal(cells[1], `${(said.efficiency * 100).toFixed(1)} %`);
  assert.equal(cells[2], `${said.change < 0 ? "−" : "+"}${Math.abs(said.change * 100).toFixed(1)} %`);
  assert.equal(cells[3], said.warp_events.toLocaleString("en-US"));
  await page.selectOption("#map-b", "difference");
  const one = await slice("launch/0/pixels?map=efficiency");
  const two = await slice("launch/0/pixels?map=efficiency&packing=numrays");
  const at = 12 * kWidth + 20;
  await page.mouse.move(...Object.values(await placeOf(page, "b", 20, 12)).slice(0, 2));
  await page.locator("#readout-b", { hasText: "change of SIMT efficiency" }).waitFor();
  const shown = (await page.locator("#readout-b").textContent()).match(/: (-?[\d.,]+) /);
  const expected = two.columns.values[at] - one.columns.values[at];
  assert.ok(Math.abs(Number(shown[1].replaceAll(",", "")) - expected) <= Math.abs(expected) * 1e-3 + 1e-6, `${shown[1]} for ${expected}`);
  assert.deepEqual(page.faults, []);
  await page.close();
});

test("a ranked warp is shown when it is chosen", async () => {
  const page = await opened();
  const { warps, calls } = await json("launch/0/ranking");
  const { shaders, kinds } = await json("trace");
  const worst = `${kinds[calls[0].kind]} ${calls[0].shader} ${shaders[calls[0].shader].name}`;
  await page.locator("#ranking-said", { hasText: worst }).waitFor();
  const row = page.locator("#ranking tbody tr").nth(1);
  assert.equal(await row.locator("td").first().textContent(), String(warps[1].warp));
  await row.click();
  await page.locator("#warp-facts", { hasText: `warp ${warps[1].warp}, ` }).waitFor();
  assert.deepEqual(page.faults, []);
  await page.close();
});

test("faces have the colours of their values", async () => {
  const page = await opened();
  await page.selectOption("#faces", "linear");
  await page.selectOption("#metric", "closest-hits");
  const box = await page.locator("#scene-canvas").boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height * 0.8);
  const text = await page.locator("#scene-readout").textContent();
  const found = text.match(/instance (\d+), geometry (\d+)(?: \(.*\))?, primitive (\d+): ([\d,]+)/);
  assert.ok(found, text);
  const { facts, columns } = await slice("launch/0/faces?metric=closest-hits");
  const value = columns.values[columns.first[Number(found[1])] + Number(found[3])];
  assert.equal(Number(found[4].replaceAll(",", "")), value);
  const { colors } = await json("trace");
  const table = colors.viridis.match(/.{6}/g).map((one) => [0, 2, 4].map((at) => parseInt(one.slice(at, at + 2), 16)));
  const expected = value === 0 ? [128, 128, 128] : table[Math.round((value / facts.most) * 255)];
  const shot = await page.locator("#scene-canvas").evaluate((canvas) => {
    const copy = document.createElement("canvas");
    copy.width = canvas.width;
    copy.height = canvas.height;
    const context = copy.getContext("2d");
    context.drawImage(canvas, 0, 0);
    return [...context.getImageData(Math.round(canvas.width / 2), Math.round(canvas.height * 0.8), 1, 1).data].slice(0, 3);
  });
  for (let part = 0; part < 3; ++part) {
    assert.ok(Math.abs(shot[part] - expected[part]) <= 1, `${shot} for ${expected}`);
  }
  assert.deepEqual(page.faults, []);
  await page.close();
});

test("a link brings the view back", async () => {
  const page = await opened();
  await clickPixel(page, 10, 10);
  await page.selectOption("#colormap", "plasma");
  await page.locator("#thread", { hasText: "pixel 10, 10" }).waitFor();
  const address = page.url();
  const again = await opened(address);
  await again.locator("#thread", { hasText: "pixel 10, 10" }).waitFor();
  assert.equal(await again.locator("#colormap").inputValue(), "plasma");
  // The page opens with any text behind '#'.
  for (const hash of ["#%7Bx", "#" + encodeURIComponent('{"launch":99,"thread":-1,"mapA":5,"__proto__":{"x":1},"settingsA":{"packing":7}}')]) {
    const odd = await opened(url + hash);
    await odd.locator("#canvas-a").waitFor();
    assert.deepEqual(odd.faults, []);
    await odd.close();
  }
  await page.close();
  await again.close();
});

test("the command line's settings are the start, and each choice is sent", async () => {
  const other = spawn(command, ["view", trace, "--packing", "numrays", "--policy", "oldest-lane", "--browser", "none"], { stdio: ["ignore", "pipe", "pipe"] });
  const address = await new Promise((resolve) => other.stdout.once("data", (bytes) => resolve(String(bytes).trim())));
  const page = await opened(address);
  assert.equal(await page.locator("[name=packing]").inputValue(), "numrays");
  assert.equal(await page.locator("[name=policy]").inputValue(), "oldest-lane");
  await page.selectOption("[name=packing]", "identity");
  await page.selectOption("[name=policy]", "stage-majority");
  await page.click("#controls button");
  const row = page.locator("#answers tbody tr", { hasText: "identity" });
  await row.waitFor();
  const [said] = JSON.parse(execFileSync(command, ["whatif", trace, "--packing", "identity", "--format", "json"], { stdio: "pipe" })).rows;
  assert.equal(await row.locator("td").nth(1).textContent(), `${(said.efficiency * 100).toFixed(1)} %`);
  const line = await row.locator("button", { hasText: "copy command" }).getAttribute("title");
  assert.match(line, / --packing identity --policy stage-majority$/);
  assert.deepEqual(page.faults, []);
  await page.close();
  other.kill();
});

test("an exported page opens from its folder, without a server", async () => {
  const out = join(folder, "out");
  execFileSync(command, ["view", trace, "--export", out, "--with-packing", "numrays", "--thread", "410"], { stdio: "pipe" });
  const hash = "#" + encodeURIComponent(JSON.stringify({ thread: 410, settingsB: { packing: "numrays" }, mapB: "difference" }));
  const page = await opened(pathToFileURL(join(out, "index.html")).href + hash);
  await page.locator("#thread", { hasText: "thread 410, pixel 10, 10" }).waitFor();
  await page.locator("#answers tbody tr", { hasText: "numrays" }).waitFor();
  assert.equal(await page.locator("#answers tbody tr").count(), 2);
  const warp = await json("launch/0/warp?thread=410");
  await page.locator("#warp-facts", { hasText: `warp ${warp.warp},` }).waitFor();
  assert.deepEqual(page.faults, []);
  // The page says that the export lacks an answer.
  await clickPixel(page, 3, 2);
  await page.locator("#thread .error", { hasText: "exported without" }).waitFor();
  await page.close();
});

test("a server that was stopped is said", async () => {
  const page = await opened();
  const other = await opened();
  server.kill();
  await new Promise((resolve) => server.once("exit", resolve));
  await clickPixel(page, 5, 5);
  await page.locator("#thread .error", { hasText: "does not answer" }).waitFor();
  await other.close();
  await page.close();
});

test("nothing is clipped at 420 pixels", async () => {
  const out = join(folder, "small");
  execFileSync(command, ["view", trace, "--export", out], { stdio: "pipe" });
  const page = await opened(pathToFileURL(join(out, "index.html")).href, { width: 420, height: 900 });
  const wide = await page.locator("body").evaluate((body) => body.ownerDocument.documentElement.scrollWidth);
  assert.ok(wide <= 420, `${wide} pixels wide`);
  await page.close();
});
