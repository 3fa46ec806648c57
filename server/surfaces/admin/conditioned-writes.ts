import { namesTag } from "../../kernel/http/entity-tags.ts";
import { holdRecord, write, type Actor, type Directory, type Write } from "../../directory/writes/write.ts";
import { refuse, Refused } from "../../kernel/errors.ts";
import { paramsOf } from "../openapi/schema-of.ts";
import { entityTag, isMatched } from "./entity-tag.ts";
import type { RecordRoute } from "./record-route.ts";

interface OfRecord {
  readonly scope: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly read: (db: Directory["db"], route: RecordRoute) => Promise<unknown>;
}

/**
 * Writes of one call on a record: one call at a time, and the first write only when the record is as the request's
 * If-Match and If-None-Match say. Both are looked at inside the transaction that writes.
 */
export function conditionedWrites(
  route: RecordRoute | undefined,
  { request, params }: { readonly request: Request; readonly params: Readonly<Record<string, string>> },
  { scope, input, read }: OfRecord,
): <T>(directory: Directory, actor: Actor, work: (write: Write) => Promise<T>) => Promise<T> {
  // What is being made is no record yet.
  if (route === undefined || !paramsOf(route.read.path).every((name) => name in params)) return write;
  const chosen = Object.keys(route.read.query?.shape ?? {}).map((name) => input[name] ?? null);
  const lock = JSON.stringify([scope, route.read.path, params, chosen]);
  const ifMatch = request.headers.get("if-match");
  const ifNoneMatch = request.headers.get("if-none-match");
  let isDue = ifMatch !== null || ifNoneMatch !== null;
  return async (directory, actor, work) => {
    const result = await write(directory, actor, async (under) => {
      await holdRecord(under, lock);
      if (isDue) await check(under);
      return work(under);
    });
    isDue = false;
    return result;
  };

  async function check({ trx }: Write): Promise<void> {
    const current = await there(() => read(trx, route as RecordRoute));
    // A change of what is not there is told so by the work itself; only a PUT would make it.
    if (current === undefined) {
      if (ifMatch !== null && request.method === "PUT") throw new Refused(refuse("precondition_failed", "There is no such record yet."));
      return;
    }
    const tag = entityTag(current);
    if ((ifMatch !== null && !isMatched(ifMatch, tag)) || (ifNoneMatch !== null && namesTag(ifNoneMatch, tag)))
      throw new Refused(refuse("precondition_failed", undefined, { headers: { etag: tag } }));
  }
}

async function there(read: () => Promise<unknown>): Promise<unknown> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Refused && error.refusal.code === "not_found") return undefined;
    throw error;
  }
}
