import { expect, test } from "bun:test";
import { secretBox } from "../../../kernel/secrets.ts";
import { passedSession, upstreamSession } from "./session-token.ts";

const secrets = secretBox(new Uint8Array(32).fill(7));
const shows = { apps: true, addresses: false };

test("a session token is accepted from its owner only", () => {
  const token = passedSession(secrets, "owner", "the server's own", shows);
  expect(upstreamSession(secrets, "owner", token)).toEqual({ id: "the server's own", shows });
  expect(upstreamSession(secrets, "another", token)).toBeNull();
});

test("a session token with a wrong signature is refused, whatever characters it has", () => {
  const token = passedSession(secrets, "owner", "x", shows);
  const mac = token.split(".").at(-1) as string;
  for (const other of [`${mac.slice(1)}\u00e9`, "\u00e9".repeat(64), mac.toUpperCase(), mac.slice(1), `${mac}0`, ""])
    expect(upstreamSession(secrets, "owner", token.replace(mac, other))).toBeNull();
});
