import type { Environment } from "../configuration/secrets.ts";
import { isConfigEntry, type ConfigEntry, type ConfigValue } from "../configuration/value.ts";
import type { Imported } from "./imported.ts";

const PREFIX = "os.environ/";

/** Members whose values are never copied into the file: it refers to a variable instead. */
const SECRETS = new Set([
  "api_key",
  "aws_access_key_id",
  "aws_secret_access_key",
  "aws_session_token",
  "vertex_credentials",
  "auth_value",
  "authentication_token",
]);

/** The variable that LiteLLM would read a value from; null if the value is in the file. */
export function variableNamed(value: ConfigValue | undefined): string | null {
  return typeof value === "string" && value.startsWith(PREFIX) ? value.slice(PREFIX.length) : null;
}

export function variablesNamedIn(value: ConfigValue): string[] {
  if (Array.isArray(value)) return (value as readonly ConfigValue[]).flatMap(variablesNamedIn);
  if (isConfigEntry(value)) return Object.values(value).flatMap(variablesNamedIn);
  const variable = variableNamed(value);
  return variable === null ? [] : [variable];
}

/** The environment of LiteLLM's process: what its file sets, over that of the import. */
export class Variables {
  readonly #own: ConfigEntry;
  readonly #env: Environment;

  constructor(own: ConfigEntry, env: Environment) {
    this.#own = own;
    this.#env = env;
  }

  valueOf(name: string): string | null {
    const own = this.#own[name];
    const found = typeof own === "string" && variableNamed(own) === null ? own : this.#env[name];
    return found === undefined || found === "" ? null : found;
  }

  /** The members of an entry with variables replaced by their values, and the variables that are unset. Secrets are left alone. */
  resolved(entry: ConfigEntry): { readonly found: ConfigEntry; readonly unset: ReadonlyMap<string, string> } {
    const found: Record<string, ConfigValue> = {};
    const unset = new Map<string, string>();
    for (const [member, value] of Object.entries(entry)) {
      const variable = SECRETS.has(member) ? null : variableNamed(value);
      const held = variable === null ? value : this.valueOf(variable);
      if (variable !== null && held === null) unset.set(member, variable);
      else if (isConfigEntry(held)) found[member] = this.resolvedWithin(held, member, unset);
      else found[member] = held;
    }
    return { found, unset };
  }

  /** The settings of a section. Adds a note for each used setting whose variable is unset. */
  settings(section: string, value: ConfigValue | undefined, read: ReadonlySet<string>, into: Imported): ConfigEntry {
    const given = isConfigEntry(value) ? value : {};
    const { found, unset } = this.resolved(given);
    for (const [member, variable] of unset) if (read.has(member)) into.note(`${section}.${member}: ${notSet(variable)}`);
    return { ...Object.fromEntries(Object.entries(given).filter(([member]) => !read.has(member))), ...found };
  }

  private resolvedWithin(entry: ConfigEntry, at: string, unset: Map<string, string>): ConfigEntry {
    const inner = this.resolved(entry);
    for (const [member, variable] of inner.unset) unset.set(`${at}.${member}`, variable);
    return inner.found;
  }
}

export function notSet(variable: string): string {
  return `the variable ${variable} is not set where the import runs; set it and import again`;
}
