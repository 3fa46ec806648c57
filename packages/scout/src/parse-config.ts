import { JSONC, TOML, YAML } from "bun";

/** Syntaxes of clients' configuration files. JSON may contain comments. */
export type Syntax = "json" | "toml" | "yaml";

/** Null if the text does not parse. */
export function parseConfig(syntax: Syntax, text: string): unknown {
  try {
    switch (syntax) {
      case "json":
        return JSONC.parse(text);
      case "toml":
        return TOML.parse(text);
      case "yaml":
        return YAML.parse(text);
    }
  } catch {
    return null;
  }
}

export type Members = Readonly<Record<string, unknown>>;

export const membersOf = (value: unknown): Members =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : {};

export const itemsIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
