import { isObject } from "../../../kernel/json-value.ts";
import { readUpstreamRpc } from "../../../wire/mcp/rpc.ts";
import type { SealApproval } from "./approval-chain.ts";
import type { Relay } from "../answers/relay.ts";
import type { SynthesizedServer } from "../servers/synthesized-server.ts";

/** Wraps the server so that answers which ask for input carry the approval on. */
export function carryingApproval(server: SynthesizedServer, carryOn: SealApproval | null): SynthesizedServer {
  return carryOn === null
    ? server
    : { ...server, forward: (message, sender, session) => carriedAnswer(server.forward(message, sender, session), carryOn) };
}

async function* carriedAnswer(relay: Relay, carryOn: SealApproval): Relay {
  const answer = yield* relay;
  const result = typeof answer === "string" ? readUpstreamRpc(answer)?.result : undefined;
  return typeof answer === "string" && isObject(result) ? (carryOn(answer, result) ?? answer) : answer;
}
