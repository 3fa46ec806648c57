/** How a policy reads the text it judges. */
export type AnalyzerName = "sql" | "url" | "path" | "shell" | "values" | "json_schema";

export const SQL_DIALECTS = ["postgres", "mysql", "sqlite", "mssql", "oracle", "bigquery", "snowflake"] as const;
export type SqlDialect = (typeof SQL_DIALECTS)[number];

/**
 * What each analyzer may be asked to deny, and whether the rule needs `values`. `unparseable` holds in every policy,
 * written or not: what cannot be read is denied.
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
  /** What the caller is told. */
  readonly message: string;
  readonly values?: readonly string[];
}

/** An argument policy as it is written; `compilePolicy` says whether it holds together. */
export interface CompiledArgumentPolicy {
  readonly id: string;
  readonly name: string;
  /** Name of the tool whose calls are judged. */
  readonly target: string;
  /** Dotted path into the arguments; null judges them whole, which only `json_schema` can. */
  readonly argument_key: string | null;
  readonly analyzer: string;
  readonly severity: "deny" | "warn";
  readonly rules: readonly ArgumentRule[];
  /** `sql` only; PostgreSQL when absent. */
  readonly dialect?: string;
  /** `sql` only: functions of the database's own that do nothing but read. */
  readonly read_functions?: readonly string[];
  /** `json_schema` only: JSON Schema 2020-12 that the value must satisfy. */
  readonly schema?: unknown;
}
