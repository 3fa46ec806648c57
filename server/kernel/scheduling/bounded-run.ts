export interface BoundedRun {
  readonly program: URL;
  readonly argument: string;
  readonly input: Uint8Array;
  readonly seconds: number;
  /** Of addresses, where the system can hold a process to it. */
  readonly memoryBytes: number;
  readonly outputBytes: number;
}

export type BoundedEnd = { readonly kind: "done"; readonly output: Uint8Array } | { readonly kind: "time" | "memory" | "output" | "crash" };

/** Runs a program of this project on a process of its own, and ends it where it takes more than it may. Never rejects. */
export type RunBounded = (run: BoundedRun) => Promise<BoundedEnd>;
