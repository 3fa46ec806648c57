import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const BUILD = fileURLToPath(new URL("../../../web/kit/build/build-pages.mjs", import.meta.url));

/** Builds the pages for tests that load them: a fresh checkout has none. Fast if the build is current. */
export function buildPages(): void {
  execFileSync("node", [BUILD], { stdio: "inherit" });
}
