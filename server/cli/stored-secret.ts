import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A secret as a gateway made it in its data directory; null without one. */
export function storedSecret(dataDir: string, name: string): string | null {
  const path = join(dataDir, "secrets", name);
  return existsSync(path) ? readFileSync(path, "utf8") : null;
}
