import { expect, test } from "bun:test";
import { once } from "node:events";
import { Worker } from "node:worker_threads";
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

test("a thread that ends while it has nothing to do is replaced for the next sign-in", async () => {
  const threads: Worker[] = [];
  const client = samlClient(() => {
    const code = `
      const { parentPort } = require("node:worker_threads");
      parentPort.on("message", () => {
        parentPort.postMessage({ result: "${threads.length}", thread: null });
        if (${threads.length} === 0) setTimeout(() => process.exit(1));
      });`;
    const thread = new Worker(code, { eval: true });
    threads.push(thread);
    return thread;
  });
  expect(await client.metadata(PROVIDER)).toBe("0");
  await once(threads[0] as Worker, "exit");
  expect(await client.metadata(PROVIDER)).toBe("1");
  await client.close();
});

test("a sign-in whose thread exits fails at once", async () => {
  const client = samlClient(
    () => new Worker(`require("node:worker_threads").parentPort.on("message", () => process.exit(1))`, { eval: true }),
  );
  await expect(client.metadata(PROVIDER)).rejects.toThrow("the thread that reads answers ended");
  await client.close();
});
