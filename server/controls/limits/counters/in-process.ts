import { ShortLivedMap } from "../../../kernel/collections/short-lived-map.ts";
import type { Admission, Denial } from "../admission/admission-answer.ts";
import { type TokenBucket, msUntil, refill } from "./bucket.ts";
import { type Actual, type Counters, type Demand, NOTHING_USED, type Plan, type Reservation } from "./counters.ts";
import { endsWithCall, refundedAmount, heldOf, takenAtOnce, usedOf, minusActual } from "./window-amounts.ts";

interface WindowState {
  spent: number;
  held: number;
  epoch: number;
  /** Usage when the window was first seen to be of an earlier epoch; what is settled after that may be missing from the totals. */
  spentBefore: number | null;
  readonly resetsAt: number;
  touchedAt: number;
}

interface ScopeState {
  inFlight: number;
  lockedUntil: number;
  lockedBy: string;
  touchedAt: number;
}

/** Longer than any call takes, so that nothing still held or needed is forgotten. */
const FORGET_AFTER_MS = 3_600_000;
const SWEEP_EVERY_MS = 60_000;
/** Slightly less than one request, because buckets are refilled in fractions. */
const WHOLE = 1 - 1e-9;

/** In-memory counters of one process; admission is synchronous. `now` must be monotonic. */
export class InProcessCounters implements Counters {
  readonly lookAgainMs = null;
  private readonly windows = new Map<string, WindowState>();
  private readonly scopes = new Map<string, ScopeState>();
  private readonly buckets = new Map<string, TokenBucket>();
  /** Open calls; the value is the usage already counted for calls that parted with their holds. */
  private readonly open = new ShortLivedMap<string, Actual | null>();
  /** Unsettled calls whose concurrency slots are already released. */
  private readonly vacated = new Set<string>();
  private readonly now: () => number;
  private sweptAt: number;

  constructor(now: () => number) {
    this.now = now;
    this.sweptAt = now();
  }

  admit(id: string, plan: Plan, demand: Demand, probe: boolean): Admission {
    const now = this.now();
    if (now - this.sweptAt > SWEEP_EVERY_MS) this.sweep(now);
    const { scopes, buckets, windows } = plan;
    const paced = plan.unpaced !== true;
    for (let i = 0; paced && i < scopes.length; i++) {
      const scope = scopes[i] as Plan["scopes"][number];
      const state = this.scopes.get(scope.key);
      if (state === undefined) continue;
      if (state.lockedUntil > now) return { kind: "denied", denial: this.lockedOut(plan, i, state, now) };
      if (scope.maxConcurrent !== null && state.inFlight >= scope.maxConcurrent)
        return { kind: "denied", denial: { by: "concurrency", scope: i, inFlight: state.inFlight } };
    }
    for (let i = 0; paced && i < scopes.length; i++) {
      const scope = scopes[i] as Plan["scopes"][number];
      if (scope.maxConcurrent === 0) return { kind: "denied", denial: { by: "concurrency", scope: i, inFlight: 0 } };
    }
    for (let i = 0; paced && i < buckets.length; i++) {
      const limit = buckets[i] as Plan["buckets"][number];
      const bucket = this.bucket(limit, now);
      const level = bucket.level - (limit.leave ?? 0);
      if (limit.measure === "requests" ? level >= WHOLE : level > 0) continue;
      if (limit.leave !== undefined) {
        const needed = limit.leave + (limit.measure === "requests" ? 1 : 0);
        // The bucket is not empty for other calls, so no cooldown starts.
        return { kind: "denied", denial: { by: "bucket", index: i, retryAfterMs: Math.max(1, msUntil(bucket, needed, limit.perMinute)) } };
      }
      const wait = Math.max(1, untilUsable(bucket, limit));
      return { kind: "denied", denial: { by: "bucket", index: i, retryAfterMs: Math.max(wait, this.lock(plan, limit, now)) } };
    }
    const cold: number[] = [];
    const states: WindowState[] = [];
    let held: string | null = null;
    for (let i = 0; i < windows.length; i++) {
      const window = windows[i] as Plan["windows"][number];
      const state = this.windows.get(window.key);
      if (state === undefined || state.epoch < window.epoch) {
        if (state !== undefined) state.spentBefore ??= state.spent;
        cold.push(i);
        continue;
      }
      states.push(state);
      if (!window.hard) continue;
      const hold = heldOf(window, demand);
      const once = takenAtOnce(window, demand);
      if (state.spent + hold + once > window.limit || (hold > 0 && state.spent >= window.limit))
        return { kind: "denied", denial: { by: "window", index: i, spent: state.spent } };
      if (held === null && hold > 0 && state.spent + state.held + hold > window.limit) held = window.key;
    }
    if (cold.length > 0) return { kind: "cold", windows: cold };
    if (held !== null) return { kind: "held", key: held };
    if (probe) return { kind: "admitted", spent: states.map(({ spent }) => spent), levels: [], inFlight: [] };

    const inFlight: number[] = [];
    for (let i = 0; paced && i < scopes.length; i++) {
      const scope = scopes[i] as Plan["scopes"][number];
      inFlight.push(scope.maxConcurrent === null ? 0 : ++this.scope(scope.key, now).inFlight);
    }
    const levels: number[] = [];
    for (let i = 0; paced && i < buckets.length; i++) {
      const limit = buckets[i] as Plan["buckets"][number];
      const bucket = this.buckets.get(limit.key) as TokenBucket;
      if (limit.measure === "requests") bucket.level -= 1;
      levels.push(bucket.level);
    }
    const spent: number[] = [];
    for (let i = 0; i < windows.length; i++) {
      const window = windows[i] as Plan["windows"][number];
      const state = states[i] as WindowState;
      state.held += heldOf(window, demand);
      state.spent += takenAtOnce(window, demand);
      state.touchedAt = now;
      spent.push(state.spent);
    }
    this.open.set(id, null);
    return { kind: "admitted", spent, levels, inFlight };
  }

