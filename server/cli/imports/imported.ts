import { type ConfigEntry, type ConfigValue, isConfigEntry } from "../configuration/value.ts";

/** A list of hundreds tells as much by its first. */
const MOST_NAMES = 20;

export function quotedNames(names: readonly string[]): string {
  const told = names.slice(0, MOST_NAMES).map((name) => `"${name}"`);
  return `${told.join(", ")}${names.length > told.length ? ` and ${names.length - told.length} more` : ""}`;
}

/** What an import makes of another gateway's configuration, before it is written as a file of ours. */
export class Imported {
  private readonly sections = new Map<string, Map<string, ConfigEntry>>();
  /** What has no equivalent here, and what has to be done by hand, in the order in which it was met. */
  readonly notes: string[] = [];
  /** Variables that the file names, and where what they are to hold stands today. */
  readonly variables = new Map<string, string>();
  /** Models of which nobody knows what they cost. */
  readonly #unpriced = new Set<string>();
  /** Variables by what makes the secret in them another one. */
  private readonly named = new Map<string, string>();
  /** Variables that what is imported has for secrets of its own. */
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

  /** A model of `group` that its routing group is asked for: the portal offers nobody the member itself. */
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

  /** The key of the provider's record: the one there is of the same content, or a new one. */
  provider(key: string, record: ConfigEntry): string {
    for (let n = 1; ; n++) {
      const name = n === 1 ? key : `${key}-${n}`;
      const entry = { provider_key: name, ...record };
      const there = this.find("providers", name);
      if (there === undefined) this.add("providers", name, entry);
      if (there === undefined || JSON.stringify(there) === JSON.stringify(entry)) return name;
    }
  }

  /** A name for a record that no other of the section has. */
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

  /** Of a secret that has no variable yet. The same secret is the same variable everywhere, and two are never one. */
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
