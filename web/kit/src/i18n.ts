import { useSyncExternalStore } from "react";
import { keepBrowserText, browserText } from "./page-storage.ts";

export interface Plural {
  readonly other: string;
  readonly one?: string;
  readonly few?: string;
  readonly many?: string;
}

/** All texts of an app by name. Every language has all of them: its file `satisfies` the type of the first language. */
export type Texts = Readonly<Record<string, string | Plural>>;

/** The type every other language of an app must have. */
export type TranslationOf<First extends Texts> = { readonly [Key in keyof First]: First[Key] extends string ? string : Plural };

type Values = Readonly<Record<string, string | number>>;

const KEY = "gatehouse.language";

/**
 * An app's texts in the reader's language: the chosen one, else the first of the browser's languages that is available, else the default.
 */
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

  /** The language tag, with the browser's region if it is for the same language. */
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

  /** A text with its `{names}` filled in. A plural selects its form by `count`. */
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
    // If loading fails, the page stays in its current language.
    if (loaded === null) return;
    this.texts = loaded === undefined ? (this.first as TranslationOf<First>) : loaded.default;
    this.language = loaded === undefined ? "en" : language;
    document.documentElement.lang = this.language;
    for (const listener of this.listeners) listener();
  }
}

/** The texts for a component, which re-renders when the language changes. */
export function useTexts<First extends Texts>(translations: Translations<First>): Translations<First>["t"] {
  useSyncExternalStore(translations.subscribe, translations.locale);
  return translations.t;
}
