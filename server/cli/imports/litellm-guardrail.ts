import type { ConfigEntry } from "../configuration/value.ts";
import type { Imported } from "./imported.ts";
import type { Variables } from "./litellm-variables.ts";

/** A guardrail of LiteLLM. */
export interface Guardrail {
  readonly name: string;
  readonly at: string;
  readonly params: ConfigEntry;
  readonly unset: ReadonlyMap<string, string>;
  /** Members of every configuration made of it. */
  readonly common: ConfigEntry;
  readonly variables: Variables;
}

/** Adds a configuration with these checks. */
export function addConfiguration({ name, common }: Guardrail, checks: ConfigEntry, into: Imported, suffix = ""): true {
  const free = into.freeName("guardrail_configs", `${name}${suffix}`);
  into.add("guardrail_configs", free, { name: free, ...common, ...checks });
  return true;
}
