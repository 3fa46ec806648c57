import type { Kind } from "./kinds.ts";
import { changeAt, valuesAt } from "./places.ts";
import { type ConfigEntry, valueText, type ConfigValue } from "./value.ts";

/** What the records of every section are called, and by which ids the gateway knows them. */
export class Names {
  private readonly ids = new Map<string, Map<string, string>>();
  private readonly names = new Map<string, Map<string, string>>();
  private readonly gone = new Set<string>();

  add(section: string, name: string, id: string): void {
    (this.ids.get(section) ?? this.ids.set(section, new Map()).get(section))?.set(name, id);
    (this.names.get(section) ?? this.names.set(section, new Map()).get(section))?.set(id, name);
  }

  /** Another name of what has one. */
  also(section: string, name: string, id: string): void {
    (this.ids.get(section) ?? this.ids.set(section, new Map()).get(section))?.set(name, id);
  }

  /**
   * What a record names although it is gone, each with its place. The gateway lets that stand, so such an id is its own name from
   * now on.
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

  /** As it stands in a file: names for ids. An id that names nothing stays. */
  named(kind: Pick<Kind, "references">, entry: ConfigEntry): ConfigEntry {
    const named = this.changed(kind, entry, (section, id) => this.nameOf(section, id) ?? id);
    // Lists of references are sets: in one order wherever they are read.
    return Object.fromEntries(
      Object.entries(named).map(([member, value]) => [
        member,
        kind.references?.[member] !== undefined && Array.isArray(value) ? value.map(valueText).toSorted() : value,
      ]),
    );
  }

  /** With the one name of each where others may stand. */
  canonical(kind: Pick<Kind, "references">, entry: ConfigEntry): ConfigEntry {
    return this.changed(kind, entry, (section, name) => this.nameOf(section, this.idOf(section, name) ?? "") ?? name);
  }

  /** As the API wants it. Throws for a name that nothing has. */
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
