import { type Refusal, refuse } from "../../kernel/errors.ts";
import { type OnRoster, Roster } from "../../kernel/collections/roster.ts";
import type { AbortReason, Call } from "../call.ts";
import type { Gates } from "../gates.ts";
import type { RequestView } from "../view.ts";

interface Listener extends OnRoster {
  readonly call: Call;
  readonly view: RequestView;
  readonly end: (refusal: Refusal) => void;
}

const AT_ONCE = 50;

/**
 * Open event streams that have no end of their own. Each is closed once its caller would no longer be admitted, and its events pass the
 * guardrails that currently apply to the caller.
 */
export class LastingStreams {
  private readonly open = new Roster<Listener>();
  private readonly gates: Gates;
  private readonly verdict: (refusal: Refusal | null, now: Call, then: Call) => Refusal | null;

  /**
   * `verdict`: why a stream must end, given the readmission refusal (or null), the call as readmitted now and the call as it began; null
   * keeps it open.
   */
  constructor(gates: Gates, verdict: LastingStreams["verdict"]) {
    this.gates = gates;
    this.verdict = verdict;
  }

  /** Registers the call's stream, to be ended by `check` once its caller is no longer admitted. */
  follow(call: Call, view: RequestView): void {
    const listener: Listener = {
      place: -1,
      call,
      view,
      end(refusal) {
        call.endedBy = refusal;
        call.abort.abort("access_ended" satisfies AbortReason);
      },
    };
    this.open.add(listener);
    call.whenEnded.push(() => this.open.delete(listener));
  }

  /** Ends the streams of callers who would no longer be admitted. */
  async check(): Promise<void> {
    let checkedCount = 0;
    for (const listener of this.open.all()) {
      if (!this.open.has(listener)) continue;
      // Yield to the event loop so that other calls are not delayed.
      if (++checkedCount % AT_ONCE === 0) await new Promise<void>((resolve) => setImmediate(resolve));
      const refusal = await this.accessRefusal(listener);
      if (refusal !== null) {
        this.open.delete(listener);
        listener.end(refusal);
      }
    }
  }

  private async accessRefusal({ call, view }: Listener): Promise<Refusal | null> {
    const { refusal, now } = await this.gates.readmit(call, "group", view);
    const ends = this.verdict(refusal, now, call);
    if (ends === null && now.scope !== null) call.scope = now.scope;
    // A key or user that lost all access ends all its streams with the same error, whichever check notices it first.
    return ends?.code === "unauthenticated" ? refuse("access_ended") : ends;
  }
}
