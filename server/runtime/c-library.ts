import { dlopen, type FFIFunction, type Library } from "bun:ffi";

/** Names of the C library: macOS, or glibc and musl. */
const NAMES: readonly string[] =
  process.platform === "darwin"
    ? ["libSystem.B.dylib"]
    : ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];

/** The system's C library with these functions; null if none has them. */
export function cLibrary<F extends Record<string, FFIFunction>>(functions: F): Library<F> | null {
  for (const name of NAMES) {
    try {
      return dlopen(name, functions);
    } catch {
      // Not this C library; try the next name.
    }
  }
  return null;
}
