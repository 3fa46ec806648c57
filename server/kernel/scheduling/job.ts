/** Periodic background work; whoever opens a service runs its jobs. Safe to run in two processes at once. */
export interface Job {
  readonly name: string;
  readonly everyMs: number;
  run(): Promise<unknown>;
}
