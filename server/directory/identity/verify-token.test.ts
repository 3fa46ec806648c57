import { describe, expect, test } from "bun:test";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { KeySets } from "./key-sets.ts";
import { readLogoutToken } from "./logout-token.ts";

const ISSUER = "https://issuer.example";
const CLIENT = "gatehouse";
const NOW = Date.parse("2026-03-01T12:00:00Z");

interface Pair {
  readonly jwk: JWK;
  readonly privateKey: CryptoKey;
}

async function pair(alg = "ES256", more: JWK = { kty: "EC" }): Promise<Pair> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { jwk: { ...(await exportJWK(publicKey)), use: "sig", alg, ...more }, privateKey };
}

/** Key sets of an issuer that publishes `published`, and how often they were fetched. */
function publishing(published: Pair[]) {
  const clock = { time: NOW, now: () => clock.time };
  let fetches = 0;
  const keys = new KeySets(async (url) => {
    if (url.endsWith("/.well-known/openid-configuration")) return { issuer: ISSUER, jwks_uri: `${ISSUER}/jwks` };
    fetches++;
    return { keys: published.map(({ jwk }) => jwk) };
  }, clock as never);
  return {
    clock,
    fetches: () => fetches,
    read: (token: string) => readLogoutToken(token, { issuer: ISSUER, clientId: CLIENT }, { keys, clock: clock as never }),
  };
}

function signed({ privateKey }: Pair, header: object = {}, claims: object = {}): Promise<string> {
  const seconds = NOW / 1000;
  return new SignJWT({ events: { "http://schemas.openid.net/event/backchannel-logout": {} }, jti: "1", sub: "ada", ...claims })
    .setProtectedHeader({ alg: "ES256", typ: "logout+jwt", ...header })
    .setIssuer(ISSUER)
    .setAudience(CLIENT)
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + 120)
    .sign(privateKey);
}

describe("a token without `kid`", () => {
  test("is accepted by either key while an issuer publishes the former and the next one", async () => {
    const [former, next] = [await pair("ES256", { kty: "EC", kid: "a" }), await pair("ES256", { kty: "EC", kid: "b" })];
    const { read } = publishing([await pair("RS256", { kty: "RSA" }), former, next]);
    expect((await read(await signed(former))).subject).toBe("ada");
    expect((await read(await signed(next))).subject).toBe("ada");
  });

  test("is refused if no published key signed it, after the keys were fetched once more", async () => {
    const { read, fetches, clock } = publishing([await pair(), await pair()]);
    await expect(read(await signed(await pair()))).rejects.toThrow();
    expect(fetches()).toBe(1);
    clock.time += 31_000;
    await expect(read(await signed(await pair()))).rejects.toThrow();
    expect(fetches()).toBe(2);
  });

  test("is accepted by a key that replaced the only known one", async () => {
    const published = [await pair()];
    const { read, clock } = publishing(published);
    await read(await signed(published[0] as Pair));
    published[0] = await pair();
    clock.time += 31_000;
    expect((await read(await signed(published[0] as Pair))).subject).toBe("ada");
  });

  test("is tried with at most ten keys", async () => {
    const pairs = await Promise.all(Array.from({ length: 11 }, () => pair()));
    const { read } = publishing(pairs);
    expect((await read(await signed(pairs[9] as Pair))).subject).toBe("ada");
    await expect(read(await signed(pairs[10] as Pair))).rejects.toThrow();
  });

  test("still has its claims checked after a key was found", async () => {
    const pairs = [await pair(), await pair()];
    const { read } = publishing(pairs);
    await expect(read(await signed(pairs[1] as Pair, {}, { nonce: "1" }))).rejects.toThrow("a logout token has no nonce");
    await expect(read(await signed(pairs[1] as Pair, { typ: "JWT" }))).rejects.toThrow();
  });
});

test("a token with a `kid` is verified with that key only", async () => {
  const [one, other] = [await pair("ES256", { kty: "EC", kid: "a" }), await pair("ES256", { kty: "EC", kid: "b" })];
  const { read, fetches, clock } = publishing([one, other]);
  clock.time += 31_000;
  await expect(read(await signed(other, { kid: "a" }))).rejects.toThrow("signature verification failed");
  expect(fetches()).toBe(1);
});
