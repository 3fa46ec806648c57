import { refuse, Refused } from "../../kernel/errors.ts";
import type { RecordSpec, Records } from "./record-spec.ts";
import { refuseHeldContent } from "../tenants/legal-hold.ts";
import type { Write } from "./write.ts";

/** Body members that are stored encrypted or hashed and never shown. */
const SECRET_MEMBERS = ["api_key", "password", "credentials"] as const;

export function notFound(noun: string): Refused {
  return new Refused(refuse("not_found", `There is no such ${noun}.`));
}

export function invalidField(field: string, message: string): Refused {
  return new Refused(refuse("invalid_body", `${field} ${message}`, { fields: [{ field, message }] }));
}

/** "1 model" or "2 models"; empty for none. */
export function counted(count: number, singular: string, plural = `${singular}s`): string[] {
  return count === 0 ? [] : [`${count} ${count === 1 ? singular : plural}`];
}

const HINT_LENGTH = 4;

/** The last characters of a key, by which people recognize it. Masked for short keys, of which they would reveal too much. */
export function hintOf(key: string): string {
  return key.length >= HINT_LENGTH * 3 ? key.slice(-HINT_LENGTH) : "****";
}

const MAX_NAMED = 5;
/** How many names to query, so that `namesOf` can tell whether there are more than it lists. */
export const NAMES_LOOKED_FOR = MAX_NAMED + 1;

/** "a, b"; a long list is cut off with "and more". */
export function namesOf(names: readonly string[]): string {
  return `${names.slice(0, MAX_NAMED).join(", ")}${names.length > MAX_NAMED ? " and more" : ""}`;
}

/** "the models a, b"; empty for none. */
export function namedDependents(plural: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`the ${plural} ${namesOf(names)}`];
}

export function records<
  Row extends { id: string },
  Insert extends { id: string },
  Patch,
  Read extends object,
  Create,
  Update,
  Filters,
  Scope extends string | null,
>(spec: RecordSpec<Row, Insert, Patch, Read, Create, Update, Filters, Scope>): Records<Read, Create, Update, Filters, Scope> {
  const { store, resource, noun } = spec;
  const logged = ({ directory }: Write, row: Row): object => spec.logged?.(row) ?? spec.read(row, directory.secrets);

  async function locked(write: Write, scope: Scope, id: string): Promise<Row> {
    await spec.begin?.(write, scope);
    const row = await store.find(write.trx, scope, id, "lock");
    if (row === undefined) throw notFound(noun);
    return row;
  }

  async function written(write: Write, scope: Scope, id: string): Promise<Row> {
    const row = await store.find(write.trx, scope, id);
    if (row === undefined) throw new Error(`a ${noun} is not there after it was written`);
    return row;
  }

  async function refuseTaken(write: Write, scope: Scope, candidate: Insert | Row): Promise<void> {
    const takenBy = await spec.takenBy(write, scope, candidate);
    if (takenBy !== undefined && takenBy !== candidate.id)
      throw new Refused(
        refuse("conflict", `There is already ${/^[aeiou]/i.test(noun) ? "an" : "a"} ${noun} ${spec.unique ?? "of this name"}.`, {
          extra: { existing_id: takenBy },
        }),
      );
  }

  return {
    async list(directory, scope, filters, page) {
      const { items, total } = await store.page(directory.db, scope, filters, page);
      return { items: items.map((row) => spec.read(row, directory.secrets)), total };
    },
    async get(directory, scope, id) {
      const row = await store.find(directory.db, scope, id);
      if (row === undefined) throw notFound(noun);
      return spec.read(row, directory.secrets);
    },
    async create(write, scope, body) {
      await spec.begin?.(write, scope);
      const values = await spec.toInsert(write, scope, body);
      await refuseTaken(write, scope, values);
      await store.insert(write.trx, values);
      await spec.created?.(write, scope, await written(write, scope, values.id), body);
      const row = await written(write, scope, values.id);
      const after = spec.read(row, write.directory.secrets);
      write.log({
        tenant_id: spec.tenantOf(row),
        action: "create",
        resource,
        resource_id: row.id,
        after: masked(logged(write, row), body),
      });
      spec.notify(write, row);
      return after;
    },
    async update(write, scope, id, body) {
      const before = await locked(write, scope, id);
      const patch = await spec.toPatch(write, scope, before, body);
      await refuseTaken(write, scope, { ...before, ...patch });
      await store.update(write.trx, id, patch);
      const row = await written(write, scope, id);
      write.stay(before, row, spec.read(before, write.directory.secrets));
      const after = spec.read(row, write.directory.secrets);
      write.log({
        tenant_id: spec.tenantOf(row),
        action: "update",
        resource,
        resource_id: id,
        before: logged(write, before),
        after: masked(logged(write, row), body),
      });
      spec.notify(write, row);
      return after;
    },
    async remove(write, scope, id) {
      const row = await locked(write, scope, id);
      const dependents = await spec.dependents(write, row);
      if (dependents.length > 0)
        throw new Refused(refuse("in_use", `This ${noun} cannot go while it has ${dependents.join(", ")}.`, { extra: { dependents } }));
      await refuseHeldContent(write, resource, spec.tenantOf(row), id);
      await spec.removing?.(write, row);
      await store.remove(write.trx, id);
      write.log({ tenant_id: spec.tenantOf(row), action: "delete", resource, resource_id: id, before: logged(write, row) });
      spec.notify(write, row);
    },
  };
}

/** Shows which secrets a write set, but not their values. */
function masked(after: object, body: unknown): object {
  const set = SECRET_MEMBERS.filter((member) => (body as Record<string, unknown>)[member] != null);
  return { ...after, ...Object.fromEntries(set.map((member) => [member, "***"])) };
}
