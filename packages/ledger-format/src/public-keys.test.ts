import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { readPublicKey, readPublicKeys } from "./signed-note.ts";

const pem = () => generateKeyPairSync("ed25519").publicKey.export({ format: "pem", type: "spki" }) as string;

test("a file of several keys yields each of them, in PEM, base64 or as the gateway's own list", () => {
  const files = [pem(), pem(), pem()];
  const keys = files.map(readPublicKey);
  expect(readPublicKeys(files.join("\n"))).toEqual(keys);
  const inBase64 = keys.map((key) => Buffer.from(key).toString("base64"));
  expect(readPublicKeys(`${inBase64.join("\n")}\n`)).toEqual(keys);
  const listed = inBase64.map((public_key) => ({ name: "gw.audit", key_id: "59db3912", public_key, valid_to: null }));
  expect(readPublicKeys(JSON.stringify({ keys: listed }))).toEqual(keys);
});

test("a text that is not a key is rejected, wherever it is in the file", () => {
  for (const text of [
    "",
    "nothing",
    `${pem()}-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n`,
    "-----BEGIN PUBLIC KEY-----",
    "{",
    "{}",
    '{"keys":[]}',
    '{"keys":[{}]}',
  ])
    expect(() => readPublicKeys(text)).toThrow();
});
