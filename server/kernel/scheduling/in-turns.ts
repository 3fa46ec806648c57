/** Work that may be interrupted wherever it yields. */
export type InTurns<T> = Generator<void, T, void>;

/** Receives the processor time, in milliseconds, that each slice of work took. */
export interface WorkMeter {
  took(ms: number): void;
}

/** A budget for work, which must fail once the budget is exhausted. */
export interface WorkBudget extends WorkMeter {
  /** Adds budget for this many more characters to inspect. */
  grant(characters: number): void;
  readonly exhausted: boolean;
}

/** Longest first slice of work, alone and if other work is already waiting for its next slice. */
const SLICE_MS = 2;
const CROWDED_MS = 0.5;

/** Work that has had its first slice. However much there is, only one gets another slice per turn of the event loop. */
const waiting: (() => void)[] = [];

/** Runs the work without interruption. */
export function runToEnd<T>(work: InTurns<T>): T {
  let step = work.next();
  while (step.done !== true) step = work.next();
  return step.value;
}

/**
 * Runs work in time slices, letting everything else run in between. Returns the result directly if the work ends within the first slice,
 * otherwise a promise.
 */
export function inTurns<T>(work: InTurns<T>, meter: WorkMeter): T | Promise<T> {
  let step = work.next();
  if (step.done === true) return step.value;
  const began = performance.now();
  const until = began + (waiting.length === 0 ? SLICE_MS : CROWDED_MS);
  for (let now = began; step.done !== true; now = performance.now()) {
    if (now >= until) {
      meter.took(now - began);
      return later(work, meter);
    }
    step = work.next();
  }
  meter.took(performance.now() - began);
  return step.value;
}

function later<T>(work: InTurns<T>, meter: WorkMeter): Promise<T> {
  return new Promise((resolve, reject) => {
    const slice = () => {
      const began = performance.now();
      const processor = process.cpuUsage();
      const until = began + SLICE_MS;
      try {
        let step = work.next();
        while (step.done !== true && performance.now() < until) step = work.next();
        const { user, system } = process.cpuUsage(processor);
        // Counts neither other threads' processor time nor time in which other processes had the processor.
        meter.took(Math.min(performance.now() - began, (user + system) / 1000));
        if (step.done === true) resolve(step.value);
        else enqueue(slice);
      } catch (error) {
        reject(error as Error);
      }
    };
    enqueue(slice);
  });
}

function enqueue(slice: () => void): void {
  waiting.push(slice);
  if (waiting.length === 1) setImmediate(next);
}

function next(): void {
  const slice = waiting[0];
  slice?.();
  waiting.shift();
  if (waiting.length > 0) setImmediate(next);
}
