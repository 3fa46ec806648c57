import { BoundedMap } from "../../../directory/bounded-map.ts";

/** When failures take a member out of its routing group, milliseconds. */
export interface CircuitRules {
  readonly allowedFails: number;
  readonly windowMs: number;
  readonly cooldownMs: number;
}

interface State {
  /** Times of failures within the window, oldest first. */
  failures: number[];
  openUntil: number;
  /** The provider asked for no calls until then; this holds even if no other member is available. */
  cooledUntil: number;
  answeredAt: number;
  /** The circuit was opened and no call has succeeded since: only one trial call at a time. */
  halfOpen: boolean;
  trying: boolean;
  inFlight: number;
  /** Attempts without the beginning of an answer, and since when none has begun to be answered. */
  waiting: number;
  silentSince: number;
  /** Moving average of the time until an answer begins. */
  latencyMs: number | null;
  measuredAt: number;
  beganAt: number;
}

const LATENCY_WEIGHT = 0.2;
/** Older measurements do not count. */
const LATENCY_COUNTS_MS = 60_000;

/** Health of the models in routing groups, as this process has seen it. Times are monotonic milliseconds. */
export class MemberHealth {
  private readonly states = new BoundedMap<string, State>(10_000);
  private readonly now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  /** Whether a call may be sent to the model now. */
  available(modelId: string): boolean {
    const state = this.states.get(modelId);
    return state === undefined || (state.openUntil <= this.now() && !(state.halfOpen && state.trying));
  }

  /**
   * The model to try when all are unavailable, so that a few failures do not cause an outage: the one that last served a call, as the
   * likeliest to serve again. Null if all providers asked for no calls.
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

  /** Milliseconds until the model may be tried again; 0 if it may be now. */
  availableInMs(modelId: string): number {
    return Math.max(0, (this.states.get(modelId)?.openUntil ?? 0) - this.now());
  }

  inFlight(modelId: string): number {
    return this.states.get(modelId)?.inFlight ?? 0;
  }

  /**
   * Average latency, or how long callers have been waiting now if that is longer, so that a hanging model is not preferred. Null before its
   * first call and if it had none lately; one new call then measures it again.
   */
  latencyMs(modelId: string): number | null {
    const state = this.states.get(modelId);
    if (state === undefined) return null;
    const known = this.isOld(Math.max(state.measuredAt, state.beganAt)) ? null : state.latencyMs;
    return state.waiting === 0 ? known : Math.max(known ?? 0, this.now() - state.silentSince);
  }

  /** Starts an attempt. Each must be followed by exactly one `ended` or `unanswered`. */
  began(modelId: string): void {
    const state = this.stateOf(modelId);
    state.inFlight++;
    state.beganAt = this.now();
    if (state.waiting++ === 0) state.silentSince = state.beganAt;
    if (state.halfOpen) state.trying = true;
  }

  /** Ends an attempt whose answer never began. */
  unanswered(modelId: string): void {
    this.noLongerWaiting(this.stateOf(modelId));
    this.ended(modelId);
  }

  /** Ends an attempt, whatever its outcome. */
  ended(modelId: string): void {
    const state = this.stateOf(modelId);
    state.inFlight = Math.max(0, state.inFlight - 1);
  }

  /** A call was served to its end. */
  answered(modelId: string): void {
    const state = this.stateOf(modelId);
    state.halfOpen = false;
    state.trying = false;
    state.answeredAt = this.now();
  }

  /** Records the time until an answer began, and that its attempt is not waiting any longer. */
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
    // During a trial call any failure opens the circuit again.
    if (state.halfOpen || state.failures.length > rules.allowedFails) this.open(state, now + rules.cooldownMs);
    state.trying = false;
  }

  /** The provider named a time to stay away, or refused the account. */
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
