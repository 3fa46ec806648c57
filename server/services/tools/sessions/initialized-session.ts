import type { WholeAnswer } from "../../../road/answer.ts";
import type { Call } from "../../../road/call.ts";
import { type Refusal, refuse } from "../../../kernel/errors.ts";
import { isObject } from "../../../kernel/json-value.ts";
import { HANDSHAKE_VERSIONS } from "../../../wire/mcp/dialect.ts";
import { resultText, type RpcMessage } from "../../../wire/mcp/rpc.ts";
import { SESSION_PURPOSE } from "./caller-session.ts";
import { wholeAnswer } from "../answers/relay.ts";
import { truncatedInfo } from "./session-pool.ts";
import { definitionsIn, messageGate } from "../answers/answer-gate.ts";
import { sealState } from "./sealed-state.ts";
import type { SynthesizedServer } from "../servers/synthesized-server.ts";
import type { ToolParts } from "../tool-parts.ts";

/** In characters. The session ID contains both and is sent as a header with every request; headers are limited to 16 KB in total. */
const MAX_CAPABILITIES_LENGTH = 6_000;
const MAX_CLIENT_LENGTH = 1_000;

/** The answer to `initialize`, with a session ID that contains what was negotiated. */
export async function initializedSession(
  call: Call,
  message: RpcMessage,
  server: SynthesizedServer,
  owner: string,
  parts: ToolParts,
): Promise<WholeAnswer | Refusal> {
  const requestedVersion = message.params.protocolVersion;
  const version = (HANDSHAKE_VERSIONS as readonly unknown[]).includes(requestedVersion) ? String(requestedVersion) : HANDSHAKE_VERSIONS[0];
  const { capabilities, clientInfo } = message.params;
  if (isObject(capabilities) && JSON.stringify(capabilities).length > MAX_CAPABILITIES_LENGTH)
    return refuse("rpc_invalid_params", `params.capabilities may have ${MAX_CAPABILITIES_LENGTH} characters.`);
  const text = resultText(
    message.id,
    JSON.stringify({
      protocolVersion: version,
      capabilities: server.capabilities,
      serverInfo: server.info,
      ...(server.instructions === null ? {} : { instructions: server.instructions }),
    }),
  );
  const inspected = (await messageGate(call, text, parts, definitionsIn(message.method))) ?? text;
  if (typeof inspected !== "string") return inspected;
  const token = sealState(parts.secrets, SESSION_PURPOSE, owner, {
    version,
    capabilities: isObject(capabilities) ? capabilities : {},
    client: isObject(clientInfo) ? truncatedInfo(clientInfo, MAX_CLIENT_LENGTH) : null,
    at: parts.clock.now(),
  });
  parts.sessionState.sessionStarted({ tenantId: call.identity?.tenantId ?? "", token });
  return wholeAnswer(call, inspected, "handshake", { "mcp-session-id": token });
}
