import { type Refusal, refuse } from "../../kernel/errors.ts";
import { toolAccess } from "../../controls/access/tool-access.ts";
import { admit, type AdmissionParts, type Admits } from "../../road/admission/admit.ts";
import type { Call } from "../../road/call.ts";
import type { StreamAnswer } from "../../road/answer.ts";
import type { RequestView } from "../../road/view.ts";

interface Listener {
  readonly call: Call;
  readonly admits: Admits;
  readonly view: RequestView;
  readonly end: (refusal: Refusal) => void;
}

const AT_ONCE = 50;

/**
 * Streams of changes, which have no end of their own: whoever would not be let in any more, to what they listen to, hears
 * no more.
 */
export class Listeners {
  private readonly open = new Set<Listener>();
  private readonly parts: AdmissionParts;

  constructor(parts: AdmissionParts) {
    this.parts = parts;
  }

  /** The stream as it goes out for as long as its caller is let in. */
  follow(call: Call, admits: Admits, view: RequestView, answer: StreamAnswer): StreamAnswer {
    let ended: Refusal | null = null;
    const listener: Listener = {
      call,
      admits,
      view,
      end(refusal) {
        ended = refusal;
        call.abort.abort(refusal.code);
      },
    };
    this.open.add(listener);
    call.whenEnded.push(() => this.open.delete(listener));
    return { ...answer, refusal: (over) => ended ?? answer.refusal?.(over) ?? null };
  }

  /** Ends the streams of those who would not be let in now. */
  async check(): Promise<void> {
    let looked = 0;
    for (const listener of this.open) {
      // Calls are not to wait for all of them.
      if (++looked % AT_ONCE === 0) await new Promise<void>((resolve) => setImmediate(resolve));
      const refusal = await this.whyNot(listener);
      if (refusal !== null) {
        this.open.delete(listener);
        listener.end(refusal);
      }
    }
  }

  private async whyNot({ call, admits, view }: Listener): Promise<Refusal | null> {
    // What is found out now is not what the row tells of the call.
    const again: Call = { ...call, row: { ...call.row }, answerHeaders: {} };
    const refusal = await admit(again, admits, this.parts);
    // Whoever was let in stays so until the directory can be asked.
    if (refusal !== null) return refusal.code === "directory_unavailable" ? null : refusal;
    const decision = await toolAccess.decide(again, view);
    if (decision.kind === "refuse") return decision.refusal;
    const still = new Set(again.tools?.targets.map(({ server }) => server.id));
    return call.tools?.targets.every(({ server }) => still.has(server.id)) === false ? refuse("tool_server_not_allowed") : null;
  }
}
