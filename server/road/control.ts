import type { Answer } from "./answer.ts";
import type { Action, ActionDecision } from "./action.ts";
import type { Call } from "./call.ts";
import type { Decision } from "./decision.ts";
import type { Refusal } from "../kernel/errors.ts";
import type { Exchange } from "./surface.ts";
import type { RequestView } from "./view.ts";

/** One rule a call must pass before it is dispatched. Knows the call and the view; no wire format, no protocol. */
export interface RequestControl {
  readonly name: string;
  decide(call: Call, view: RequestView): Decision | Promise<Decision>;
  /** Asked once more when every control has let the call pass: what it gave up meanwhile is taken again. */
  resume?(call: Call, view: RequestView): Refusal | null | Promise<Refusal | null>;
}

/** A rule that looks at nothing of a request but whom it is addressed to: it can be asked when there is no request. */
export interface StandingControl {
  readonly name: string;
  decide(call: Call, view: Pick<RequestView, "target" | "otherModels">): Decision | Promise<Decision>;
}

/** One rule an answer must pass before its caller gets it. */
export interface AnswerControl {
  readonly name: string;
  /** What looks at the answer, made ready before the call leaves; null where nothing has to look. */
  prepare(call: Call, exchange: Exchange): AnswerCheck | null;
}

/** Passes an answer on, changed or not, or refuses it. A whole answer is metered by then, one that comes as a stream is not. */
export type AnswerCheck = (answer: Answer) => Answer | Refusal | Promise<Answer | Refusal>;

/** One rule an action must pass before an upstream is asked for it: the call of a tool, of an agent, the run of a script. */
export interface ActionControl {
  readonly name: string;
  before(call: Call, action: Action): ActionDecision | Promise<ActionDecision>;
}
