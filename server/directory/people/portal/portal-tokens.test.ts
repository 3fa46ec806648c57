import { expect, test } from "bun:test";
import { SignJWT } from "jose";
import type { PortalToken } from "./portal-token.ts";
import { looksLikeJwt, PortalTokens } from "./portal-tokens.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const user = { id: "u", tenant_id: "t", username: "ada", email: null, tokens_valid_from: new Date(0) };

function world(start = 1_800_000_000_123) {
  let now = start;
  const clock = { now: () => now, micros: () => now * 1000 };
  return { tokens: new PortalTokens({ secret: SECRET, expirySeconds: 60, clock }), at: (ms: number) => (now = ms), start };
}

const sign = (claims: Record<string, unknown>, secret = SECRET, alg = "HS256") =>
  new SignJWT({ user_id: "u", tenant_id: "t", user_type: "end_user", ...claims })
    .setProtectedHeader({ alg })
    .setIssuedAt(1_800_000_000)
    .setExpirationTime(1_800_000_060)
    .sign(new TextEncoder().encode(secret));

test("a token is accepted until it expires, cached or not, and keeps its issue time in milliseconds", async () => {
  const { tokens, at, start } = world();
  const token = await tokens.issue(user);
  expect(looksLikeJwt(token)).toBe(true);
  for (let i = 0; i < 2; i++) expect(((await tokens.verify(token)) as PortalToken).issuedAt).toBeGreaterThanOrEqual(start);
  at(start + 61_000);
  expect(await tokens.verify(token)).toBe("expired");
  expect(await world(start + 61_000).tokens.verify(token)).toBe("expired");
});

test("a token issued right after a password change counts as newer than the change", async () => {
  const { tokens, start } = world();
  const changed = { ...user, tokens_valid_from: new Date(start + 5) };
  expect(((await tokens.verify(await tokens.issue(changed))) as PortalToken).issuedAt).toBeGreaterThanOrEqual(start + 5);
});

test("tokens signed with the secret are accepted for end users; other signatures and claims are rejected", async () => {
  const { tokens } = world();
  expect(await tokens.verify(await sign({}))).toMatchObject({ userId: "u", tenantId: "t", issuedAt: 1_800_000_000_000 });
  for (const token of [
    await sign({}, "another secret of the same length"),
    await sign({}, SECRET, "HS512"),
    await sign({ user_type: "admin" }),
    await sign({ user_id: 7 }),
    await sign({ tenant_id: undefined }),
    "eyJ.x.y",
    "",
  ]) {
    expect(await tokens.verify(token)).toBeNull();
  }
});

test("a second-step token is not accepted as a portal token, nor a portal token as a second-step token", async () => {
  const { tokens, at, start } = world();
  const step = await tokens.issueSecondStep(user);
  expect(await tokens.verifySecondStep(step)).toEqual({ userId: "u", tenantId: "t", generation: 0 });
  expect(await tokens.verify(step)).toBeNull();
  expect(await tokens.verifySecondStep(await tokens.issue(user))).toBeNull();
  at(start + 301_000);
  expect(await tokens.verifySecondStep(step)).toBeNull();
});

test("the issue time of a token is right even if tokens with a later time were issued before", async () => {
  const later = world(1_900_000_000_000);
  await later.tokens.issue(user);
  const { tokens, start } = world();
  expect(((await tokens.verify(await tokens.issue(user))) as PortalToken).issuedAt).toBe(start);
});
