import { momentOf } from "./moments.ts";

/** Search parameters in the URL of the admin log. */
export interface ChangeSearch {
  readonly action?: string;
  /** Kind of record, as entries name it. */
  readonly resource?: string;
  /** ID of a record. */
  readonly id?: string;
  /** ID of an administrator. */
  readonly actor?: string;
  /** ISO 8601 timestamps. */
  readonly from?: string;
  readonly to?: string;
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value.slice(0, 100) : undefined);
const uuid = (value: unknown): string | undefined =>
  /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(String(value)) ? String(value) : undefined;

export function changeSearchOf(given: Record<string, unknown>): ChangeSearch {
  const members = {
    action: text(given["action"]),
    resource: text(given["resource"]),
    id: text(given["id"]),
    actor: uuid(given["actor"]),
    from: momentOf(given["from"]),
    to: momentOf(given["to"]),
  };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** The query parameters of the admin log request. */
export function changeQueryOf({ action, resource, id, actor, from, to }: ChangeSearch) {
  return {
    ...(action === undefined ? {} : { action }),
    ...(resource === undefined ? {} : { resource }),
    ...(id === undefined ? {} : { resource_id: id }),
    ...(actor === undefined ? {} : { actor_id: actor }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}
