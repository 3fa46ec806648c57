import type { AdminOperation } from "./operation.ts";

/** Where an operation's record can be read, and how to find it in the operation's response. */
export interface RecordRoute {
  readonly read: AdminOperation;
  /** Undefined if the response does not contain the record. */
  readonly inAnswer: ((answer: unknown) => unknown) | undefined;
}

const whole = (answer: unknown): unknown => answer;

/** Operations that read a record: a change at the same path returns the same schema. */
function readsOf(operations: readonly AdminOperation[]): AdminOperation[] {
  const changes = operations.filter(({ method }) => method === "PATCH" || method === "PUT");
  return operations.filter(
    (read) =>
      read.method === "GET" &&
      read.answer.schema !== undefined &&
      changes.some(({ path, answer }) => path === read.path && answer.schema === read.answer.schema),
  );
}

/**
 * For each write, its record: at its own path, in its response, or the nearest above its path. Derived from the route table, so that new
 * kinds of records get entity tags, conditions and read-only members automatically.
 */
export function recordRoutes(operations: readonly AdminOperation[]): ReadonlyMap<AdminOperation, RecordRoute> {
  const reads = readsOf(operations);
  const routes = new Map<AdminOperation, RecordRoute>();
  for (const operation of operations) {
    if (operation.method === "GET") continue;
    const { path, answer } = operation;
    const made = reads.find((read) => read.path.startsWith(`${path}/`) && !read.path.slice(path.length + 1).includes("/"));
    const answered = reads.filter((read) => read.answer.schema === answer.schema);
    const above = reads.filter((read) => path.startsWith(`${read.path}/`)).toSorted((a, b) => b.path.length - a.path.length);
    const read = reads.find((one) => one.path === path) ?? (operation.method === "POST" ? made : undefined) ?? above[0] ?? answered[0];
    if (read === undefined) continue;
    const inAnswer = answer.record ?? (answer.schema === read.answer.schema ? whole : undefined);
    routes.set(operation, { read, inAnswer });
  }
  return routes;
}
