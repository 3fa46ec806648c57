import { createHash } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Everything that affects the bundle. */
const SOURCES = ["server", "packages", "bin"];
const VERSIONS = "package-lock.json";

export const SERVER_MAIN = join(ROOT, "server", "main.ts");
export const SERVER_DIST = join(ROOT, "server", "dist");

/** The bundle's folder, named by a digest of the source's file names, sizes and dates, because all files are checked before each start. */
export function bundleFolder() {
  // A bundle contains the path of its source.
  const hash = createHash("sha256").update(ROOT);
  for (const path of [...SOURCES.flatMap(sourcesBelow), VERSIONS]) {
    // A package installed from a registry has no lock file, and editors may remove files at any moment.
    const { size = 0, mtimeMs = 0 } = statSync(join(ROOT, path), { throwIfNoEntry: false }) ?? {};
    // Layers of container images store dates in whole seconds.
    hash.update(`${path}\0${size}\0${Math.floor(mtimeMs / 1000)}\0`);
  }
  return join(SERVER_DIST, hash.digest("hex").slice(0, 32));
}

/** The program to start the gateway from: the bundle of the current source if there is one, else the source itself. */
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
