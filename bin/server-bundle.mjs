import { createHash } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Whatever may change what is built. */
const SOURCES = ["server", "packages", "bin"];
const VERSIONS = "package-lock.json";

export const SERVER_MAIN = join(ROOT, "server", "main.ts");
export const SERVER_DIST = join(ROOT, "server", "dist");

/** A bundle by the state of the source it was made of: names, sizes and dates, since all of it is looked at before each start. */
export function bundleFolder() {
  // A bundle says where its source is.
  const hash = createHash("sha256").update(ROOT);
  for (const path of [...SOURCES.flatMap(sourcesBelow), VERSIONS]) {
    // What was installed from a registry has no lock file, and an editor may take a file away at any moment.
    const { size = 0, mtimeMs = 0 } = statSync(join(ROOT, path), { throwIfNoEntry: false }) ?? {};
    // A layer of a container image keeps no part of a second.
    hash.update(`${path}\0${size}\0${Math.floor(mtimeMs / 1000)}\0`);
  }
  return join(SERVER_DIST, hash.digest("hex").slice(0, 32));
}

/** What the gateway is started from: one file made of the source as it is now, where there is one, else the source itself. */
export function serverProgram() {
  const bundle = join(bundleFolder(), "main.js");
  return existsSync(bundle) ? bundle : SERVER_MAIN;
}

function sourcesBelow(folder) {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return ["node_modules", "dist", "fixtures", "migrations"].includes(entry.name) ? [] : sourcesBelow(path);
      return /\.(ts|mjs)$/.test(entry.name) && !entry.name.endsWith(".test.ts") ? [path] : [];
    });
}
