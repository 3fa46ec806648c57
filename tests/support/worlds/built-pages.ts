import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const BUILD = fileURLToPath(new URL("../../../web/kit/build/build-pages.mjs", import.meta.url));

/** For a gateway whose pages are looked at: a checkout that nobody has started yet has none. Takes no time where they stand. */
export function buildPages(): void {
  execFileSync("node", [BUILD], { stdio: "inherit" });
}
