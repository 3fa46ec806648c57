import { holdsFor } from "../../directory/policies/bound-groups.ts";
import type { ArgumentPolicyEntry } from "../../directory/policies/argument-policy-entry.ts";
import type { GroupScope } from "../../directory/snapshot.ts";
import { type FieldError, type Refusal, refuse } from "../../kernel/errors.ts";
import type { Call } from "../call.ts";
import type { ArgumentPolicy } from "./argument-policy.ts";
import { type CompiledPolicy, compilePolicy, type PolicyHit } from "./compile-policy.ts";

type Written = Omit<ArgumentPolicy, "dialect" | "read_functions" | "schema"> & { readonly dialect: string | null; readonly read_functions: readonly string[] | null; readonly schema: unknown };

/** What of a policy keeps it from judging, each with its field. */
export function problemsOfPolicy(policy: Written): readonly FieldError[] {
  const compilation = compilePolicy(present(policy));
  return compilation.ok ? [] : compilation.fields;
}

function present({ dialect, read_functions: functions, schema, ...policy }: Written): ArgumentPolicy {
  return { ...policy, ...(dialect === null ? {} : { dialect }), ...(functions === null ? {} : { read_functions: functions }), ...(schema === null ? {} : { schema }) };
}

interface Policies {
  readonly byTool: ReadonlyMap<string, readonly CompiledPolicy[]>;
  readonly ready: Promise<void>;
}

const compiled = new WeakMap<GroupScope, Policies | null>();

/** Compiled when a group's calls first need them under a configuration, then found in memory. */
function policiesOf(scope: GroupScope): Policies | null {
  let found = compiled.get(scope);
  if (found === undefined) {
    found = compileAll(scope.tenant.argumentPolicies.filter(({ groupIds }) => holdsFor(groupIds, scope.chain)));
    compiled.set(scope, found);
  }
  return found;
}

function compileAll(entries: readonly ArgumentPolicyEntry[]): Policies | null {
  if (entries.length === 0) return null;
  const byTool = new Map<string, CompiledPolicy[]>();
  for (const { policy } of entries) {
    const compilation = compilePolicy(present(policy));
    // It was compiled before it was stored; a release that can no longer do it must not let calls through unjudged.
    if (!compilation.ok) throw new Error(`the argument policy ${policy.id} does not compile: ${compilation.fields.map(({ message }) => message).join("; ")}`);
    const known = byTool.get(policy.target);
    if (known === undefined) byTool.set(policy.target, [compilation.policy]);
    else known.push(compilation.policy);
  }
  const all = [...byTool.values()].flat();
  return { byTool, ready: Promise.all(all.map((policy) => policy.prepare())).then(() => undefined) };
}

/** The argument policies of one call: judges the tool calls made in it, and tells its row. */
export class ToolCallPolicies {
  private readonly byTool: Policies["byTool"];
  private readonly call: Call;
  private readonly passed = new Set<string>();

  private constructor(call: Call, byTool: Policies["byTool"]) {
    this.call = call;
    this.byTool = byTool;
  }

  /** Null where the call's group has none. Waits for the parsers they need, the first time. */
  static async of(call: Call): Promise<ToolCallPolicies | null> {
    const policies = call.scope === null || call.scope.tenant.argumentPolicies.length === 0 ? null : policiesOf(call.scope);
    if (policies === null) return null;
    await policies.ready;
    return new ToolCallPolicies(call, policies.byTool);
  }

  /**
   * Judges a call of the tool `name` with its arguments as JSON text. Null lets it pass; a policy that only warns marks
   * the row. A policy that fails denies.
   */
  judge(name: string, argumentsText: string): Refusal | null {
    const policies = this.byTool.get(name);
    const key = `${name}\n${argumentsText}`;
    if (policies === undefined || this.passed.has(key)) return null;
    const { row } = this.call;
    for (const policy of policies.toSorted((a, b) => (a.severity === b.severity ? 0 : a.severity === "deny" ? -1 : 1))) {
      const hit = judged(policy, name, argumentsText);
      if (hit === null) continue;
      if (hit.severity === "warn") {
        row.argument_policy_id ??= hit.policy_id;
        continue;
      }
      row.argument_policy_id = hit.policy_id;
      row.argument_policy_denied = true;
      return refuse("argument_policy_denied", hit.message, { extra: { policy: hit.policy, tool: hit.tool, argument_key: hit.argument_key } });
    }
    this.passed.add(key);
    return null;
  }
}

function judged(policy: CompiledPolicy, tool: string, argumentsText: string): PolicyHit | null {
  try {
    return policy.judge(argumentsText);
  } catch {
    return { policy_id: policy.id, policy: policy.name, tool, argument_key: null, severity: policy.severity, rule: "unparseable", message: "The arguments could not be judged." };
  }
}
