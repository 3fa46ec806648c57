/** The analyzer that reads the argument. */
export type AnalyzerName = "sql" | "url" | "path" | "shell" | "values" | "json_schema";

export const SQL_DIALECTS = ["postgres", "mysql", "sqlite", "mssql", "oracle", "bigquery", "snowflake"] as const;
export type SqlDialect = (typeof SQL_DIALECTS)[number];

/**
 * The conditions that each analyzer can deny, and whether the rule needs `values`. `unparseable` applies in every
 * policy, even if not listed: what cannot be read is denied.
 */
export const DENY_IFS = {
  sql: { writes: "none", ddl: "none", multi_statement: "none", tables: "required", unparseable: "none" },
  url: {
    private_address: "none",
    userinfo: "none",
    host_denied: "required",
    host_not_allowed: "required",
    scheme_not_allowed: "required",
    unparseable: "none",
  },
  path: { traversal: "none", outside_roots: "required", unparseable: "none" },
  shell: { chaining: "none", substitution: "none", redirection: "none", expansion: "none", unparseable: "none" },
  values: { in: "required", not_in: "required", unparseable: "none" },
  json_schema: { invalid: "none", unparseable: "none" },
} as const satisfies Record<AnalyzerName, Readonly<Record<string, "none" | "required">>>;

export type DenyIf = { [A in AnalyzerName]: keyof (typeof DENY_IFS)[A] }[AnalyzerName];

export interface ArgumentRule {
  readonly deny_if: string;
  /** Message for the caller. */
  readonly message: string;
  readonly values?: readonly string[];
}

/** An argument policy as written; `compilePolicy` validates it. */
export interface CompiledArgumentPolicy {
  readonly id: string;
  readonly name: string;
  /** Name of the tool whose calls are judged. */
  readonly target: string;
  /** Dotted path into the arguments; null judges all arguments as one value, which only `json_schema` supports. */
  readonly argument_key: string | null;
  readonly analyzer: string;
  readonly severity: "deny" | "warn";
  readonly rules: readonly ArgumentRule[];
  /** `sql` only; PostgreSQL if absent. */
  readonly dialect?: string;
  /** `sql` only: the database's own functions that only read. */
  readonly read_functions?: readonly string[];
  /** `json_schema` only: JSON Schema 2020-12 that the value must satisfy. */
  readonly schema?: unknown;
}
