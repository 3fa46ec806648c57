import type { SemanticCacheEntry } from "../../../directory/semantic-cache/config-entry.ts";
import { PolicyTree } from "../../../directory/limits/policy-tree.ts";
import type { SemanticPolicyEntry } from "../../../directory/semantic-policies/policy-entry.ts";
import type { GroupScope, ModelEntry } from "../../../directory/snapshot.ts";
import { chatCodec } from "../../../wire/openai/chat/codec.ts";
import { readChatReply } from "../../../wire/openai/chat/reply.ts";
import { readChatRequest } from "../../../wire/openai/chat/request.ts";
import type { Call } from "../../../road/call.ts";
import { openCall } from "../../../road/record/open.ts";
import type { Conversation } from "../../../road/request/conversation.ts";

/** Everything an answer depends on: two calls may share an answer if all of it is equal. */
export interface Setting {
  readonly tenant: string;
  readonly group: string;
  readonly model: string;
  readonly systemPrompt: string | null;
  readonly temperatureCeiling: number | null;
  readonly policy: string | null;
  readonly guardrail: string | null;
  readonly argumentPolicy: string | null;
  readonly region: string | null;
  readonly config: string;
  readonly beta: string | null;
  /** A caller's header that is forwarded to the provider. */
  readonly role: string | null;
  /** Whether the call is a line of a batch. */
  readonly line: boolean;
  readonly body: { readonly [member: string]: unknown };
}

export const PLAIN_SETTING: Setting = {
  tenant: "acme",
  group: "g",
  model: "m",
  systemPrompt: null,
  temperatureCeiling: null,
  policy: null,
  guardrail: null,
  argumentPolicy: null,
  region: null,
  config: "c",
  beta: null,
  role: null,
  line: false,
  body: { messages: [{ role: "user", content: "x" }] },
};

const EMBEDDER = { id: "e", name: "e", modelName: "e" } as ModelEntry;

/** A chat call in a setting, as it reaches the cache; `text` replaces the body's JSON if given. */
export function callIn(
  at: Setting,
  scope: SemanticCacheEntry["scope"],
  text = JSON.stringify({ model: at.model, ...at.body }),
): { readonly call: Call; readonly conversation: Conversation; readonly cache: SemanticCacheEntry } {
  const entry = {
    id: at.model,
    name: at.model,
    modelName: at.model,
    systemPrompt: at.systemPrompt,
    defaultTemperature: null,
    defaultMaxTokens: null,
    maxOutputTokens: null,
    priceSchedule: [],
    provider: { apiFormat: "openai", baseUrl: "http://x", headers: {}, region: null, passRequestHeaders: ["x-role"] },
  } as unknown as ModelEntry;
  const semanticPolicies: SemanticPolicyEntry[] =
    at.policy === null
      ? []
      : [
          {
            id: "p",
            name: "p",
            constraintText: at.policy,
            action: "block",
            mode: "enforce",
            surfaces: new Set(["chat_input"]),
            judgeModelId: null,
            onFailure: "block",
            timeoutMs: 1,
            groupIds: null,
          },
        ];
  const governance =
    at.temperatureCeiling === null
      ? []
      : [{ groupId: at.group, kind: "llm_governance" as const, itemId: "", document: { temperature: { max: at.temperatureCeiling } } }];
  const cache: SemanticCacheEntry = {
    id: at.config,
    generation: "g",
    scope,
    exactTtl: 60,
    semantic: { ttl: 60, threshold: 0.9, model: EMBEDDER },
    maxTemperature: 0,
    includeTools: false,
    groupIds: new Set([at.group]),
  };
  const tenant = {
    id: at.tenant,
    allowedRegions: new Set(at.region === null ? [] : [at.region]),
    policies: new PolicyTree([{ id: at.group, name: at.group, parentId: null }], governance),
    semanticPolicies,
    guardrails: at.guardrail === null ? [] : [{ version: at.guardrail, groupIds: null }],
    argumentPolicies: at.argumentPolicy === null ? [] : [{ policy: { name: at.argumentPolicy }, groupIds: [at.group] }],
    semanticCaches: [cache],
    defaultJudgeModelId: null,
  };
  const call = openCall(
    new Request("http://gateway/v1/proxy/llm/chat/completions", {
      method: "POST",
      ...(at.role !== null && { headers: { "x-role": at.role } }),
    }),
    "",
    { proxyType: "llm", proxySubtype: at.line ? "batch_line_chat_completions" : "chat_completions" },
    { now: () => 0, micros: () => 0 },
  );
  call.scope = {
    groupId: at.group,
    groupName: at.group,
    tenant,
    chain: [{ id: at.group, name: at.group }],
    granted: new Set([at.model]),
  } as unknown as GroupScope;
  call.target = { kind: "model", route: { group: null, members: [{ model: entry, weight: 1 }] }, model: entry };
  const inbound = readChatRequest(new TextEncoder().encode(text));
  if ("fields" in inbound) throw new Error(JSON.stringify(inbound.fields));
  const conversation: Conversation = {
    inbound,
    caller: chatCodec,
    passing: {
      stream: () => {
        throw new Error("not streamed");
      },
      reply: readChatReply,
    },
    writer: null,
    streamType: "",
    includeUsage: false,
    headers: at.beta === null ? {} : { "openai-beta": at.beta },
    statefulFields: [],
  };
  return { call, conversation, cache };
}
