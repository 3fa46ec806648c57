import type { PolicyHit } from "../../directory/policies/argument-policy-entry.ts";
import type { FieldError } from "../../kernel/errors.ts";
import { roundedNumbers } from "../../kernel/text/exact-numbers.ts";
import type { Analyzer, RuleVerdict } from "./analyzer.ts";
import { type AnalyzerName, type CompiledArgumentPolicy, DENY_IFS, type DenyIf, SQL_DIALECTS, type SqlDialect } from "./argument-policy.ts";
import { argumentValues } from "./argument-values.ts";
import { schemaAnalyzer } from "./json-schema.ts";
import { hasNameVariant } from "./name-variants.ts";
import { schemaNames } from "./schema-names.ts";
import { schemaNumbers } from "./schema-numbers.ts";
import { pathAnalyzer } from "./path.ts";
import { shellAnalyzer } from "./shell.ts";
import { sqlAnalyzer } from "./sql/sql-analyzer.ts";
import { urlAnalyzer } from "./url.ts";
import { valuesAnalyzer } from "./values.ts";
import type { Compilation, CompiledPolicy } from "./compiled-policy.ts";

const TOO_MUCH_TO_JUDGE = "The arguments take more work to judge than a call may cost.";

interface Rule {
  readonly denyIf: DenyIf;
  readonly message: string;
  readonly values: readonly string[];
}

/** Compiles a policy, or returns an error for each invalid field. */
export function compilePolicy(policy: CompiledArgumentPolicy): Compilation {
  const fields: FieldError[] = [];
  const name = policy.analyzer;
  if (!isAnalyzer(name))
    return { ok: false, fields: [{ field: "analyzer", message: `must be one of ${Object.keys(DENY_IFS).join(", ")}` }] };
  const rules = rulesOf(policy, name, fields);
  if (name === "json_schema" ? policy.argument_key === "" : !policy.argument_key)
    fields.push({ field: "argument_key", message: "must name the argument to judge" });
  for (const [field, owner] of [
    ["dialect", "sql"],
    ["read_functions", "sql"],
    ["schema", "json_schema"],
  ] as const) {
    if (policy[field] !== undefined && owner !== name) fields.push({ field, message: `belongs to the analyzer ${owner}` });
  }
  const analyzer = analyzerOf(policy, name, fields);
  if (analyzer === null || fields.length > 0) return { ok: false, fields };
  return { ok: true, policy: compiled(policy, name, analyzer, rules) };
}

function isAnalyzer(name: string): name is AnalyzerName {
  return Object.hasOwn(DENY_IFS, name);
}

function rulesOf(policy: CompiledArgumentPolicy, analyzer: AnalyzerName, fields: FieldError[]): Rule[] {
  const known: Readonly<Record<string, "none" | "required">> = DENY_IFS[analyzer];
  if (policy.rules.length === 0) fields.push({ field: "rules", message: "must have at least one rule" });
  return policy.rules.map((rule, index) => {
    const need = Object.hasOwn(known, rule.deny_if) ? known[rule.deny_if] : undefined;
    const values = rule.values ?? [];
    if (need === undefined)
      fields.push({
        field: `rules.${index}.deny_if`,
        message: `must be one of ${Object.keys(known).join(", ")} for the analyzer ${analyzer}`,
      });
    if (rule.message.trim() === "") fields.push({ field: `rules.${index}.message`, message: "must say why the call is denied" });
    if (need === "required" && values.length === 0)
      fields.push({ field: `rules.${index}.values`, message: `${rule.deny_if} needs values` });
    if (need === "none" && values.length > 0) fields.push({ field: `rules.${index}.values`, message: `${rule.deny_if} takes no values` });
    if (values.some((value) => value.trim() === ""))
      fields.push({ field: `rules.${index}.values`, message: "must not hold an empty value" });
    return { denyIf: rule.deny_if as DenyIf, message: rule.message, values };
  });
}

function analyzerOf(policy: CompiledArgumentPolicy, name: AnalyzerName, fields: FieldError[]): Analyzer | null {
  switch (name) {
    case "sql": {
      const dialect = policy.dialect ?? "postgres";
      if (!isDialect(dialect)) {
        fields.push({ field: "dialect", message: `must be one of ${SQL_DIALECTS.join(", ")}` });
        return null;
      }
      return sqlAnalyzer(dialect, policy.read_functions ?? []);
    }
    case "json_schema": {
      const made = schemaAnalyzer(policy.schema);
      if ("inspect" in made) return made;
      fields.push(...made.fields);
      return null;
    }
    case "url":
      return urlAnalyzer;
    case "path":
      return pathAnalyzer;
    case "shell":
      return shellAnalyzer;
    case "values":
      return valuesAnalyzer;
  }
}

function isDialect(name: string): name is SqlDialect {
  return (SQL_DIALECTS as readonly string[]).includes(name);
}

function compiled(policy: CompiledArgumentPolicy, name: AnalyzerName, analyzer: Analyzer, rules: readonly Rule[]): CompiledPolicy {
  const unparseable = (why: string) => ({
    rule: "unparseable" as const,
    message: rules.find((rule) => rule.denyIf === "unparseable")?.message ?? why,
  });
  const verdictOf = (value: unknown): RuleVerdict => {
    const findings = analyzer.inspect(value);
    const rule = rules.find(({ denyIf, values }) => denyIf !== "unparseable" && findings.holds(denyIf, values));
    if (rule !== undefined) return { denied: { rule: rule.denyIf, message: rule.message } };
    return { denied: findings.unparseable === null ? null : unparseable(findings.unparseable) };
  };
  const hit = (denied: NonNullable<RuleVerdict["denied"]>): PolicyHit => ({
    policy_id: policy.id,
    policy: policy.name,
    tool: policy.target,
    argument_key: policy.argument_key,
    severity: policy.severity,
    ...denied,
  });
  const unjudged = (why: string) => hit(unparseable(why));
  const names = name === "json_schema" ? schemaNames(policy.schema) : null;
  const numbers = name === "json_schema" ? schemaNumbers(policy.schema) : null;
  return {
    id: policy.id,
    name: policy.name,
    target: policy.target,
    severity: policy.severity,
    prepare: () => analyzer.prepare(),
    *judge(argumentsText, budget) {
      const found = argumentValues(argumentsText, policy.argument_key, name === "json_schema");
      if (found.kind === "unreadable") return unjudged(found.why);
      if (names !== null && found.values.some((value) => hasNameVariant(value, names)))
        return unjudged("The arguments name a member of the schema in another spelling.");
      if (numbers !== null && roundedNumbers(argumentsText).some((number) => numbers.has(number)))
        return unjudged("The arguments hold a number that cannot be told from one that the schema names.");
      for (const value of found.values) {
        const { denied } = verdictOf(value);
        if (denied !== null) return hit(denied);
        yield;
        if (budget.exhausted) return unjudged(TOO_MUCH_TO_JUDGE);
      }
      return null;
    },
    unjudged,
  };
}
