import { useSyncExternalStore } from "react";
import { keepBrowserText, browserText } from "./page-storage.ts";

export interface Plural {
  readonly other: string;
  readonly one?: string;
  readonly few?: string;
  readonly many?: string;
}

/** Every text of an app, by a name. A language has all of them: its file `satisfies` the type of the first. */
export type Texts = Readonly<Record<string, string | Plural>>;

/** The shape every other language of an app must have. */
export type TranslationOf<First extends Texts> = { readonly [Key in keyof First]: First[Key] extends string ? string : Plural };

type Values = Readonly<Record<string, string | number>>;

const KEY = "gatehouse.language";

/** The texts of an app in the language of its reader: what they chose, else the first of the browser's that there is, else the first. */
export class Translations<First extends Texts> {
  private readonly first: First;
  private readonly others: Readonly<Record<string, () => Promise<{ default: TranslationOf<First> }>>>;
  private readonly listeners = new Set<() => void>();
  private texts: TranslationOf<First>;
  private language = "en";

  constructor(first: First, others: Readonly<Record<string, () => Promise<{ default: TranslationOf<First> }>>>) {
    this.first = first;
    this.texts = first as TranslationOf<First>;
    this.others = others;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly locale = (): string => this.language;

  /** With the region that the browser asks for, where it is of the same language. */
  tag(): string {
    return navigator.languages.find((tag) => tag.split("-")[0] === this.language) ?? this.language;
  }

  languages(): readonly string[] {
    return ["en", ...Object.keys(this.others)];
  }

  async start(): Promise<void> {
    const known = this.languages();
    const kept = browserText("localStorage", KEY);
    const wanted = [...(kept === null ? [] : [kept]), ...navigator.languages].map((tag) => tag.split("-")[0] ?? "");
    await this.use(wanted.find((tag) => known.includes(tag)) ?? "en");
  }

  async choose(language: string): Promise<void> {
    keepBrowserText("localStorage", KEY, language);
    await this.use(language);
  }

  /** A text with its `{names}` filled. A plural takes its form by `count`. */
  readonly t = (key: keyof First & string, values: Values = {}): string => {
    const found: string | Plural | undefined = this.texts[key] ?? this.first[key];
    const form =
      typeof found === "object"
        ? (found[new Intl.PluralRules(this.language).select(Number(values.count ?? 0)) as keyof Plural] ?? found.other)
        : (found ?? key);
    return form.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
      const value = values[name];
      return value === undefined ? whole : typeof value === "number" ? new Intl.NumberFormat(this.language).format(value) : value;
    });
  };

  private async use(language: string): Promise<void> {
    const load = this.others[language];
    const loaded = await load?.().catch(() => null);
    // One that cannot be had just now leaves the page in the language it is in.
    if (loaded === null) return;
    this.texts = loaded === undefined ? (this.first as TranslationOf<First>) : loaded.default;
    this.language = loaded === undefined ? "en" : language;
    document.documentElement.lang = this.language;
    for (const listener of this.listeners) listener();
  }
}

/** The texts in a component, which is drawn again when the language changes. */
export function useTexts<First extends Texts>(translations: Translations<First>): Translations<First>["t"] {
  useSyncExternalStore(translations.subscribe, translations.locale);
  return translations.t;
}
