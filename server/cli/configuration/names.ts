import type { Kind } from "./kinds.ts";
import { changeAt, valuesAt } from "./places.ts";
import { type ConfigEntry, valueText, type ConfigValue } from "./value.ts";

/** Maps the names of every section's records to the gateway's IDs and back. */
export class Names {
  private readonly ids = new Map<string, Map<string, string>>();
  private readonly names = new Map<string, Map<string, string>>();
  private readonly gone = new Set<string>();

  add(section: string, name: string, id: string): void {
    (this.ids.get(section) ?? this.ids.set(section, new Map()).get(section))?.set(name, id);
    (this.names.get(section) ?? this.names.set(section, new Map()).get(section))?.set(id, name);
  }

  /** Adds another name for an existing record. */
  also(section: string, name: string, id: string): void {
    (this.ids.get(section) ?? this.ids.set(section, new Map()).get(section))?.set(name, id);
  }

  /**
   * Deleted records that a record still refers to, each with its place. The gateway allows such references, so the ID serves as the name
   * from now on.
   */
  addGone({ references }: Pick<Kind, "references">, record: ConfigEntry): [string, string][] {
    return Object.entries(references ?? {}).flatMap(([place, section]) => {
      const found = valuesAt(record, place).filter(([, id]) => {
        const isGone = this.nameOf(section, id) === undefined;
        if (isGone) this.gone.add(`${section} ${id}`);
        return this.gone.has(`${section} ${id}`);
      });
      for (const [, id] of found) this.add(section, id, id);
      return found;
    });
  }

  idOf(section: string, name: string): string | undefined {
    return this.ids.get(section)?.get(name);
  }

  nameOf(section: string, id: string): string | undefined {
    return this.names.get(section)?.get(id);
  }

  /** In file form: names instead of IDs. Unknown IDs stay. */
  named(kind: Pick<Kind, "references">, entry: ConfigEntry): ConfigEntry {
    const named = this.changed(kind, entry, (section, id) => this.nameOf(section, id) ?? id);
    // Lists of references are sets, sorted to be the same wherever they are read.
    return Object.fromEntries(
      Object.entries(named).map(([member, value]) => [
        member,
        kind.references?.[member] !== undefined && Array.isArray(value) ? value.map(valueText).toSorted() : value,
      ]),
    );
  }

  /** Replaces alternative names by the canonical one. */
  canonical(kind: Pick<Kind, "references">, entry: ConfigEntry): ConfigEntry {
    return this.changed(kind, entry, (section, name) => this.nameOf(section, this.idOf(section, name) ?? "") ?? name);
  }

  /** In API form: IDs instead of names. Throws for an unknown name. */
  identified(kind: Pick<Kind, "references">, entry: ConfigEntry): ConfigEntry {
    return this.changed(kind, entry, (section, name, at) => {
      const id = this.idOf(section, name);
      if (id === undefined) throw new Error(`${at}: there is no "${name}" among ${section}`);
      return id;
    });
  }

  private changed(
    kind: Pick<Kind, "references">,
    entry: ConfigEntry,
    change: (section: string, value: string, at: string) => string,
  ): ConfigEntry {
    return Object.entries(kind.references ?? {}).reduce(
      (now, [place, section]) =>
        changeAt(now, place, (value, at) => {
          const one = (item: ConfigValue): ConfigValue => (typeof item === "string" ? change(section, item, at) : item);
          return Array.isArray(value) ? (value as readonly ConfigValue[]).map(one) : one(value);
        }),
      entry,
    );
  }
}
