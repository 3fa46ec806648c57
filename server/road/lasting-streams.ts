import { type Refusal, refuse } from "../kernel/errors.ts";
import { type OnRoster, Roster } from "../kernel/collections/roster.ts";
import type { AbortReason, Call } from "./call.ts";
import type { Gates } from "./gates.ts";
import type { RequestView } from "./view.ts";

interface Listener extends OnRoster {
  readonly call: Call;
  readonly view: RequestView;
  readonly end: (refusal: Refusal) => void;
}

const AT_ONCE = 50;

/**
 * Open event streams without an end of their own. Each is closed once its caller would no longer be admitted, and its events pass the
 * guardrails that hold for the caller now.
 */
export class LastingStreams {
  private readonly open = new Roster<Listener>();
  private readonly gates: Gates;
  private readonly verdict: (refusal: Refusal | null, now: Call, then: Call) => Refusal | null;

  /** `verdict`: why a stream ends, where its call `then` would be admitted as `now`, or refused; null lets it go on. */
  constructor(gates: Gates, verdict: LastingStreams["verdict"]) {
    this.gates = gates;
    this.verdict = verdict;
  }

  /** Ends the call's stream once its caller is let in no more. */
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

  /** Ends the streams of those who would not be let in now. */
  async check(): Promise<void> {
    let looked = 0;
    for (const listener of this.open.all()) {
      if (!this.open.has(listener)) continue;
      // Calls are not to wait for all of them.
      if (++looked % AT_ONCE === 0) await new Promise<void>((resolve) => setImmediate(resolve));
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
    // Of a key or a person that opens nothing any more every stream says the same, whoever notices it first.
    return ends?.code === "unauthenticated" ? refuse("access_ended") : ends;
  }
}
