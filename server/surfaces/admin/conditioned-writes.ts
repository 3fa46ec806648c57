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
 * Wraps the writes of a call on a record: serialised per record, and the first one only if the record satisfies the request's If-Match and
 * If-None-Match. Both are checked inside the writing transaction.
 */
export function conditionedWrites(
  route: RecordRoute | undefined,
  { request, params }: { readonly request: Request; readonly params: Readonly<Record<string, string>> },
  { scope, input, read }: OfRecord,
): <T>(directory: Directory, actor: Actor, work: (write: Write) => Promise<T>) => Promise<T> {
  // A record that is being created does not exist yet.
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
    // For a missing record the operation itself answers, except that a PUT would create it.
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
