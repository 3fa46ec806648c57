import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { jsonLog } from "../../kernel/log.ts";
import * as contexts from "../../kernel/seal-contexts.ts";
import { firstNameKeys, type SecretBox, secretBox } from "../../kernel/secrets.ts";
import { openDatabase } from "../database.ts";
import { keepNameKeys, storedNameKeys } from "./name-key-store.ts";
import { SEALED_PLACES, type SealedPlace } from "./sealed-places.ts";
import { countSealed, resealAll, sealedRecords } from "./sealed-values.ts";

const SERVER = new URL("../../", import.meta.url);
/** What these encrypt is held by clients, and stored nowhere. */
const HELD_BY_CLIENTS = ["road/admission/envelope.ts", "services/tools/sessions/sealed-state.ts"];
/** Columns with such a name that hold nothing encrypted. */
const NOT_ENCRYPTED = ["sealed_compliance_reports.sealed_by"];

const [former, current] = [randomBytes(32), randomBytes(32)];
const own = secretBox(current);
const boxes = { own, all: secretBox(current, { previous: former }) };
let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
  const { rows } = await sql<{ statement: string }>`
    SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS statement FROM pg_constraint
     WHERE contype = 'c' AND conrelid::regclass::text IN (${sql.join(SEALED_PLACES.map(({ table }) => table))})`.execute(database.db);
  for (const { statement } of rows) await sql.raw(statement).execute(database.db);
});
afterAll(() => database.close());

interface Column {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
}

/** A value for a column that a test does not care about. */
function filler({ type }: Column): unknown {
  if (type === "uuid") return crypto.randomUUID();
  if (type === "jsonb") return "{}";
  if (type === "ARRAY") return "{}";
  if (type === "boolean") return true;
  if (type.startsWith("timestamp")) return new Date(Date.now() + 86_400_000);
  if (["bigint", "integer", "smallint", "numeric"].includes(type)) return 1;
  return crypto.randomUUID();
}

/** Writes a record with a secret under the former key; columns without a meaning here get any value. */
async function store({ db }: TestDatabase, place: SealedPlace, secret: string): Promise<void> {
  const { rows } = await sql<Column>`
    SELECT column_name AS name, data_type AS type, is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO' AS required
      FROM information_schema.columns WHERE table_schema = 'public' AND table_name = ${place.table}`.execute(db);
  const meant = new Set([...place.key, ...(place.also ?? [])]);
  const isIdentity = place.table === "tool_letters";
  const row: Record<string, unknown> = {};
  for (const column of rows)
    if (column.required || (meant.has(column.name) && !isIdentity)) row[column.name] = place.table === "secret_names" ? 1 : filler(column);
  const key = Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value)]));
  const sealed = secretBox(former).seal(secret, place.context(key));
  row[place.column] = place.member === undefined ? sealed : JSON.stringify([{ big: 1, [place.member]: sealed }, { [place.member]: null }]);
  await db.transaction().execute(async (trx) => {
    await sql`SET LOCAL session_replication_role = replica`.execute(trx);
    await trx
      .insertInto(place.table as never)
      .values(row as never)
      .execute();
  });
}

async function secretsIn(box: SecretBox): Promise<string[]> {
  const found: string[] = [];
  for (const place of SEALED_PLACES)
    for await (const { values, context } of sealedRecords(database.db, place))
      for (const value of values) {
        const opened = box.openOrNull(value, context);
        if (opened !== null) found.push(opened);
      }
  return found.toSorted();
}

test("every kind of stored secret is encrypted again, also after the work was broken off", async () => {
  for (const place of SEALED_PLACES) await store(database, place, `of ${place.kind}`);
  const all = SEALED_PLACES.map(({ kind }) => `of ${kind}`).toSorted();
  expect(await secretsIn(secretBox(former))).toEqual(all);
  expect((await countSealed(database.db, boxes)).map(({ current: now, other }) => [now, other])).toEqual(all.map(() => [0, 1]));

  let left = 5;
  const killed: SecretBox = {
    ...own,
    seal(text, context) {
      if (left-- === 0) throw new Error("killed");
      return own.seal(text, context);
    },
  };
  await expect(resealAll(database.db, { ...boxes, own: killed })).rejects.toThrow("killed");
  expect(await secretsIn(own)).toHaveLength(5);
  expect(await secretsIn(boxes.all)).toEqual(all);

  const done = await resealAll(database.db, boxes);
  expect([...done.values()]).toEqual(SEALED_PLACES.slice(5).map(() => 1));
  expect(await secretsIn(own)).toEqual(all);
  expect(await secretsIn(secretBox(former))).toEqual([]);
  expect((await resealAll(database.db, boxes)).size).toBe(0);
});

