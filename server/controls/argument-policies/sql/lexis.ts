import type { SqlDialect } from "../argument-policy.ts";

interface Lexis {
  readonly hashComments: boolean;
  readonly nestedComments: boolean;
  /** Quotes that open strings; those in `names` open quoted names. */
  readonly strings: string;
  readonly names: string;
  readonly backslashes: boolean;
  /** The quotes for names that the parser understands. */
  readonly nameQuotes: readonly [string, string];
  /** Prefixes that may directly precede a string and belong to it. */
  readonly prefixes: RegExp;
}

export const LEXIS: Readonly<Record<Exclude<SqlDialect, "postgres">, Lexis>> = {
  mysql: {
    hashComments: true,
    nestedComments: false,
    strings: "'\"",
    names: "`",
    backslashes: true,
    nameQuotes: ["`", "`"],
    prefixes: /^(?:N|B|X|_[A-Z0-9]+)$/,
  },
  sqlite: {
    hashComments: false,
    nestedComments: false,
    strings: "'",
    names: '"`[',
    backslashes: false,
    nameQuotes: ['"', '"'],
    prefixes: /^X$/,
  },
  mssql: {
    hashComments: false,
    nestedComments: true,
    strings: "'",
    names: '"[',
    backslashes: false,
    nameQuotes: ["[", "]"],
    prefixes: /^N$/,
  },
  oracle: {
    hashComments: false,
    nestedComments: false,
    strings: "'",
    names: '"',
    backslashes: false,
    nameQuotes: ['"', '"'],
    prefixes: /^N$/,
  },
  bigquery: {
    hashComments: true,
    nestedComments: false,
    strings: "'\"",
    names: "`",
    backslashes: true,
    nameQuotes: ["`", "`"],
    prefixes: /^(?:R|B|BR|RB)$/,
  },
  snowflake: {
    hashComments: false,
    nestedComments: false,
    strings: "'",
    names: '"',
    backslashes: true,
    nameQuotes: ['"', '"'],
    prefixes: /^X$/,
  },
};
