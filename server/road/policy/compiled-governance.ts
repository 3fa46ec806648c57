import type { Fields } from "../../directory/limits/merge.ts";
import { BannedText } from "../request/banned-text.ts";

/** Parameter governance as applied to a call: merged, with its patterns compiled. */
export interface Governance {
  readonly none: boolean;
  readonly maxTemperature: number | null;
  readonly rejectTemperature: boolean;
  readonly maxOutputTokens: number | null;
  readonly maxInputTokens: number | null;
  readonly rejectTokens: boolean;
  readonly toolMode: "allow" | "approval_required" | "deny";
  /** Null allows all tools. */
  readonly allowedTools: ReadonlySet<string> | null;
  readonly blockedTools: ReadonlySet<string>;
  /** Whether a request must not refer to anything stored in the vendor's account. */
  readonly refusesVendorIds: boolean;
  readonly maxToolCalls: number | null;
  readonly prepend: readonly string[];
  readonly append: readonly string[];
  readonly bannedPatterns: readonly BannedText[];
  /** Bytes that the prepended and appended fragments add to the request. */
  readonly addedBytes: number;
}

export function compileGovernance(fields: Fields): Governance {
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
    refusesVendorIds: fields.get("tool_use.vendor_ids") === "refuse",
    maxToolCalls: number("tool_use.max_tool_calls_per_request"),
    prepend,
    append,
    bannedPatterns: list("system_prompt.banned_patterns").map((source) => new BannedText(source)),
    // Each fragment may become a message of its own, whose framing costs some tokens too.
    addedBytes: [...prepend, ...append].reduce((sum, text) => sum + Buffer.byteLength(text) + 32, 0),
  };
}
