import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { addNotesServer, NOTES_TERMS } from "../../../tests/support/tool-servers/notes-server.ts";
import { systemClock } from "../../kernel/clock.ts";
import { secretBox } from "../../kernel/secrets.ts";
import { dropTokens, findTokens, storeTokens, listTokens, type Principal, renewTokens, type StoredTokens } from "./oauth-tokens.ts";

const principal: Principal = { tenantId: "t", type: "user", id: "ada" };
const given = { accessToken: "at", refreshToken: "rt", scopes: [], expiresAt: null };
let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
  await addNotesServer(database);
});
afterAll(() => database.close());

test("tokens sealed with another secret key count as missing; they can be deleted and connected again", async () => {
  const under = (key: number) => ({ db: database.db, clock: systemClock(), secrets: secretBox(Buffer.alloc(32, key)) });
  const id = await storeTokens(under(1), principal, NOTES_TERMS, given);
  expect(await findTokens(under(1), principal, "notes")).toMatchObject({ accessToken: "at", refreshToken: "rt" });
  expect(await findTokens(under(2), principal, "notes")).toBeNull();
  expect(await dropTokens(under(2), principal, "notes", NOTES_TERMS.issuer, id)).toEqual({ tokens: null });
  expect(await listTokens(under(2), principal, "notes", NOTES_TERMS.issuer)).toEqual([]);
  await storeTokens(under(2), principal, NOTES_TERMS, given);
  expect(await findTokens(under(2), principal, "notes")).toMatchObject({ accessToken: "at" });
});

describe("an OAuth token renewal", () => {
  const parts = () => ({ db: database.db, clock: systemClock(), secrets: secretBox(Buffer.alloc(32, 2)) });
  const renewed = { ...given, accessToken: "renewed", refreshToken: null };

  async function connected(): Promise<StoredTokens> {
    await storeTokens(parts(), principal, NOTES_TERMS, given);
    return (await findTokens(parts(), principal, "notes")) as StoredTokens;
  }

  /** A renewal that has begun and is waiting for its issuer. */
  async function begun(seen: StoredTokens) {
    const { promise: answer, resolve, reject } = Promise.withResolvers<typeof renewed | "gone" | null>();
    const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>();
    const result = renewTokens(parts(), principal, "notes", seen, () => {
      isAsked();
      return answer;
    });
    await asked;
    return { result, answer: resolve, fail: reject };
  }

  const never = async (): Promise<never> => {
    throw new Error("this renewal was not to be made");
  };

  test("is awaited by a concurrent renewal, which gets the same tokens", async () => {
    const seen = await connected();
    const first = await begun(seen);
    const second = renewTokens(parts(), principal, "notes", seen, never);
    first.answer(renewed);
    expect(await first.result).toMatchObject({ accessToken: "renewed", refreshToken: "rt" });
    expect(await second).toMatchObject({ accessToken: "renewed", refreshToken: "rt" });
  });

  test.each(["no tokens", "an error"])("that ends with %s lets the next one try", async (what) => {
    const seen = await connected();
    const first = await begun(seen);
    const second = renewTokens(parts(), principal, "notes", seen, async () => renewed);
    if (what === "no tokens") first.answer(null);
    else first.fail(new Error("the issuer is away"));
    expect(await first.result.catch((error: Error) => error.message)).toEqual(what === "no tokens" ? seen : "the issuer is away");
    expect(await second).toMatchObject({ accessToken: "renewed" });
  });

  test("of a killed process blocks the next one only for a time, and its late result is ignored", async () => {
    const seen = await connected();
    const first = await begun(seen);
    await sql`UPDATE oauth_tokens SET renewal_ends = now()`.execute(database.db);
    expect(await renewTokens(parts(), principal, "notes", seen, async () => renewed)).toMatchObject({ accessToken: "renewed" });
    first.answer({ ...renewed, accessToken: "late" });
    expect(await first.result).toMatchObject({ accessToken: "renewed" });
    expect(await findTokens(parts(), principal, "notes")).toMatchObject({ accessToken: "renewed" });
  });

  test("is stored once the database is back, if it was unreachable when the issuer answered", async () => {
    const seen = await connected();
    let lost = 0;
    const transaction = () => {
      // The error that the driver throws for a broken connection.
      if (++lost < 3) throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
      return database.db.transaction();
    };
    const db = new Proxy(database.db, {
      get(target, name) {
        const member = Reflect.get(target, name, target);
        return name === "transaction" ? transaction : typeof member === "function" ? member.bind(target) : member;
      },
    });
    expect(await renewTokens({ ...parts(), db }, principal, "notes", seen, async () => renewed)).toMatchObject({ accessToken: "renewed" });
    expect([lost, await findTokens(parts(), principal, "notes")]).toEqual([3, expect.objectContaining({ accessToken: "renewed" })]);
  });

  test("does not replace tokens that were connected again meanwhile", async () => {
    const first = await begun(await connected());
    await storeTokens(parts(), principal, NOTES_TERMS, { ...given, accessToken: "anew" });
    first.answer("gone");
    expect(await first.result).toMatchObject({ accessToken: "anew" });
    expect(await findTokens(parts(), principal, "notes")).toMatchObject({ accessToken: "anew" });
  });
});
