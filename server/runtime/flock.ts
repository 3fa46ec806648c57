import { dlopen } from "bun:ffi";

/** Names of the C library: macOS, or glibc and musl. */
const LIBRARIES =
  process.platform === "darwin"
    ? ["libSystem.B.dylib"]
    : ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];

export type Flock = (fd: number, operation: number) => number;

export function loadFlock(): Flock {
  for (const name of LIBRARIES) {
    try {
      return dlopen(name, { flock: { args: ["int", "int"], returns: "int" } }).symbols.flock;
    } catch {
      // Not this C library; try the next name.
    }
  }
  throw new Error("no C library with flock was found");
}
