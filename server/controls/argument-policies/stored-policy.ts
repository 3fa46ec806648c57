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

/** Converts a stored policy to its compilable form. */
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

/** The errors, by field, that keep a policy from being compiled. */
export const checkStoredPolicy: CheckArgumentPolicy = (policy) => {
  const made = compilePolicy(writtenPolicy(policy));
  return made.ok ? [] : made.fields;
};

// oxlint-disable-next-line require-yield -- it is said at once
function* counted<T>(what: T): InTurns<T> {
  return what;
}

/** Compiles a stored policy. Any failure in it counts against the call. */
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
  // It was valid when written, so only a change in the gateway can have broken it.
  if (!made.ok) return { id, target, severity, judge: () => counted(broken("The policy on this tool cannot be read.")), unjudged: broken };
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
