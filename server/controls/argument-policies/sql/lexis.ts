import type { SqlDialect } from "../argument-policy.ts";

interface Lexis {
  readonly hashComments: boolean;
  readonly nestedComments: boolean;
  /** Opening quotes of strings; the other quotes open names. */
  readonly strings: string;
  readonly names: string;
  readonly backslashes: boolean;
  /** The quotes the parser understands for a name. */
  readonly nameQuotes: readonly [string, string];
  /** Letters that may stand right before a string and belong to it. */
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