test("many records with numbers as keys are all encrypted again", async () => {
  const { db } = database;
  const place = SEALED_PLACES.find(({ table }) => table === "tool_letters") as SealedPlace;
  const sealed = secretBox(former).seal("a message", place.context({ id: "", recipient: "one" }));
  await sql`INSERT INTO tool_letters (recipient, body) SELECT 'one', ${sealed} FROM generate_series(1, 1100)`.execute(db);
  expect((await resealAll(db, boxes)).get(place.kind)).toBe(1_100);
  await sql`DELETE FROM tool_letters`.execute(db);
});

test("a secret that is replaced while it is encrypted again stays as it was written", async () => {
  const place = SEALED_PLACES[0] as SealedPlace;
  await store(database, place, "of before");
  const written = own.seal("written meanwhile", "any");
  const other = openDatabase(database.url, { log: jsonLog("error"), max: 1 });
  // The record is read and replaced in two statements: this write comes between them.
  let isWritten: Promise<unknown> | undefined;
  const slow: typeof database.db = database.db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      await (isWritten ??= sql`UPDATE providers SET api_key_sealed = ${written}`.execute(other.db));
      return result;
    },
  });
  await resealAll(slow, boxes);
  const { rows } = await sql<{ sealed: string }>`SELECT DISTINCT api_key_sealed AS sealed FROM providers`.execute(database.db);
  expect(rows).toEqual([{ sealed: written }]);
  await other.close();
});

test("every column of an encrypted value is among the places", async () => {
  const { rows } = await sql<{ place: string }>`
    SELECT table_name || '.' || column_name AS place FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name ~ 'sealed' ORDER BY 1`.execute(database.db);
  const known = new Set(SEALED_PLACES.map(({ table, column }) => `${table}.${column}`));
  expect(rows.map(({ place }) => place).filter((place) => !known.has(place) && !NOT_ENCRYPTED.includes(place))).toEqual([]);
});

test("whatever the server encrypts is bound by a context of a place, or held by clients", () => {
  const sources = (readdirSync(SERVER, { recursive: true }) as string[]).filter(
    (path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !path.startsWith("dist/"),
  );
  const contextNames = [...Object.keys(contexts), "sealContext"];
  const unbound = sources.filter((path) => {
    const text = readFileSync(new URL(path, SERVER), "utf8");
    return /secrets\.seal\(/.test(text) && !contextNames.some((name) => text.includes(`${name}(`)) && !HELD_BY_CLIENTS.includes(path);
  });
  expect(unbound).toEqual([]);
  const places = readFileSync(new URL("sealed-places.ts", import.meta.url), "utf8");
  expect(contextNames.filter((name) => !places.includes(name))).toEqual([]);
});

test("names stay the same under a new key", async () => {
  const { db } = database;
  await sql`DELETE FROM secret_names`.execute(db);
  const before = secretBox(former).hmac("run", "a run");
  expect(secretBox(former, { next: current }).hmac("run", "a run")).toBe(before);
  expect(boxes.all.hmac("run", "a run")).toBe(before);
  expect(own.hmac("run", "a run")).not.toBe(before);
  await keepNameKeys(db, boxes, firstNameKeys(former));
  expect(secretBox(current, { names: await storedNameKeys(db, own) }).hmac("run", "a run")).toBe(before);
  const later = secretBox(former).hmac("a purpose of a later release", "x");
  expect(secretBox(current, { names: await storedNameKeys(db, own) }).hmac("a purpose of a later release", "x")).toBe(later);

  // A second change keeps the first names.
  const third = randomBytes(32);
  const again = { own: secretBox(third), all: secretBox(third, { previous: current }) };
  await keepNameKeys(db, again, firstNameKeys(current));
  await resealAll(db, again);
  expect(secretBox(third, { names: await storedNameKeys(db, again.own) }).hmac("run", "a run")).toBe(before);
});