  transfer(from: readonly Reservation[], { id, plan, demand }: Reservation): Admission {
    const holding = from.filter((one) => this.open.get(one.id) === null);
    for (const one of holding) this.changeHeld(one, -1);
    const found = this.admit(id, plan, demand, false);
    for (const one of holding)
      if (found.kind === "admitted") this.open.set(one.id, NOTHING_USED);
      else this.changeHeld(one, 1);
    return found;
  }

  part({ id, plan, demand }: Reservation, actual: Actual): void {
    if (this.open.get(id) !== null) return;
    this.open.set(id, actual);
    const now = this.now();
    this.charge(plan, actual, now);
    for (const window of plan.windows) {
      const state = this.windows.get(window.key);
      if (state === undefined) continue;
      state.held -= heldOf(window, demand);
      state.spent += usedOf(window.measure, actual);
      state.touchedAt = now;
    }
  }

  settle({ id, plan, demand }: Reservation, total: Actual): number[] {
    const parted = this.open.get(id);
    if (parted === undefined) return [];
    this.open.delete(id);
    const now = this.now();
    if (!this.vacated.delete(id)) this.freePlaces(plan, now);
    const actual = parted === null ? total : minusActual(total, parted);
    this.charge(plan, actual, now);
    const spent: number[] = [];
    for (const window of plan.windows) {
      const state = this.windows.get(window.key);
      // The window ended long ago and was forgotten.
      if (state === undefined) {
        spent.push(0);
        continue;
      }
      if (parted === null) state.held -= heldOf(window, demand);
      state.spent += usedOf(window.measure, actual) - refundedAmount(window, demand, actual);
      state.touchedAt = now;
      spent.push(state.spent);
      if (endsWithCall(window) && state.held <= 0) this.windows.delete(window.key);
    }
    return spent;
  }

  /** Releases the concurrency slots of a call that has stopped but whose usage is not known yet. */
  vacate({ id, plan }: Reservation): void {
    if (!this.open.has(id) || this.vacated.has(id)) return;
    this.vacated.add(id);
    this.freePlaces(plan, this.now());
  }

  /** Corrects a settled call for which `counted` was added to windows although it used `actual`. */
  restate({ plan, demand }: Pick<Reservation, "plan" | "demand">, counted: Actual, actual: Actual): void {
    for (const window of plan.windows) {
      const state = this.windows.get(window.key);
      if (state === undefined) continue;
      const before = usedOf(window.measure, counted) - refundedAmount(window, demand, counted);
      state.spent += usedOf(window.measure, actual) - refundedAmount(window, demand, actual) - before;
    }
  }

