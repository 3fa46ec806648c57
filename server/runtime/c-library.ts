/** Names of the C library: macOS, or glibc and musl. */
export const LIBRARIES: readonly string[] =
  process.platform === "darwin"
    ? ["libSystem.B.dylib"]
    : ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];
