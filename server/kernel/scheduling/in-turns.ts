/** Work that may be interrupted wherever it yields. */
export type InTurns<T> = Generator<void, T, void>;

/** Told how much processor time each slice of work took. */
export interface WorkMeter {
  took(ms: number): void;
}

/** A budget for work; whoever does it fails once the budget is exhausted. */
export interface WorkBudget extends WorkMeter {
  /** There is so much more to look at. */
  grant(characters: number): void;
  readonly exhausted: boolean;
}

/** How long work may keep everything else waiting, and how long where other work already waits for its next slice. */
const SLICE_MS = 2;
const CROWDED_MS = 0.5;

/** Work that has had its first slice. One of them gets another in each turn of the event loop, however many there are. */
const waiting: (() => void)[] = [];

/** Runs the work without a break. */
export function runToEnd<T>(work: InTurns<T>): T {
  let step = work.next();
  while (step.done !== true) step = work.next();
  return step.value;
}

/**
 * Runs the work in time slices between which everything else gets its turn. Work that ends within the first slice is returned at once, else
 * as a promise.
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
        // Neither what other threads of the process do nor that others have the processor is the work's own.
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
