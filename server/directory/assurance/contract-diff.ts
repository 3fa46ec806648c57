import { isDeepStrictEqual } from "node:util";
import { AUTONOMY_LEVELS } from "@gatehouse/contracts/ai-systems";
import type { Change, ContractClauses, ContractDiff } from "@gatehouse/contracts/ai-contracts";
import { tighterOf } from "../limits/merge.ts";

type Clause = keyof ContractClauses;
type ById = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const BODIES = ["none", "redacted", "full"];

/** The difference between two versions of a contract, clause by clause. With the arguments swapped, widened becomes narrowed. */
export function contractDifference(before: ContractClauses, after: ContractClauses): Pick<ContractDiff, "overall" | "clauses" | "changes"> {
  const changes = (Object.keys(COMPARED) as Clause[]).flatMap((clause) =>
    COMPARED[clause](before[clause] as never, after[clause] as never).map(([path, change, from, to]) => ({
      clause,
      path,
      change,
      before: from,
      after: to,
    })),
  );
  const clauses = Object.fromEntries(
    (Object.keys(COMPARED) as Clause[]).map((clause) => [
      clause,
      together(changes.filter((one) => one.clause === clause).map((one) => one.change)),
    ]),
  );
  const all = together(changes.map((one) => one.change));
  return { overall: all === "changed" ? "widened" : all, clauses, changes };
}

/** Combines several changes; a mix of widening and narrowing counts as `changed`. */
function together(changes: readonly Change[]): Change {
  const kinds = new Set(changes.filter((change) => change !== "unchanged"));
  if (kinds.size === 0) return "unchanged";
  const [only] = kinds;
  return kinds.size === 1 && only !== undefined ? only : "changed";
}

type Found = [path: string, change: Change, before: unknown, after: unknown];
type Compare<Name extends Clause> = (before: ContractClauses[Name], after: ContractClauses[Name]) => Found[];

const whether = (path: string, change: Change, before: unknown, after: unknown): Found[] =>
  change === "unchanged" ? [] : [[path, change, before, after]];

/** One value replaced by another, where neither can be said to allow more. */
const replaced = (path: string, before: unknown, after: unknown): Found[] =>
  whether(path, isDeepStrictEqual(before, after) ? "unchanged" : "changed", before, after);

/** `wider`: whether the newer value allows more. */
function ordered(path: string, before: unknown, after: unknown, wider: boolean): Found[] {
  return isDeepStrictEqual(before, after) ? [] : [[path, wider ? "widened" : "narrowed", before, after]];
}

/** A list of what is allowed; null allows everything. */
function allowed(path: string, before: readonly string[] | null, after: readonly string[] | null): Found[] {
  const change = inclusion(before, after);
  return whether(path, change, before, after);
}

function inclusion(before: readonly string[] | null, after: readonly string[] | null): Change {
  if (before === null || after === null) return before === after ? "unchanged" : before === null ? "narrowed" : "widened";
  const more = after.some((one) => !before.includes(one));
  const fewer = before.some((one) => !after.includes(one));
  return more && fewer ? "changed" : more ? "widened" : fewer ? "narrowed" : "unchanged";
}

const TURNED: Record<Change, Change> = { unchanged: "unchanged", widened: "narrowed", narrowed: "widened", changed: "changed" };

/** A list of what is forbidden or restricted. */
const forbidden = (path: string, before: readonly string[], after: readonly string[]): Found[] =>
  whether(path, TURNED[inclusion(before, after)], before, after);

/** Compares items by ID. `more` is the effect of an additional item; `within` compares two versions of the same item. */
function items<Items extends ById>(
  more: Change,
  before: Items,
  after: Items,
  within: (path: string, a: Items[string], b: Items[string]) => Found[],
): Found[] {
  const ids = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return ids.flatMap((id) => {
    const [a, b] = [before[id] as Items[string] | undefined, after[id] as Items[string] | undefined];
    if (a === undefined) return [[id, more, null, b] as Found];
    if (b === undefined) return [[id, TURNED[more], a, null] as Found];
    return within(id, a, b);
  });
}

const same = (path: string, a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): Found[] => replaced(path, a, b);

const withoutLists = (item: ContractClauses["tool_servers"][string]) => ({ name: item.name, digest: item.digest });

/** Documents from before a clause existed lack it, and are not compared in it. */
function where<Items extends ById>(
  compare: (before: Items, after: Items) => Found[],
): (before: Items | undefined, after: Items | undefined) => Found[] {
  return (before, after) => (before === undefined || after === undefined ? [] : compare(before, after));
}

const weights = (members: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(members).map(([model, weight]) => [model, { weight }]));

