import { expect, test } from "bun:test";
import { SeededRandom } from "../../../../tests/corpora/random.ts";
import { AWS_SECRET_FORMS } from "../../../../tests/corpora/aws-secrets.ts";
import { notASecret, PLACEHOLDERS, SECRET_GENERATORS, secretSample } from "../../../../tests/corpora/secret-tokens.ts";
import { HoldBack } from "../answers/hold-back.ts";
import { redactText } from "../redact.ts";
import { compileTextGuard } from "../text-guard.ts";

const guard = compileTextGuard({ secrets: { action: "redact" } });
if ("problems" in guard) throw new Error("the guard does not compile");

const EACH = 2_000;
const NEGATIVES = 40_000;

for (const category of Object.keys(SECRET_GENERATORS) as (keyof typeof SECRET_GENERATORS)[]) {
  test(`${category}: generated tokens are found whole in any context`, () => {
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

test("hashes, IDs, images and documented placeholders are not taken for secrets", () => {
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

test("a private key is found without its footer, and text after a lone header is not redacted", () => {
  const body = "MC4CAQAwBQYDK2VwBCIEIJ8kQb1xW5zVn7LcRdT2yHmUuEo0fGpXsAaKj4Iiq9Ne";
  expect(redactText(guard, `-----BEGIN PRIVATE KEY-----\n${body}`).text).toBe("[REDACTED:private_key_pem]");
  expect(redactText(guard, `-----BEGIN PRIVATE KEY-----\n${body}" and so on`).text).toBe('[REDACTED:private_key_pem]" and so on');
  const prose = "The header reads -----BEGIN PRIVATE KEY----- and then the body follows.";
  expect(redactText(guard, prose).text).toBe(prose);
});

test("a private key is found however its lines are quoted, commented out, joined or broken, whole or streamed", () => {
  const body = [
    "EMnY9tlicZLhCUJwnHBdHIyvNLVlRXFwF8JlMaLNy02K35uDNHfkf7J8Rszi0z4J",
    "xT3PzPmhDJEpQwL6dfTkKPcPKPt0jLy4LrGWuQbUf6vUULm4A2Aohhhvtf+FPepL",
    "0z9zE40+eC14F2B/yeeGGFAD1HsPgOo=",
  ];
  const lines = ["-----BEGIN RSA PRIVATE KEY-----", ...body, "-----END RSA PRIVATE KEY-----"];
  const forms = [
    ...["> ", "> > ", "# ", "// ", " * ", ";; ", "+", "    | "].map((before) => lines.map((line) => before + line).join("\n")),
    ...["<br>", "<br />\n", "&#10;", "%0A", "%0D%0A", "\\\\n", "\\r\\n", "\\n\\\n"].map((between) => lines.join(between)),
    ...['\\n" +\n    "', "\\n'\n        '", '", "', '\\n" .\n"'].map((between) => `key = "${lines.join(between)}";`),
  ];
  for (const form of forms) {
    const said = `Here it is:\n${form}\nSee you.`;
    const whole = redactText(guard, said).text;
    expect(whole).toContain("[REDACTED:private_key_pem]");
    for (const line of lines) expect(whole).not.toContain(line);
    expect(whole).toEndWith(`${form.endsWith(";") ? '";' : ""}\nSee you.`);
    for (let size = 1; size < 9; size++) {
      const stream = new HoldBack(guard);
      let out = "";
      for (let at = 0; at < said.length; at += size) out += stream.push(said.slice(at, at + size));
      expect(out + stream.end()).toBe(whole);
    }
  }
  const json = `{"key":"-----BEGIN PRIVATE KEY-----","next":"${body.join("")}"}`;
  expect(redactText(guard, json).text).toBe(json);
});

test("a cloud account's secret key is found however its name is spelled, in any context", () => {
  const random = new SeededRandom(47);
  const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const missed: string[] = [];
  for (const form of AWS_SECRET_FORMS)
    for (let i = 0; i < 50; i++) {
      const key = random.text(base64, 40);
      const text = form(key, `AKIA${random.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)}`);
      const left = redactText(guard, text).text;
      if (!left.includes("[REDACTED:aws_access_key]") || left.includes(key.slice(4, 36))) missed.push(text);
    }
  expect(missed.length / AWS_SECRET_FORMS.length / 50).toBeLessThanOrEqual(0.005);
});

test("a token streamed in pieces is redacted like in the whole text, without leaking any of it", () => {
  const random = new SeededRandom(53);
  for (const category of Object.keys(SECRET_GENERATORS) as (keyof typeof SECRET_GENERATORS)[])
    for (let i = 0; i < 100; i++) {
      const { text } = secretSample(random, category);
      const said = `Before it. ${text} And behind it.`;
      const stream = new HoldBack(guard);
      let out = "";
      for (let at = 0; at < said.length;) {
        const length = random.between(1, 12);
        out += stream.push(said.slice(at, at + length));
        at += length;
      }
      expect(out + stream.end()).toBe(redactText(guard, said).text);
    }
});

test("a cloud account's secret key is found only next to its name", () => {
  const key = "q8Zt1vXk0aPbYc7RdSe5TfUg3WhIi9Jj2KkLlMmN";
  expect(redactText(guard, `aws_secret_access_key = "${key}"`).text).toBe('aws_secret_access_key = "[REDACTED:aws_access_key]"');
  expect(redactText(guard, `checksum = "${key}"`).text).toBe(`checksum = "${key}"`);
});
