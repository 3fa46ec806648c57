import { cLibrary } from "./c-library.ts";

export type Flock = (fd: number, operation: number) => number;

export function loadFlock(): Flock {
  const library = cLibrary({ flock: { args: ["int", "int"], returns: "int" } });
  if (library === null) throw new Error("no C library with flock was found");
  return library.symbols.flock;
}
