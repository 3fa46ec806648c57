import type { WholeAnswer } from "../../../road/answer.ts";
import type { Call } from "../../../road/call.ts";
import { type Refusal, refuse } from "../../../kernel/errors.ts";
import { isObject } from "../../../kernel/json-value.ts";
import { HANDSHAKE_VERSIONS } from "../../../wire/mcp/dialect.ts";
import { resultText, type RpcMessage } from "../../../wire/mcp/rpc.ts";
import { SESSION_PURPOSE } from "./caller-session.ts";
import { wholeAnswer } from "../answers/relay.ts";
import { keptInfo } from "./session-pool.ts";
import { sealState } from "./sealed-state.ts";
import type { SynthesizedServer } from "../servers/synthesized-server.ts";
import type { ToolParts } from "../tool-parts.ts";

/** Characters. The session's own text holds both and comes back in a header of every request, of which 16 KB are taken together. */
const LONGEST_CAPABILITIES = 6_000;
const LONGEST_CLIENT = 1_000;

/** The answer to `initialize`, with the session that holds what was agreed. */
export function initializedSession(
  call: Call,
  message: RpcMessage,
  server: SynthesizedServer,
  owner: string,
  parts: ToolParts,
): WholeAnswer | Refusal {
  const asked = message.params.protocolVersion;
  const version = (HANDSHAKE_VERSIONS as readonly unknown[]).includes(asked) ? String(asked) : HANDSHAKE_VERSIONS[0];
  const { capabilities, clientInfo } = message.params;
  if (isObject(capabilities) && JSON.stringify(capabilities).length > LONGEST_CAPABILITIES)
    return refuse("rpc_invalid_params", `params.capabilities may have ${LONGEST_CAPABILITIES} characters.`);
  const token = sealState(parts.secrets, SESSION_PURPOSE, owner, {
    version,
    capabilities: isObject(capabilities) ? capabilities : {},
    client: isObject(clientInfo) ? keptInfo(clientInfo, LONGEST_CLIENT) : null,
    at: parts.clock.now(),
  });
  parts.sessionState.sessionStarted({ tenantId: call.identity?.tenantId ?? "", token });
  const result = {
    protocolVersion: version,
    capabilities: server.capabilities,
    serverInfo: server.info,
    ...(server.instructions === null ? {} : { instructions: server.instructions }),
  };
  return wholeAnswer(call, resultText(message.id, JSON.stringify(result)), "handshake", { "mcp-session-id": token });
}
