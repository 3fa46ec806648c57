/**
 * How a group's limit and governance documents merge with those of its ancestors (interface 8.1, 8.3). Everything that
 * merges, compares or validates documents uses this table, which has one rule per field.
 */

/** A stored document: at most two levels deep. Null and absent both mean unset. */
export type PolicyDocument = Readonly<Record<string, unknown>>;

export const POLICY_KINDS = [
  "llm_limits",
  "llm_governance",
  "mcp_limits",
  "skill_limits",
  "media_governance",
  "run_ceilings",
  "web_search",
] as const;
export type PolicyKind = (typeof POLICY_KINDS)[number];

/**
 * `lowest`, `highest`: the tighter number wins. `either`: true if any level says so. `intersect`: only what all allow.
 * `unite`: everything that any requires. `nearest`: not a restriction (a warning), so the group's own value wins.
 * `domains`: only domains that all allow, where a name includes its subdomains. A list gives values from loosest to
 * tightest.
 */
export type MergeRule = "lowest" | "highest" | "either" | "intersect" | "domains" | "unite" | "nearest" | readonly string[];

const ENFORCE = ["clamp", "reject"] as const;

/** Fields that are not simply a ceiling. */
const RULES: Readonly<Record<string, MergeRule>> = {
  "budget.hard_stop": "either",
  "throughput.cooldown_seconds": "highest",
  "frequency.cooldown_seconds": "highest",
  "temperature.enforce": ENFORCE,
  "context_window.enforce": ENFORCE,
  "tool_use.mode": ["allow", "approval_required", "deny"],
  "tool_use.vendor_ids": ["allow", "refuse"],
  "tool_use.allowed_tools": "intersect",
  "tool_use.blocked_tools": "unite",
  "domains.allowed": "domains",
  "domains.denied": "unite",
  "search.safe_search": ["off", "moderate", "strict"],
  "fetch.addresses": ["any", "known", "none"],
  "system_prompt.prepend": "unite",
  "system_prompt.append": "unite",
  "system_prompt.banned_patterns": "unite",
};

/** `path` is `family.field`. Media fields are recognized by the form of their names, because their modes are open-ended. */
export function mergeRuleOf(path: string): MergeRule {
  const known = RULES[path];
  if (known !== undefined) return known;
  const field = path.slice(path.indexOf(".") + 1);
  if (field.endsWith("_warning_percent")) return "nearest";
  if (field.endsWith("_whitelist")) return "intersect";
  if (field === "speed_min") return "highest";
  if (field.startsWith("require_")) return "either";
  return "lowest";
}
