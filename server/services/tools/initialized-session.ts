import type { WholeAnswer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import { isObject } from "../../wire/document.ts";
import { HANDSHAKE_VERSIONS } from "../../wire/mcp/dialect.ts";
import { resultText, type RpcMessage } from "../../wire/mcp/rpc.ts";
import { SESSION_PURPOSE } from "./caller-session.ts";
import { wholeAnswer } from "./relay.ts";
import { sealState } from "./sealed-state.ts";
import type { SynthesizedServer } from "./synthesized-server.ts";
import type { ToolParts } from "./tool-parts.ts";

/** The answer to `initialize`, with the session that holds what was agreed. */
export function initializedSession(
  call: Call,
  message: RpcMessage,
  server: SynthesizedServer,
  owner: string,
  parts: ToolParts,
): WholeAnswer {
  const asked = message.params.protocolVersion;
  const version = (HANDSHAKE_VERSIONS as readonly unknown[]).includes(asked) ? String(asked) : HANDSHAKE_VERSIONS[0];
  const { capabilities, clientInfo } = message.params;
  const token = sealState(parts.secrets, SESSION_PURPOSE, owner, {
    version,
    capabilities: isObject(capabilities) ? capabilities : {},
    client: isObject(clientInfo) ? clientInfo : null,
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
