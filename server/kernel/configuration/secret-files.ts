import { readFileSync } from "node:fs";
import { reasonOf } from "../errors.ts";
import { ConfigurationError } from "./read-variable.ts";
import { type Variable, VARIABLES } from "./variables.ts";

/**
 * Replaces settings that name a file (`GW_SECRET_KEY_FILE`) by the file's content, in `env` itself, as orchestrators pass secrets. Only
 * secrets may be given this way. Throws `ConfigurationError`.
 */
export function readSecretFiles(env: Record<string, string | undefined>): void {
  for (const [name, { secret }] of Object.entries<Variable>(VARIABLES)) {
    const setting = `${name}_FILE`;
    const path = env[setting];
    if (secret !== true || path === undefined) continue;
    delete env[setting];
    if (path === "") continue;
    if ((env[name] ?? "") !== "") throw new ConfigurationError(`${name} and ${setting} are both set: one of them has to go`);
    env[name] = contentsOf(setting, path);
  }
}

function contentsOf(setting: string, path: string): string {
  let text: string;
  try {
    text = readFileSync(path, "utf8").replace(/[\r\n]+$/, "");
  } catch (error) {
    throw new ConfigurationError(`${setting} names a file that cannot be read: ${reasonOf(error)}`);
  }
  if (text === "") throw new ConfigurationError(`${setting} names a file with nothing in it (${path})`);
  return text;
}
