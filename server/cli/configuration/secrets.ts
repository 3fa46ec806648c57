import { ATTACHED_DOCUMENTS } from "./attached.ts";
import { type ConfigurationFile, FROM_ENVIRONMENT, isReference } from "./document.ts";
import { entryName } from "./entry-name.ts";
import { type Kind, KINDS_IN_FILES } from "./kinds.ts";
import { valuesAt } from "./places.ts";
import { type ConfigEntry, isConfigEntry, type ConfigValue } from "./value.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Replaces `{from_env: NAME}` anywhere in an entry by the variable's value. References to unset variables are removed and returned in
 * `unset`.
 */
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

/** Where the file, which others read and keep, contains a secret in plain text; the secret itself is not returned. */
export function plainSecrets(file: ConfigurationFile): string[] {
  const attached = ATTACHED_DOCUMENTS.flatMap(({ section, member, secret }) =>
    secret === undefined
      ? []
      : [...(file.attached.get(section) ?? [])].map(([name, entry]) => ({ section, name, entry, places: [`${member}.${secret}`] })),
  );
  const own = KINDS_IN_FILES.flatMap((kind) =>
    (file.sections.get(kind.section) ?? []).map((entry) => ({
      ...{ section: kind.section, name: entryName(kind, entry), entry },
      places: kind.secretTexts ?? kind.secrets ?? [],
    })),
  );
  return [...own, ...attached].flatMap(({ section, name, entry, places }) =>
    places
      .flatMap((place) => valuesAt(entry, place))
      .map(([at]) => `${section} "${name}": ${at} is in the file as it is; { ${FROM_ENVIRONMENT}: NAME } keeps it out`),
  );
}

/** The names of the secret texts within a secret that has members. */
export function secretTextsOf(kind: Kind, secret: string): string[] {
  return (kind.secretTexts ?? []).flatMap((place) => (place.startsWith(`${secret}.`) ? [place.slice(secret.length + 1)] : []));
}

/** The visible part of a secret with members, as in a file: without the secret texts. */
export function shownSettings(kind: Kind, secret: string, record: ConfigEntry): ConfigEntry {
  const shown = record[kind.settings?.[secret] ?? ""];
  const isValue = ([name, value]: [string, ConfigValue]) => value !== null && !name.startsWith("has_");
  return isConfigEntry(shown) ? Object.fromEntries(Object.entries(shown).filter(isValue)) : {};
}

/** The references that an export writes in place of secrets. */
export class SecretNames {
  private readonly taken = new Set<string>();

  /** The entry's secret members, as references. */
  references(kind: Kind, name: string, record: ConfigEntry, entry: ConfigEntry): ConfigEntry {
    const found: Record<string, ConfigValue> = {};
    for (const place of kind.secrets ?? []) {
      const [list = "", inner] = place.split(".*.");
      if (inner !== undefined) Object.assign(found, this.inItems(kind, name, list, inner, found[list] ?? entry[list]));
      else if (record[`has_${place}`] === true)
        found[place] =
          kind.settings?.[place] === undefined ? this.reference(kind, name, place) : this.withMembers(kind, name, place, record);
    }
    return found;
  }

  private withMembers(kind: Kind, name: string, secret: string, record: ConfigEntry): ConfigEntry {
    const shown = record[kind.settings?.[secret] ?? ""];
    const texts = secretTextsOf(kind, secret).filter((text) => isConfigEntry(shown) && shown[`has_${text}`] === true);
    const references = texts.map((text) => [text, this.reference(kind, name, texts.length === 1 ? secret : `${secret}_${text}`)]);
    return { ...shownSettings(kind, secret, record), ...Object.fromEntries(references) };
  }

  /** In each item, replaces the flag that there is a secret by a reference to it. */
  private inItems(kind: Kind, name: string, list: string, inner: string, items: ConfigValue | undefined): ConfigEntry {
    if (!Array.isArray(items) || items.length === 0) return {};
    const resolvedItems = (items as readonly ConfigValue[]).map((item, n) => {
      if (!isConfigEntry(item)) return item;
      const { [`has_${inner}`]: isThere, ...others } = item;
      return isThere === true ? { ...others, [inner]: this.reference(kind, name, `${list}_${n}_${inner}`) } : others;
    });
    return { [list]: resolvedItems };
  }

  /** The reference for a secret at `member`. */
  reference(kind: Kind, name: string, member: string): ConfigEntry {
    return { [FROM_ENVIRONMENT]: this.variableFor(`${kind.section}_${name}_${member}`) };
  }

  /** Names of different records may map to the same variable name, or to an empty one; numbers keep each secret's variable distinct. */
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
