import { expect, test } from "bun:test";
import { SeededRandom } from "../../../../tests/corpora/random.ts";
import { notASecret, PLACEHOLDERS, SECRET_GENERATORS, secretSample } from "../../../../tests/corpora/secret-tokens.ts";
import { redactText } from "../redact.ts";
import { compileTextGuard } from "../text-guard.ts";

const guard = compileTextGuard({ secrets: { action: "redact" } });
if ("problems" in guard) throw new Error("the guard does not compile");

const EACH = 2_000;
const NEGATIVES = 40_000;

for (const category of Object.keys(SECRET_GENERATORS) as (keyof typeof SECRET_GENERATORS)[]) {
  test(`${category}: generated tokens are found whole, wherever they stand`, () => {
    const random = new SeededRandom(41);
    let found = 0;
    for (let i = 0; i < EACH; i++) {
      const { text, start, end } = secretSample(random, category);
      const finding = redactText(guard, text).findings.find((candidate) => candidate.category === category);
      if (finding !== undefined && finding.start <= start && finding.end >= end) found++;
      else if (process.env["SHOW"] !== undefined) console.log("MISS", text);
    }
    console.log(`${category.padEnd(16)} recall ${(found / EACH).toFixed(4)} of ${EACH}`);
    expect(found / EACH).toBeGreaterThanOrEqual(0.99);
  });
}

test("hashes, identifiers, images and documented placeholders are no secrets", () => {
  const random = new SeededRandom(43);
  let wrong = 0;
  for (let i = 0; i < NEGATIVES; i++) {
    const text = notASecret(random);
    const { findings } = redactText(guard, text);
    if (findings.length > 0 && process.env["SHOW"] !== undefined) console.log("FALSE", findings[0]?.category, text.slice(0, 120));
    if (findings.length > 0) wrong++;
  }
  console.log(`false on ${wrong} of ${NEGATIVES}`);
  expect(wrong / NEGATIVES).toBeLessThanOrEqual(1 / 10_000);
  expect(PLACEHOLDERS.filter((text) => redactText(guard, text).findings.length > 0)).toEqual([]);
});

test("a private key is found without its footer, and what follows a lone header is left alone", () => {
  const body = "MC4CAQAwBQYDK2VwBCIEIJ8kQb1xW5zVn7LcRdT2yHmUuEo0fGpXsAaKj4Iiq9Ne";
  expect(redactText(guard, `-----BEGIN PRIVATE KEY-----\n${body}`).text).toBe("[REDACTED:private_key_pem]");
  expect(redactText(guard, `-----BEGIN PRIVATE KEY-----\n${body}" and so on`).text).toBe('[REDACTED:private_key_pem]" and so on');
  const prose = "The header reads -----BEGIN PRIVATE KEY----- and then the body follows.";
  expect(redactText(guard, prose).text).toBe(prose);
});

test.each([
  (key: string) => `{"Credentials": {"SecretAccessKey": "${key}", "SessionToken": "x"}}`,
  (key: string) => `{"secretAccessKey":"${key}"}`,
  (key: string) => `const credentials = { accessKeyId: id, secretAccessKey: '${key}' };`,
  (key: string) => `secret_access_key: ${key}`,
  (key: string) => `secret-access-key = "${key}"`,
  (key: string) => `<SecretAccessKey>${key}</SecretAccessKey>`,
  (key: string) => `AWS_SECRET_ACCESS_KEY=${key}`,
  (key: string) => `export AWS_SECRET_KEY='${key}'`,
  (key: string) => `The Secret Access Key is ${key}`,
])("the secret key of a cloud account is found as AWS and others spell its name: %#", (spelled) => {
  const key = "q8Zt1vXk0aPbYc7RdSe5TfUg3WhIi9Jj2KkLlMmN";
  expect(redactText(guard, spelled(key)).text).toBe(spelled("[REDACTED:aws_access_key]"));
});

test("the secret key of a cloud account is found beside its name only", () => {
  const key = "q8Zt1vXk0aPbYc7RdSe5TfUg3WhIi9Jj2KkLlMmN";
  expect(redactText(guard, `aws_secret_access_key = "${key}"`).text).toBe('aws_secret_access_key = "[REDACTED:aws_access_key]"');
  expect(redactText(guard, `checksum = "${key}"`).text).toBe(`checksum = "${key}"`);
});
