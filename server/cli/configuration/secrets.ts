import { type ConfigurationFile, FROM_ENVIRONMENT, isReference } from "./document.ts";
import { entryName } from "./entry-name.ts";
import { type Kind, KINDS_IN_FILES } from "./kinds.ts";
import { valuesAt } from "./places.ts";
import { type ConfigEntry, isConfigEntry, type ConfigValue } from "./value.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** `{from_env: NAME}` anywhere in an entry becomes what the variable holds; what it names and is not set is told, and left out. */
export function withSecrets(entry: ConfigEntry, env: Environment): { readonly entry: ConfigEntry; readonly unset: readonly string[] } {
  const unset: string[] = [];
  const resolve = (value: ConfigValue): ConfigValue | undefined => {
    if (isReference(value)) {
      const name = value[FROM_ENVIRONMENT];
      const found = env[name];
      if (found === undefined || found === "") unset.push(name);
      else return found;
      return undefined;
    }
    if (Array.isArray(value)) return (value as readonly ConfigValue[]).map((item) => resolve(item) ?? null);
    if (!isConfigEntry(value)) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, member]) => {
        const now = resolve(member);
        return now === undefined ? [] : [[name, now]];
      }),
    );
  };
  return { entry: resolve(entry) as ConfigEntry, unset };
}

/** Where a file, which others read and keep, holds a secret as it is; of the secret itself nothing. */
export function plainSecrets(file: ConfigurationFile): string[] {
  return KINDS_IN_FILES.flatMap((kind) =>
    (file.sections.get(kind.section) ?? []).flatMap((entry) =>
      (kind.secretTexts ?? kind.secrets ?? [])
        .flatMap((place) => valuesAt(entry, place))
        .map(
          ([at]) =>
            `${kind.section} "${entryName(kind, entry)}": ${at} is in the file as it is; { ${FROM_ENVIRONMENT}: NAME } keeps it out`,
        ),
    ),
  );
}

/** What an export says in the places of secrets. */
export class SecretNames {
  private readonly taken = new Set<string>();

  references(kind: Kind, name: string, record: ConfigEntry): ConfigEntry {
    const found: Record<string, ConfigValue> = {};
    for (const member of kind.secrets ?? []) {
      if (record[`has_${member}`] !== true) continue;
      const reference = { [FROM_ENVIRONMENT]: this.variableFor(`${kind.section}_${name}_${member}`) };
      found[member] = member === "credentials" ? { value: reference } : reference;
    }
    return found;
  }

  /** Names of two records may have the same letters of a variable in them, or none at all: one secret is never said to be two's. */
  private variableFor(place: string): string {
    const plain = place.toUpperCase().replace(/[^A-Z0-9]+/g, "_");
    for (let n = 1; ; n++) {
      const variable = n === 1 ? plain : `${plain}_${n}`;
      if (this.taken.has(variable)) continue;
      this.taken.add(variable);
      return variable;
    }
  }
}
