import { statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** Bun's names of processor architectures. */
const ARCHITECTURES = { x64: "x64", arm64: "aarch64" };

function usesMusl() {
  return process.platform === "linux" && process.report.getReport().header.glibcVersionRuntime === undefined;
}

/** The placeholder for the binary, present until the install script of `bun` has run, is far smaller than this. */
const SMALLEST_BINARY = 1024 * 1024;

/**
 * Finds an installed package wherever npm put it: hoisted to the root, or under the workspace or package that needs it. The platform
 * package contains the binary; the install script of `bun`, if it runs, moves it into `bun` itself.
 */
function installed(packageName) {
  const from = [import.meta.url, new URL("../server/package.json", import.meta.url)];
  const folders = from.flatMap((url) => createRequire(url).resolve.paths(packageName) ?? []);
  for (const folder of folders) {
    for (const parts of [
      [packageName, "bin", "bun"],
      ["bun", "node_modules", packageName, "bin", "bun"],
      ["bun", "bin", "bun.exe"],
    ]) {
      const path = join(folder, ...parts);
      if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > SMALLEST_BINARY) return path;
    }
  }
  return undefined;
}

/** Path of the Bun binary installed with this project. */
export function findBun() {
  const arch = ARCHITECTURES[process.arch];
  const here = `${process.platform}-${process.arch}`;
  if (arch === undefined || !["linux", "darwin"].includes(process.platform)) {
    throw new Error(`Gatehouse does not run on ${here}: it needs Linux or macOS on x64 or arm64.`);
  }
  const name = `@oven/bun-${process.platform}-${arch}${usesMusl() ? "-musl" : ""}`;
  const path = installed(name);
  if (path === undefined)
    throw new Error(`Bun for ${here} is not installed (package ${name}): run npm ci, without --omit=optional, on this machine.`);
  return path;
}

/** Flags of every Bun process: no setting may come from a stray file in the working directory. */
export const BUN_FLAGS = ["--no-install", "--no-env-file", "--config=/dev/null"];

/** Settings that Bun reads before any of our code runs. Existing environment variables take precedence, except over the last. */
export function bunEnvironment(env = process.env) {
  return {
    // Free memory is returned after a second, and large heaps are collected before they double, so that the process stays about as large as
    // its live data. Returning memory at once would cost calls a tenth more CPU.
    MIMALLOC_PURGE_DELAY: "1000",
    BUN_JSC_smallHeapGrowthFactor: "1.75",
    BUN_JSC_forceRAMSize: String(512 * 1024 * 1024),
    // No collection while modules load, which leave little garbage. Later ones come when they would anyway: the heap is then larger than
    // this even without garbage.
    BUN_JSC_largeHeapSize: String(40 * 1024 * 1024),
    // The bundle's modules are one function with few loops; compiling it would cost 0.1 s and 14 MB for good.
    BUN_JSC_thresholdForJITAfterWarmUp: "1000",
    // Optimize later: a start then compiles a third less, and code on the path of calls is still optimized once there are calls.
    BUN_JSC_thresholdForOptimizeAfterWarmUp: "3000",
    ...env,
    // Bun's default would cap calls in flight at 256.
    BUN_CONFIG_MAX_HTTP_REQUESTS: "65336",
  };
}