  warm(plan: Plan, spent: ReadonlyMap<number, number>): void {
    for (const [index, amount] of spent) {
      const { key, resetsAt, epoch } = plan.windows[index] as Plan["windows"][number];
      const state = this.windows.get(key);
      if (state === undefined) this.windows.set(key, { spent: amount, held: 0, epoch, spentBefore: null, resetsAt, touchedAt: this.now() });
      else if (state.epoch < epoch) {
        state.spent = amount + Math.max(0, state.spent - (state.spentBefore ?? state.spent));
        state.epoch = epoch;
        state.spentBefore = null;
      }
      // Totals read for an earlier epoch are too high.
      else if (state.epoch === epoch) state.spent = Math.max(state.spent, amount);
    }
  }

  /** These counts die with the process, so there is nothing to confirm. */
  sealed(): void {}

  resolve(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Number of entries kept in memory, for the tests that check its bound. */
  get size(): number {
    return this.windows.size + this.scopes.size + this.buckets.size;
  }

  private changeHeld({ plan, demand }: Reservation, sign: 1 | -1): void {
    for (const window of plan.windows) {
      const state = this.windows.get(window.key);
      if (state !== undefined) state.held += sign * heldOf(window, demand);
    }
  }

  private freePlaces(plan: Plan, now: number): void {
    if (plan.unpaced === true) return;
    for (const scope of plan.scopes) if (scope.maxConcurrent !== null) this.scope(scope.key, now).inFlight--;
  }

  private charge(plan: Plan, actual: Actual, now: number): void {
    for (const limit of plan.buckets) {
      if (limit.measure === "requests") continue;
      const bucket = this.bucket(limit, now);
      bucket.level -= usedOf(limit.measure, actual);
      if (bucket.level <= 0) this.lock(plan, limit, now);
    }
  }

  private scope(key: string, now: number): ScopeState {
    let state = this.scopes.get(key);
    if (state === undefined) {
      state = { inFlight: 0, lockedUntil: 0, lockedBy: "", touchedAt: now };
      this.scopes.set(key, state);
    }
    state.touchedAt = now;
    return state;
  }

  private bucket(limit: Plan["buckets"][number], now: number): TokenBucket {
    let bucket = this.buckets.get(limit.key);
    if (bucket === undefined) {
      bucket = { level: limit.capacity, at: now };
      this.buckets.set(limit.key, bucket);
    } else refill(bucket, limit.perMinute, limit.capacity, now);
    return bucket;
  }

  /** Starts the cooldown of an empty bucket's scope, unless one is running; returns the milliseconds that remain. */
  private lock(plan: Plan, limit: Plan["buckets"][number], now: number): number {
    const { key, cooldownMs } = plan.scopes[limit.scope] as Plan["scopes"][number];
    if (cooldownMs === 0) return 0;
    const state = this.scope(key, now);
    if (state.lockedUntil <= now) {
      state.lockedUntil = now + cooldownMs;
      state.lockedBy = limit.limitType;
    }
    return state.lockedUntil - now;
  }

  /** A bucket may stay empty for longer than the cooldown lasts. */
  private lockedOut({ buckets }: Plan, scope: number, { lockedUntil, lockedBy }: ScopeState, now: number): Denial {
    const waits = buckets.filter((limit) => limit.scope === scope).map((limit) => untilUsable(this.bucket(limit, now), limit));
    return { by: "cooldown", scope, limitType: lockedBy, retryAfterMs: Math.max(lockedUntil - now, ...waits) };
  }

  private sweep(now: number): void {
    this.sweptAt = now;
    const old = now - FORGET_AFTER_MS;
    for (const [key, state] of this.windows) {
      const over = state.resetsAt < old || (state.resetsAt === Number.POSITIVE_INFINITY && state.touchedAt < old);
      if (over && state.held <= 0) this.windows.delete(key);
    }
    for (const [key, state] of this.scopes)
      if (state.inFlight <= 0 && state.lockedUntil < now && state.touchedAt < old) this.scopes.delete(key);
    // By now it has refilled to capacity, like a new bucket.
    for (const [key, bucket] of this.buckets) if (bucket.at < now - 24 * FORGET_AFTER_MS) this.buckets.delete(key);
  }
}

const untilUsable = (bucket: TokenBucket, { measure, perMinute }: Plan["buckets"][number]): number =>
  msUntil(bucket, measure === "requests" ? 1 : 0, perMinute);
