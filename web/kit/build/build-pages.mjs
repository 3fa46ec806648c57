import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, watch, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { overBudget } from "./budgets.mjs";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const DIST = join(ROOT, "web", "dist");
const APPS = ["portal", "console", "reference"];
/** Everything that affects the build. */
const SOURCES = ["web", "packages/contracts/src", "packages/ledger-format/src", "package-lock.json"];
const QUIET_MS = 150;
const TURN = join(DIST, ".turn");
const TURN_POLL_MS = 200;

function filesBelow(path) {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (found.isFile()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .filter(({ name }) => name !== "node_modules" && name !== "dist" && !/\.test\.tsx?$|\.md$/.test(name))
    .flatMap(({ name }) => filesBelow(join(path, name)));
}

/** A digest of names and contents, so that dates changed by a checkout or copy do not matter. */
function sourcesDigest() {
  const hash = createHash("sha256");
  for (const file of SOURCES.flatMap((path) => filesBelow(join(ROOT, path))).sort())
    hash
      .update(`${relative(ROOT, file)}\0`)
      .update(readFileSync(file))
      .update("\0");
  return hash.digest("hex");
}

/** Compresses text files once at build time, so that no request has to. Returns the compressed sizes in bytes, by path. */
function compressed(folder) {
  const sizes = new Map();
  for (const file of filesBelow(folder)) {
    if (!/\.(js|css|svg|html)$/.test(file)) continue;
    const packed = gzipSync(readFileSync(file), { level: 9 });
    writeFileSync(`${file}.gz`, packed);
    sizes.set(relative(folder, file), packed.byteLength);
  }
  return sizes;
}

/** The build must not depend on the caller's environment, such as that of a test or development server. */
process.env.NODE_ENV = "production";

async function buildApp(app, outDir, watching) {
  const { build } = await import("vite");
  const { viteConfig } = await import("./vite-config.mjs");
  await build(viteConfig({ app, outDir, watch: watching }));
  const manifestPath = join(outDir, ".vite", "manifest.json");
  const manifest = JSON.parse(readFileSync(manifestPath, "utf8"));
  const problems = watching ? [] : overBudget(manifest, compressed(outDir));
  rmSync(join(outDir, ".vite"), { recursive: true });
  return problems.map((problem) => `${app}: ${problem}`);
}

/** Builds into a temporary folder and moves it into place, so that a running gateway never serves a partial build. */
async function buildAll(digest, watching) {
  const fresh = join(ROOT, "web", "dist", `.building-${process.pid}`);
  mkdirSync(fresh, { recursive: true });
  try {
    const problems = (await Promise.all(APPS.map((app) => buildApp(app, join(fresh, app), watching)))).flat();
    if (problems.length > 0) throw new Error(`over budget:\n  ${problems.join("\n  ")}`);
    writeFileSync(join(fresh, "digest"), digest);
    for (const name of [...APPS, "digest"]) {
      rmSync(join(DIST, name), { recursive: true, force: true });
      renameSync(join(fresh, name), join(DIST, name));
    }
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

async function buildIfChanged(watching) {
  // A container image contains the build and not the sources.
  if (!existsSync(join(ROOT, "web", "portal", "index.html"))) return;
  const digest = `${watching ? "development " : ""}${sourcesDigest()}`;
  const mark = join(DIST, "digest");
  if (existsSync(mark) && readFileSync(mark, "utf8") === digest) return;
  if (!(await takeTurn(() => existsSync(mark) && readFileSync(mark, "utf8") === digest))) return;
  try {
    await buildTimed(digest, watching);
  } finally {
    rmSync(TURN, { force: true });
  }
}

/** Takes the build lock of this machine. Resolves to false if another process has made the same build meanwhile. */
async function takeTurn(isBuilt) {
  mkdirSync(DIST, { recursive: true });
  for (;;) {
    if (isBuilt()) return false;
    try {
      writeFileSync(TURN, String(process.pid), { flag: "wx" });
      return true;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    if (!isAlive(TURN)) rmSync(TURN, { force: true });
    await new Promise((resolve) => setTimeout(resolve, TURN_POLL_MS));
  }
}

/** Whether the holder of the lock is still alive; a killed process leaves its lock behind. */
function isAlive(path) {
  try {
    const pid = Number(readFileSync(path, "utf8"));
    // The holder has not written its PID yet.
    if (pid === 0) return true;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

async function buildTimed(digest, watching) {
  const began = performance.now();
  process.stderr.write("Building the pages (once, until their source changes) ...\n");
  await buildAll(digest, watching);
  process.stderr.write(`Built the pages in ${((performance.now() - began) / 1000).toFixed(1)} s.\n`);
}

/** Rebuilds after each change, one build at a time. Open pages load the new build by themselves. */
function rebuildOnChange() {
  let quiet;
  let building = Promise.resolve();
  for (const folder of ["web", "packages/contracts/src"])
    watch(join(ROOT, folder), { recursive: true }, (_event, file) => {
      if (file === null || /^dist\b|node_modules|\.test\.tsx?$/.test(file)) return;
      clearTimeout(quiet);
      quiet = setTimeout(() => {
        building = building.then(() => buildIfChanged(true)).catch((error) => process.stderr.write(`${error.message}\n`));
      }, QUIET_MS);
    });
}

const watching = process.argv.includes("--watch");
try {
  await buildIfChanged(watching);
  if (watching) rebuildOnChange();
} catch (error) {
  process.stderr.write(`The pages could not be built: ${error.message}\n`);
  process.exitCode = 1;
}
