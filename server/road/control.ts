import type { Call } from "./call.ts";
import type { Decision } from "./decision.ts";
import type { RequestView } from "./view.ts";

/** One rule a call must pass before it is dispatched. Knows the call and the view; no wire format, no protocol. */
export interface RequestControl {
  readonly name: string;
  decide(call: Call, view: RequestView): Decision | Promise<Decision>;
}
