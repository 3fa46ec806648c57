import { expect, test } from "bun:test";
import { type SamlProvider, samlClient, tookTooLong } from "./saml-client.ts";

const PROVIDER: SamlProvider = {
  entityId: "https://gateway.example",
  acs: "https://gateway.example/acs",
  providerEntityId: "https://idp.example",
  ssoUrl: "https://idp.example/sso",
  certificates: ["MIIB"],
  responseSigned: false,
  subjectIsNameId: false,
};
const MANY_ELEMENTS = Buffer.from(`<a>${"<b/>".repeat(900)}</a>`).toString("base64");

test("beginning a SAML sign-in waits for at most one response being verified", async () => {
  const client = samlClient();
  const ended: string[] = [];
  const answers = Array.from({ length: 8 }, () =>
    client.finish(PROVIDER, MANY_ELEMENTS, "_asked", Date.now()).catch(() => ended.push("answer")),
  );
  const { address } = await client.begin(PROVIDER, "state");
  ended.push("begin");
  expect(address).toStartWith("https://idp.example/sso?");
  await Promise.all(answers);
  expect(ended.indexOf("begin")).toBeLessThan(2);
  expect(ended).toHaveLength(9);
  await client.close();
});

test("a SAML response times out by processor time, or by elapsed time if that is unknown or very long", () => {
  expect([tookTooLong(100, 10_000), tookTooLong(2_000, 2_100)]).toEqual([false, true]);
  expect([tookTooLong(null, 1_900), tookTooLong(null, 2_000), tookTooLong(100, 15_000)]).toEqual([false, true, true]);
});
