import type { CheckArgumentPolicy } from "../../directory/policies/argument-policies.ts";
import type { CompileArgumentPolicy } from "../../directory/policies/argument-policy-entry.ts";
import type { InTurns } from "../../kernel/scheduling/in-turns.ts";
import type { CompiledArgumentPolicy } from "./argument-policy.ts";
import { compilePolicy } from "./compile-policy.ts";

type Stored = Parameters<CheckArgumentPolicy>[0];
type Written = Pick<
  Stored,
  "id" | "name" | "target" | "argument_key" | "analyzer" | "severity" | "rules" | "dialect" | "read_functions" | "schema"
>;

/** A policy of the directory as it is compiled. */
export function writtenPolicy({
  id,
  name,
  target,
  argument_key,
  analyzer,
  severity,
  rules,
  dialect,
  read_functions,
  schema,
}: Written): CompiledArgumentPolicy {
  return {
    id,
    name,
    target,
    argument_key: argument_key ?? null,
    analyzer,
    severity: severity === "warn" ? "warn" : "deny",
    rules,
    ...(dialect == null ? {} : { dialect }),
    ...(read_functions == null ? {} : { read_functions }),
    ...(schema == null ? {} : { schema }),
  };
}

/** The problems that keep a policy from being compiled, by field. */
export const checkStoredPolicy: CheckArgumentPolicy = (policy) => {
  const made = compilePolicy(writtenPolicy(policy));
  return made.ok ? [] : made.fields;
};

// oxlint-disable-next-line require-yield -- it is said at once
function* said<T>(what: T): InTurns<T> {
  return what;
}

/** A stored policy, ready to judge: whatever goes wrong in it speaks against the call. */
export const compileStoredPolicy: CompileArgumentPolicy = async (row) => {
  const { id, target } = row;
  const severity = row.severity === "warn" ? "warn" : "deny";
  const broken = (why: string) =>
    ({
      policy_id: id,
      policy: row.name,
      tool: target,
      argument_key: row.argument_key,
      severity,
      rule: "unparseable",
      message: why,
    }) as const;
  const made = compilePolicy(writtenPolicy(row));
  // It was checked when it was written: only a change of the gateway itself can have broken it since.
  if (!made.ok) return { id, target, severity, judge: () => said(broken("The policy on this tool cannot be read.")), unjudged: broken };
  const { policy } = made;
  // Without its parser a policy finds everything unparseable.
  await policy.prepare().catch(() => undefined);
  return {
    id,
    target,
    severity,
    *judge(argumentsText, budget) {
      try {
        return yield* policy.judge(argumentsText, budget);
      } catch {
        return policy.unjudged("The arguments could not be analysed.");
      }
    },
    unjudged: (why) => policy.unjudged(why),
  };
};
