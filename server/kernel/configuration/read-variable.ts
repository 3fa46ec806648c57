import type { z } from "zod";
import { type Variable, VARIABLES } from "./variables.ts";

type Name = keyof typeof VARIABLES;

export class ConfigurationError extends Error {}

export function readVariable<N extends Name>(
  env: Readonly<Record<string, string | undefined>>,
  name: N,
): z.output<(typeof VARIABLES)[N]["schema"]> | undefined {
  const variable: Variable = VARIABLES[name];
  const given = env[name];
  const value = given === undefined || given === "" ? variable.default : given;
  if (value === undefined) return undefined;
  const parsed = variable.schema.safeParse(value);
  if (parsed.success) return parsed.data as z.output<(typeof VARIABLES)[N]["schema"]>;
  // Redacts passwords even in addresses that should not contain one.
  const shown = variable.secret ? "" : ` (it is ${JSON.stringify(value.replace(/\/\/[^/]*@/, "//***@"))})`;
  const issue = parsed.error.issues[0];
  const reason = issue?.code === "invalid_value" ? `must be ${issue.values.join(" or ")}` : issue?.message;
  throw new ConfigurationError(`${name} ${reason ?? "is not valid"}${shown}`);
}
