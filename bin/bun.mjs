import { statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** Bun names 64-bit ARM as its target triple does. */
const ARCHITECTURES = { x64: "x64", arm64: "aarch64" };

function usesMusl() {
  return process.platform === "linux" && process.report.getReport().header.glibcVersionRuntime === undefined;
}

/** The text that stands in for the binary until the install script of `bun` has run is far smaller than this. */
const SMALLEST_BINARY = 1024 * 1024;

/**
 * Wherever npm put it: hoisted to the root, or under the workspace or package that asked for it. The platform
 * package brings the binary; the install script of `bun`, where it runs, moves it into `bun` itself.
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

/** The path of the Bun binary this project was installed with. */
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

/** What every Bun process of ours is started with: no setting may come from a stray file in the working directory. */
export const BUN_FLAGS = ["--no-install", "--no-env-file", "--config=/dev/null"];

/** Read by Bun before any of our code runs. What stands in the environment already is meant so, but for the last. */
export function bunEnvironment(env = process.env) {
  return {
    // Memory that is free goes back after a second, and a heap is not let double before it is collected, the less the larger it is:
    // the process stays about as large as what it holds. At once would cost calls a tenth more of the processor.
    MIMALLOC_PURGE_DELAY: "1000",
    BUN_JSC_smallHeapGrowthFactor: "1.75",
    BUN_JSC_forceRAMSize: String(512 * 1024 * 1024),
    // The modules of the bundle are one function, whose few loops are no reason to compile it: 0.1 s, and 14 MB for good.
    BUN_JSC_thresholdForJITAfterWarmUp: "1000",
    // Optimized when it has been seen for longer: of what a start runs a third less is, and what calls run is as soon as there are calls.
    BUN_JSC_thresholdForOptimizeAfterWarmUp: "3000",
    ...env,
    // Its own default would cap calls in flight at 256.
    BUN_CONFIG_MAX_HTTP_REQUESTS: "65336",
  };
}
