import { dlopen } from "bun:ffi";
import { LIBRARIES } from "./c-library.ts";

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
