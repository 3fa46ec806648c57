import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A secret that a gateway generated in its data directory; null if there is none. */
export function storedSecret(dataDir: string, name: string): string | null {
  const path = join(dataDir, "secrets", name);
  return existsSync(path) ? readFileSync(path, "utf8") : null;
}
