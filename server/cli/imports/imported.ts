import { type ConfigEntry, type ConfigValue, isConfigEntry } from "../configuration/value.ts";

/** Naming hundreds would say no more. */
const MAX_NAMES = 20;

export function quotedNames(names: readonly string[]): string {
  const quoted = names.slice(0, MAX_NAMES).map((name) => `"${name}"`);
  return `${quoted.join(", ")}${names.length > quoted.length ? ` and ${names.length - quoted.length} more` : ""}`;
}

/** Another gateway's configuration as it is converted, before it is written as a file. */
export class Imported {
  private readonly sections = new Map<string, Map<string, ConfigEntry>>();
  /** What has no equivalent here or must be done by hand, in order of occurrence. */
  readonly notes: string[] = [];
  /** Variables that the file refers to, and where their values are today. */
  readonly variables = new Map<string, string>();
  /** Models of unknown price. */
  readonly #unpriced = new Set<string>();
  /** Variables by the identity of the secret they hold. */
  private readonly named = new Map<string, string>();
  /** Variables that the imported configuration itself uses for secrets. */
  private readonly taken = new Set<string>();

  note(text: string): void {
    if (!this.notes.includes(text)) this.notes.push(text);
  }

  unpriced(model: string): void {
    this.#unpriced.add(model);
  }

  get isPriced(): boolean {
    return this.#unpriced.size === 0;
  }

  noteUnpriced(): void {
    if (this.#unpriced.size > 0)
      this.note(`no price is known for ${quotedNames([...this.#unpriced])}: their calls cost nothing in budgets until it is set`);
  }

  add(section: string, name: string, entry: ConfigEntry): void {
    const all = this.sections.get(section) ?? new Map<string, ConfigEntry>();
    this.sections.set(section, all.set(name, entry));
  }

  /** Adds a model that is reached through its routing group: the portal does not show the member itself. */
  addMember(group: string, name: string, entry: ConfigEntry): void {
    this.add("llms", name, entry);
    const { llms, ...own } = this.find("resource_groups", group) ?? { name: group };
    this.add("resource_groups", group, { ...own, llms: { ...(isConfigEntry(llms) ? llms : {}), [name]: { portal_visible: false } } });
  }

  find(section: string, name: string): ConfigEntry | undefined {
    return this.sections.get(section)?.get(name);
  }

  count(section: string): number {
    return this.sections.get(section)?.size ?? 0;
  }

  all(section: string): ConfigEntry[] {
    return [...(this.sections.get(section)?.values() ?? [])];
  }

  /** The key of the provider's record: an existing one with the same content, or a new one. */
  provider(key: string, record: ConfigEntry): string {
    for (let n = 1; ; n++) {
      const name = n === 1 ? key : `${key}-${n}`;
      const entry = { provider_key: name, ...record };
      const there = this.find("providers", name);
      if (there === undefined) this.add("providers", name, entry);
      if (there === undefined || JSON.stringify(there) === JSON.stringify(entry)) return name;
    }
  }

  /** A name that no other record of the section has. */
  freeName(section: string, wanted: string): string {
    for (let n = 1; ; n++) {
      const name = n === 1 ? wanted : `${wanted}-${n}`;
      if (this.find(section, name) === undefined) return name;
    }
  }

  secret(variable: string, standsAt: string): ConfigEntry {
    if (!this.variables.has(variable)) this.variables.set(variable, standsAt);
    return { from_env: variable };
  }

  take(variables: Iterable<string>): void {
    for (const variable of variables) this.taken.add(variable);
  }

  /** A reference for a secret without a variable. The same secret always gets the same variable, and different ones never share one. */
  namedSecret(identity: string, wanted: string, standsAt: string): ConfigEntry {
    const known = this.named.get(identity);
    if (known !== undefined) return { from_env: known };
    for (let n = 1; ; n++) {
      const variable = n === 1 ? wanted : `${wanted}_${n}`;
      if (this.variables.has(variable) || this.taken.has(variable)) continue;
      this.named.set(identity, variable);
      return this.secret(variable, standsAt);
    }
  }

  file(order: readonly string[]): Record<string, ConfigValue> {
    return Object.fromEntries(order.filter((section) => this.count(section) > 0).map((section) => [section, this.all(section)]));
  }
}
