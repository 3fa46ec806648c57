import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUN_FLAGS, bunEnvironment, findBun } from "./bun.mjs";
import { bundleFolder, SERVER_DIST, SERVER_MAIN } from "./server-bundle.mjs";

const BUNDLER = fileURLToPath(new URL("./bundle-server.ts", import.meta.url));
/** Bundles to keep: a running gateway starts further processes from the bundle it was started from. */
const MAX_BUNDLES = 3;
/** A build older than this was killed. */
const BUILT_WITHIN_MS = 600_000;

/** Bundles the server unless a bundle of the current source exists. If the folder is read-only, the source is used instead. */
function buildIfChanged() {
  const folder = bundleFolder();
  if (existsSync(folder)) return;
  const began = performance.now();
  process.stderr.write("Bundling the server (once, until its source changes) ...\n");
  try {
    bundleInto(folder);
    removeOld();
    process.stderr.write(`Bundled the server in ${((performance.now() - began) / 1000).toFixed(1)} s.\n`);
  } catch (error) {
    process.stderr.write(`The server is started from its source, which takes longer: no bundle could be made of it (${error.message}).\n`);
  }
}

/** Bundles into a temporary folder and moves it into place, so that a concurrent start never sees a partial bundle. */
function bundleInto(folder) {
  const fresh = join(SERVER_DIST, `.building-${process.pid}`);
  mkdirSync(fresh, { recursive: true });
  try {
    const command = [...BUN_FLAGS, BUNDLER, SERVER_MAIN, fresh];
    const { status, stderr } = spawnSync(findBun(), command, { env: bunEnvironment(), encoding: "utf8" });
    if (status !== 0) throw new Error(stderr.trim());
    if (!existsSync(folder)) renameSync(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function removeOld() {
  const found = readdirSync(SERVER_DIST)
    .map((name) => ({ path: join(SERVER_DIST, name), isWhole: !name.startsWith("."), made: statSync(join(SERVER_DIST, name)).mtimeMs }))
    .sort((a, b) => b.made - a.made);
  const old = found.filter(({ isWhole }) => isWhole).slice(MAX_BUNDLES);
  const left = found.filter(({ isWhole, made }) => !isWhole && made < Date.now() - BUILT_WITHIN_MS);
  for (const { path } of [...old, ...left]) rmSync(path, { recursive: true, force: true });
}

buildIfChanged();
