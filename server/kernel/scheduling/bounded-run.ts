export interface BoundedRun {
  readonly program: URL;
  readonly argument: string;
  readonly input: Uint8Array;
  readonly seconds: number;
  /** Limit on the address space, if the system can enforce it. */
  readonly memoryBytes: number;
  readonly outputBytes: number;
}

export type BoundedEnd = { readonly kind: "done"; readonly output: Uint8Array } | { readonly kind: "time" | "memory" | "output" | "crash" };

/** Runs one of the gateway's own programs in a child process and ends it if it exceeds a limit. Never rejects. */
export type RunBounded = (run: BoundedRun) => Promise<BoundedEnd>;
