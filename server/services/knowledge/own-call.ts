import type { GroupScope } from "../../directory/snapshot.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Call } from "../../road/call.ts";
import { unrecordedCall } from "../../road/own-calls/unrecorded-call.ts";

/** A parent call for embeddings that no caller waits for; it has no audit row. Uploads are recorded in the admin log. */
export const ownCall = (scope: GroupScope, correlation: string, clock: Clock): Call =>
  unrecordedCall(scope, { path: "/knowledge", proxySubtype: "knowledge_embedding", correlation }, clock);
