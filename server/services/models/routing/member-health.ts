import { BoundedMap } from "../../../directory/bounded-map.ts";

/** When failures take a member out of its routing group, milliseconds. */
export interface CircuitRules {
  readonly allowedFails: number;
  readonly windowMs: number;
  readonly cooldownMs: number;
}

interface State {
  /** Moments of failures within the window, oldest first. */
  failures: number[];
  openUntil: number;
  /** Until then its provider wants no calls, whatever became of the others. */
  cooledUntil: number;
  answeredAt: number;
  /** Its circuit was opened and nothing has succeeded since: one call at a time may try it. */
  halfOpen: boolean;
  trying: boolean;
  inFlight: number;
  /** Attempts whose answer has not begun, and since when none has while there are any. */
  waiting: number;
  silentSince: number;
  /** Moving average until the answer begins. */
  latencyMs: number | null;
  measuredAt: number;
  beganAt: number;
}

const LATENCY_WEIGHT = 0.2;
/** What was measured longer ago says nothing of how a member is now. */
const LATENCY_COUNTS_MS = 60_000;

/** How the models of routing groups have been doing, as this process saw it. Moments are monotonic milliseconds. */
export class MemberHealth {
  private readonly states = new BoundedMap<string, State>(10_000);
  private readonly now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  /** Whether a call may be sent to it now. */
  available(modelId: string): boolean {
    const state = this.states.get(modelId);
    return state === undefined || (state.openUntil <= this.now() && !(state.halfOpen && state.trying));
  }

  /**
   * Of members that are all out, the one to try nevertheless: a circuit prefers others, and where there are none it must
   * not make an outage of a few failures. Who served last is the likeliest to serve again. Null when each of them was
   * told by its provider to stay away.
   */
  lastResort(modelIds: readonly string[]): string | null {
    const now = this.now();
    let best: string | null = null;
    let bestAt = Number.NEGATIVE_INFINITY;
    for (const id of modelIds) {
      const state = this.stateOf(id);
      if (state.cooledUntil > now || state.answeredAt <= bestAt) continue;
      best = id;
      bestAt = state.answeredAt;
    }
    return best;
  }

  /** Milliseconds until it may be tried again; 0 when it may now. */
  availableInMs(modelId: string): number {
    return Math.max(0, (this.states.get(modelId)?.openUntil ?? 0) - this.now());
  }

  inFlight(modelId: string): number {
    return this.states.get(modelId)?.inFlight ?? 0;
  }

  /**
   * As long as it keeps callers waiting just now, if that is longer than its average: else all would go to one that hangs. Null before
   * its first call, and where it was asked nothing of late: until one call begins, which measures it anew for all.
   */
  latencyMs(modelId: string): number | null {
    const state = this.states.get(modelId);
    if (state === undefined) return null;
    const known = this.isOld(Math.max(state.measuredAt, state.beganAt)) ? null : state.latencyMs;
    return state.waiting === 0 ? known : Math.max(known ?? 0, this.now() - state.silentSince);
  }

  /** An attempt begins; every begun attempt is ended by exactly one `ended`, or by one `unanswered`. */
  began(modelId: string): void {
    const state = this.stateOf(modelId);
    state.inFlight++;
    state.beganAt = this.now();
    if (state.waiting++ === 0) state.silentSince = state.beganAt;
    if (state.halfOpen) state.trying = true;
  }

  /** The attempt is over, and its answer never began. */
  unanswered(modelId: string): void {
    this.noLongerWaiting(this.stateOf(modelId));
    this.ended(modelId);
  }

  /** The attempt is over, however it went: nothing of it is in flight any more. */
  ended(modelId: string): void {
    const state = this.stateOf(modelId);
    state.inFlight = Math.max(0, state.inFlight - 1);
  }

  /** It served a call to the end. */
  answered(modelId: string): void {
    const state = this.stateOf(modelId);
    state.halfOpen = false;
    state.trying = false;
    state.answeredAt = this.now();
  }

  /** Its answer began after so long. */
  measured(modelId: string, latencyMs: number): void {
    const state = this.stateOf(modelId);
    const known = this.isOld(state.measuredAt) ? null : state.latencyMs;
    state.latencyMs = known === null ? latencyMs : known + LATENCY_WEIGHT * (latencyMs - known);
    state.measuredAt = this.now();
    state.silentSince = state.measuredAt;
    this.noLongerWaiting(state);
  }

  failed(modelId: string, rules: CircuitRules): void {
    const state = this.stateOf(modelId);
    const now = this.now();
    state.failures = state.failures.filter((at) => at > now - rules.windowMs);
    state.failures.push(now);
    // A member on trial has used up its failures already.
    if (state.halfOpen || state.failures.length > rules.allowedFails) this.open(state, now + rules.cooldownMs);
    state.trying = false;
  }

  /** The provider itself said for how long to stay away, or refused the account. */
  cool(modelId: string, forMs: number): void {
    const state = this.stateOf(modelId);
    state.cooledUntil = Math.max(state.cooledUntil, this.now() + forMs);
    this.open(state, state.cooledUntil);
  }

  /** The attempt says nothing about the member's health: the caller left, or the request itself was refused. */
  inconclusive(modelId: string): void {
    this.stateOf(modelId).trying = false;
  }

  private noLongerWaiting(state: State): void {
    state.waiting = Math.max(0, state.waiting - 1);
  }

  private isOld(moment: number): boolean {
    return moment < this.now() - LATENCY_COUNTS_MS;
  }

  private open(state: State, until: number): void {
    state.openUntil = Math.max(state.openUntil, until);
    state.halfOpen = true;
    state.trying = false;
    state.failures = [];
  }

  private stateOf(modelId: string): State {
    const known = this.states.get(modelId);
    if (known !== undefined) return known;
    const state: State = {
      failures: [],
      openUntil: 0,
      cooledUntil: 0,
      answeredAt: -1,
      halfOpen: false,
      trying: false,
      inFlight: 0,
      waiting: 0,
      silentSince: Number.NEGATIVE_INFINITY,
      latencyMs: null,
      measuredAt: Number.NEGATIVE_INFINITY,
      beganAt: Number.NEGATIVE_INFINITY,
    };
    this.states.set(modelId, state);
    return state;
  }
}
