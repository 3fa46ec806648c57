import { type Fields, merge } from "../directory/limits/merge.ts";
import type { GroupScope, ModelEntry } from "../directory/snapshot.ts";
import { BannedText } from "./banned-text.ts";
import type { Call } from "./call.ts";
import { routeOf } from "./target.ts";

/** Parameter governance as a call is held to it: merged, with its patterns compiled. */
export interface Governance {
  readonly none: boolean;
  readonly maxTemperature: number | null;
  readonly rejectTemperature: boolean;
  readonly maxOutputTokens: number | null;
  readonly maxInputTokens: number | null;
  readonly rejectTokens: boolean;
  readonly toolMode: "allow" | "approval_required" | "deny";
  /** Null: all. */
  readonly allowedTools: ReadonlySet<string> | null;
  readonly blockedTools: ReadonlySet<string>;
  readonly maxToolCalls: number | null;
  readonly prepend: readonly string[];
  readonly append: readonly string[];
  readonly bannedPatterns: readonly BannedText[];
  /** Bytes that the fragments add to the request. */
  readonly addedBytes: number;
}

const compiled = new WeakMap<GroupScope, Map<string, Governance>>();

/** Compiled when a group's calls first meet a model under a configuration, then found in memory. */
export function governanceOf(call: Call, model: ModelEntry): Governance {
  const scope = call.scope as GroupScope;
  let byModel = compiled.get(scope);
  if (byModel === undefined) {
    byModel = new Map();
    compiled.set(scope, byModel);
  }
  const members = routeOf(call)?.group == null ? [model] : (routeOf(call)?.members ?? []).map((member) => member.model);
  const key = members.map(({ id }) => id).join(" ");
  let found = byModel.get(key);
  if (found === undefined) {
    // Any member of a routing group may serve the call, so what is set for each of them holds.
    const { policies } = scope.tenant;
    found = compileGovernance(members.map(({ id }) => policies.effective(scope.groupId, "llm_governance", id)).reduce(merge));
    byModel.set(key, found);
  }
  return found;
}

function compileGovernance(fields: Fields): Governance {
  const number = (path: string) => (fields.get(path) as number | undefined) ?? null;
  const list = (path: string) => (fields.get(path) as readonly string[] | undefined) ?? [];
  const allowed = fields.get("tool_use.allowed_tools") as readonly string[] | undefined;
  const [prepend, append] = [list("system_prompt.prepend"), list("system_prompt.append")];
  return {
    none: fields.size === 0,
    maxTemperature: number("temperature.max"),
    rejectTemperature: fields.get("temperature.enforce") === "reject",
    maxOutputTokens: number("context_window.max_output_tokens"),
    maxInputTokens: number("context_window.max_input_tokens"),
    rejectTokens: fields.get("context_window.enforce") === "reject",
    toolMode: (fields.get("tool_use.mode") as Governance["toolMode"] | undefined) ?? "allow",
    allowedTools: allowed === undefined ? null : new Set(allowed),
    blockedTools: new Set(list("tool_use.blocked_tools")),
    maxToolCalls: number("tool_use.max_tool_calls_per_request"),
    prepend,
    append,
    bannedPatterns: list("system_prompt.banned_patterns").map((source) => new BannedText(source)),
    // Each fragment may stand in a message of its own, whose frame takes some tokens too.
    addedBytes: [...prepend, ...append].reduce((sum, text) => sum + Buffer.byteLength(text) + 32, 0),
  };
}
