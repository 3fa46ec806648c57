import type { Answer } from "./answer.ts";
import type { Action, ActionDecision } from "./action.ts";
import type { Call } from "./call.ts";
import type { Decision } from "./decision.ts";
import type { Refusal } from "../kernel/errors.ts";
import type { Exchange } from "./surface.ts";
import type { RequestView } from "./view.ts";

/** A rule that a call must pass before it is dispatched. Knows the call and its view, but no wire format or protocol. */
export interface RequestControl {
  readonly name: string;
  decide(call: Call, view: RequestView): Decision | Promise<Decision>;
  /** Called after every control has passed the call, to reacquire what the control released in the meantime. */
  resume?(call: Call, view: RequestView): Refusal | null | Promise<Refusal | null>;
}

/** A request control that looks only at the target, so it can also be asked when there is no request. */
export interface StandingControl {
  readonly name: string;
  decide(call: Call, view: Pick<RequestView, "target" | "otherModels">): Decision | Promise<Decision>;
}

/** A rule that an answer must pass before its caller gets it. */
export interface AnswerControl {
  readonly name: string;
  /** Prepares the check of the answer before the call is sent; null if nothing has to be checked. */
  prepare(call: Call, exchange: Exchange): AnswerCheck | null;
}

/** Passes an answer on, changed or not, or refuses it. A whole answer is already metered then; a stream is not. */
export type AnswerCheck = (answer: Answer) => Answer | Refusal | Promise<Answer | Refusal>;

/** A rule that an action (a tool call, a request to an agent, a script run) must pass before the upstream is asked to perform it. */
export interface ActionControl {
  readonly name: string;
  before(call: Call, action: Action): ActionDecision | Promise<ActionDecision>;
}