const COMPARED: { readonly [Name in Clause]: Compare<Name> } = {
  purpose: (a, b) => [
    ...replaced("purpose", a.purpose, b.purpose),
    ...replaced("role", a.role, b.role),
    ...replaced("risk_class", a.risk_class, b.risk_class),
    ...allowed("data_classes", a.data_classes, b.data_classes),
    ...replaced("interacts_with_people", a.interacts_with_people, b.interacts_with_people),
  ],
  models: (a, b) => items("widened", a, b, same),
  tool_servers: (a, b) =>
    items("widened", a, b, (id, x, y) => [
      ...replaced(id, withoutLists(x), withoutLists(y)),
      ...allowed(`${id}.enabled_tools`, x.enabled_tools, y.enabled_tools),
      ...forbidden(`${id}.disabled_tools`, x.disabled_tools, y.disabled_tools),
      ...forbidden(`${id}.approval_required_tools`, x.approval_required_tools, y.approval_required_tools),
      ...items("widened", wrapped(x.definitions), wrapped(y.definitions), (name, from, to) => replaced(name, from.digest, to.digest)).map(
        ([name, ...rest]): Found => [`${id}.definitions.${name}`, ...rest],
      ),
    ]),
  agents: (a, b) =>
    items("widened", a, b, (id, x, y) => [
      ...replaced(id, { name: x.name, digest: x.digest }, { name: y.name, digest: y.digest }),
      ...ordered(`${id}.decision`, x.decision, y.decision, y.decision === "allow"),
      ...allowed(`${id}.skill_ids`, x.skill_ids, y.skill_ids),
      ...ordered(`${id}.max_depth`, x.max_depth, y.max_depth, (y.max_depth ?? Infinity) > (x.max_depth ?? Infinity)),
    ]),
  skills: (a, b) => items("widened", a, b, same),
  guardrails: (a, b) => items("narrowed", a, b, same),
  argument_policies: (a, b) => items("narrowed", a, b, same),
  semantic_policies: (a, b) => items("narrowed", a, b, same),
  limits: (a, b) =>
    items("narrowed", flat(a), flat(b), (path, from, to) => whether(path, limitChange(path, from.value, to.value), from.value, to.value)),
  autonomy: (a, b) => [
    ...ordered("level", a.level, b.level, AUTONOMY_LEVELS.indexOf(b.level) < AUTONOMY_LEVELS.indexOf(a.level)),
    ...restrictions(a.restrictions, b.restrictions),
  ],
  retention: (a, b) => [
    ...ordered("store_bodies", a.store_bodies, b.store_bodies, BODIES.indexOf(b.store_bodies) > BODIES.indexOf(a.store_bodies)),
    ...ordered("body_days", a.body_days, b.body_days, b.body_days > a.body_days),
    ...ordered("log_days", a.log_days, b.log_days, b.log_days < a.log_days),
    ...ordered("run_days", a.run_days, b.run_days, b.run_days < a.run_days),
    ...ordered("file_days", a.file_days, b.file_days, (b.file_days ?? Infinity) > (a.file_days ?? Infinity)),
  ],
  regions: (a, b) => allowed("", a.length === 0 ? null : a, b.length === 0 ? null : b),
  notice: (a, b) => [
    ...ordered("enabled", a.enabled, b.enabled, a.enabled),
    ...replaced("surface", a.surface, b.surface),
    ...replaced("text_digests", a.text_digests, b.text_digests),
    ...ordered("exempt", a.exempt, b.exempt, b.exempt),
  ],
  knowledge_bases: where((a, b) => items("widened", a, b, same)),
  routing_groups: where((a, b) =>
    items("widened", a, b, (id, x, y) => [
      ...replaced(id, { name: x.name, digest: x.digest }, { name: y.name, digest: y.digest }),
      ...items("widened", weights(x.members), weights(y.members), (model, from, to) => replaced(model, from.weight, to.weight)).map(
        ([model, ...rest]): Found => [`${id}.members.${model}`, ...rest],
      ),
    ]),
  ),
  virtual_servers: where((a, b) => items("widened", a, b, same)),
  semantic_caches: where((a, b) => items("changed", a, b, same)),
};

const wrapped = (definitions: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(definitions).map(([name, digest]) => [name, { digest }]));

/** Each document's values, by `document.family.field`. */
const flat = (limits: ContractClauses["limits"]) =>
  Object.fromEntries(
    Object.entries(limits).flatMap(([kind, fields]) => Object.entries(fields).map(([path, value]) => [`${kind}.${path}`, { value }])),
  );

/** Follows the merge rule of the value: the tighter of two values allows less. */
function limitChange(path: string, before: unknown, after: unknown): Change {
  if (isSameValue(before, after)) return "unchanged";
  const tight = tighterOf(path.slice(path.indexOf(".") + 1), before, after);
  return isSameValue(tight, after) ? "narrowed" : isSameValue(tight, before) ? "widened" : "changed";
}

/** Compares lists as sets. */
function isSameValue(a: unknown, b: unknown): boolean {
  const set = (value: unknown) => (Array.isArray(value) ? [...new Set(value)].sort() : value);
  return isDeepStrictEqual(set(a), set(b));
}

type Restrictions = ContractClauses["autonomy"]["restrictions"];

function restrictions(a: Restrictions, b: Restrictions): Found[] {
  if (a === null || b === null) return replaced("restrictions", a, b);
  return (["model_ids", "mcp_server_ids", "tools", "agent_ids"] as const).flatMap((list) =>
    allowed(`restrictions.${list}`, a[list] ?? null, b[list] ?? null),
  );
}
