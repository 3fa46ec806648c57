import { grantedSkills } from "../../../directory/skills/skill-entry.ts";
import { isDatabaseAway } from "../../../kernel/database-away.ts";
import { isRefusal, reasonOf, refuse } from "../../../kernel/errors.ts";
import type { Call } from "../../../road/call.ts";
import { recordTarget } from "../../../road/outlet.ts";
import type { ToolRoute, ToolTarget } from "../../../road/target.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { statelessResult } from "../../../wire/mcp/bridge.ts";
import { errorText, type RpcMessage, resultText } from "../../../wire/mcp/rpc.ts";
import { skillUriOf } from "../../../wire/mcp/skill-uri.ts";
import { answerGate } from "../answers/answer-gate.ts";
import type { Relay } from "../answers/relay.ts";
import type { SynthesizedServer } from "../servers/synthesized-server.ts";
import { methodNotServed } from "../servers/synthesized-server.ts";
import type { ToolParts } from "../tool-parts.ts";
import type { ToolRequest } from "../tool-request.ts";
import { isConnecting } from "../definitions/guarded-instructions.ts";
import { skillFileRefusal } from "./skill-action.ts";
import { callSkillTool } from "./skill-calls.ts";
import { instructionsFor } from "./skill-instructions.ts";
import { skillDefinitions } from "./skill-definitions.ts";
import type { SkillTools } from "./skill-parts.ts";
import { skillResources } from "./skill-resources.ts";
import { withdrawOutputs } from "./stored-outputs.ts";

const CAPABILITIES: JsonObject = { tools: {}, resources: {}, extensions: { "io.modelcontextprotocol/skills": { directoryRead: true } } };
const NOT_FOUND = { stateless: -32602, handshake: -32002 } as const;

type SkillServerParts = ToolParts & { readonly skills: SkillTools };

/** The server with which agents load and run their skills, in both dialects (interface 4.5). */
export async function skillServerFor(
  call: Call,
  request: ToolRequest,
  route: ToolRoute,
  parts: SkillServerParts,
): Promise<SynthesizedServer> {
  const [target] = route.targets;
  if (target === undefined || call.scope === null) throw new Error("skills are served to nobody");
  const { server } = target;
  const granted = grantedSkills(call.scope, call.identity?.skillIds);
  call.row.server_id = server.id;
  call.row.server_version = server.serverVersion;
  return {
    id: server.id,
    info: { name: server.serverName ?? "", version: server.serverVersion ?? "" },
    capabilities: CAPABILITIES,
    instructions: isConnecting(request.message?.method) ? await instructionsFor(call, granted, parts) : null,
    changes: async () => [],
    async *forward(message, _sender, session): Relay {
      const dialect = session === null ? "stateless" : "handshake";
      const answerText = (result: JsonObject) => {
        const text = JSON.stringify(result);
        return resultText(message.id, session === null ? statelessResult(message.method ?? "", text, null) : text);
      };
      if (message.method === "tools/list") return answerText({ tools: skillDefinitions(granted.map(({ name }) => name)) });
      try {
        return yield* answered(call, { request, route, target, message, dialect, said: answerText }, parts);
      } catch (error) {
        if (!isDatabaseAway(error)) throw error;
        return refuse("database_unavailable", undefined, { reason: reasonOf(error), headers: { "retry-after": "1" } });
      }
    },
  };
}

interface SkillRequest {
  readonly request: ToolRequest;
  readonly route: ToolRoute;
  readonly target: ToolTarget;
  readonly message: RpcMessage;
  readonly dialect: "stateless" | "handshake";
  readonly said: (result: JsonObject) => string;
}

// oxlint-disable-next-line require-yield -- a relay without anything before its answer
async function* answered(call: Call, { request, route, target, message, dialect, said }: SkillRequest, parts: SkillServerParts): Relay {
  const skillRequest = { target, route, message, approvalToken: request.approvalToken, parts };
  let answer: string;
  let content: unknown = null;
  if (message.method === "tools/call") {
    const result = await callSkillTool(call, skillRequest);
    if (isRefusal(result)) return result;
    answer = said(result);
    content = result.content;
  } else {
    const found = await skillResources(call, message, route.skill ?? null, parts.skills);
    if (found === null) return methodNotServed(message.id);
    if ("problem" in found) {
      const code = message.method === "resources/read" ? NOT_FOUND[dialect] : -32602;
      return errorText(message.id, { code, message: String(found.problem) });
    }
    if (route.skill != null) {
      const path = message.method === "resources/read" ? skillUriOf(String(message.params.uri))?.path : undefined;
      const refusal = path === undefined ? null : await skillFileRefusal(call, skillRequest, route.skill, path);
      if (refusal !== null) return refusal;
      const unrecorded = recordTarget(call, `${target.server.url}/${encodeURIComponent(route.skill.name)}`, message.document.text(), parts);
      if (unrecorded !== null) return unrecorded;
    }
    answer = said(found);
  }
  const gated = await answerGate(call, target, answer, undefined, parts, "skill_output");
  if (gated === null || typeof gated === "string") return gated ?? answer;
  await withdrawOutputs(call, content, parts.skills);
  return gated;
}
