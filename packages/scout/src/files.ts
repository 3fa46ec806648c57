import { closeSync, fstatSync, openSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join, sep } from "node:path";

/** Read-only access to the device's disk. */
export interface DeviceFiles {
  /** Null if the file is missing, not regular, too large, or outside the allowed folders. */
  read(path: string): string | null;
  /** The files in a folder, down to this depth. */
  below(folder: string, depth: number): string[];
  isFolder(path: string): boolean;
}

const MAX_BYTES = 1024 * 1024;
const MAX_ENTRIES = 2_000;

/** Restricts reads to these folders, after resolving symbolic links. */
export function filesWithin(roots: readonly string[]): DeviceFiles {
  const real = (path: string): string | null => {
    try {
      return realpathSync(path);
    } catch {
      return null;
    }
  };
  const allowed = roots.flatMap((root) => real(root) ?? []);
  const isWithin = (path: string) => allowed.some((root) => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep));
  const inside = (path: string): string | null => {
    const found = real(path);
    return found !== null && isWithin(found) ? found : null;
  };
  return {
    read(path) {
      const found = inside(path);
      if (found === null || !(statSync(found, { throwIfNoEntry: false })?.isFile() ?? false)) return null;
      let handle: number;
      try {
        handle = openSync(found, "r");
      } catch {
        return null;
      }
      try {
        const { size } = fstatSync(handle);
        return fstatSync(handle).isFile() && size <= MAX_BYTES ? readFileSync(handle, "utf8") : null;
      } catch {
        return null;
      } finally {
        closeSync(handle);
      }
    },
    below(folder, depth) {
      const found: string[] = [];
      const walk = (path: string, left: number) => {
        if (left === 0 || found.length >= MAX_ENTRIES || inside(path) === null) return;
        try {
          for (const entry of readdirSync(path, { withFileTypes: true })) {
            const at = join(path, entry.name);
            if (entry.isDirectory()) walk(at, left - 1);
            else if (entry.isFile() && found.length < MAX_ENTRIES) found.push(at);
          }
        } catch {
          // Unreadable folders are skipped.
        }
      };
      walk(folder, depth);
      return found;
    },
    isFolder: (path) => inside(path) !== null && (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false),
  };
}
